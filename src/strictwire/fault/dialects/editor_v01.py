"""`editor/0.1`: the error object of EditorMCP (E7, E8).

The five JSON-RPC codes have a fixed message and no data. The six editor codes have a message, the kind of error in
`data.errorType` and its fields in `data.details`. A catalogue code without an editor code becomes an execution error with
the catalogue code in the details.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from strictwire.canon.json import JsonObject
from strictwire.fault.catalogue import CATALOGUE, RENDERINGS
from strictwire.fault.failure import Facts, Failure
from strictwire.fault.public import joined, public_code, public_details, public_text, tool_name
from strictwire.fault.violations import MISSING, Violation, order_by_severity, read_violations, summarise

STANDARD: Final[Mapping[int, str]] = MappingProxyType(
    {
        -32700: "Parse error",
        -32600: "Invalid Request",
        -32601: "Method not found",
        -32602: "Invalid params",
        -32603: "Internal error",
    }
)
"""The JSON-RPC codes and their messages."""


def render(failure: Failure, facts: Facts) -> JsonObject:
    """The `error` member of a response."""
    code = RENDERINGS[failure.code].editor
    if code in STANDARD:
        return {"code": code, "message": STANDARD[code]}
    kind = KINDS[code]
    data: JsonObject = {"errorType": kind.error_type, "details": kind.details(failure, facts)}
    tool = tool_name(facts.tool)
    return {
        "code": code,
        "message": _message(kind, failure, facts),
        "data": {"tool": tool, **data} if tool else data,
    }


def _message(kind: Kind, failure: Failure, facts: Facts) -> str:
    """The fixed phrase of the kind, followed by what is specific to this failure.

    A text that already begins with the phrase was read from this dialect and stays unchanged.
    """
    text = public_text(failure)
    if text.startswith(kind.phrase):
        return text
    return joined(kind.phrase, kind.more(failure, facts) or ("" if text == CATALOGUE[kind.code].text else text))


def _nothing(_failure: Failure, _facts: Facts) -> str:
    return ""


def _tool(_failure: Failure, facts: Facts) -> str:
    return tool_name(facts.tool)


def _violations(failure: Failure, _facts: Facts) -> str:
    return summarise(read_violations(failure))


def _execution_details(failure: Failure, _facts: Facts) -> JsonObject:
    """The details of the failure, with its code first unless the code is just TOOL_FAILED."""
    code = public_code(failure, failure.code)
    own = {} if code == "TOOL_FAILED" else {"code": code}
    return public_details(replace(failure, details={**own, **failure.details, **own}))


def _no_details(_failure: Failure, _facts: Facts) -> JsonObject:
    return {}


def _validation_details(failure: Failure, _facts: Facts) -> JsonObject:
    violations = order_by_severity(read_violations(failure))
    grouped = {
        "missingParameters": [each.parameter for each in violations if each.keyword in MISSING],
        "typeMismatches": [_mismatch(each) for each in violations if each.keyword == "type"],
        "constraintViolations": [
            {"parameter": each.parameter, "keyword": each.keyword}
            for each in violations
            if each.keyword != "type" and each.keyword not in MISSING
        ],
    }
    return {name: found for name, found in grouped.items() if found}


def _mismatch(violation: Violation) -> JsonObject:
    return {
        "parameter": violation.parameter,
        "expected": violation.expected or "unknown",
        "actual": violation.actual or "unknown",
    }


def _timeout_details(failure: Failure, facts: Facts) -> JsonObject:
    tool = tool_name(facts.tool)
    return ({"tool": tool} if tool else {}) | _only(public_details(failure), {"timeoutMs": int, "tool": str})


def _unity_details(failure: Failure, _facts: Facts) -> JsonObject:
    """`unityError` first (the text of the failure if the details have none), then its context."""
    own = failure.details.get("unityError")
    first = {"unityError": own if isinstance(own, str) and own else public_text(failure)}
    return public_details(replace(failure, details={**first, **failure.details, **first}))


def _permission_details(failure: Failure, _facts: Facts) -> JsonObject:
    return _only(public_details(failure), {"requiredTier": str, "currentTier": str, "requiredRoles": list})


def _only(details: JsonObject, wanted: Mapping[str, type]) -> JsonObject:
    """The details with these names, if they have the type that the contract requires."""
    return {name: details[name] for name, kind in wanted.items() if type(details.get(name)) is kind}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One editor code."""

    code: str
    """The catalogue code that a reader maps it to."""
    error_type: str
    phrase: str
    details: Callable[[Failure, Facts], JsonObject]
    more: Callable[[Failure, Facts], str] = _nothing
    """The text after the phrase, if it is not the text of the failure."""


KINDS: Final[Mapping[int, Kind]] = MappingProxyType(
    {
        -32000: Kind(
            code="TOOL_FAILED",
            error_type="execution",
            phrase="Tool execution failed",
            details=_execution_details,
        ),
        -32001: Kind(
            code="UNKNOWN_TOOL",
            error_type="not_found",
            phrase="Tool not found",
            details=_no_details,
            more=_tool,
        ),
        -32002: Kind(
            code="INVALID_PARAMS",
            error_type="validation",
            phrase="Invalid tool arguments",
            details=_validation_details,
            more=_violations,
        ),
        -32003: Kind(
            code="TIMEOUT",
            error_type="timeout",
            phrase="Tool execution timed out",
            details=_timeout_details,
        ),
        -32004: Kind(
            code="UNITY_ERROR",
            error_type="unity",
            phrase="Unity Editor error",
            details=_unity_details,
        ),
        -32005: Kind(
            code="PERMISSION_DENIED",
            error_type="permission",
            phrase="Permission denied",
            details=_permission_details,
        ),
    }
)
"""The editor codes."""
