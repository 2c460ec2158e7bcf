"""`mcp/v1`: a tool failure as a JSON-RPC error with `data.code`.

There are two numbers with fixed messages; `data.code` says what happened. Invalid arguments also have `issues`. An
exceeded cap has a `message`, and so has an engine that must be installed, because the client needs the command; every
other failure is only the code.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.fault.catalogue import RENDERINGS
from strictwire.fault.failure import Facts, Failure
from strictwire.fault.public import public_text, tool_name
from strictwire.fault.violations import Violation, read_violations

MESSAGES: Final[Mapping[int, str]] = MappingProxyType({-32602: "Invalid params", -32603: "Internal error"})
"""The two numbers and their messages."""

_NUMBERS: Final[Mapping[str, int]] = MappingProxyType({"NOT_FOUND": -32603})
"""Numbers that the contract of this dialect fixes and that differ from those of MCP."""


def render(failure: Failure, facts: Facts) -> JsonObject:
    """`{code, message, data}`."""
    name = RENDERINGS[failure.code].mcp_v1
    number = _NUMBERS.get(name, RENDERINGS[name].rpc)
    data: JsonObject = {"code": name, **_MORE.get(name, _nothing)(failure, facts)}
    return {"code": number, "message": MESSAGES[number], "data": data}


def _nothing(_failure: Failure, _facts: Facts) -> JsonObject:
    return {}


def _arguments(failure: Failure, facts: Facts) -> JsonObject:
    """The tool and the violations of its input schema."""
    tool = tool_name(facts.tool)
    issues = sorted(map(_issue, read_violations(failure)), key=_order)
    return ({"tool": tool} if tool else {}) | ({"issues": issues} if issues else {})


def _cap(failure: Failure, _facts: Facts) -> JsonObject:
    return {"message": public_text(failure)}


def _missing_engine(failure: Failure, _facts: Facts) -> JsonObject:
    return {"message": public_text(failure)} if "install" in failure.details else {}


_MORE: Final = MappingProxyType(
    {"INVALID_PARAMS": _arguments, "CAP_EXCEEDED": _cap, "PROVIDER_UNAVAILABLE": _missing_engine}
)


def _issue(violation: Violation) -> JsonObject:
    where = {"schemaPath": violation.schema_path} if violation.schema_path else {}
    return {"path": violation.path, "keyword": violation.keyword, "message": violation.sentence} | where


def _order(issue: JsonObject) -> tuple[str, str, str, str]:
    return (issue["path"], issue["keyword"], issue.get("schemaPath", ""), issue["message"])
