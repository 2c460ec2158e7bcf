"""The cost of a call by kind of handler: a coroutine that returns immediately, one that awaits, a plain function.

Plain functions run in a thread, so that a slow one does not block other calls.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from benchmarks.fixture import add_calls
from benchmarks.matrix import Matrix, Scenario, measure_all
from benchmarks.messages import Revision
from benchmarks.peers import FASTMCP, OURS, SDK_HIGH, Contender
from benchmarks.results import Effort, PartResult, Table

KINDS: Final = {"returns": "coroutine, returns immediately", "waits": "coroutine, awaits", "plain": "plain function"}
"""The values of BENCH_HANDLER that the servers support, and their titles."""

COMPARED: Final = (OURS, SDK_HIGH, FASTMCP)
MANY: Final = 32


def run(effort: Effort) -> PartResult:
    """Measure and render the table."""
    scenario = Scenario(name="add", expected_calls=add_calls(), in_flight=MANY)
    matrix = measure_all([_of_kind(each, kind) for each in COMPARED for kind in KINDS], [[scenario]], effort, Matrix())
    rows = [
        [each.title, *(_show(matrix, _of_kind(each, kind), http=http) for http in (False, True) for kind in KINDS)]
        for each in COMPARED
    ]
    table = Table(
        title="Calls of `add` per second (CPU us) by kind of handler, 32 in flight",
        columns=["server", *(f"{transport}, {kind}" for transport in ("stdio", "HTTP") for kind in KINDS.values())],
        rows=rows,
        note="; ".join(matrix.errors),
    )
    return PartResult(part="handlers", tables=[table])


def _of_kind(contender: Contender, kind: str) -> Contender:
    return replace(
        contender, name=f"{contender.name}-{kind}", revisions=(Revision.LEGACY,), environment={"BENCH_HANDLER": kind}
    )


def _show(matrix: Matrix, contender: Contender, *, http: bool) -> str:
    found = matrix.of(http=http, scenario="add", in_flight=MANY, contender=contender.name)
    return f"{found[0].rate:,.0f} ({found[0].cpu:,.0f})" if found else "-"
