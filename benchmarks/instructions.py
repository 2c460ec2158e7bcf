"""Instructions a call of the whole server, counted by Valgrind: a measure that other work on the machine does not change.

The stdio server of the benchmark runs under `cachegrind --cache-sim=no` (the same count as callgrind's, in half the time) and
answers a few calls, then in a second process many more; the difference divided by the extra calls is what one call costs,
without start-up. Hash seeds are fixed, and one call is in flight at a time, so that every run does the same work in the same
order; every answer is checked.

    python -m benchmarks.instructions            # print the counts beside the baseline
    python -m benchmarks.instructions --record   # make them the baseline
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.drive import Load, Pipes
from benchmarks.fixture import Question, add_questions, echo_questions
from benchmarks.peers import OURS, environment
from benchmarks.process import Running
from benchmarks.talk import Talk, Wire

BASELINE: Final = Path(__file__).parent / "instructions.json"
TOLERANCE: Final = 0.05
"""How far above the baseline a count may be."""

FEW: Final = 200
"""Calls after which everything that happens once has happened."""

_REFS: Final = re.compile(r"I\s+refs:\s+([\d,]+)")
_SECONDS: Final = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """What is counted."""

    name: str
    questions: tuple[Question, ...]
    calls: int
    audit: str = "batched"
    tools: int = 2


SCENARIOS: Final = (
    Scenario(name="add", questions=add_questions(), calls=1000),
    Scenario(name="add, audit off", questions=add_questions(), calls=1000, audit="off"),
    Scenario(name="echo 10 KB", questions=echo_questions(), calls=200),
)
"""What the baseline holds."""

LONGER_LOG: Final = Scenario(name="add, after a longer log", questions=add_questions(), calls=1000)


def count(scenario: Scenario, calls: int) -> int:
    """Instructions of a whole process that answers so many calls."""
    with tempfile.TemporaryDirectory(prefix="strictwire-bench-") as scratch:
        env = environment(Path(scratch), tools=scenario.tools)
        env |= {"STRICTWIRE_AUDIT_MODE": scenario.audit, "PYTHONHASHSEED": "0"}
        report = Path(scratch) / "valgrind.txt"
        tool = ["valgrind", "--tool=cachegrind", "--cache-sim=no", f"--log-file={report}", "--cachegrind-out-file=/dev/null"]
        command = [*tool, *OURS.command, "--stdio"]
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=env)
            running = Running(process=process, port=0, errors=errors, started=0.0)
            try:
                talk = Talk(scenario.questions, Wire.MODERN)
                Pipes(running, Wire.MODERN).drive(talk, Load(in_flight=1, seconds=_SECONDS, calls=calls))
                assert process.stdin is not None
                process.stdin.close()
                process.wait(_SECONDS)
            finally:
                process.kill()
                process.wait()
                assert process.stdout is not None
                process.stdout.close()
        return read_count(report.read_text())


def read_count(report: str) -> int:
    """The total of a report. Raises ValueError."""
    found = _REFS.search(report)
    if found is None:
        raise ValueError(f"not a report of cachegrind: {report[-300:]!r}")
    return int(found[1].replace(",", ""))


def a_call(scenario: Scenario) -> int:
    """Instructions for one call."""
    few = count(scenario, FEW)
    return (count(scenario, FEW + scenario.calls) - few) // scenario.calls


def read_baseline() -> dict[str, int]:
    """The recorded counts by scenario; empty if none were recorded."""
    found: dict[str, int] = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Print, compare, record. Exit code 1: some count is above the baseline by more than the tolerance."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="make the counts the baseline")
    parser.add_argument("--only", help="one scenario")
    given = parser.parse_args(argv)
    baseline = read_baseline()
    found = {each.name: a_call(each) for each in SCENARIOS if given.only in (None, each.name)}
    for name, counted in found.items():
        before = baseline.get(name)
        change = "" if before is None else f" {counted / before - 1:+.1%} against the baseline"
        sys.stdout.write(f"{name:20} {counted:>12,}{change}\n")
    if given.record:
        BASELINE.write_text(json.dumps(baseline | found, indent=2) + "\n")
        return 0
    return int(any(counted > baseline.get(name, counted) * (1 + TOLERANCE) for name, counted in found.items()))


if __name__ == "__main__":
    sys.exit(main())
