"""Automata of patterns: compared with the regular expression engine of the validator, on every short string."""

from __future__ import annotations

from itertools import product

import pytest

from strictwire.check.language import Strings, compile_pattern, find_string
from strictwire.check.pattern import UnsupportedPattern
from strictwire.contract.conform import compile_schema

PATTERNS = [
    "^a", "a$", "^a$", "a", "", "^$", "^(a|b)$", "^a|b$", "^(a|bb)+$", "^[^a]*$", "(^a|b)a", "a(b$|a)", "^a?b{2}$",
    "^.{2,3}$", "^(ab){0,2}$", r"^\d+$", r"^\w\W?$", r"^\s*$", "a*", "^(a*b)*$", "^a{2,}$", "(a|^b)$", "^(?:a|b)1$", "[1-9]",
    "a^b", "a$b", "^^a$$",
]  # fmt: skip


def matches(automaton_of: str, text: str) -> bool:
    automaton = compile_pattern(automaton_of)
    states = automaton.start()
    for char in text:
        states = automaton.step(states, ord(char))
    return automaton.accepts(states, is_empty=not text)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_an_automaton_accepts_what_the_validator_accepts(pattern: str) -> None:
    texts = ["".join(chars) for size in range(5) for chars in product("ab1 ", repeat=size)] + ["a\n", "\n", "é", "\u3000"]
    engine = compile_schema({"type": "string", "pattern": pattern})

    assert [text for text in texts if matches(pattern, text) != engine.accepts(text)] == []


def patterns(*texts: str, low: int = 0, high: int | None = None) -> Strings:
    return Strings(patterns=frozenset(texts), low=low, high=high)


@pytest.mark.parametrize(
    ("source", "targets", "expected"),
    [
        (patterns(r"^\d+$"), [patterns("^[0-9]+$")], None),
        (patterns("^[0-9]+$"), [patterns(r"^\d+$")], None),
        (patterns("^a$"), [patterns("^(a|b)$")], None),
        (patterns("^(a|b)$"), [patterns("^a$")], "b"),
        (patterns("^(a|b)$"), [patterns("^a$"), patterns("^b$")], None),
        (patterns("^[0-9]{1,4}$"), [patterns(high=4)], None),
        (patterns("^[0-9]{1,4}$"), [patterns(high=3)], "0000"),
        (patterns("^a*$", low=2), [patterns("^aaa+$")], "aa"),
        (patterns("^a*$", low=3), [patterns("^aaa+$")], None),
        (patterns("^a", high=4096), [patterns("a", high=4096)], None),
        (patterns("^a", "^b"), [], None),
        (patterns("^.{2,3}$", high=1), [], None),
        (patterns("b$", "^a"), [], "ab"),
        (patterns(low=2), [patterns(high=3)], "aaaa"),
        (patterns(low=2, high=3), [patterns(low=1)], None),
        (patterns(), [patterns("^file:")], ""),
    ],
)
def test_a_shortest_string_outside_the_targets_is_found(
    source: Strings, targets: list[Strings], expected: str | None
) -> None:
    assert find_string(source, targets) == expected


@pytest.mark.parametrize("pattern", [r"\bfoo", "(?=a)b", r"^\p{L}$", "^.{1,9000}$", r"(a)\1", "(?i)a", "[ab]*a.{14}$"])
def test_a_pattern_that_cannot_be_compared_is_refused(pattern: str) -> None:
    with pytest.raises(UnsupportedPattern):
        find_string(patterns(pattern), [patterns("^x.*y.*z$")])
