r"""How long a regular expression may take for a string, found from the expression alone. Pure.

The engine matches most patterns in linear time with a table that it builds as it goes. A pattern with large counted
repetitions, such as `.{0,5000}x`, has too many states for that table: each character then takes time for each state.
Measured with jsonschema-rs 0.60: 0.1 us for a character at 200 states, 59 us at 5,000 (`.{0,5000}x`), and at most 45 ns for
each state (`([a-z]{1,50}){1,50}y`).
"""

from __future__ import annotations

import re
from typing import Final

PATTERN_CHECKS: Final = 20
"""A pattern alone takes a tenth of that, but thousands of them do not fit into the caches."""

BACKTRACKING_CHECKS: Final = 2000
"""The backtracking limit of `conform` takes 0.2 ms."""

STATE_CHECKS: Final = 29
"""45 ns for each of 64 characters, which count as one value, in checks of 0.1 us."""

FEW_STATES: Final = 64
"""Up to here the table always holds."""

SOME_STATES: Final = 300
"""Up to here it nearly always does. Names of hosts and files, with their length limits, are below."""

SOME_STATES_CHECKS: Final = 400
"""0.6 us for a character; 0.3 us was measured."""

MAX_PATTERN_CHECKS: Final = 90_000
"""A schema with any pattern that compiles stays usable, for strings of up to 3,500 characters. They take 0.4 s at most."""

_BACKTRACKS: Final = re.compile(r"\(\?<?[=!]|\(\?>|\\[1-9kG]")
"""Lookaround, atomic groups and backreferences: such patterns are matched by backtracking, all others in linear time."""

_MANY: Final = 1_000_000
"""States beyond which the exact number does not matter: the engine refuses such a pattern."""

_COUNT: Final = re.compile(r"\{([0-9]{0,6}),?([0-9]{0,6})\}")
_ATOM: Final = re.compile(r"\\(?:[pPxu]\{[^}]{0,64}\}|.)|\[(?:[^\\\]]|\\.)*\]?", re.DOTALL)
"""An escape or a class. A class inside another is read as several, which counts too many states, never too few."""
_GROUP: Final = re.compile(r"\((?:\?:)?")
_ONE_COUNT: Final = re.compile(r"\^(?:\\.|\[(?:\\.|[^\]\\])*\]|[^\\()\[|])\{\d+(?:,\d*)?\}\$")
"""One repetition of one character class, from the beginning to the end: a length limit. It has one state at a time."""


def pattern_checks(pattern: object) -> int:
    """The work of matching 64 characters, in the checks of `cost`."""
    if not isinstance(pattern, str):
        return PATTERN_CHECKS
    base = BACKTRACKING_CHECKS if _BACKTRACKS.search(pattern) else PATTERN_CHECKS
    states = 0 if _ONE_COUNT.fullmatch(pattern) else count_states(pattern)
    if states <= FEW_STATES:
        return base
    return max(base, SOME_STATES_CHECKS if states <= SOME_STATES else min(STATE_CHECKS * states, MAX_PATTERN_CHECKS))


def count_states(pattern: str) -> int:
    """The characters and classes of a pattern, with counted repetitions written out. Linear in the pattern."""
    sums, last, at = [0], 0, 0
    while at < len(pattern):
        character, start = pattern[at], at
        at += 1
        if character == "(":
            at = _end(_GROUP, pattern, start)
            sums.append(0)
        elif character == ")":
            last = sums.pop() if len(sums) > 1 else 0
            sums[-1] = min(sums[-1] + last, _MANY)
        elif character == "{" and (count := _COUNT.match(pattern, start)):
            at = count.end()
            repeated = last * max(int(count[1] or 0), int(count[2] or 0), 1)
            sums[-1], last = min(sums[-1] + repeated - last, _MANY), min(repeated, _MANY)
        elif character not in "*+?":
            at = _end(_ATOM, pattern, start)
            last = 1
            sums[-1] = min(sums[-1] + 1, _MANY)
    return min(sum(sums), _MANY)


def _end(token: re.Pattern[str], pattern: str, start: int) -> int:
    """Where a token ends that may start here; any other character is one by itself."""
    found = token.match(pattern, start)
    return start + 1 if found is None else found.end()
