"""IEEE-754 binary32 values and their shortest decimal text. Pure.

v0 compares and prints scores in binary32, so neither Python's float order nor its `repr` can be used for them.
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
"""Integers up to here are exact in binary32."""

_MOST_DIGITS: Final = 9
"""Nine significant digits always identify a binary32."""

_PLAIN: Final = range(-6, 13)
"""Exponents of the leading digit that are written without an exponent."""

_pack: Final = struct.Struct("<f").pack
_unpack: Final = struct.Struct("<f").unpack


def as_binary32(value: float) -> float:
    """The nearest binary32, as a Python float. Raises OverflowError beyond its range."""
    nearest: float = _unpack(_pack(value))[0]
    return nearest


def divide(numerator: int, denominator: int) -> float:
    """The binary32 quotient of two counts, each rounded to binary32 first; 0.0 for a zero denominator.

    Dividing as doubles and rounding once more gives the same bits: 53 digits are more than twice 24 and two.
    """
    if denominator == 0:
        return 0.0
    return as_binary32(as_binary32(numerator) / as_binary32(denominator))


def sortable_bits(values: Iterable[float]) -> array[int]:
    """Each value rounded to binary32, as its 32 bits: for values that are not negative the bits order like the values."""
    return array("I", array("f", values).tobytes())


def bits_as_float(bits: int) -> float:
    """The value of 32 bits."""
    value: float = _unpack(bits.to_bytes(4, "little"))[0]
    return value


@lru_cache(maxsize=65536)
def render(value: float) -> str:
    """The text of a finite binary32: the fewest digits that read back as the same value, the nearest among them.

    0.0, 0.5, 1.0, 0.33333334, 0.000001, 9.99999e-7.
    """
    if value == 0:
        return "-0.0" if str(value).startswith("-") else "0.0"
    sign = "-" if value < 0 else ""
    digits, exponent = _shortest(abs(value))
    return sign + _lay_out(digits, exponent)


def _shortest(value: float) -> tuple[str, int]:
    """The digits, without trailing zeros, and the exponent of the first."""
    wanted = _pack(value)
    for count in range(1, _MOST_DIGITS):
        for scientific in _candidates(value, count):
            if _pack_or_none(float(scientific)) == wanted:
                return _parts(scientific)
    return _parts(f"{value:.{_MOST_DIGITS - 1}e}")


def _candidates(value: float, count: int) -> Iterator[str]:
    """The nearest decimal of so many digits, and for powers of two the next one above.

    Below a power of two the neighbours stand twice as close as above it: the nearest decimal may miss on the narrow side
    while the one above still reads back. It happens for 2**-96, 2**87 and 2**90 alone.
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


def _lay_out(digits: str, exponent: int) -> str:
    if exponent not in _PLAIN:
        rest = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{digits[0]}{rest}e{exponent}"
    if exponent < 0:
        return "0." + "0" * (-exponent - 1) + digits
    whole = digits[: exponent + 1].ljust(exponent + 1, "0")
    return f"{whole}.{digits[exponent + 1 :] or '0'}"
