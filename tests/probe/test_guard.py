"""Probes through the guard: no differences and no leaks, although the servers behind it have many."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.fixtures.guards import STRICTWIRE, guard_http
from tests.probe.peers import BUDGET, ON_FASTMCP, SDK_HIGH

from strictwire import probe
from strictwire.probe.record import VARIANTS, ProbeReport
from strictwire.probe.runner import PROBES

pytestmark = pytest.mark.slow

PATIENCE = ("--timeout", "10")
"""Shorter than the time limit of the probes: one tool makes both servers hang, and the guard must report it."""

OWN: dict[str, set[str]] = {
    "official SDK": {"ARGUMENT_UNKNOWN", "CURSOR_BOGUS", "FORM_ERROR_CODES", "PROMPT_UNKNOWN", "RESOURCE_NOT_FOUND"},
    "FastMCP": {"CURSOR_BOGUS", "LISTEN", "RESOURCE_NOT_FOUND"},
}
"""Findings that the guard relays unchanged: the server's own error codes, what its schemas allow, missing methods."""

PROBED = frozenset(each.id for each in PROBES) - {"EOF_ANSWERED"}
"""All probes except the race at the end of input, which behind the guard depends on the start-up time of the server."""

COMMANDS = {"official SDK": SDK_HIGH, "FastMCP": ON_FASTMCP}


def probed_behind_guard(command: Sequence[str]) -> ProbeReport:
    """`strictwire probe --stdio 'strictwire guard -- SERVER' --http URL` and a guard at the URL."""
    assert Path(command[0]).exists(), f"{command[0]} is missing: run ./scripts/peers"
    guarded = [*PATIENCE, "--", *command, "--stdio"]
    with guard_http(*guarded) as url:
        options = probe.ProbeOptions(stdio=[STRICTWIRE, "guard", *guarded], http=url, only=PROBED, seconds=40, budget=BUDGET)
        return asyncio.run(probe.run_with(options))


@pytest.mark.parametrize("name", COMMANDS)
def test_behind_the_guard_there_are_no_differences_and_no_leaks(name: str) -> None:
    report = probed_behind_guard(COMMANDS[name])

    assert report.variants == VARIANTS
    assert report.differences == ()
    assert {result.probe for result in report.findings} <= OWN[name], report.findings
