"""Instructions a call of the whole server, counted by Valgrind: a measure that other work on the machine does not change.

The stdio server of the benchmark runs under callgrind, which is told over `vgdb` to begin counting once the server is warm.
One call is in flight at a time, hash seeds are fixed, and audit records are chained and kept in memory by the event loop
itself (the thread that writes them to disk makes counts depend on time): so every run does the same work in the same order.
Every answer is checked. Valgrind's processor has no instructions for hashes: those are counted as Python does them.

    python -m benchmarks.instructions            # print the counts beside the baseline
    python -m benchmarks.instructions --record   # make them the baseline
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.drive import Load, Pipes
from benchmarks.fixture import Question, add_questions, echo_questions, refused_questions
from benchmarks.peers import SERVERS, environment
from benchmarks.process import run
from benchmarks.talk import Talk, Wire

BASELINE: Final = Path(__file__).parent / "instructions.json"
TOLERANCE: Final = 0.05
"""How far above the baseline a count may be."""

WARM: Final = 300
"""Calls that are not counted: everything that happens once has happened."""

SECONDS: Final = 120.0
"""How long anything under Valgrind may take."""

VGDB: Final = shutil.which("vgdb") or "vgdb"
_TOTALS: Final = re.compile(r"^totals: (\d+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """What is counted."""

    name: str
    questions: tuple[Question, ...]
    calls: int = 256
    tools: int = 2


SCENARIOS: Final = (
    Scenario(name="add", questions=add_questions()),
    Scenario(name="add, refused", questions=refused_questions()),
    Scenario(name="echo 10 KB", questions=echo_questions(), calls=64),
)
"""What the baseline holds."""


class Counter:
    """A server under callgrind."""

    def __init__(self, pipes: Pipes, pid: int, out: Path) -> None:
        self._pipes, self._pid, self._out = pipes, pid, out
        self._dumps = 0

    def answer(self, scenario: Scenario, calls: int) -> None:
        """Calls that are not counted."""
        self._pipes.drive(Talk(scenario.questions, Wire.MODERN), Load(in_flight=1, seconds=SECONDS, calls=calls))

    def count(self, scenario: Scenario) -> int:
        """Instructions for one call."""
        self._tell("instrumentation", "on")
        self.answer(scenario, 32)
        self._tell("zero")
        self.answer(scenario, scenario.calls)
        self._tell("dump")
        self._tell("instrumentation", "off")
        self._dumps += 1
        return read_total(self._out.with_name(f"{self._out.name}.{self._dumps}").read_text()) // scenario.calls

    def _tell(self, *command: str) -> None:
        subprocess.run([VGDB, f"--pid={self._pid}", *command], capture_output=True, timeout=SECONDS, check=True)


def read_total(dump: str) -> int:
    """The total of a dump of callgrind. Raises ValueError."""
    found = _TOTALS.search(dump)
    if found is None:
        raise ValueError("not a dump of callgrind: it has no totals")
    return int(found[1])


@contextmanager
def counting(tools: int = 2) -> Iterator[Counter]:
    """The server under callgrind, not counting yet."""
    with tempfile.TemporaryDirectory(prefix="strictwire-bench-") as scratch:
        out = Path(scratch) / "callgrind"
        tool = ["valgrind", "-q", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={out}"]
        env = environment(Path(scratch), tools=tools) | {"PYTHONHASHSEED": "0", "STRICTWIRE_AUDIT_MODE": "off"}
        with run([*tool, sys.executable, str(SERVERS / "ours_inline.py")], env=env) as running:
            yield Counter(Pipes(running, Wire.MODERN, patience=SECONDS), running.process.pid, out)


def counts(scenarios: Sequence[Scenario], *, tools: int = 2) -> dict[str, int]:
    """Instructions for one call of each scenario, all in one server."""
    found = {}
    with counting(tools) as counter:
        for scenario in scenarios:
            counter.answer(scenario, WARM)
            found[scenario.name] = counter.count(scenario)
    return found


def interpreter() -> str:
    """What counts depend on besides our code: they can be compared only between equal ones."""
    built = platform.python_version(), platform.python_compiler(), platform.machine()
    return ", ".join((platform.python_implementation(), *built))


def read_baseline() -> dict[str, int]:
    """The counts by scenario that were recorded with this interpreter; empty if none were."""
    kept: dict[str, dict[str, int]] = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    return kept.get(interpreter(), {})


def write_baseline(found: Mapping[str, int]) -> None:
    """Record counts for this interpreter; those of others stay."""
    kept: dict[str, dict[str, int]] = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    BASELINE.write_text(json.dumps(kept | {interpreter(): dict(found)}, indent=2) + "\n")


def find_growth(found: Mapping[str, int], baseline: Mapping[str, int]) -> dict[str, float]:
    """By how much counts are above the baseline, for those that are beyond the tolerance."""
    grown = [name for name, count in found.items() if count > baseline.get(name, count) * (1 + TOLERANCE)]
    return {name: found[name] / baseline[name] - 1 for name in grown}


def main(argv: Sequence[str] | None = None) -> int:
    """Print, compare, record. Exit code 1: some count is above the baseline by more than the tolerance."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="make the counts the baseline")
    given = parser.parse_args(argv)
    baseline, found = read_baseline(), counts(SCENARIOS)
    for name, counted in found.items():
        before = baseline.get(name)
        change = "" if before is None else f" {counted / before - 1:+.1%} against the baseline"
        sys.stdout.write(f"{name:20} {counted:>12,}{change}\n")
    if given.record:
        write_baseline(found)
        return 0
    return int(bool(find_growth(found, baseline)))


if __name__ == "__main__":
    sys.exit(main())
