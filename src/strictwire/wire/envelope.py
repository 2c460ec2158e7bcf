"""JSON-RPC 2.0 messages: decodes bytes to one message or to the failure, and encodes messages.

A request id is a string or an integer; `1` and `"1"` are different ids. Not here: the methods (`profiles`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias

import msgspec

from strictwire.canon.json import DEFAULT_LIMITS, Fault, JsonObject, JsonValue, Limits, NotStrict, is_strict, parse, render
from strictwire.fault.failure import Failure, fail

RequestId: TypeAlias = str | int


class Request(msgspec.Struct, frozen=True):
    """A message that expects one response."""

    id: RequestId
    method: str
    params: JsonObject | None


class Notification(msgspec.Struct, frozen=True):
    """A message that expects no response."""

    method: str
    params: JsonObject | None


class Response(msgspec.Struct, frozen=True):
    """The response to a request that we sent. `error` is set if the request failed; otherwise `result` is."""

    id: RequestId
    result: JsonValue
    error: JsonObject | None


class Unreadable(msgspec.Struct, frozen=True):
    """Bytes that are not a valid message: the failure, and the request id if it could be read."""

    failure: Failure
    id: RequestId | None = None


Message: TypeAlias = Request | Notification | Response | Unreadable

NOTIFICATION_PREFIX: Final = "notifications/"
"""The names of all MCP notifications start with this. Any other message without an id is refused as a request whose id is
missing, so that its sender gets an error instead of waiting."""


class _RequestMembers(msgspec.Struct, kw_only=True, gc=False):
    """The members of a request, in the order in which clients write them. `is_strict` encodes the struct again, and is
    cheapest if that gives the same bytes."""

    jsonrpc: Literal["2.0"]
    id: int | str
    method: str
    params: JsonObject | msgspec.UnsetType = msgspec.UNSET


_decode_request: Final = msgspec.json.Decoder(_RequestMembers).decode


def read_message(raw: bytes, limits: Limits = DEFAULT_LIMITS) -> Message:
    """Decode one message. The first check that fails gives the failure:

    1. strict JSON (NOT_JSON, REQUEST_TOO_LARGE)
    2. one object, `jsonrpc` "2.0", a valid id, a request, notification or response (NOT_A_REQUEST)
    3. `params` is an object if present (MALFORMED_PARAMS)

    Fast path: nearly every message is a valid request, which msgspec decodes and checks in one pass. Any other message is
    decoded again, check by check. A message of more bytes than values are allowed is counted before it is decoded.
    """
    if len(raw) > limits.values:
        return _read_in_steps(raw, limits)
    try:
        found = _decode_request(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _read_in_steps(raw, limits)
    if not found.method or not is_strict(raw, found, limits):
        return _read_in_steps(raw, limits)
    return Request(found.id, found.method, None if found.params is msgspec.UNSET else found.params)


def _read_in_steps(raw: bytes, limits: Limits) -> Message:
    value = decode(raw, limits)
    return value if isinstance(value, Unreadable) else classify(value)


def decode(raw: bytes, limits: Limits = DEFAULT_LIMITS) -> JsonValue | Unreadable:
    """Check 1 of `read_message`: decode strict JSON."""
    try:
        return parse(raw, limits)
    except NotStrict as exc:
        return Unreadable(unreadable(exc))


def unreadable(exc: NotStrict) -> Failure:
    """The failure for bytes that are not strict JSON. It has the reason and the byte offset, but no part of the input."""
    return _unreadable_at(exc.fault, exc.position)


@lru_cache(maxsize=256)
def _unreadable_at(fault: Fault, position: int | None) -> Failure:
    """Cached: a client that sends malformed bytes often sends many, and each must cost less than a call."""
    if fault is Fault.TOO_LARGE:
        return fail("REQUEST_TOO_LARGE")
    if fault is Fault.TOO_MANY_VALUES:
        return fail("REQUEST_TOO_LARGE", details={"reason": fault.value})
    details: JsonObject = {"reason": fault.value}
    if position is not None:
        details["byte"] = position
    return fail("NOT_JSON", details=details)


def classify(value: JsonValue) -> Message:
    """Checks 2 and 3 of `read_message`, for a decoded value."""
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
        return _read_response(value, readable)
    return _read_request(value, readable)


def is_request_id(value: object) -> bool:
    """Whether the value is a string or an integer. In Python a boolean is an integer, but not in JSON."""
    return type(value) is str or type(value) is int


def _refuse(reason: str, request_id: Any) -> Unreadable:
    return Unreadable(fail("NOT_A_REQUEST", details={"reason": reason}), request_id)


def _read_request(value: JsonObject, request_id: Any) -> Message:
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


def _read_response(value: JsonObject, request_id: Any) -> Message:
    error = value.get("error")
    if ("result" in value) == ("error" in value):
        return _refuse("method", request_id)
    if request_id is None or ("error" in value and type(error) is not dict):
        return _refuse("answer", request_id)
    return Response(request_id, value.get("result"), error)


def render_result(request_id: RequestId, result: bytes) -> bytes:
    """Encode a response with a result that is already encoded."""
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (render(request_id), result)


def render_error(request_id: RequestId | None, error: JsonObject) -> bytes:
    """Encode an error response. An unknown id is left out: the schema of MCP does not allow a null id."""
    if request_id is None:
        return b'{"jsonrpc":"2.0","error":%b}' % render(error)
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (render(request_id), render(error))


def render_request(request_id: RequestId, method: str, params: JsonObject) -> bytes:
    """Encode a request."""
    return render({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})


def render_notification(method: str, params: JsonObject) -> bytes:
    """Encode a notification."""
    return render({"jsonrpc": "2.0", "method": method, "params": params})
