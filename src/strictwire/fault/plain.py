"""Anything at all as plain JSON: bounded, without cycles, without secrets, and the same for the same value.

Used for the cause of a failure, which may be whatever a handler raised, and for details, which a handler wrote. Never
raises, whatever the objects do when they are asked for their text. An exception becomes `{message, code, name}`, with
what it came from as `cause` and the members of a group as `errors`.

Applied to its own result it changes nothing, so a failure that was read back is rendered as it was.
"""

from __future__ import annotations

import errno
import math
import re
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any, Final, TypeVar

from strictwire.canon.json import JsonValue, render, render_sorted
from strictwire.fault.redact import KNOWN, KNOWN_NAMES, MARK, is_harmless, is_plain_name, redact, redact_text

Answer = TypeVar("Answer")

MAX_DEPTH: Final = 8
"""Levels of nesting, and so of exceptions that caused one another. Deeper ones tell nothing more."""

MAX_ITEMS: Final = 50
"""Members of one object or list."""

MAX_TEXT: Final = 1_000
"""Characters of one text."""

MAX_NAME: Final = 100
"""Characters of a member's name."""

MAX_CHARACTERS: Final = 8_192
"""Characters of all texts and names together: a cause is a hint, the log has the rest."""

MAX_NODES: Final = 256
"""Values altogether."""

MORE: Final = "…"
"""What stands where something was left out."""

_EXACT_BITS: Final = 63
"""Integers that every JSON reader with 64 bits keeps."""

_STEADY: Final = 4
"""Rounds after which a text that was cut inside something redacted has settled."""

_ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]+")
"""Differs from run to run, so it would make equal failures differ."""

_LONE: Final = re.compile("[\ud800-\udfff]")
"""Half a character: UTF-8 cannot carry it."""


def plain(value: object) -> JsonValue:
    """The value as JSON, within the bounds above."""
    try:
        return _copy_plain(value)
    except _NotPlainYet:
        return _write(value)


def _write(value: object) -> JsonValue:
    writer = _Writer()
    written = writer.write(value, MAX_DEPTH)
    result = redact(written)
    # A mark may be longer than the secret it stands for, and what was cut may now be cut elsewhere: write until it stays.
    for _ in range(_STEADY if writer.left_out or result != written else 0):
        result = redact(_Writer().write(result, MAX_DEPTH))
    return result


def plain_text(text: str, limit: int = MAX_TEXT) -> str:
    """A text that UTF-8 can carry, without secrets, of at most `limit` characters."""
    if len(text) <= limit and (text in KNOWN or (text.isascii() and is_harmless(text))):
        return text
    for _ in range(_STEADY):
        shorter = _cut(text, limit)
        if shorter == text:
            break
        text = shorter
    return text


def _cut(text: str, limit: int) -> str:
    seen = text[: 2 * limit]
    clean = redact_text(seen if seen.isascii() else _LONE.sub("\ufffd", seen))
    if len(clean) <= limit and len(seen) == len(text):
        return clean
    kept = clean[: limit - 1]
    # A mark that is cut in half would look like a secret to the next reader.
    halves = (kept[: -len(MARK[:size])] for size in range(len(MARK) - 1, 0, -1) if kept.endswith(MARK[:size]))
    return next(halves, kept) + MORE


class _NotPlainYet(Exception):
    """Something has to be written otherwise, or there may be more than fits."""


def _copy_plain(value: object) -> JsonValue:
    """A copy of a value that is plain already, as most are. Raises _NotPlainYet: `_write` might change something."""
    copied = _copy(value, MAX_DEPTH, [MAX_NODES - 1])
    # JSON is never shorter than the characters in it.
    if type(copied) is not str and len(render(copied)) >= MAX_CHARACTERS:
        raise _NotPlainYet
    return copied


def _copy(value: Any, depth: int, left: list[int]) -> JsonValue:
    """The value, if it is plain and has no more parts than are left."""
    kind = type(value)
    if kind is str:
        if value in KNOWN or (len(value) <= MAX_TEXT and value.isascii() and is_harmless(value)):
            return value  # type: ignore[no-any-return]
    elif kind is dict or kind is list:
        left[0] -= len(value)
        if depth > 1 and len(value) <= MAX_ITEMS and left[0] >= 0:
            return (
                _copy_members(value, depth - 1, left) if kind is dict else [_copy(each, depth - 1, left) for each in value]
            )
    elif value is None or kind is bool or (kind is int and value.bit_length() <= _EXACT_BITS):
        return value  # type: ignore[no-any-return]
    raise _NotPlainYet


def _copy_members(members: dict[Any, Any], depth: int, left: list[int]) -> JsonValue:
    return {
        name if type(name) is str and name in KNOWN_NAMES else _copy_name(name): _copy(value, depth, left)
        for name, value in members.items()
    }


def _copy_name(name: object) -> str:
    if type(name) is str and len(name) <= MAX_NAME and name.isascii() and is_plain_name(name):
        return name
    raise _NotPlainYet


class _LeftOut(Exception):
    """The bounds leave no room for this value."""


class _Writer:
    """Writes one value; counts what it has written."""

    def __init__(self) -> None:
        self.left_out = False
        self._nodes = MAX_NODES
        self._characters = MAX_CHARACTERS
        self._open: set[int] = set()

    def write(self, value: object, depth: int) -> JsonValue:
        """The plain form. Raises _LeftOut when there is no room for it."""
        if self._nodes <= 0 or self._characters <= 0:
            self.left_out = True
            raise _LeftOut
        self._nodes -= 1
        try:
            return self._form(value, depth)
        except Exception:  # noqa: BLE001 - contains what foreign __str__, __class__ and iterators raise
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
        """A value with parts: not below itself, and not below the last level."""
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
        """Sorted by what is written; one that is too large has no first members, so only its size is told."""
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
            except _LeftOut:
                break
        return written

    def _items(self, items: Iterable[object], depth: int) -> list[JsonValue]:
        written: list[JsonValue] = []
        for item in islice(items, MAX_ITEMS):
            try:
                written.append(self.write(item, depth))
            except _LeftOut:
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
"""What is written how; the first that fits."""


def _exception_members(thrown: BaseException) -> Iterable[tuple[str, object]]:
    yield "message", _ADDRESS.sub("", _asked(lambda: str.__str__(str(thrown)), ""))
    yield "code", _asked(lambda: _code_of(thrown), None)
    yield "name", _class_name(thrown)
    origin = _asked(lambda: _origin_of(thrown), None)
    if origin is not None:
        yield "cause", origin
    if isinstance(thrown, BaseExceptionGroup):
        yield "errors", thrown.exceptions


def _asked(question: Callable[[], Answer], otherwise: Answer) -> Answer:
    try:
        return question()
    except Exception:  # noqa: BLE001 - contains foreign __str__ and properties; the rest of the exception is still told
        return otherwise


def _code_of(thrown: BaseException) -> str | int | None:
    """What the exception itself calls its code; for errors of the system, the name of its number."""
    code = getattr(thrown, "code", None)
    if isinstance(code, str | int) and not isinstance(code, bool):
        return code
    return errno.errorcode.get(thrown.errno or 0) if isinstance(thrown, OSError) else None


def _origin_of(thrown: BaseException) -> BaseException | None:
    return thrown.__cause__ or (None if thrown.__suppress_context__ else thrown.__context__)


def _has_own_text(value: object) -> bool:
    return type(value).__str__ is not object.__str__


def _key_text(key: object) -> str:
    return str(key) if key is None or isinstance(key, bool | int | float) else _type_name(key)


def _type_name(value: object) -> str:
    return f"<{_class_name(value)}>"


def _class_name(value: object) -> str:
    """Asked of `type` itself: a metaclass may answer otherwise, or raise."""
    return str(type.__dict__["__name__"].__get__(type(value)))
