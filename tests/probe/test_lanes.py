"""A server that ends or hangs is a finding with the bytes; what the budget leaves out is not run, and never passed."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import pytest

from strictwire.client import Era
from strictwire.probe import ProbeOptions, ProbeReport, run_with
from strictwire.probe.definition import Lane, Probe
from strictwire.probe.harm import Harm
from strictwire.probe.lanes import _split, _split_for_slow_start
from strictwire.probe.record import STDIO_LEGACY, ProbeProgress, Status
from strictwire.probe.survey import MAX_CALLS, MAX_TOOLS
from strictwire.probe.table import PROBES
from strictwire.probe.wire_stdio import StdioWire

FRAGILE = [sys.executable, str(Path(__file__).parent / "servers" / "fragile.py")]
Splitter: TypeAlias = Callable[[Sequence[Probe]], list[tuple[Lane, Sequence[Probe]]]]
LEGACY = frozenset({Era.LEGACY})


def probed(fault: str, *only: str, **options: object) -> ProbeReport:
    given = {"budget": 600, "eras": LEGACY, "only": frozenset(only) if only else None, **options}
    return asyncio.run(run_with(ProbeOptions(stdio=[*FRAGILE, fault], **given)))  # type: ignore[arg-type]


def test_a_server_that_ends_is_a_crash_with_the_bytes_and_its_stderr() -> None:
    report = probed("dies", "METHOD_UNKNOWN", "TOOL_UNKNOWN")
    crashed, restarted = report.results

    assert (crashed.probe, crashed.status, crashed.harm) == ("METHOD_UNKNOWN", Status.FINDING, Harm.CRASH)
    assert crashed.got == "connection closed (the process ended with exit code 3)"
    assert crashed.fatal is not None
    assert b'"method":"strictwire/no-such-method"' in crashed.fatal.sent
    assert crashed.fatal.stderr == "cannot go on: password=[redacted]"
    assert restarted.got == "result 'a'"


@pytest.mark.slow
def test_a_server_that_hangs_is_a_crash_with_the_bytes() -> None:
    report = probed("hangs", "METHOD_UNKNOWN", "TOOL_UNKNOWN", seconds=1)
    hung, restarted = report.results

    assert (hung.status, hung.harm) == (Status.FINDING, Harm.CRASH)
    assert hung.got == "no response (no response within 1 s, not even to a valid request)"
    assert hung.fatal is not None
    assert b"strictwire/no-such-method" in hung.fatal.sent
    assert restarted.got == "result 'a'"


def test_a_process_that_ends_after_its_response_is_noticed_with_the_bytes_before() -> None:
    async def run() -> StdioWire:
        wire = StdioWire(STDIO_LEGACY, ProbeOptions(stdio=[*FRAGILE, "exits-later"]))
        await wire.open()
        process = await wire.process()
        await wire.ask(wire.messages.harmless_request())
        await process.wait(60)
        wire.note_death()
        return wire

    (death,) = asyncio.run(run()).deaths

    assert death.is_fatal
    assert death.note == "the process ended later, with exit code 4"
    assert b'"method":"ping"' in death.raw_sent


def test_a_process_whose_start_is_interrupted_does_not_outlive_the_run(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    program = f"import os, pathlib, sys; pathlib.Path({str(pid)!r}).write_text(str(os.getpid())); sys.stdin.read()"

    async def run() -> None:
        wire = StdioWire(STDIO_LEGACY, ProbeOptions(stdio=[sys.executable, "-c", program]))
        starting = asyncio.create_task(wire.start_process())
        await asyncio.sleep(0)
        starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)

    asyncio.run(run())

    assert not pid.exists() or not Path(f"/proc/{pid.read_text()}").exists()


def test_a_server_that_ends_because_of_a_long_line_is_a_crash() -> None:
    (result,) = probed("short-lines", "SIZE_ENDLESS_LINE", flood=4 * 1024 * 1024).results

    assert (result.status, result.harm) == (Status.FINDING, Harm.CRASH)
    assert result.got == "4 MiB without a line end: connection closed (the process ended with exit code 0)"


def test_a_server_that_floods_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strictwire.probe.wire_stdio.MAX_RECEIVED", 100_000)
    (result,) = probed("floods", "METHOD_UNKNOWN").results

    assert (result.status, result.harm) == (Status.FINDING, Harm.CRASH)
    assert result.got == "no response (the server sent more than 100,000 bytes)"


def test_of_a_very_long_list_only_the_first_tools_are_read() -> None:
    report = probed("many-tools", "OUTPUT_SURVIVED")

    assert len(report.uncalled) == MAX_TOOLS - MAX_CALLS
    assert set(report.uncalled.values()) == {f"only {MAX_CALLS} tools are called"}


@pytest.mark.slow
def test_a_server_that_ends_between_requests_is_a_finding() -> None:
    report = probed("exits-later", "METHOD_UNKNOWN", "TOOL_UNKNOWN", "JSON_TRUNCATED", "SERVER_SURVIVED", seconds=1)
    harms = {result.probe: result.harm for result in report.findings}

    assert Harm.CRASH in {harms.get("JSON_TRUNCATED"), harms.get("SERVER_SURVIVED")}


@pytest.mark.slow
def test_what_the_budget_leaves_out_is_reported_as_not_run() -> None:
    seen: list[ProbeProgress] = []
    options = ProbeOptions(stdio=[*FRAGILE, "slow"], budget=5, eras=LEGACY)
    report = asyncio.run(run_with(options, seen.append))
    statuses = {result.status for result in report.results}

    assert Status.NOT_RUN in statuses
    assert {result.got for result in report.not_run} <= {
        "the time budget was used up",
        "the time budget ended while it ran",
    }
    assert len(report.results) == len(report.probes)
    assert all(each.seconds_left <= 5 for each in seen)


@pytest.mark.parametrize("split", [_split, _split_for_slow_start])
def test_every_probe_that_sends_something_is_in_exactly_one_lane(split: Splitter) -> None:
    lanes = split(PROBES)
    placed = [probe.id for _, probes in lanes for probe in probes]

    assert sorted(placed) == sorted(probe.id for probe in PROBES if probe.lane is not Lane.AFTER)
    assert [lane for lane, _ in lanes].count(Lane.TOOLS) == 1
    assert split([]) == []


def test_a_server_that_starts_slowly_gets_fewer_processes() -> None:
    assert (len(_split(PROBES)), len(_split_for_slow_start(PROBES))) == (4, 2)


def test_the_same_seed_gives_the_same_report() -> None:
    """Also the bytes: every message of a probe has a fixed id."""
    probes = ("CALL_VARIED", "ARGUMENT_TEXT_FOR_NUMBER", "LEAK_PATH")
    first, second = (probed("none", *probes, seed=3) for _ in range(2))

    assert (first.results, first.differences, first.seed) == (second.results, second.differences, 3)
