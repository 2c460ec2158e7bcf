"""The cost of regular expressions: counted repetitions are written out, and long strings for costly patterns refused."""

from __future__ import annotations

import pytest

from strictwire.contract.conform import TOO_COSTLY, compile_schema
from strictwire.contract.cost import MAX_PATH
from strictwire.contract.pattern_cost import (
    BACKTRACKING_CHECKS,
    MAX_PATTERN_CHECKS,
    PATTERN_CHECKS,
    SOME_STATES_CHECKS,
    STATE_CHECKS,
    count_states,
    pattern_checks,
)


@pytest.mark.parametrize(
    ("pattern", "states"),
    [
        ("abc", 3),
        ("[a-z]{3}", 3),
        (r"[\]{3}]{4}", 4),
        ("[[]{4}", 4),
        ("a{2}{3}", 6),
        ("a{2,}", 2),
        ("a{,5}", 5),
        ("a{2,5}b?c*", 7),
        ("(?:(?:ab){10}c){20}", 420),
        (r"\p{L}{5}\x{41}{3}\{9}", 11),
        ("((((", 0),
        ("))))", 0),
        ("a{x}", 4),
        ("a{999999}{999999}", 1_000_000),
    ],
)
def test_repetitions_are_written_out(pattern: str, states: int) -> None:
    assert count_states(pattern) == states


@pytest.mark.parametrize(
    ("pattern", "checks"),
    [
        ("^[a-z]+$", PATTERN_CHECKS),
        ("^.{0,5000}$", PATTERN_CHECKS),
        (r"^[\w-]{1,5000}$", PATTERN_CHECKS),
        ("(?=a)b", BACKTRACKING_CHECKS),
        ("^[a-z0-9][a-z0-9-]{0,253}[a-z0-9]$", SOME_STATES_CHECKS),
        ("([a-z]{1,50}){1,50}y", STATE_CHECKS * 2501),
        (".{0,5000}x", MAX_PATTERN_CHECKS),
        (5, PATTERN_CHECKS),
    ],
)
def test_a_pattern_costs_what_its_states_do(pattern: object, checks: int) -> None:
    assert pattern_checks(pattern) == checks


def test_a_schema_with_the_most_costly_pattern_is_still_of_use() -> None:
    assert MAX_PATTERN_CHECKS < MAX_PATH
    assert compile_schema({"type": "string", "pattern": ".{0,5000}x"}).find_violations("a" * 1000 + "x") == ()


def test_a_long_string_for_a_costly_pattern_is_refused_unchecked() -> None:
    """4 million characters would take four minutes of the event loop."""
    conformer = compile_schema({"type": "string", "pattern": ".{0,5000}x"})

    assert conformer.find_violations("a" * 4_000_000) == (TOO_COSTLY,)


@pytest.mark.parametrize("piece", ["[", "(?", "\\p{", "[\\", "a{9}(", "{", "a{9}", "\\"])
def test_a_pattern_of_any_shape_is_counted_in_linear_time(piece: str) -> None:
    """The counting once took minutes for these; a test that hangs is the failure."""
    assert count_states(piece * 60_000) <= 1_000_000
