"""`mcp`: failures in the official MCP protocol, in both eras.

    render               the envelope of a tool whose dialect is `mcp`
    render_error         the JSON-RPC error object of a protocol error
    answer_tool_failure  the result or error for a tool failure, in the dialect that the tool's contract declares

The error numbers follow the allocation policy of 2026-07-28: none from -32000 to -32019, and from -32020 to -32099 only
the three that the specification defines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from strictwire.canon.json import JsonObject
from strictwire.canon.json import render as render_json
from strictwire.fault.catalogue import CATALOGUE, RENDERINGS
from strictwire.fault.dialects import mcp_v1, resolve_v0, system_v1
from strictwire.fault.dialects.rpc_numbers import number_of
from strictwire.fault.failure import Facts, Failure
from strictwire.fault.public import invariant_id, joined, public_action, public_code, public_details, public_text
from strictwire.fault.violations import read_violations, summarise

HOISTED: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "RESOURCE_NOT_FOUND": ("uri",),
        "UNSUPPORTED_VERSION": ("supported", "requested"),
        "MISSING_CAPABILITY": ("requiredCapabilities",),
    }
)
"""Details that the specification puts directly into `data`."""


def render(failure: Failure, facts: Facts) -> JsonObject:  # noqa: ARG001 - every dialect has the same signature
    """`{"error": {"code", "message", "action", "retryable", "details"?, "invariantId"?}}`."""
    code = RENDERINGS[failure.code].mcp
    error: JsonObject = {
        "code": public_code(failure, code),
        "message": _message(failure, code),
        "action": public_action(failure, code),
        "retryable": failure.retryable,
    }
    details = public_details(failure)
    if details:
        error["details"] = details
    invariant = invariant_id(failure)
    if invariant:
        error["invariantId"] = invariant
    return {"error": error}


def _message(failure: Failure, code: str) -> str:
    """The text of the failure. For invalid arguments with the default text, also the most severe violation."""
    text = public_text(failure)
    defaults = (CATALOGUE[failure.code].text, CATALOGUE[code].text)
    if code == "INVALID_PARAMS" and text in defaults:
        return joined(CATALOGUE[code].text, summarise(read_violations(failure)))
    return text


def render_error(failure: Failure, facts: Facts) -> JsonObject:
    """`{code, message, data}`; `data.code` is the catalogue code, for programs.

    `data` has `action` and `retryable` only if the catalogue does not give them: an author chose others, or another code.
    """
    details = public_details(failure)
    data: JsonObject = {"code": public_code(failure, failure.code)}
    for name in HOISTED.get(failure.code, ()):
        if name in details:
            data[name] = details.pop(name)
    if details:
        data["details"] = details
    entry, action = CATALOGUE[failure.code], public_action(failure, failure.code)
    if failure.own_code is not None or action != entry.action:
        data["action"] = action
    if failure.own_code is not None or failure.retryable != entry.retryable:
        data["retryable"] = failure.retryable
    return {"code": number_of(failure, facts), "message": public_text(failure), "data": data}


class ToolFailure(Struct, frozen=True, kw_only=True):
    """The response to a failed tool call: exactly one of the two fields is set."""

    result: JsonObject | None = None
    """A tool result: `content`, `structuredContent`, `isError`."""
    error: JsonObject | None = None
    """A JSON-RPC error object."""


_IN_RESULT: Final[Mapping[str, Callable[[Failure, Facts], JsonObject]]] = MappingProxyType(
    {"mcp": render, "resolve/v0": resolve_v0.render, "system/1.0": system_v1.render}
)

TOOL_DIALECTS: Final = (*_IN_RESULT, "mcp/v1")
"""The dialects that a tool's contract may declare."""


def answer_tool_failure(failure: Failure, facts: Facts, dialect_name: str) -> ToolFailure:
    """Render the failure of a tool in its dialect. Raises KeyError if the dialect is not one of TOOL_DIALECTS."""
    if dialect_name == "mcp/v1":
        return ToolFailure(error=mcp_v1.render(failure, facts))
    envelope = _IN_RESULT[dialect_name](failure, facts)
    text = render_json(envelope).decode()
    return ToolFailure(result={"content": [{"type": "text", "text": text}], "structuredContent": envelope, "isError": True})
