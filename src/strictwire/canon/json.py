"""Strict JSON decoding, JSON encoding, and raw slices of members and items.

The parser is msgspec. It refuses invalid UTF-8, a byte order mark, lone surrogates, raw control characters, NaN, Infinity,
numbers out of range and trailing text, and keeps large integers exact. msgspec accepts duplicate keys and deep nesting.
This module refuses both, and avoids a second parse wherever a cheaper test is proof enough.
"""

from __future__ import annotations

import json as stdlib_json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeAlias

import msgspec

from strictwire.canon.shape import has_more_values, is_deeper

JsonValue: TypeAlias = bool | int | float | str | list[Any] | dict[str, Any] | None
"""A decoded JSON value."""

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object."""

MAX_DEPTH: Final = 128
"""Maximum nesting. People never write deeper documents, and schema engines overflow the stack on much deeper ones (6,000
levels)."""

MAX_BYTES: Final = 4 * 1024 * 1024
"""Maximum size of one document: the body limit of the official SDK, and far larger than any real call."""

MAX_VALUES: Final = 100_000
"""Maximum number of values in one document: 10,000 rows of ten cells. A value takes up to 155 bytes of memory once decoded
(`{"1":{}}`), so this and MAX_BYTES keep one message below 64 MB."""


class Fault(StrEnum):
    """Why a document is not strict JSON. The values are stable: clients receive them in `details.reason`."""

    SYNTAX = "syntax"
    ENCODING = "encoding"
    NUMBER_RANGE = "number_range"
    DUPLICATE_KEY = "duplicate_key"
    TOO_DEEP = "too_deep"
    TOO_LARGE = "too_large"
    TOO_MANY_VALUES = "too_many_values"
    NOT_AN_OBJECT = "not_an_object"


class NotStrict(ValueError):
    """The bytes are not strict JSON. Never contains a part of the input."""

    def __init__(self, fault: Fault, position: int | None = None) -> None:
        super().__init__(fault, position)
        self.fault = fault
        self.position = position
        """Byte offset of the first error, if the parser reports it."""

    def __str__(self) -> str:
        where = "" if self.position is None else f" at byte {self.position}"
        return f"not strict JSON: {self.fault.value.replace('_', ' ')}{where}"


class NotJson(ValueError):
    """A Python value with no exact JSON form: an object, NaN, a lone surrogate, a key that is not a string, too deep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of one document."""

    size: int = MAX_BYTES
    """Bytes."""
    depth: int = MAX_DEPTH
    """Levels of nesting."""
    values: int = MAX_VALUES
    """Scalars, arrays and objects. Documents of fewer bytes than this are not counted."""


DEFAULT_LIMITS: Final = Limits()

_BINARY_TYPES: Final = (bytes, bytearray, memoryview)
"""Types that msgspec would encode as base64 strings. JSON has no binary type, so they are refused instead."""

_decode = msgspec.json.Decoder().decode
_decode_items = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_encode = msgspec.json.Encoder().encode
_encode_sorted = msgspec.json.Encoder(order="sorted").encode


def parse(raw: bytes, limits: Limits = DEFAULT_LIMITS) -> JsonValue:
    """Decode one strict JSON document.

    Raises NotStrict if it is too large, has too many values, is not UTF-8, not valid JSON, has a number out of range, is
    nested too deep or has a duplicate key. Bytes and values are counted first, before anything is decoded; then comes what
    the parser finds, then depth, then duplicate keys.
    """
    if len(raw) > limits.size:
        raise NotStrict(Fault.TOO_LARGE)
    if len(raw) > limits.values and has_more_values(raw, limits.values):
        raise NotStrict(Fault.TOO_MANY_VALUES)
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
    if is_deeper(raw, limits.depth):
        raise NotStrict(Fault.TOO_DEEP)
    try:
        has_duplicates = _has_duplicate_keys(raw, value)
    except RecursionError:  # the caller set a depth limit beyond what the parser of the standard library can recurse
        raise NotStrict(Fault.TOO_DEEP) from None
    if has_duplicates:
        raise NotStrict(Fault.DUPLICATE_KEY)
    return value


def is_strict(raw: bytes, value: object, limits: Limits = DEFAULT_LIMITS) -> bool:
    """Whether `raw`, which msgspec decoded to `value`, is strict JSON: within the limits and without duplicate keys.

    `value` may be untyped or a struct. True is proof; False means "not proven": call `parse`, which decides and names the
    fault. Call it only for documents of at most `limits.values` bytes: larger ones must be counted before they are decoded.
    """
    if len(raw) > limits.size or (len(raw) > limits.depth and is_deeper(raw, limits.depth)):
        return False
    encoded = _encode(value)
    return encoded == raw or _colons_prove_unique_keys(raw, encoded)


def parse_object(raw: bytes, limits: Limits = DEFAULT_LIMITS) -> JsonObject:
    """Decode one strict JSON document that must be an object. Raises NotStrict, also if it is not an object."""
    value = parse(raw, limits)
    if not isinstance(value, dict):
        raise NotStrict(Fault.NOT_AN_OBJECT)
    return value


def slice_members(raw: bytes) -> Mapping[str, bytes]:
    """The raw bytes of each member of an object that `parse` accepted, so that a relay can forward them unchanged.

    The spelling of numbers, the member order and the escapes inside a member are kept. Raises NotStrict if the document is
    not an object.
    """
    try:
        members = _decode_members(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise NotStrict(Fault.NOT_AN_OBJECT) from None
    return {name: bytes(value) for name, value in members.items()}


def slice_items(raw: bytes) -> list[bytes]:
    """The raw bytes of each item of an array that `parse` accepted. Raises NotStrict if the document is not an array."""
    try:
        return [bytes(item) for item in _decode_items(raw)]
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise NotStrict(Fault.SYNTAX) from None


def join_members(members: Mapping[str, bytes]) -> bytes:
    """Encode an object from the raw bytes of its members, in the given order. The inverse of `slice_members`."""
    return b"{" + b",".join(_encode(name) + b":" + value for name, value in members.items()) + b"}"


render: Final[Callable[[JsonValue], bytes]] = _encode
"""Encode a trusted value, with members in insertion order and without spaces. Equal values in equal order give equal
bytes. Use `as_json` for the result of a handler."""

render_sorted: Final[Callable[[JsonValue], bytes]] = _encode_sorted
"""Encode a trusted value with sorted keys, for digests and comparison."""


def is_rendered(raw: bytes) -> bool:
    """Whether the bytes are exactly what `render` writes for some value. Then they have no duplicate keys and no spaces."""
    try:
        return _encode(_decode(raw)) == raw
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


def indent(raw: bytes) -> bytes:
    """The same document formatted for people: an indent of two spaces, one item per line."""
    return msgspec.json.format(raw, indent=2)


def as_json(value: object, limits: Limits = DEFAULT_LIMITS) -> tuple[JsonValue, bytes]:
    """Convert the result of a handler to plain JSON. Returns the value and its bytes.

    Dataclasses, msgspec structs, enums, dates, tuples and sets become their JSON form. Raises NotJson for a value that has
    no exact JSON form. NaN never becomes `null`, bytes never become base64, and keys that are not strings are not converted.
    """
    try:
        raw = _encode(value)
        plain: JsonValue = _decode(raw)
        # msgspec converts some values silently: NaN to null, bytes to base64, the key 1 to "1". Bytes that decode to an
        # equal value prove that it did not.
        if plain != value:
            plain, raw = _to_plain(value)
    except (TypeError, ValueError, RecursionError) as exc:
        raise NotJson("a part of the value has no exact JSON form") from exc
    if len(raw) > limits.depth and is_deeper(raw, limits.depth):
        raise NotJson(f"nested deeper than {limits.depth} levels")
    return plain, raw


def _to_plain(value: object) -> tuple[JsonValue, bytes]:
    """Convert dataclasses, tuples, dates and so on. Sets are sorted: equal sets must give equal bytes."""
    plain = msgspec.to_builtins(value, builtin_types=_BINARY_TYPES, order="deterministic")
    if not _is_plain(plain):
        raise NotJson("NaN, infinity, bytes or a key that is not a string")
    raw = _encode(plain)
    return _decode(raw), raw


def _is_plain(value: object) -> bool:
    if isinstance(value, dict):
        return all(type(name) is str for name in value) and all(map(_is_plain, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    if isinstance(value, float):
        return math.isfinite(value)
    return not isinstance(value, _BINARY_TYPES)


def _position(exc: msgspec.DecodeError, raw: bytes) -> int | None:
    """The byte offset of a syntax error. msgspec reports it only in its message; for a truncated document it is the end."""
    message = str(exc)
    _, found, rest = message.rpartition("(byte ")
    if found:
        return int(rest.rstrip(")"))
    return len(raw) if "truncated" in message else None


def _first_bad_byte(raw: bytes) -> int | None:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as exc:
        return exc.start
    return None


def _has_duplicate_keys(raw: bytes, value: JsonValue) -> bool:
    """Whether msgspec dropped a member because its key occurs twice. The cheapest sufficient test decides:

    1. Encoding the value gives the same bytes: nothing was dropped.
    2. The colons match (`_colons_prove_unique_keys`): nothing was dropped.
    3. Otherwise parse again with the standard library, which passes every key to a hook.
    """
    encoded = _encode(value)
    return encoded != raw and not _colons_prove_unique_keys(raw, encoded) and _finds_duplicate_key(raw)


def _colons_prove_unique_keys(raw: bytes, encoded: bytes) -> bool:
    """Whether the input and the encoded value have the same number of colons, and no colon of the input is escaped.

    Then no member was dropped: every colon of the encoded value is also in the input, and a dropped member has at least one
    colon more. False means "not proven".
    """
    return raw.count(b":") == encoded.count(b":") and _ESCAPED_COLON_START not in raw


_ESCAPED_COLON_START: Final = b"\\u003"
"""The start of `\\u003a` and `\\u003A`. An escaped colon is not counted in the input but is in the encoded value."""


class _DuplicateKey(Exception):
    """Stops the parser at the first duplicate key."""


def _refuse_duplicates(pairs: list[tuple[str, object]]) -> None:
    if len({name for name, _ in pairs}) != len(pairs):
        raise _DuplicateKey


def _finds_duplicate_key(raw: bytes) -> bool:
    try:
        stdlib_json.loads(raw, object_pairs_hook=_refuse_duplicates, parse_int=_skip, parse_float=_skip)
    except _DuplicateKey:
        return True
    return False


def _skip(_text: str) -> None:
    """Do not convert numbers: msgspec has checked them."""
