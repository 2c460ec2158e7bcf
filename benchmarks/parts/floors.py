"""The lower bound for a Python server: the same calls on asyncio and msgspec, without any check or record.

Compared with strictwire without and with audit records, and with the fastest peer.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Final

from benchmarks.fixture import add_calls, echo_calls
from benchmarks.matrix import Matrix, Scenario, measure_all
from benchmarks.messages import Revision
from benchmarks.peers import OURS, OURS_OFF, SERVERS, TYPESCRIPT_V1, Contender
from benchmarks.results import Effort, PartResult, Summary, Table, compare_rounds

BARE: Final = Contender(
    name="bare",
    title="asyncio and msgspec only",
    command=(sys.executable, str(SERVERS / "bare.py")),
    checks="nothing",
)
BARE_TWO: Final = replace(BARE, name="bare-two", title="the same, two processes", command=(*BARE.command, "--twice"))
COMPARED: Final = tuple(replace(each, revisions=(Revision.LEGACY,)) for each in (BARE, OURS_OFF, OURS, TYPESCRIPT_V1))
SCENARIOS: Final = (
    Scenario(name="add", expected_calls=add_calls(), in_flight=1),
    Scenario(name="add", expected_calls=add_calls(), in_flight=32),
    Scenario(name="echo 10 KB", expected_calls=echo_calls(), in_flight=32),
)


def run(effort: Effort) -> PartResult:
    """Measure and render the table."""
    matrix = measure_all(COMPARED, [[each] for each in SCENARIOS], effort, Matrix())
    pairs = [(http, each) for http in (False, True) for each in SCENARIOS]
    columns = [f"{'HTTP' if http else 'stdio'} {each.name}, {each.in_flight}" for http, each in pairs]
    rows = [
        [contender.title, *(_show(matrix, contender, http=http, scenario=each) for http, each in pairs)]
        for contender in COMPARED
    ]
    title = "Calls per second (median latency in us; rate relative to TypeScript SDK v1)"
    return PartResult(
        part="floors", tables=[Table(title=title, columns=["server", *columns], rows=rows, note="; ".join(matrix.errors))]
    )


def _find(matrix: Matrix, contender: Contender, *, http: bool, scenario: Scenario) -> Summary | None:
    found = matrix.of(http=http, scenario=scenario.name, in_flight=scenario.in_flight, contender=contender.name)
    return found[0] if found else None


def _show(matrix: Matrix, contender: Contender, *, http: bool, scenario: Scenario) -> str:
    found = _find(matrix, contender, http=http, scenario=scenario)
    peer = _find(matrix, TYPESCRIPT_V1, http=http, scenario=scenario)
    if found is None or peer is None:
        return "-"
    return f"{found.rate:,.0f} ({found.p50:,.0f}; {compare_rounds(found.rates, peer.rates):.2f})"
