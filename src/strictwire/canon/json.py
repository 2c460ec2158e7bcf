"""Strict decode, canonical encode and raw member slices of JSON.

The parser is msgspec's: it refuses bad UTF-8, a byte order mark, lone surrogates, raw control characters, NaN, Infinity,
numbers out of range and trailing text, and keeps large integers exact. What it lets through and we do not, duplicate keys
and deep nesting, is judged here without a second parse wherever that can be proved safe.
"""

from __future__ import annotations

import json as stdlib_json
import math
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeAlias

import msgspec

JsonValue: TypeAlias = bool | int | float | str | list[Any] | dict[str, Any] | None
"""What JSON can say, as Python values."""

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object."""

MAX_DEPTH: Final = 128
"""Nesting that is accepted. Deeper documents crash schema engines (6,000 levels) and are never written by people."""

MAX_BYTES: Final = 4 * 1024 * 1024
"""One document: the official SDK's limit for a body, and far above any real call."""


class Fault(StrEnum):
    """Why a document is not strict JSON. Stable words: they are shown to callers in `details.reason`."""

    SYNTAX = "syntax"
    ENCODING = "encoding"
    NUMBER_RANGE = "number_range"
    DUPLICATE_KEY = "duplicate_key"
    TOO_DEEP = "too_deep"
    TOO_LARGE = "too_large"
    NOT_AN_OBJECT = "not_an_object"


class NotStrict(ValueError):
    """The bytes are not strict JSON. Carries fields, never a piece of the input."""

    def __init__(self, fault: Fault, position: int | None = None) -> None:
        super().__init__(fault, position)
        self.fault = fault
        self.position = position
        """Byte offset of the first offence where the parser tells it."""

    def __str__(self) -> str:
        where = "" if self.position is None else f" at byte {self.position}"
        return f"not strict JSON: {self.fault.value.replace('_', ' ')}{where}"


class NotJson(ValueError):
    """A Python value that JSON cannot carry: an object, NaN, a lone surrogate, a key that is not text, too deep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of one document."""

    size: int = MAX_BYTES
    depth: int = MAX_DEPTH


DEFAULT_LIMITS: Final = Limits()

LARGE: Final = 2048
"""Bytes from which on measuring depth is not next to nothing."""

ANY_DEPTH: Final = sys.maxsize
"""For `Limits.depth`, where depth is judged in another way. The parser itself stops before the stack ends."""

_NEVER_JSON: Final = (bytes, bytearray, memoryview)
"""Types the encoder would turn into base64 text by itself."""

_decode = msgspec.json.Decoder().decode
_decode_items = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_encode = msgspec.json.Encoder().encode
_encode_sorted = msgspec.json.Encoder(order="sorted").encode


def parse(raw: bytes, limits: Limits = DEFAULT_LIMITS) -> JsonValue:
    """Decode one strict JSON document.

    Raises NotStrict: too large, not UTF-8, bad syntax, a number out of range, too deep, a duplicate key; in that order.
    """
    if len(raw) > limits.size:
        raise NotStrict(Fault.TOO_LARGE)
    try:
        value: JsonValue = _decode(raw)
    except RecursionError:
        raise NotStrict(Fault.TOO_DEEP) from None
    except msgspec.ValidationError:
        raise NotStrict(Fault.NUMBER_RANGE) from None
    except msgspec.DecodeError as exc:
        raise NotStrict(Fault.SYNTAX, _position(exc, raw)) from None
    except UnicodeDecodeError:
        raise NotStrict(Fault.ENCODING, _first_bad_byte(raw)) from None
    if is_too_deep(raw, limits.depth):
        raise NotStrict(Fault.TOO_DEEP)
    try:
        twice = _has_duplicate_keys(raw, value)
    except RecursionError:  # only where the depth is not limited
        raise NotStrict(Fault.TOO_DEEP) from None
    if twice:
        raise NotStrict(Fault.DUPLICATE_KEY)
    return value


def is_strict(raw: bytes, value: object, limits: Limits = DEFAULT_LIMITS) -> bool:
    """Whether bytes that msgspec has read as a value, typed or not, are strict JSON too: not too deep, no duplicate key.

    False also where that takes a closer look: `parse` takes it, and names the fault.
    """
    if len(raw) > limits.size or (len(raw) > limits.depth and is_too_deep(raw, limits.depth)):
        return False
    written = _encode(value)
    return written == raw or keeps_colons(raw, written)


def parse_object(raw: bytes, limits: Limits = DEFAULT_LIMITS) -> JsonObject:
    """`parse` for documents that must be an object. Raises NotStrict also when it is something else."""
    value = parse(raw, limits)
    if not isinstance(value, dict):
        raise NotStrict(Fault.NOT_AN_OBJECT)
    return value


def slice_members(raw: bytes) -> Mapping[str, bytes]:
    """The raw bytes of each member of an object that `parse` has accepted, so that a relay can pass them on unchanged.

    Number text, member order and escapes inside a member are as they came. Raises NotStrict if it is not an object.
    """
    try:
        members = _decode_members(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise NotStrict(Fault.NOT_AN_OBJECT) from None
    return {name: bytes(value) for name, value in members.items()}


def slice_items(raw: bytes) -> list[bytes]:
    """The raw bytes of each item of an array that `parse` has accepted. Raises NotStrict if it is not an array."""
    try:
        return [bytes(item) for item in _decode_items(raw)]
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise NotStrict(Fault.SYNTAX) from None


def join_members(members: Mapping[str, bytes]) -> bytes:
    """Write an object from raw members, in the order given: the inverse of `slice_members`."""
    return b"{" + b",".join(_encode(name) + b":" + value for name, value in members.items()) + b"}"


render: Final[Callable[[JsonValue], bytes]] = _encode
"""Write a value that we built, in its declared order, without spaces. Same value, same bytes."""

render_sorted: Final[Callable[[JsonValue], bytes]] = _encode_sorted
"""Write a value with sorted keys, for digests and comparison."""


def quote(raw: bytes) -> bytes:
    """JSON that was rendered as a JSON string, for places that carry it as text."""
    return _encode(raw.decode())


def is_rendered(raw: bytes) -> bool:
    """Whether the bytes are exactly what `render` writes for some value: so no key is there twice and no space is."""
    try:
        return _encode(_decode(raw)) == raw
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


def indent(raw: bytes) -> bytes:
    """The same document for people: two spaces of indent, one item a line, `[]` and `{}` for what is empty."""
    return msgspec.json.format(raw, indent=2)


def as_json(value: object, limits: Limits = DEFAULT_LIMITS) -> tuple[JsonValue, bytes]:
    """Narrow what a handler returned to plain JSON, with its bytes in declared order.

    Dataclasses, msgspec structs, enums, dates and tuples become their JSON form. Raises NotJson for anything JSON
    cannot carry exactly: no `null` for NaN, no address of an object, no invented key.
    """
    try:
        raw = _encode(value)
        plain: JsonValue = _decode(raw)
        # Reading back what was written shows whatever the encoder bent: NaN as null, bytes as base64, a key 1 as "1".
        if plain != value:
            plain, raw = _flatten(value)
    except (TypeError, ValueError, RecursionError) as exc:
        raise NotJson("the value has a part that JSON cannot carry exactly") from exc
    if len(raw) > limits.depth and is_too_deep(raw, limits.depth):
        raise NotJson(f"nested deeper than {limits.depth} levels")
    return plain, raw


def _flatten(value: object) -> tuple[JsonValue, bytes]:
    """The plain form of dataclasses, tuples, dates and sets (sorted, for a set has no order of its own)."""
    plain = msgspec.to_builtins(value, builtin_types=_NEVER_JSON, order="deterministic")
    if not _is_plain(plain):
        raise NotJson("NaN, infinity, raw bytes or a key that is not text")
    raw = _encode(plain)
    return _decode(raw), raw


def _is_plain(value: object) -> bool:
    if isinstance(value, dict):
        return all(type(name) is str for name in value) and all(map(_is_plain, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    if isinstance(value, float):
        return math.isfinite(value)
    return not isinstance(value, _NEVER_JSON)


def _position(exc: msgspec.DecodeError, raw: bytes) -> int | None:
    """msgspec tells the offset only inside its sentence; a truncated document ends where it ends."""
    sentence = str(exc)
    _, found, rest = sentence.rpartition("(byte ")
    if found:
        return int(rest.rstrip(")"))
    return len(raw) if "truncated" in sentence else None


def _first_bad_byte(raw: bytes) -> int | None:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as exc:
        return exc.start
    return None


def is_too_deep(raw: bytes, depth: int = MAX_DEPTH) -> bool:
    """Whether a document that was read is nested beyond a limit.

    Fewer brackets than the limit cannot nest beyond it; otherwise indentation shows the depth at native speed.
    """
    if len(raw) <= depth:
        return False
    # Counting goes from find to find: in a large document there are many, and mostly nothing is to be counted.
    if len(raw) < LARGE and raw.count(b"{") + raw.count(b"[") <= depth:
        return False
    if _cancels_out(raw, min(_ROUNDS, depth // 2)) or raw.count(b"{") + raw.count(b"[") <= depth:
        return False
    try:
        indented = msgspec.json.format(raw, indent=1)
    except RecursionError:
        return True
    if b"\n" + b" " * depth not in indented:
        return False
    # A line that is indented by `depth` and ends in a bracket opens, closes or is a container one level too deep;
    # a string ends in a quote and cannot contain a raw line break.
    return re.search(rb"\n {%d}[^\n]*[][{}],?(?:\n|\Z)" % depth, indented) is not None


_ROUNDS: Final = 16
_NO_BRACKETS: Final = bytes(set(range(256)) - set(b'[]{}"'))


def _cancels_out(raw: bytes, rounds: int) -> bool:
    """Whether all brackets go away when pairs are taken out from the inside, two levels a round at most.

    Without escapes the quotes of a text that holds no bracket stand together and cancel out; the first text that does
    hold one leaves a quote over, and then nothing is said.
    """
    if b"\\" in raw:
        return False
    left = raw.translate(None, _NO_BRACKETS).replace(b'""', b"")
    if b'"' in left:
        return False
    for _ in range(rounds):
        if not left:
            return True
        left = left.replace(b"{}", b"").replace(b"[]", b"")
    return not left


def _has_duplicate_keys(raw: bytes, value: JsonValue) -> bool:
    """Decide whether the parser dropped a member.

    1. Written back byte for byte the same: nothing was dropped.
    2. Where no colon is escaped each one written back stands in the input too, and a dropped member loses at least one:
       equal counts prove that none was dropped.
    3. Otherwise read the pairs one by one.
    """
    written = _encode(value)
    return written != raw and not keeps_colons(raw, written) and _reads_a_key_twice(raw)


def keeps_colons(raw: bytes, written: bytes) -> bool:
    """Whether raw has as many colons as what was written back of it, and none of its colons is escaped."""
    return raw.count(b":") == written.count(b":") and _HIDDEN_COLON not in raw


_HIDDEN_COLON: Final = b"\\u003"
"""What an escaped colon begins with: where it stands, colons cannot be counted."""


class _KeyTwice(Exception):
    """Ends the reading of pairs."""


def _refuse_twice(pairs: list[tuple[str, object]]) -> None:
    if len({name for name, _ in pairs}) != len(pairs):
        raise _KeyTwice


def _reads_a_key_twice(raw: bytes) -> bool:
    try:
        stdlib_json.loads(raw, object_pairs_hook=_refuse_twice, parse_int=_skip, parse_float=_skip)
    except _KeyTwice:
        return True
    return False


def _skip(_text: str) -> None:
    """Numbers were judged already."""
