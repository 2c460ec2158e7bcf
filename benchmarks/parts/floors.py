"""What no Python server can get below here: the same calls on asyncio and msgspec with nothing checked and nothing recorded.

Beside it ours without and with records, and the fastest peer. It says what is left between our figures and the machine's.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Final

from benchmarks.field import Cells, Scenario, survey
from benchmarks.fixture import add_questions, echo_questions
from benchmarks.peers import OURS, OURS_OFF, SERVERS, TYPESCRIPT_V1, Contender
from benchmarks.results import Effort, Found, Summary, Table, compare_rounds
from benchmarks.talk import Wire

BARE: Final = Contender(
    name="bare",
    title="asyncio and msgspec alone",
    command=(sys.executable, str(SERVERS / "bare.py")),
    checks="nothing",
)
BARE_TWO: Final = replace(BARE, name="bare-two", title="the same, two processes", command=(*BARE.command, "--twice"))
COMPARED: Final = tuple(replace(each, wires=(Wire.LEGACY,)) for each in (BARE, OURS_OFF, OURS, TYPESCRIPT_V1))
ASKED: Final = (
    Scenario(name="add", questions=add_questions(), in_flight=1),
    Scenario(name="add", questions=add_questions(), in_flight=32),
    Scenario(name="echo 10 KB", questions=echo_questions(), in_flight=32),
)


def run(effort: Effort) -> Found:
    """Measure."""
    cells = survey(COMPARED, [[each] for each in ASKED], effort, Cells())
    asked = [(http, each) for http in (False, True) for each in ASKED]
    columns = [f"{'HTTP' if http else 'stdio'} {each.name}, {each.in_flight}" for http, each in asked]
    rows = [
        [contender.title, *(_show(cells, contender, http=http, asked=each) for http, each in asked)]
        for contender in COMPARED
    ]
    title = "Calls a second (median latency in us; rate in times that of TypeScript SDK v1)"
    return Found(
        part="floors", tables=[Table(title=title, columns=["server", *columns], rows=rows, note="; ".join(cells.troubles))]
    )


def _find(cells: Cells, contender: Contender, *, http: bool, asked: Scenario) -> Summary | None:
    found = cells.of(http=http, scenario=asked.name, in_flight=asked.in_flight, contender=contender.name)
    return found[0] if found else None


def _show(cells: Cells, contender: Contender, *, http: bool, asked: Scenario) -> str:
    found = _find(cells, contender, http=http, asked=asked)
    peer = _find(cells, TYPESCRIPT_V1, http=http, asked=asked)
    if found is None or peer is None:
        return "-"
    return f"{found.rate:,.0f} ({found.p50:,.0f}; {compare_rounds(found.rates, peer.rates):.2f})"
