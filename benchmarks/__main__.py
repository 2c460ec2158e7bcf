"""`python -m benchmarks [PART...]`: installs the peers, runs the parts and writes docs/BENCHMARKS.md."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Final

from benchmarks import peers
from benchmarks.page import render_goals_for_terminal, write_page
from benchmarks.parts import counts, floors, guard, handlers, memory, refusals, script, server, startup, sweeps
from benchmarks.results import Effort, Found, machine_load, read_found, write_found

RESULTS: Final = peers.BENCH / "results"

MEASURED: Final[Mapping[str, Callable[[Effort], Found]]] = {
    "server": server.run,
    "refusals": refusals.run,
    "handlers": handlers.run,
    "floors": floors.run,
    "guard": guard.run,
    "startup": startup.run,
    "memory": memory.run,
    "sweeps": sweeps.run,
    "instructions": counts.run,
}
PROGRAMS: Final = ("audit", "context", "context_ranking", "workspace", "lint", "unity")
"""Parts that are files of their own beside this one; one that is missing is passed over."""

ORDER: Final = (*MEASURED, *PROGRAMS)


def _parts() -> dict[str, Callable[[Effort], Found]]:
    programs = {part: partial(_run_program, part) for part in PROGRAMS if script.exists(part)}
    return {**MEASURED, **programs}


def _run_program(part: str, _effort: Effort) -> Found:
    return script.run(part)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the parts that are named, or all."""
    parts, usual = _parts(), Effort()
    parser = argparse.ArgumentParser(prog="./scripts/bench", description="Measures strictwire beside its peers.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"any of {', '.join(parts)} (default: all)")
    parser.add_argument("--seconds", type=float, default=usual.seconds, help="length of one run (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=usual.rounds, help="runs that count (default %(default)s)")
    given = parser.parse_args(argv)
    unknown = [part for part in given.parts if part not in parts]
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)}; there are {', '.join(parts)}")
    effort = Effort(seconds=given.seconds, rounds=given.rounds)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # leaves through the blocks that stop the servers
    peers.install()
    for part in given.parts or parts:
        _run_part(part, parts[part], effort)
    found = [read_found(path) for path in sorted(RESULTS.glob("*.json"))]
    write_page(found, peers.versions(), ORDER, peers.ROOT / "docs")
    sys.stdout.write(render_goals_for_terminal(found) + "\nwritten: docs/BENCHMARKS.md\n")
    return 0


def _run_part(part: str, measure: Callable[[Effort], Found], effort: Effort) -> None:
    sys.stderr.write(f"== {part}\n")
    before = machine_load()
    found = measure(effort)
    found.stamp.update(
        {
            "run": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            "by": f"`./scripts/bench {part} --seconds {effort.seconds:g} --rounds {effort.rounds}`",
            "load before": before,
            "after": machine_load(),
        }
    )
    write_found(found, RESULTS)


if __name__ == "__main__":
    sys.exit(main())
