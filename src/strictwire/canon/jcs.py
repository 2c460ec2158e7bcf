"""Canonical JSON (RFC 8785, JCS): equal values have equal bytes, in every programming language.

JCS sorts members by UTF-16 code units and writes numbers as ECMAScript does. ECMAScript numbers are doubles, so an integer
beyond 2**53 loses precision. Use canonical JSON to compare values and compute digests, never to relay values.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from strictwire.canon.json import JsonValue, NotJson, render

_MAX_EXACT: Final = 2**53
"""All integers up to this magnitude are exact doubles."""

_MAX_POINT: Final = 21
"""ECMAScript writes numbers below 1e21 without an exponent. The decimal point stands after at most 21 digits."""

_MIN_POINT: Final = -6
"""ECMAScript writes numbers from 1e-6 without an exponent. At most five zeros stand between the point and the digits."""


def render_canonical(value: JsonValue) -> bytes:
    """Encode a value as canonical JSON. Raises NotJson: NaN, infinity, a lone surrogate, or a part that is not JSON."""
    try:
        return _text(value).encode()
    except (UnicodeEncodeError, TypeError, OverflowError, RecursionError) as exc:
        raise NotJson("the value has no canonical form") from exc


def _text(value: Any) -> str:
    if isinstance(value, dict):
        members = sorted(value.items(), key=_by_utf16)
        return "{" + ",".join(f"{_string(name)}:{_text(member)}" for name, member in members) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_text, value)) + "]"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, int | float):
        return number_text(value)
    raise NotJson("a part of the value is not JSON")


def _by_utf16(member: tuple[str, Any]) -> bytes:
    if not isinstance(member[0], str):
        raise NotJson("a member name is not a string")
    return member[0].encode("utf-16-be")


def _string(text: str) -> str:
    return render(text).decode()


def number_text(number: float) -> str:
    """Format a number like JSON.stringify of ECMAScript. Raises NotJson: NaN or infinity."""
    if isinstance(number, int) and abs(number) <= _MAX_EXACT:
        return str(number)
    double = float(number)
    if double != double or double in (float("inf"), float("-inf")):
        raise NotJson("NaN and infinity have no JSON form")
    if double == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(double)).normalize().as_tuple()
    return ("-" if sign else "") + _layout("".join(map(str, digits)), int(exponent))


def _layout(digits: str, exponent: int) -> str:
    """Place the decimal point or the exponent: steps 6 to 10 of Number::toString in ECMA-262. `point` is its `n`."""
    point = len(digits) + exponent
    if len(digits) <= point <= _MAX_POINT:
        return digits + "0" * exponent
    if 0 < point <= _MAX_POINT:
        return f"{digits[:point]}.{digits[point:]}"
    if _MIN_POINT < point <= 0:
        return f"0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{fraction}e{point - 1:+d}"
