"""Regular expressions: catastrophic backtracking, generated strings, longest match."""

from __future__ import annotations

import re

import pytest

from strictwire.check.ambiguity import is_catastrophic
from strictwire.check.pattern import UnsupportedPattern, longest_match, parse_pattern, sample_text

CATASTROPHIC = [
    r"^(a+)+$",
    r"(a*)*b",
    r"^(a|a)*$",
    r"^(a|ab|b)*$",
    r"([a-z]+)*\d",
    r"^(\w+\s?)*$",
    r"(x+x+)+y",
    r"^([a-zA-Z0-9]+\.?)+$",
    r"(.*)*",
    r"(a?b?)*c",
    r"^(([a-z])+.)+[A-Z]([a-z])+$",
    r"^([a-z]{1,100})*$",
    r"^(?:\d+|\w+)+$",
]
SAFE = [
    r"^[a-z0-9]+(-[a-z0-9]+)*$",
    r"^file:",
    r"\S",
    r"^sha256:[0-9a-f]{64}$",
    r"^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2})?$",
    r"^[a-zA-Z0-9_.-]{1,64}$",
    r"^(?:[a-z]+\.)*[a-z]+$",
    r"^(\.[a-z]+)*$",
    r"^([0-9]{3},)*[0-9]{1,3}$",
    r"^(https?://)?[a-z.]+(/.*)?$",
    r"^[^\s@]+@[^\s@]+\.[^\s@]+$",
    r"^(foo|bar)+$",
    r"^(-?(?:0|[1-9]\d*))(\.\d+)?$",
    r"^[A-Za-z0-9+/]*={0,2}$",
    r"^([a-z]{5})*$",
    r"^(a|b|c)*$",
    r"^[\u4e00-\u9fff]+(?<tail>-\x41)?$",
]


@pytest.mark.parametrize("pattern", CATASTROPHIC)
def test_a_loop_that_matches_one_string_in_two_ways_is_catastrophic(pattern: str) -> None:
    assert is_catastrophic(pattern)


@pytest.mark.parametrize("pattern", SAFE)
def test_a_loop_that_matches_each_string_in_one_way_is_safe(pattern: str) -> None:
    assert not is_catastrophic(pattern)


@pytest.mark.parametrize("pattern", ["(", "[a", "a)", r"(a)\1", "(?#x)", "\\", "(a{1,9}){80}(b|c)*" * 9])
def test_an_unsupported_or_too_long_expression_is_not_reported_as_catastrophic(pattern: str) -> None:
    assert not is_catastrophic(pattern)


@pytest.mark.parametrize("pattern", SAFE + CATASTROPHIC)
@pytest.mark.parametrize("extra", [0, 1, 3])
def test_generated_strings_match_their_expression(pattern: str, extra: int) -> None:
    assert re.search(pattern.replace("?<tail>", "?P<tail>"), sample_text(pattern, extra))


@pytest.mark.parametrize("pattern", ["(", "[a", "a)", r"(a)\1", "\\"])
def test_an_invalid_or_unsupported_expression_is_rejected(pattern: str) -> None:
    with pytest.raises(UnsupportedPattern):
        parse_pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "longest"),
    [
        ("^[0-9a-f]{64}$", 64),
        ("^sha256:[0-9a-f]{64}$", 71),
        ("^(a|bcd)?x$", 4),
        ("^a+$", None),
        ("^a", None),
        ("a$", None),
        ("^a$|^b", None),
        ("^a\\$", None),
        ("^(", None),
    ],
)
def test_an_anchored_pattern_without_unbounded_repetition_limits_the_length(pattern: str, longest: int | None) -> None:
    assert longest_match(pattern) == longest


def test_a_sample_of_nested_repetitions_is_refused_instead_of_filling_the_memory() -> None:
    with pytest.raises(UnsupportedPattern, match="more than 10000 characters"):
        sample_text("^(((a{1000}){1000}){1000}){1000}$")
