"""JSON-RPC 2.0 messages: bytes to one message or the reason why not, and back.

An id is a string or an integer; `1` and `"1"` are two ids. Not here: which methods exist (`profiles`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias

import msgspec

from strictwire.canon.json import DEFAULT_LIMITS, Fault, JsonObject, JsonValue, Limits, NotStrict, is_strict, parse, render
from strictwire.fault.failure import Failure, fail

RequestId: TypeAlias = str | int


class Request(msgspec.Struct, frozen=True):
    """A call that wants one answer."""

    id: RequestId
    method: str
    params: JsonObject | None


class Notification(msgspec.Struct, frozen=True):
    """A message that wants none."""

    method: str
    params: JsonObject | None


class Response(msgspec.Struct, frozen=True):
    """An answer to a request of ours. `error` is set if it failed, otherwise `result`."""

    id: RequestId
    result: JsonValue
    error: JsonObject | None


class Unreadable(msgspec.Struct, frozen=True):
    """Bytes that are no message, with the id if one could be read."""

    failure: Failure
    id: RequestId | None = None


Message: TypeAlias = Request | Notification | Response | Unreadable

NOTIFICATION_PREFIX: Final = "notifications/"
"""MCP names every notification so. Any other method without an id is a request that lost it, and is told so."""


class _Members(msgspec.Struct, kw_only=True, gc=False):
    """The members of a request with their types, in the order in which clients write them: then `is_strict` is cheap."""

    jsonrpc: Literal["2.0"]
    id: int | str
    method: str
    params: JsonObject | msgspec.UnsetType = msgspec.UNSET


_read_members: Final = msgspec.json.Decoder(_Members).decode


def read_message(raw: bytes, limits: Limits = DEFAULT_LIMITS) -> Message:
    """One message from bytes.

    1. strict JSON (NOT_JSON, REQUEST_TOO_LARGE)
    2. one object, `jsonrpc` "2.0", a readable id, a method or an answer (NOT_A_REQUEST)
    3. `params` an object if present (MALFORMED_PARAMS)

    Nearly every message is a request that msgspec reads and checks in one go. Whatever is not is read again, step by step,
    which also finds the reason why it is refused.
    """
    try:
        found = _read_members(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _read_stepwise(raw, limits)
    if not found.method or not is_strict(raw, found, limits):
        return _read_stepwise(raw, limits)
    return Request(found.id, found.method, None if found.params is msgspec.UNSET else found.params)


def _read_stepwise(raw: bytes, limits: Limits) -> Message:
    value = decode(raw, limits)
    return value if isinstance(value, Unreadable) else classify(value)


def decode(raw: bytes, limits: Limits = DEFAULT_LIMITS) -> JsonValue | Unreadable:
    """Strict JSON, or why not."""
    try:
        return parse(raw, limits)
    except NotStrict as exc:
        return Unreadable(unreadable(exc))


def unreadable(exc: NotStrict) -> Failure:
    """The failure of bytes that are not strict JSON: the reason and the place, no piece of the input."""
    return _unreadable_at(exc.fault, exc.position)


@lru_cache(maxsize=256)
def _unreadable_at(fault: Fault, position: int | None) -> Failure:
    """Kept, because whoever sends such bytes sends many: they have to cost less than a call."""
    if fault is Fault.TOO_LARGE:
        return fail("REQUEST_TOO_LARGE")
    details: JsonObject = {"reason": fault.value}
    if position is not None:
        details["byte"] = position
    return fail("NOT_JSON", details=details)


def classify(value: JsonValue) -> Message:
    """Rungs 2 and 3 of `read_message`, for a value that was decoded already."""
    if not isinstance(value, dict):
        return _refuse("batch" if isinstance(value, list) else "not_an_object", None)
    has_id = "id" in value
    found = value.get("id")
    readable = found if is_request_id(found) else None
    if value.get("jsonrpc") != "2.0":
        return _refuse("jsonrpc", readable)
    if has_id and readable is None:
        return _refuse("id", None)
    if "method" not in value:
        return _answer(value, readable)
    return _question(value, readable)


def is_request_id(value: object) -> bool:
    """A string or an integer, and not a boolean, which Python counts as one."""
    return type(value) is str or type(value) is int


def _refuse(reason: str, request_id: Any) -> Unreadable:
    return Unreadable(fail("NOT_A_REQUEST", details={"reason": reason}), request_id)


def _question(value: JsonObject, request_id: Any) -> Message:
    method, params = value["method"], value.get("params")
    if type(method) is not str or not method:
        return _refuse("method", request_id)
    if "result" in value or "error" in value:
        return _refuse("request_and_answer", request_id)
    if "params" in value and type(params) is not dict:
        return Unreadable(fail("MALFORMED_PARAMS", details={"reason": "params_not_an_object"}), request_id)
    if request_id is not None:
        return Request(request_id, method, params)
    if not method.startswith(NOTIFICATION_PREFIX):
        return _refuse("id_missing", None)
    return Notification(method, params)


def _answer(value: JsonObject, request_id: Any) -> Message:
    error = value.get("error")
    if ("result" in value) == ("error" in value):
        return _refuse("method", request_id)
    if request_id is None or ("error" in value and type(error) is not dict):
        return _refuse("answer", request_id)
    return Response(request_id, value.get("result"), error)


def render_result(request_id: RequestId, result: bytes) -> bytes:
    """An answer around a result that is written already."""
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (render(request_id), result)


def render_error(request_id: RequestId | None, error: JsonObject) -> bytes:
    """A failed answer. An id that could not be read is left out: the wire schema of MCP knows no null id."""
    if request_id is None:
        return b'{"jsonrpc":"2.0","error":%b}' % render(error)
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (render(request_id), render(error))


def render_request(request_id: RequestId, method: str, params: JsonObject) -> bytes:
    """A request of ours."""
    return render({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})


def render_notification(method: str, params: JsonObject) -> bytes:
    """A notification of ours."""
    return render({"jsonrpc": "2.0", "method": method, "params": params})
