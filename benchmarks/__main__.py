"""`python -m benchmarks [PART...]`: installs peers, runs parts and writes docs/BENCHMARKS.md.

The result of every part is a file in docs/benchmarks/results, so that one part can be measured again alone: the page is made
of all files, and names the parts that have none.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Final

from benchmarks import peers
from benchmarks.page import render_goals_for_terminal, write_page
from benchmarks.parts import counts, floors, guard, handlers, memory, refusals, script, server, startup, sweeps
from benchmarks.results import Effort, PartResult, machine_load, read_result, write_result

DOCS: Final = peers.ROOT / "docs"
RESULTS: Final = DOCS / "benchmarks" / "results"

MEASURED: Final[Mapping[str, Callable[[Effort], PartResult]]] = {
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
PROGRAMS: Final = ("http_servers", "audit", "context", "context_ranking", "workspace", "code", "lint", "unity")
"""Parts that are separate programs in this folder; a missing one is skipped."""

ORDER: Final = (*MEASURED, *PROGRAMS)


def _parts() -> dict[str, Callable[[Effort], PartResult]]:
    programs = {part: partial(_run_program, part) for part in PROGRAMS if script.exists(part)}
    return {**MEASURED, **programs}


def _run_program(part: str, _effort: Effort) -> PartResult:
    return script.run(part)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the given parts, or all parts."""
    parts, default = _parts(), Effort()
    parser = argparse.ArgumentParser(prog="./scripts/bench", description="Measure strictwire and its peers.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"any of {', '.join(parts)} (default: all)")
    parser.add_argument("--seconds", type=float, default=default.seconds, help="duration of one run (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=default.rounds, help="number of measured runs (default: %(default)s)")
    given = parser.parse_args(argv)
    unknown = [part for part in given.parts if part not in parts]
    if unknown:
        parser.error(f"unknown part: {', '.join(unknown)}; known: {', '.join(parts)}")
    effort = Effort(seconds=given.seconds, rounds=given.rounds)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that `finally` blocks stop the servers
    peers.install()
    for part in given.parts or parts:
        _run_part(part, parts[part], effort)
    found = [read_result(path) for path in sorted(RESULTS.glob("*.json"))]
    sys.stdout.write(render_goals_for_terminal(found) + "\n")
    write_page(found, missing=find_missing(found, parts), versions=peers.versions(), order=ORDER, docs=DOCS)
    sys.stdout.write("wrote docs/BENCHMARKS.md\n")
    return 0


def find_missing(found: Iterable[PartResult], parts: Iterable[str]) -> list[str]:
    """Parts that have no result yet, in their order."""
    known = {each.part for each in found}
    return [part for part in parts if part not in known]


def _run_part(part: str, measure: Callable[[Effort], PartResult], effort: Effort) -> None:
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
    write_result(found, RESULTS)


if __name__ == "__main__":
    sys.exit(main())
