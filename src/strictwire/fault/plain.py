"""Converts any Python value to safe JSON: bounded, without cycles, without secrets, and deterministic.

Used for the cause of a failure, which may be any exception of a handler, and for details, which a handler wrote. Never
raises, even if `__str__` or an iterator of the value raises. An exception becomes `{message, code, name}`, with its
origin as `cause` and the members of an exception group as `errors`.

Idempotent: applied to its own result it changes nothing, so a failure that a client read renders to the same JSON.
"""

from __future__ import annotations

import errno
import math
import re
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any, Final, TypeVar

from strictwire.canon.json import JsonValue, render, render_sorted
from strictwire.fault.redact import HARMLESS_TEXTS, MARK, PLAIN_NAMES, is_harmless, is_plain_name, redact, redact_text

Result = TypeVar("Result")

MAX_DEPTH: Final = 8
"""Maximum nesting, which also bounds chains of exceptions. Deeper levels add no useful information."""

MAX_ITEMS: Final = 50
"""Maximum members of one object or list."""

MAX_TEXT: Final = 1_000
"""Longest string in characters."""

MAX_NAME: Final = 100
"""Longest member name in characters."""

MAX_CHARACTERS: Final = 8_192
"""Maximum characters of all strings and names together: a cause is a hint, the log has the full text."""

MAX_NODES: Final = 256
"""Maximum number of values."""

MORE: Final = "…"
"""Marks an omission."""

_EXACT_BITS: Final = 63
"""Larger integers lose precision in parsers with 64-bit integers."""

_MAX_ROUNDS: Final = 4
"""Rounds of truncation and redaction until the result no longer changes."""

_ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]+")
"""Memory addresses differ from run to run, so equal failures would differ."""

_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
"""UTF-8 cannot encode lone surrogates."""


def plain(value: object) -> JsonValue:
    """Convert a value to JSON within the bounds above."""
    try:
        return _copy_plain(value)
    except _NeedsRewrite:
        return _write(value)


def _write(value: object) -> JsonValue:
    writer = _Writer()
    written = writer.write(value, MAX_DEPTH)
    result = redact(written)
    # The redaction mark may be longer than the secret, which can change where text is truncated. Repeat until stable.
    for _ in range(_MAX_ROUNDS if writer.left_out or result != written else 0):
        result = redact(_Writer().write(result, MAX_DEPTH))
    return result


def plain_text(text: str, limit: int = MAX_TEXT) -> str:
    """A string of at most `limit` characters that UTF-8 can encode, with secrets redacted."""
    if len(text) <= limit and (text in HARMLESS_TEXTS or (text.isascii() and is_harmless(text))):
        return text
    for _ in range(_MAX_ROUNDS):
        shorter = _cut(text, limit)
        if shorter == text:
            break
        text = shorter
    return text


def _cut(text: str, limit: int) -> str:
    seen = text[: 2 * limit]
    clean = redact_text(seen if seen.isascii() else _LONE_SURROGATE.sub("\ufffd", seen))
    if len(clean) <= limit and len(seen) == len(text):
        return clean
    kept = clean[: limit - 1]
    # Remove a truncated redaction mark at the end: the next round would not recognise it.
    halves = (kept[: -len(MARK[:size])] for size in range(len(MARK) - 1, 0, -1) if kept.endswith(MARK[:size]))
    return next(halves, kept) + MORE


class _NeedsRewrite(Exception):
    """The fast path does not apply: a value must be converted, or the bounds may be exceeded."""


def _copy_plain(value: object) -> JsonValue:
    """Fast path: copy a value that already is safe JSON, as most are. Raises _NeedsRewrite if `_write` might change it."""
    copied = _copy(value, MAX_DEPTH, [MAX_NODES - 1])
    # The JSON is at least as long as all strings in it, so this bounds the characters.
    if type(copied) is not str and len(render(copied)) >= MAX_CHARACTERS:
        raise _NeedsRewrite
    return copied


def _copy(value: Any, depth: int, left: list[int]) -> JsonValue:
    """Copy the value if it is safe JSON. `left` is the number of values that may still be copied."""
    kind = type(value)
    if kind is str:
        if value in HARMLESS_TEXTS or (len(value) <= MAX_TEXT and value.isascii() and is_harmless(value)):
            return value  # type: ignore[no-any-return]
    elif kind is dict or kind is list:
        left[0] -= len(value)
        if depth > 1 and len(value) <= MAX_ITEMS and left[0] >= 0:
            return (
                _copy_members(value, depth - 1, left) if kind is dict else [_copy(each, depth - 1, left) for each in value]
            )
    elif value is None or kind is bool or (kind is int and value.bit_length() <= _EXACT_BITS):
        return value  # type: ignore[no-any-return]
    raise _NeedsRewrite


def _copy_members(members: dict[Any, Any], depth: int, left: list[int]) -> JsonValue:
    return {
        name if type(name) is str and name in PLAIN_NAMES else _copy_name(name): _copy(value, depth, left)
        for name, value in members.items()
    }


def _copy_name(name: object) -> str:
    if type(name) is str and len(name) <= MAX_NAME and name.isascii() and is_plain_name(name):
        return name
    raise _NeedsRewrite


class _NoRoom(Exception):
    """The bounds are reached; the value is omitted."""


class _Writer:
    """Converts one value and counts values and characters."""

    def __init__(self) -> None:
        self.left_out = False
        self._nodes = MAX_NODES
        self._characters = MAX_CHARACTERS
        self._open: set[int] = set()

    def write(self, value: object, depth: int) -> JsonValue:
        """Convert a value. Raises _NoRoom if the bounds are reached."""
        if self._nodes <= 0 or self._characters <= 0:
            self.left_out = True
            raise _NoRoom
        self._nodes -= 1
        try:
            return self._form(value, depth)
        except Exception:  # noqa: BLE001 - a foreign __str__, __class__ or iterator may raise anything
            return self._text(_type_name(value))

    def _form(self, value: object, depth: int) -> JsonValue:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._text(str.__str__(value))
        for kind, form in _FORMS:
            if isinstance(value, kind):
                return form(self, value, depth)
        return self._text(_ADDRESS.sub("", str(value)) if _has_own_text(value) else _type_name(value))

    def _text(self, text: str, limit: int = MAX_TEXT) -> str:
        written = plain_text(text, min(limit, self._characters))
        self.left_out |= len(written) < len(text)
        self._characters -= len(written)
        return written

    def _nested(self, value: object, depth: int, write: Callable[[int], JsonValue]) -> JsonValue:
        """Convert a container, unless it contains itself or exceeds the maximum depth."""
        if depth <= 1 or id(value) in self._open:
            return self._text(MORE)
        self._open.add(id(value))
        try:
            return write(depth - 1)
        finally:
            self._open.discard(id(value))

    def integer(self, value: int, _depth: int) -> JsonValue:
        exact = int.__index__(value)
        return exact if exact.bit_length() <= _EXACT_BITS else self._text(f"integer of {exact.bit_length()} bits")

    def number(self, value: float, _depth: int) -> JsonValue:
        exact = float.__float__(value)
        return exact if math.isfinite(exact) else self._text(float.__repr__(exact))

    def octets(self, value: bytes, _depth: int) -> JsonValue:
        return self._text(bytes(value[: 2 * MAX_TEXT]).decode("utf-8", "backslashreplace"))

    def exception(self, value: BaseException, depth: int) -> JsonValue:
        return self._nested(value, depth, lambda below: self._members(_exception_members(value), below))

    def mapping(self, value: Mapping[Any, Any], depth: int) -> JsonValue:
        members = dict.items(value) if isinstance(value, dict) else value.items()
        return self._nested(value, depth, lambda below: self._members(members, below))

    def listing(self, value: Iterable[object], depth: int) -> JsonValue:
        return self._nested(value, depth, lambda below: self._items(value, below))

    def unordered(self, value: set[object] | frozenset[object], depth: int) -> JsonValue:
        """Sorted by the converted members. A large set is only its size: it has no order, so no stable first members."""
        if len(value) > MAX_ITEMS:
            return self._text(f"set of {len(value)}")
        return self._nested(value, depth, lambda below: sorted(self._items(value, below), key=render_sorted))

    def _members(self, members: Iterable[tuple[object, object]], depth: int) -> dict[str, JsonValue]:
        written: dict[str, JsonValue] = {}
        for count, (key, value) in enumerate(islice(members, MAX_ITEMS + 1)):
            if count == MAX_ITEMS or self._characters <= 0:
                self.left_out = True
                break
            name = self._text(str.__str__(key) if isinstance(key, str) else _key_text(key), MAX_NAME)
            try:
                written.setdefault(name, self.write(value, depth))
            except _NoRoom:
                break
        return written

    def _items(self, items: Iterable[object], depth: int) -> list[JsonValue]:
        written: list[JsonValue] = []
        for item in islice(items, MAX_ITEMS):
            try:
                written.append(self.write(item, depth))
            except _NoRoom:
                break
        return written


_FORMS: Final[tuple[tuple[Any, Callable[[_Writer, Any, int], JsonValue]], ...]] = (
    (int, _Writer.integer),
    (float, _Writer.number),
    ((bytes, bytearray), _Writer.octets),
    (BaseException, _Writer.exception),
    (Mapping, _Writer.mapping),
    ((list, tuple), _Writer.listing),
    ((set, frozenset), _Writer.unordered),
)
"""Conversions by type; the first match wins."""


def _exception_members(raised: BaseException) -> Iterable[tuple[str, object]]:
    yield "message", _ADDRESS.sub("", _guarded(lambda: str.__str__(str(raised)), ""))
    yield "code", _guarded(lambda: _code_of(raised), None)
    yield "name", _class_name(raised)
    origin = _guarded(lambda: _origin_of(raised), None)
    if origin is not None:
        yield "cause", origin
    if isinstance(raised, BaseExceptionGroup):
        yield "errors", raised.exceptions


def _guarded(read: Callable[[], Result], default: Result) -> Result:
    try:
        return read()
    except Exception:  # noqa: BLE001 - a foreign __str__ or property may raise anything; the other members are kept
        return default


def _code_of(raised: BaseException) -> str | int | None:
    """The `code` attribute of the exception; for an OSError, the name of its errno."""
    code = getattr(raised, "code", None)
    if isinstance(code, str | int) and not isinstance(code, bool):
        return code
    return errno.errorcode.get(raised.errno or 0) if isinstance(raised, OSError) else None


def _origin_of(raised: BaseException) -> BaseException | None:
    return raised.__cause__ or (None if raised.__suppress_context__ else raised.__context__)


def _has_own_text(value: object) -> bool:
    return type(value).__str__ is not object.__str__


def _key_text(key: object) -> str:
    return str(key) if key is None or isinstance(key, bool | int | float) else _type_name(key)


def _type_name(value: object) -> str:
    return f"<{_class_name(value)}>"


def _class_name(value: object) -> str:
    """The name of the class, read from `type` directly: a metaclass may override `__name__`, or raise."""
    return str(type.__dict__["__name__"].__get__(type(value)))
