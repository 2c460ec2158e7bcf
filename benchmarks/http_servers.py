"""Our HTTP server beside uvicorn and granian, under the same HTTP rules and in front of the same endpoint.

    python -m benchmarks.http_servers [--seconds S] [--rounds N]

Speed: small calls over one and 32 connections, the two eras, audit `batched`, all servers in turns in every round. Then
every server meets the same hostile clients (`benchmarks.http_hostile`). Exit code 1: ours is less than 1.5 times as fast
with 32 connections as the fastest of the others, or does not hold a case.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from platform import python_version
from typing import Final

from benchmarks.fixture import add_calls
from benchmarks.http_hostile import CASES, LIMITS, find_breaches
from benchmarks.matrix import Matrix, Scenario, measure, running_servers
from benchmarks.messages import Revision
from benchmarks.page import render_rows
from benchmarks.peers import BENCH, Contender
from benchmarks.results import Effort, Summary, compare_rounds

MANY: Final = 32
WANTED: Final = 1.5
SERVERS: Final = ("ours", "ours-uvloop", "uvicorn", "uvicorn-uvloop", "granian", "granian-uvloop")
ATTACKED: Final = ("ours", "ours-uvloop", "uvicorn-uvloop", "granian-uvloop")
"""The event loop decides how our server meets hostile clients; the others read HTTP in the same way on any."""


def contender(name: str, **environment: str) -> Contender:
    """One of the servers, in a process of its own."""
    command = (sys.executable, "-m", "benchmarks.servers.http_rules", name)
    return Contender(name=name, title=name, command=command, audit="batched", environment=environment)


def measure_speed(effort: Effort, matrix: Matrix) -> dict[tuple[str, Revision, int], Summary]:
    """Every server by revision and connections."""
    asked = [Scenario(name="add", expected_calls=add_calls(), in_flight=count) for count in (1, MANY)]
    with running_servers([contender(name) for name in SERVERS], tuple(Revision), http=True, matrix=matrix) as channels:
        found = measure(channels, asked, effort, matrix, http=True)
    return {(key.contender, key.revision, key.in_flight): summary for key, summary in found.items()}


def render_speed(found: Mapping[tuple[str, Revision, int], Summary]) -> str:
    """Rates, latencies and CPU times as a table."""
    columns = [(revision, count) for revision in Revision for count in (1, MANY)]
    rows = [[name, *(_show(found.get((name, revision, count))) for revision, count in columns)] for name in SERVERS]
    return render_rows(["server", *(f"{revision}, {count}" for revision, count in columns)], rows)


def _show(summary: Summary | None) -> str:
    return "-" if summary is None else f"{summary.rate:,.0f}/s, p50 {summary.p50:,.0f} us, CPU {summary.cpu:,.0f} us"


def find_ratios(found: Mapping[tuple[str, Revision, int], Summary]) -> tuple[float, float]:
    """Ours on Python's own event loop at its slower revision, against the fastest of the others at its faster one.

    Rates, and CPU times a call: those are steadier where the machine has other work.
    """
    ours = min((found["ours", revision, MANY] for revision in Revision), key=lambda each: each.rate)
    others = [each for (name, _, count), each in found.items() if count == MANY and not name.startswith("ours")]
    best = max(others, key=lambda each: each.rate)
    return compare_rounds(ours.rates, best.rates), compare_rounds(best.cpus, ours.cpus)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, attack, print."""
    usual = Effort()
    parser = argparse.ArgumentParser(prog="python -m benchmarks.http_servers", description=__doc__)
    parser.add_argument("--seconds", type=float, default=usual.seconds, help="length of one run (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=usual.rounds, help="runs that count (default %(default)s)")
    given = parser.parse_args(argv)
    BENCH.mkdir(exist_ok=True)
    matrix = Matrix()
    found = measure_speed(Effort(seconds=given.seconds, rounds=given.rounds), matrix)
    breaches = {name: find_breaches(contender(name, HTTP_LIMITS=LIMITS)) for name in ATTACKED}
    ratio, cpu_ratio = find_ratios(found)
    versions = ", ".join(f"{name} {version(name)}" for name in ("httptools", "uvicorn", "uvloop", "granian"))
    print(f"CPython {python_version()}, {versions}\n")
    print(render_speed(found))
    print(*matrix.errors, sep="\n")
    print(
        f"ours, times the fastest of the others, {MANY} connections: {ratio:.2f} (wanted {WANTED}); by CPU {cpu_ratio:.2f}\n"
    )
    rows = [[case, *(breaches[name].get(case, "held") for name in ATTACKED)] for case in CASES]
    print(render_rows(["hostile client", *ATTACKED], rows))
    return 0 if ratio >= WANTED and not breaches["ours"] and not breaches["ours-uvloop"] else 1


if __name__ == "__main__":
    sys.exit(main())
