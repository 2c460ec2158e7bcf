"""Error responses and failed tools as exceptions that carry a Failure."""

from __future__ import annotations

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.errors import NotUnderstood, RequestFailed, ToolFailed
from strictwire.client.message import RemoteError, Reply
from strictwire.fault.failure import Failure, fail
from strictwire.fault.reading import Unreadable, read_failure
from strictwire.fault.violations import read_violations, summarise


def check_reply(what: str, reply: Reply) -> JsonObject:
    """The result of a request. `what` names it in errors. Raises RequestFailed: the server answered with an error."""
    if not isinstance(reply, RemoteError):
        return reply.value
    failure = _failure_of_error(reply)
    # The message of a JSON-RPC error does not have the violations, unlike the text of a failed tool.
    reason = summarise(read_violations(failure))
    raise RequestFailed(what, failure, number=reply.code, data=reply.data, reason="" if reason in failure.text else reason)


def check_tool_result(tool: str, result: JsonObject) -> None:
    """Raises ToolFailed: the tool answered with `isError`. Raises NotUnderstood: it is neither true nor false."""
    if not isinstance(result.get("isError", False), bool):
        raise NotUnderstood("the result of a tool: isError is not a boolean")
    if result.get("isError") is True:
        raise ToolFailed(tool, _failure_of_result(result), result)


def _failure_of_error(error: RemoteError) -> Failure:
    """The failure of our own servers as they sent it; of other servers, what the error code means."""
    members: JsonObject = {"code": error.code, "message": error.message}
    if error.data is not None:
        members["data"] = error.data
    try:
        return read_failure({"error": members})
    except Unreadable:
        details: dict[str, JsonValue] = {"code": error.code}
        return fail("UPSTREAM_ERROR", text=error.message, details=details)


def _failure_of_result(result: JsonObject) -> Failure:
    """The failure of our own servers as they sent it; of other servers, TOOL_FAILED with their text."""
    try:
        return read_failure(result)
    except Unreadable:
        content = result.get("content")
        items = content if isinstance(content, list) else []
        texts = [str(each["text"]) for each in items if isinstance(each, dict) and isinstance(each.get("text"), str)]
        return fail("TOOL_FAILED", text="\n".join(texts) or None)
