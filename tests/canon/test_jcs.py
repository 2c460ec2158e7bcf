"""Canonical JSON compared with the samples of RFC 8785. `tests/interop/test_javascript.py` compares it with ECMAScript."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from strictwire.canon.jcs import number_text, render_canonical
from strictwire.canon.json import NotJson

NUMBERS = [
    ("0000000000000000", "0"),
    ("8000000000000000", "0"),
    ("0000000000000001", "5e-324"),
    ("8000000000000001", "-5e-324"),
    ("7fefffffffffffff", "1.7976931348623157e+308"),
    ("ffefffffffffffff", "-1.7976931348623157e+308"),
    ("4340000000000000", "9007199254740992"),
    ("c340000000000000", "-9007199254740992"),
    ("4430000000000000", "295147905179352830000"),
    ("44b52d02c7e14af5", "9.999999999999997e+22"),
    ("44b52d02c7e14af6", "1e+23"),
    ("44b52d02c7e14af7", "1.0000000000000001e+23"),
    ("444b1ae4d6e2ef4e", "999999999999999700000"),
    ("444b1ae4d6e2ef4f", "999999999999999900000"),
    ("444b1ae4d6e2ef50", "1e+21"),
    ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
    ("3eb0c6f7a0b5ed8d", "0.000001"),
    ("41b3de4355555553", "333333333.3333332"),
    ("41b3de4355555557", "333333333.33333343"),
    ("becbf647612f3696", "-0.0000033333333333333333"),
    ("43143ff3c1cb0959", "1424953923781206.2"),
]
"""Samples of RFC 8785, appendix B: the bits of a double and its text."""


@pytest.mark.parametrize(("bits", "text"), NUMBERS)
def test_numbers_are_formatted_like_the_samples_of_the_rfc(bits: str, text: str) -> None:
    assert number_text(struct.unpack(">d", bytes.fromhex(bits))[0]) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [True, None]}, '{"a":[true,null],"b":1}'),
        (
            {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\x80": 6, "\xf6": 7},
            '{"\\r":2,"1":4,"\x80":6,"\xf6":7,"\u20ac":1,"\U0001f600":5,"\ufb33":3}',
        ),
        ('\u20ac$\x0f\nA\'B"\\\\"/', '"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'),
        ([1.0, -0.0, 1e21, 18446744073709551615], "[1,0,1e+21,18446744073709552000]"),
    ],
)
def test_values_are_encoded_canonically(value: Any, text: str) -> None:
    assert render_canonical(value).decode() == text


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", {1: 2}, b"x", object(), 10**400])
def test_a_value_that_is_not_json_is_refused(value: Any) -> None:
    with pytest.raises(NotJson):
        render_canonical(value)
