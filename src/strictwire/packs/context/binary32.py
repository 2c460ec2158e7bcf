"""IEEE 754 binary32 values and their shortest decimal text. Pure.

v0 compares and prints scores in binary32 (single precision). Python floats are binary64, so neither their order nor their
`repr` can be used.
"""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Iterable, Iterator
from decimal import ROUND_CEILING, Context
from functools import lru_cache
from typing import Final

LARGEST_EXACT: Final = 1 << 24
"""Every integer up to this one is exact in binary32."""

_MAX_DIGITS: Final = 9
"""Nine significant digits identify every binary32 value."""

_NO_EXPONENT: Final = range(-6, 13)
"""Decimal exponents of the leading digit for which a number is written without an exponent."""

_pack: Final = struct.Struct("<f").pack
_unpack: Final = struct.Struct("<f").unpack


def as_binary32(value: float) -> float:
    """Round to the nearest binary32 and return it as a Python float. Raises OverflowError beyond its range."""
    nearest: float = _unpack(_pack(value))[0]
    return nearest


def divide(numerator: int, denominator: int) -> float:
    """Divide two counts in binary32, each rounded to binary32 first. Returns 0.0 for a zero denominator.

    Dividing in binary64 and rounding the quotient gives the same bits as dividing in binary32, because binary64 has at
    least 2 * 24 + 2 significant bits: double rounding is harmless then.
    """
    if denominator == 0:
        return 0.0
    return as_binary32(as_binary32(numerator) / as_binary32(denominator))


def sortable_bits(values: Iterable[float]) -> array[int]:
    """Round each value to binary32 and return its 32 bits. For non-negative values, bits sort like values."""
    return array("I", array("f", values).tobytes())


def bits_as_float(bits: int) -> float:
    """Return the binary32 value with these 32 bits."""
    value: float = _unpack(bits.to_bytes(4, "little"))[0]
    return value


@lru_cache(maxsize=65536)
def render(value: float) -> str:
    """Format a finite binary32: the fewest digits that read back as the same value, and of those the nearest.

    Examples: 0.0, 0.5, 1.0, 0.33333334, 0.000001, 9.99999e-7.
    """
    if value == 0:
        return "-0.0" if str(value).startswith("-") else "0.0"
    sign = "-" if value < 0 else ""
    digits, exponent = _shortest(abs(value))
    return sign + _format(digits, exponent)


def _shortest(value: float) -> tuple[str, int]:
    """Return the digits without trailing zeros, and the decimal exponent of the first digit."""
    wanted = _pack(value)
    for count in range(1, _MAX_DIGITS):
        for scientific in _candidates(value, count):
            if _pack_or_none(float(scientific)) == wanted:
                return _parts(scientific)
    return _parts(f"{value:.{_MAX_DIGITS - 1}e}")


def _candidates(value: float, count: int) -> Iterator[str]:
    """Yield the nearest decimal with `count` digits and, for a power of two, also the next one above.

    Below a power of two, binary32 values are twice as dense as above it. The nearest decimal may lie below and read back as
    another value while the decimal above still reads back correctly. This happens only for 2**-96, 2**87 and 2**90.
    """
    yield f"{value:.{count - 1}e}"
    if math.frexp(value)[0] == 0.5:
        above = Context(prec=count, rounding=ROUND_CEILING).create_decimal_from_float(value)
        yield f"{above:.{count - 1}e}"


def _pack_or_none(value: float) -> bytes | None:
    try:
        return _pack(value)
    except OverflowError:
        return None


def _parts(scientific: str) -> tuple[str, int]:
    mantissa, _, exponent = scientific.partition("e")
    return mantissa.replace(".", "").rstrip("0"), int(exponent)


def _format(digits: str, exponent: int) -> str:
    if exponent not in _NO_EXPONENT:
        rest = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{digits[0]}{rest}e{exponent}"
    if exponent < 0:
        return "0." + "0" * (-exponent - 1) + digits
    whole = digits[: exponent + 1].ljust(exponent + 1, "0")
    return f"{whole}.{digits[exponent + 1 :] or '0'}"
