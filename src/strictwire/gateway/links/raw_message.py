"""Raw JSON-RPC messages: read strictly, and rewritten only at the members that must change. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from strictwire.canon.json import JsonObject, JsonValue, Limits, is_strict, join_members, slice_members
from strictwire.canon.shape import has_more_values
from strictwire.client.errors import NotUnderstood
from strictwire.wire.envelope import Message, Response, read_message
from strictwire.wire.names import META_SUBSCRIPTION

ANSWER_LIMITS: Final = Limits(size=8 * 1024 * 1024, values=200_000)
"""Limits of an upstream's message: twice those of a client's. An oversized answer can still be attributed, and a list of
tools is not refused as a whole because one schema is too large. Decoded it takes 64 MB at most."""

INVALID_PARAMS: Final = -32602
METHOD_NOT_FOUND: Final = -32601
INTERNAL_ERROR: Final = -32603

ID: Final = ("id",)
PROGRESS_TOKEN: Final = ("params", "_meta", "progressToken")
"""Where a request names its progress token."""
NOTIFIED_TOKEN: Final = ("params", "progressToken")
"""Where a progress notification repeats the token."""
NOTIFIED_SUBSCRIPTION: Final = ("params", "_meta", META_SUBSCRIPTION)
ENDED_SUBSCRIPTION: Final = ("result", "_meta", META_SUBSCRIPTION)
CANCELLED_ID: Final = ("params", "requestId")

_ID_FIRST: Final = b'{"jsonrpc":"2.0","id":'
_ID_LAST: Final = b',"jsonrpc":"2.0","id":'


class _Answer(msgspec.Struct, kw_only=True, gc=False):
    """A successful response, with its members in the order in which most servers write them."""

    jsonrpc: Literal["2.0"]
    id: int | str
    result: JsonObject


_decode_answer: Final = msgspec.json.Decoder(_Answer).decode


class UpstreamAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """An upstream's answer. Exactly one of `result` and `error` is set."""

    raw: bytes
    """The whole message, with the client's id."""
    result: JsonObject | None = None
    error: JsonObject | None = None
    status: int | None = None
    """The HTTP status, for an upstream over HTTP."""


def read_upstream(raw: bytes) -> Message:
    """One message of an upstream. Nearly all are successful responses, which msgspec reads and checks in one pass.

    The values of a large message are counted first: decoded, they may take fifty times its bytes.
    """
    if has_more_values(raw, ANSWER_LIMITS.values):
        return read_message(raw, ANSWER_LIMITS)
    try:
        found = _decode_answer(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return read_message(raw, ANSWER_LIMITS)
    # msgspec ignores other members, such as an `error` beside the result; `is_strict` notices that something is missing.
    if is_strict(raw, found, ANSWER_LIMITS):
        return Response(found.id, found.result, None)
    return read_message(raw, ANSWER_LIMITS)


def read_answer(response: Response, raw: bytes, status: int | None = None) -> UpstreamAnswer:
    """Check a response: `result` is an object, or `error` has a code and a message. Raises NotUnderstood."""
    if response.error is None:
        if not isinstance(response.result, dict):
            raise NotUnderstood("a result must be an object", raw, status)
        return UpstreamAnswer(raw=raw, result=response.result, status=status)
    if type(response.error.get("code")) is not int or not isinstance(response.error.get("message"), str):
        raise NotUnderstood("an error must have a code and a message", raw, status)
    return UpstreamAnswer(raw=raw, error=response.error, status=status)


def replace_at(raw: bytes, path: Sequence[str], value: bytes) -> bytes:
    """The object with the member at the path replaced or added; the bytes of every other value are kept.

    Raises NotStrict: something on the path is not an object.
    """
    name, *rest = path
    members = dict(slice_members(raw))
    members[name] = replace_at(members[name], rest, value) if rest else value
    return join_members(members)


def replace_id(raw: bytes, old: bytes, new: bytes) -> bytes:
    """The message with another id.

    Libraries write the id next to `jsonrpc`, as the first or the last members. There the bytes are replaced without
    parsing: text that begins with the first brace, or ends with the last, is a member of the message itself.
    """
    first, last = _ID_FIRST + old + b",", _ID_LAST + old + b"}"
    if raw.startswith(first):
        return _ID_FIRST + new + raw[len(first) - 1 :]
    if raw.endswith(last):
        return raw[: -len(last)] + _ID_LAST + new + b"}"
    return replace_at(raw, ID, new)


def slice_at(raw: bytes, path: Sequence[str]) -> bytes | None:
    """The raw bytes of the member at the path; None if there is none. Raises NotStrict."""
    for name in path:
        found = slice_members(raw).get(name)
        if found is None:
            return None
        raw = found
    return raw


def value_at(message: JsonObject | None, *path: str) -> JsonValue:
    """The decoded member at the path; None if there is none."""
    value: JsonValue = message
    for name in path:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def one_line(raw: bytes) -> bytes:
    """The document on one line. A line break outside of strings is white space, and inside of strings there can be none."""
    if b"\n" in raw or b"\r" in raw:
        return raw.replace(b"\r", b" ").replace(b"\n", b" ")
    return raw
