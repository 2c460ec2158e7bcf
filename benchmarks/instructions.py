"""Instructions per call of the whole server, counted by Valgrind: independent of other work on the machine.

The stdio server runs under callgrind; `vgdb` starts the counting once the server is warm. To do the same work in the same
order in every run, one call is in flight at a time, the hash seed is fixed, and audit records are chained and kept in
memory on the event loop, because a thread that writes to disk would make the counts depend on timing. Every response is
checked. Valgrind does not emulate the SHA instructions of the CPU, so hashing is counted in its software implementation.

    python -m benchmarks.instructions            # print the counts and the baseline
    python -m benchmarks.instructions --record   # record the counts as the baseline
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
from benchmarks.fixture import ExpectedCall, add_calls, echo_calls, refused_calls
from benchmarks.messages import CallStream, Revision
from benchmarks.peers import SERVERS, environment
from benchmarks.process import run

BASELINE: Final = Path(__file__).parent / "instructions.json"
TOLERANCE: Final = 0.05
"""How far a count may exceed the baseline."""

WARM: Final = 300
"""Warm-up calls, so that one-time work is not counted."""

SECONDS: Final = 120.0
"""Time limit for every step under Valgrind."""

VGDB: Final = shutil.which("vgdb") or "vgdb"
_TOTALS: Final = re.compile(r"^totals: (\d+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """The calls of one count."""

    name: str
    expected_calls: tuple[ExpectedCall, ...]
    calls: int = 256
    tools: int = 2


SCENARIOS: Final = (
    Scenario(name="add", expected_calls=add_calls()),
    Scenario(name="add, refused", expected_calls=refused_calls()),
    Scenario(name="echo 10 KB", expected_calls=echo_calls(), calls=64),
)
"""The scenarios of the baseline."""


class Counter:
    """A server under callgrind."""

    def __init__(self, pipes: Pipes, pid: int, out: Path) -> None:
        self._pipes, self._pid, self._out = pipes, pid, out
        self._dumps = 0

    def call(self, scenario: Scenario, calls: int) -> None:
        """Make calls without counting."""
        self._pipes.drive(
            CallStream(scenario.expected_calls, Revision.MODERN), Load(in_flight=1, seconds=SECONDS, calls=calls)
        )

    def count(self, scenario: Scenario) -> int:
        """Instructions per call."""
        self._vgdb("instrumentation", "on")
        self.call(scenario, 32)
        self._vgdb("zero")
        self.call(scenario, scenario.calls)
        self._vgdb("dump")
        self._vgdb("instrumentation", "off")
        self._dumps += 1
        return read_total(self._out.with_name(f"{self._out.name}.{self._dumps}").read_text()) // scenario.calls

    def _vgdb(self, *command: str) -> None:
        subprocess.run([VGDB, f"--pid={self._pid}", *command], capture_output=True, timeout=SECONDS, check=True)


def read_total(dump: str) -> int:
    """The total of a callgrind dump. Raises ValueError."""
    found = _TOTALS.search(dump)
    if found is None:
        raise ValueError("not a callgrind dump: it has no totals")
    return int(found[1])


@contextmanager
def counting(tools: int = 2) -> Iterator[Counter]:
    """Start the server under callgrind, with counting off."""
    with tempfile.TemporaryDirectory(prefix="strictwire-bench-") as scratch:
        out = Path(scratch) / "callgrind"
        tool = ["valgrind", "-q", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={out}"]
        env = environment(Path(scratch), tools=tools) | {"PYTHONHASHSEED": "0", "STRICTWIRE_AUDIT_MODE": "off"}
        with run([*tool, sys.executable, str(SERVERS / "ours_inline.py")], env=env) as running:
            yield Counter(Pipes(running, Revision.MODERN, stall_seconds=SECONDS), running.process.pid, out)


def counts(scenarios: Sequence[Scenario], *, tools: int = 2) -> dict[str, int]:
    """Instructions per call of each scenario, all in one server."""
    found = {}
    with counting(tools) as counter:
        for scenario in scenarios:
            counter.call(scenario, WARM)
            found[scenario.name] = counter.count(scenario)
    return found


def interpreter() -> str:
    """The interpreter and platform. Counts are comparable only if these are equal."""
    built = platform.python_version(), platform.python_compiler(), platform.machine()
    return ", ".join((platform.python_implementation(), *built))


def read_baseline() -> dict[str, int]:
    """The recorded counts of this interpreter by scenario; empty if there are none."""
    kept: dict[str, dict[str, int]] = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    return kept.get(interpreter(), {})


def write_baseline(found: Mapping[str, int]) -> None:
    """Record the counts of this interpreter; those of others are kept."""
    kept: dict[str, dict[str, int]] = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    BASELINE.write_text(json.dumps(kept | {interpreter(): dict(found)}, indent=2) + "\n")


def find_growth(found: Mapping[str, int], baseline: Mapping[str, int]) -> dict[str, float]:
    """The relative growth of counts that exceed the baseline by more than the tolerance."""
    grown = [name for name, count in found.items() if count > baseline.get(name, count) * (1 + TOLERANCE)]
    return {name: found[name] / baseline[name] - 1 for name in grown}


def main(argv: Sequence[str] | None = None) -> int:
    """Print, compare and record. Returns 1 if a count exceeds the baseline by more than the tolerance."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="record the counts as the baseline")
    given = parser.parse_args(argv)
    baseline, found = read_baseline(), counts(SCENARIOS)
    for name, counted in found.items():
        before = baseline.get(name)
        change = "" if before is None else f" {counted / before - 1:+.1%} relative to the baseline"
        sys.stdout.write(f"{name:20} {counted:>12,}{change}\n")
    if given.record:
        write_baseline(found)
        return 0
    return int(bool(find_growth(found, baseline)))


if __name__ == "__main__":
    sys.exit(main())
