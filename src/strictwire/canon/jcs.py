"""Canonical JSON by RFC 8785 (JCS): one text for one value, in every language.

Strings and structure are written natively; only what JCS does its own way is done here: member order by UTF-16 code
units, and numbers as ECMAScript writes them. Every number is a double there, so an integer beyond 2**53 is rounded as a
JavaScript reader would round it: canonical text is for comparing and digesting, never for relaying.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from strictwire.canon.json import JsonValue, NotJson, render

_EXACT: Final = 2**53
"""Integers up to here are doubles without loss."""

_PLAIN_BELOW: Final = 21
"""ECMAScript writes numbers below 1e21 without an exponent."""

_PLAIN_ABOVE: Final = -6
"""ECMAScript writes numbers from 1e-6 on without an exponent; the power of the first digit is counted from one."""


def render_canonical(value: JsonValue) -> bytes:
    """The JCS text of a value. Raises NotJson: NaN, infinity, a lone surrogate, or a part that is not JSON."""
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
        raise NotJson("a member name is not text")
    return member[0].encode("utf-16-be")


def _string(text: str) -> str:
    return render(text).decode()


def number_text(number: float) -> str:
    """A number as ECMAScript's JSON.stringify writes it. Raises NotJson: NaN or infinity."""
    if isinstance(number, int) and abs(number) <= _EXACT:
        return str(number)
    double = float(number)
    if double != double or double in (float("inf"), float("-inf")):
        raise NotJson("NaN and infinity have no JSON form")
    if double == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(double)).normalize().as_tuple()
    return ("-" if sign else "") + _layout("".join(map(str, digits)), int(exponent))


def _layout(digits: str, exponent: int) -> str:
    """Steps 6 to 10 of Number::toString: where the point or the exponent goes."""
    point = len(digits) + exponent
    if len(digits) <= point <= _PLAIN_BELOW:
        return digits + "0" * exponent
    if 0 < point <= _PLAIN_BELOW:
        return f"{digits[:point]}.{digits[point:]}"
    if _PLAIN_ABOVE < point <= 0:
        return f"0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{fraction}e{point - 1:+d}"
