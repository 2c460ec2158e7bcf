"""Resident memory after 10,000 and after 100,000 calls of `add`, over stdio with 32 in flight."""

from __future__ import annotations

import sys
from typing import Final

from benchmarks.drive import Load, Pipes, Stalled, drive_all
from benchmarks.fixture import add_calls
from benchmarks.messages import CallStream, Revision, WrongResponse
from benchmarks.peers import OURS, PEERS, SDK_HIGH, SDK_LOW, Contender
from benchmarks.process import NotStarted
from benchmarks.results import Effort, PartResult, Table, at_most

STEPS: Final = (10_000, 100_000)
SECONDS: Final = 600.0
WARM: Final = 1_000


def run(effort: Effort) -> PartResult:
    """Measure and compare. With one round, the peers stop after 10,000 calls."""
    far = (OURS, SDK_LOW, SDK_HIGH) if effort.rounds > 1 else (OURS,)
    errors: list[str] = []
    found: dict[str, list[float]] = {}
    for contender in (OURS, *PEERS):
        try:
            found[contender.name] = megabytes(contender, STEPS if contender in far else STEPS[:1])
        except (NotStarted, Stalled, WrongResponse, OSError) as exc:
            errors.append(f"{contender.name}: {exc}")
    rows = [
        [each.title, *(f"{value:.1f}" for value in found.get(each.name, [])), *["-"] * (3 - len(found.get(each.name, [])))]
        for each in (OURS, *PEERS)
    ]
    columns = ["server", f"MB after {WARM:,}", *(f"after {step:,}" for step in STEPS)]
    table = Table(title="Resident memory, MB", columns=columns, rows=rows, note="; ".join(errors))
    ours = found.get(OURS.name)
    theirs = [found[name][-1] for name in (SDK_LOW.name, SDK_HIGH.name) if name in found]
    share = ours[2] / min(theirs) if ours and theirs else None
    detail = f" (theirs after {STEPS[-1] if SDK_LOW in far else STEPS[0]:,} calls)"
    goals = [
        at_most("memory after 100,000 calls relative to the smaller official Python server", 1.0, share, detail),
        at_most("memory after 100,000 calls relative to 10,000 calls", 1.05, ours[2] / ours[1] if ours else None),
    ]
    return PartResult(part="memory", tables=[table], goals=goals)


def megabytes(contender: Contender, steps: tuple[int, ...]) -> list[float]:
    """Resident memory in MB after the warm-up and after each step."""
    with contender.serve(http=False) as running:
        pipes = Pipes(running, Revision.LEGACY)
        stream = CallStream(add_calls(), Revision.LEGACY)
        found, done = [], 0
        for step in (WARM, *steps):
            drive_all(pipes, stream, Load(in_flight=32, seconds=SECONDS, calls=step - done))
            done = step
            found.append(running.resident_bytes() / 1e6)
        sys.stderr.write(f"memory {contender.name}: {found}\n")
        return found
