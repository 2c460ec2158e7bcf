"""The probe of processes that end by themselves, some time after a message. It sends nothing."""

from __future__ import annotations

from typing import Final

from strictwire.probe.definition import Evaluation, Lane, Probe, ProbeContext, judged
from strictwire.probe.harm import Harm
from strictwire.probe.record import Problem, Transport


async def _stays_alive(context: ProbeContext) -> Evaluation:
    deaths = context.state.deaths
    problems = [Problem(subject=where, got=seen.note) for where, seen in deaths]
    return judged(problems, *(seen for _, seen in deaths), clean="no process ended by itself")


PROBES: Final = (
    Probe(
        id="SERVER_SURVIVED",
        purpose="Checks that the server does not end by itself between requests.",
        expected="the process runs until its input ends",
        why="a server that ends after its response drops the next request of the client",
        run=_stays_alive,
        harm=Harm.CRASH,
        lane=Lane.AFTER,
        transports=frozenset({Transport.STDIO}),
        compared=False,
    ),
)
