"""Raw JSON-RPC messages on their way through: read strictly, changed only at the members that must change. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue, Limits, join_members, slice_members
from strictwire.wire.envelope import Message, read_message

ANSWER_LIMITS: Final = Limits(size=8 * 1024 * 1024)
"""What is read of an upstream: twice what is accepted of a client, so that it can be judged before it is refused."""

ID: Final = ("id",)
_FIRST: Final = b'{"jsonrpc":"2.0","id":'
_LAST: Final = b',"jsonrpc":"2.0","id":'
TOKEN: Final = ("params", "_meta", "progressToken")
"""Where a request names the token of its progress."""

TOLD_TOKEN: Final = ("params", "progressToken")
"""Where a progress notification repeats it."""

SUBSCRIPTION: Final = "io.modelcontextprotocol/subscriptionId"
TOLD_SUBSCRIPTION: Final = ("params", "_meta", SUBSCRIPTION)
ENDED_SUBSCRIPTION: Final = ("result", "_meta", SUBSCRIPTION)
LISTED: Final = ("result", "tools")
NAMED: Final = ("params", "name")
SCOPE: Final = ("result", "cacheScope")
PRIVATE: Final = "private"
CANCELLED_ID: Final = ("params", "requestId")


def replace_at(raw: bytes, path: Sequence[str], value: bytes) -> bytes:
    """The object with the member at the path replaced or added; every other byte of a value is kept.

    Raises NotStrict: something on the path is not an object.
    """
    name, *rest = path
    members = dict(slice_members(raw))
    members[name] = replace_at(members[name], rest, value) if rest else value
    return join_members(members)


def with_id(raw: bytes, old: bytes, new: bytes) -> bytes:
    """The message with another id.

    Libraries write the id right behind `jsonrpc`, as the first members or as the last; there it is put in place of the old
    one. In a strict document neither can be inside a string or another object: what begins with the first brace or ends
    with the last is a member of the whole.
    """
    first, last = _FIRST + old + b",", _LAST + old + b"}"
    if raw.startswith(first):
        return _FIRST + new + raw[len(first) - 1 :]
    if raw.endswith(last):
        return raw[: -len(last)] + _LAST + new + b"}"
    return replace_at(raw, ID, new)


def slice_at(raw: bytes, path: Sequence[str]) -> bytes | None:
    """The raw bytes of the member at the path; None if it is not there. Raises NotStrict."""
    for name in path:
        found = slice_members(raw).get(name)
        if found is None:
            return None
        raw = found
    return raw


def value_at(message: JsonObject | None, *path: str) -> JsonValue:
    """The decoded member at the path; None if it is not there."""
    value: JsonValue = message
    for name in path:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def one_line(raw: bytes) -> bytes:
    """The same document on one line: outside of strings a line break is only space, and inside there can be none."""
    if b"\n" in raw or b"\r" in raw:
        return raw.replace(b"\r", b" ").replace(b"\n", b" ")
    return raw


def read_upstream(raw: bytes) -> Message:
    """One message of an upstream."""
    return read_message(raw, ANSWER_LIMITS)
