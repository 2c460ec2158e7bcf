"""Failures as text for the terminal, and the exit code of a command."""

from __future__ import annotations

from strictwire.fault.catalogue import RENDERINGS
from strictwire.fault.escape import for_terminal
from strictwire.fault.failure import Facts, Failure
from strictwire.fault.public import public_action, public_code, public_text, tool_name
from strictwire.fault.violations import order_by_severity, read_violations


def render_text(failure: Failure, facts: Facts) -> str:
    """`error CODE: message`, one line per violation, and what to do next; without a final newline."""
    where = f" ({tool_name(facts.tool)})" if facts.tool else ""
    violations = [f"  - {each.sentence}" for each in order_by_severity(read_violations(failure))]
    invariant = [f"  invariant: {failure.invariant_id}"] if failure.invariant_id else []
    lines = [
        f"error {public_code(failure, failure.code)}{where}: {public_text(failure)}",
        *violations,
        *invariant,
        f"  next: {public_action(failure, failure.code)}",
    ]
    return "\n".join(map(for_terminal, lines))


def exit_code(failure: Failure) -> int:
    """1 for a failure, 2 for wrong usage."""
    return RENDERINGS[failure.code].exit
