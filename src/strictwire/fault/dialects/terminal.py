"""The terminal: what happened, what to do next, and the exit code of a command."""

from __future__ import annotations

import re
from typing import Final

from strictwire.fault.catalogue import CATALOGUE, RENDERINGS
from strictwire.fault.failure import Facts, Failure
from strictwire.fault.public import public_text, tool_name
from strictwire.fault.violations import order_by_gravity, read_violations

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]+")
"""Nothing that a failure says may move the cursor, change colours or turn the line around."""


def render_text(failure: Failure, facts: Facts) -> str:
    """Lines without a last newline: `error CODE: what happened`, what is wrong with each argument, what to do next."""
    where = f" ({tool_name(facts.tool)})" if facts.tool else ""
    wrong = [f"  - {each.sentence}" for each in order_by_gravity(read_violations(failure))]
    invariant = [f"  invariant: {failure.invariant_id}"] if failure.invariant_id else []
    lines = [
        f"error {failure.code}{where}: {public_text(failure)}",
        *wrong,
        *invariant,
        f"  next: {CATALOGUE[failure.code].action}",
    ]
    return "\n".join(_CONTROL.sub(" ", line) for line in lines)


def exit_code(failure: Failure) -> int:
    """1 if something broke, 2 if what was asked for was not well formed."""
    return RENDERINGS[failure.code].exit
