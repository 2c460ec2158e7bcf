"""The probe through the guard: no difference between the transports and no leak, though the servers behind it have many."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.fixtures.guards import STRICTWIRE, guard_http
from tests.probe.peers import ON_FASTMCP, SDK_HIGH

from strictwire import probe
from strictwire.probe.record import LANES, Report
from strictwire.probe.runner import PROBES

pytestmark = pytest.mark.slow

PATIENCE = ("--timeout", "10")
"""Sooner than the probe's own patience: a tool of both servers makes them hang, and the guard must be the one to say so."""

OWN: dict[str, set[str]] = {
    "official SDK": {"ARGUMENT_UNKNOWN", "CURSOR_BOGUS", "FORM_ERROR_CODES", "PROMPT_UNKNOWN", "RESOURCE_NOT_FOUND"},
    "FastMCP": {"CURSOR_BOGUS", "LISTEN", "RESOURCE_NOT_FOUND"},
}
"""What is relayed as it came: codes of the server's own errors, what its schemas allow, methods that it does not have."""

PROBED = frozenset(each.id for each in PROBES) - {"EOF_ANSWERED"}
"""All but the race at the end of input, which behind the guard is about how fast a server starts."""

COMMANDS = {"official SDK": SDK_HIGH, "FastMCP": ON_FASTMCP}


def probed_behind_guard(command: Sequence[str]) -> Report:
    """`strictwire probe --stdio 'strictwire guard -- SERVER' --http URL` and a guard at the URL."""
    assert Path(command[0]).exists(), f"{command[0]} is missing: run ./scripts/peers"
    guarded = [*PATIENCE, "--", *command, "--stdio"]
    with guard_http(*guarded) as url:
        options = probe.Options(stdio=[STRICTWIRE, "guard", *guarded], http=url, only=PROBED, seconds=40)
        return asyncio.run(probe.run_with(options))


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_differs_and_nothing_leaks_behind_the_guard(name: str) -> None:
    report = probed_behind_guard(COMMANDS[name])

    assert report.lanes == LANES
    assert report.differences == ()
    assert {verdict.probe for verdict in report.findings} <= OWN[name], report.findings
