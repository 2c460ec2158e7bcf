"""Binary32 scores and their text (rules 1.6)."""

from __future__ import annotations

import struct
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packs.context import model

from strictwire.packs.context import binary32


@pytest.mark.v0("1.6.4")
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.0, "0.0"),
        (0.5, "0.5"),
        (1.0, "1.0"),
        (1 / 3, "0.33333334"),
        (0.0001, "0.0001"),
        (0.00001, "0.00001"),
        (0.000001, "0.000001"),
        (9.99999e-7, "9.99999e-7"),
        (1e-7, "1e-7"),
        (1e12, "1000000000000.0"),
        (1e13, "1e13"),
        (123456.0, "123456.0"),
        (-0.25, "-0.25"),
    ],
)
def test_scores_are_written_like_the_reference(value: float, expected: str) -> None:
    assert binary32.render(binary32.as_binary32(value)) == expected


@pytest.mark.v0("1.6.4")
def test_every_power_of_two_has_its_shortest_text() -> None:
    """The only values with unequal distances to their neighbours, where the nearest decimal is not always right."""
    powers = [struct.unpack("<f", struct.pack("<I", exponent << 23))[0] for exponent in range(1, 254)]

    assert [binary32.render(value) for value in powers] == [model.score_text(value) for value in powers]


@pytest.mark.v0("1.6.4")
@given(st.integers(min_value=1, max_value=0x7F7F_FFFE))
def test_the_text_of_any_binary32_equals_that_of_exact_arithmetic(bits: int) -> None:
    value = binary32.bits_as_float(bits)

    assert binary32.render(value) == model.score_text(value)


@pytest.mark.v0("1.6.2")
@given(st.integers(min_value=0, max_value=1 << 40), st.integers(min_value=1, max_value=1 << 40))
def test_division_rounds_like_exact_arithmetic(numerator: int, denominator: int) -> None:
    expected = model.binary32(
        Fraction(model.binary32(Fraction(numerator))) / Fraction(model.binary32(Fraction(denominator)))
    )

    assert binary32.divide(numerator, denominator) == expected


@pytest.mark.v0("1.6.2")
def test_division_by_zero_words_is_zero() -> None:
    assert binary32.divide(0, 0) == 0.0


@pytest.mark.v0("1.6.3")
@given(st.lists(st.floats(min_value=0, max_value=1, width=32), max_size=20))
def test_bits_sort_like_values(values: list[float]) -> None:
    bits = list(binary32.sortable_bits(values))

    assert [binary32.bits_as_float(each) for each in bits] == values
    assert [binary32.bits_as_float(each) for each in sorted(bits)] == sorted(values)
