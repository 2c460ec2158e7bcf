"""What a call costs by what its function is: a coroutine that returns at once, one that waits, a plain function.

A plain function runs in a thread, so that one that takes its time holds nobody up.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from benchmarks.field import Cells, Scenario, survey
from benchmarks.fixture import add_questions
from benchmarks.peers import FASTMCP, OURS, SDK_HIGH, Contender
from benchmarks.results import Effort, Found, Table
from benchmarks.talk import Wire

KINDS: Final = {"returns": "coroutine, returns at once", "waits": "coroutine, waits", "plain": "plain function"}
"""What `benchmarks.servers` takes from BENCH_HANDLER, and how it is called."""

COMPARED: Final = (OURS, SDK_HIGH, FASTMCP)
MANY: Final = 32


def run(effort: Effort) -> Found:
    """Measure."""
    scenario = Scenario(name="add", questions=add_questions(), in_flight=MANY)
    cells = survey([_of_kind(each, kind) for each in COMPARED for kind in KINDS], [[scenario]], effort, Cells())
    rows = [
        [each.title, *(_show(cells, _of_kind(each, kind), http=http) for http in (False, True) for kind in KINDS)]
        for each in COMPARED
    ]
    table = Table(
        title="Calls of `add` a second (CPU us) by its function, 32 in flight",
        columns=["server", *(f"{transport}, {kind}" for transport in ("stdio", "HTTP") for kind in KINDS.values())],
        rows=rows,
        note="; ".join(cells.troubles),
    )
    return Found(part="handlers", tables=[table])


def _of_kind(contender: Contender, kind: str) -> Contender:
    return replace(contender, name=f"{contender.name}-{kind}", wires=(Wire.LEGACY,), environment={"BENCH_HANDLER": kind})


def _show(cells: Cells, contender: Contender, *, http: bool) -> str:
    found = cells.of(http=http, scenario="add", in_flight=MANY, contender=contender.name)
    return f"{found[0].rate:,.0f} ({found[0].cpu:,.0f})" if found else "-"
