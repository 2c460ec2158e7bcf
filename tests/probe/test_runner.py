"""Runs that cannot judge say so; tools that may change things are not called."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from strictwire import probe
from strictwire.client import CannotReach
from strictwire.probe.record import Progress, Status

SCRIPTED = [sys.executable, str(Path(__file__).parents[1] / "client" / "servers" / "scripted.py"), "plain"]


def test_a_server_that_answers_nowhere_is_not_a_clean_one() -> None:
    options = probe.Options(stdio=[sys.executable, "-c", "pass"], http="http://127.0.0.1:1/mcp")

    with pytest.raises(CannotReach, match="stdio/modern: the server exited 0"):
        asyncio.run(probe.run_with(options))


@pytest.mark.parametrize(
    "options",
    [probe.Options(), probe.Options(stdio=SCRIPTED, only=frozenset({"NO_SUCH_PROBE"}))],
)
def test_what_makes_no_sense_is_refused(options: probe.Options) -> None:
    with pytest.raises(ValueError):
        asyncio.run(probe.run_with(options))


@pytest.mark.slow
def test_a_lane_that_does_not_open_and_tools_that_are_not_called_are_shown() -> None:
    seen: list[Progress] = []
    only = frozenset({"METHOD_UNKNOWN_STATUS", "TOOL_UNKNOWN", "OUTPUT_SURVIVED"})

    report = asyncio.run(probe.run_with(probe.Options(stdio=SCRIPTED, only=only, seconds=1.0), seen.append))

    assert [str(lane) for lane in report.closed] == ["stdio/modern"]
    assert [(verdict.probe, verdict.status) for verdict in report.verdicts] == [
        ("TOOL_UNKNOWN", Status.FINDING),
        ("METHOD_UNKNOWN_STATUS", Status.NOT_APPLICABLE),
        ("OUTPUT_SURVIVED", Status.NOT_APPLICABLE),
    ]
    assert [(str(each.lane), each.probe, each.done, each.total) for each in seen] == [
        ("stdio/legacy", "TOOL_UNKNOWN", 0, 3),
        ("stdio/legacy", "METHOD_UNKNOWN_STATUS", 1, 3),
        ("stdio/legacy", "OUTPUT_SURVIVED", 2, 3),
    ]
    assert report.is_clean is False
