"""Hash flooding: numbers that all have the same hash in Python, wherever a client can put many of them.

Hashes of text are random in each process, those of numbers are not: multiples of 2^61 - 1 all have the hash 0. A dictionary
with n of them as keys takes n^2 steps.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.abuse.arena import Arena, Attack, call
from tests.fixtures.live import StdioProcess, modern

MODULUS = 2**61 - 1
COUNT = 5000
MAX_RATIO = 4.0
SLACK_SECONDS = 0.5
"""Processor time that colliding numbers may take more than others of the same length, besides MAX_RATIO."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flood:
    """The same messages, with numbers that collide and with numbers that do not."""

    colliding: bytes
    harmless: bytes
    answers: int
    """Messages that are answered."""


def flood(make: Callable[[list[int]], bytes], answers: int) -> Callable[[Random], Flood]:
    def generate(random: Random) -> Flood:
        start = random.randrange(1, 1000)
        colliding = [number * MODULUS for number in range(start, start + COUNT)]
        harmless = [number + random.randrange(1, 10**9) for number in colliding]
        assert len({hash(number) for number in colliding}) == 1
        return Flood(colliding=make(colliding), harmless=make(harmless), answers=answers)

    return generate


def ids(numbers: list[int]) -> bytes:
    """Requests in flight at the same time."""
    return b"".join(call("add_in_thread", number, a=1, b=2) + b"\n" for number in numbers)


def progress_tokens(numbers: list[int]) -> bytes:
    return b"".join(modern(n, "tools/list", progressToken=number) + b"\n" for n, number in enumerate(numbers))


def cancellations(numbers: list[int]) -> bytes:
    """Cancellations of nothing, and one request."""
    line = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}\n'
    return b"".join((line % number).encode() for number in numbers) + modern(1, "tools/list") + b"\n"


def values(numbers: list[int]) -> bytes:
    """Arguments that are refused."""
    return call("add", a=numbers, b={str(number): number for number in numbers}) + b"\n"


def check(case: Flood, arena: Arena) -> None:
    """Colliding numbers take about as much processor time as others."""
    with StdioProcess("hard:server") as process, arena.watch("stdio", process.process.pid):
        process.ask(modern("warm", "tools/list"))
        harmless, colliding = (_seconds(process, raw, case.answers) for raw in (case.harmless, case.colliding))

    assert colliding < MAX_RATIO * harmless + SLACK_SECONDS, f"{colliding:.2f} s instead of {harmless:.2f} s"


def _seconds(process: StdioProcess, raw: bytes, answers: int) -> float:
    """Processor time of the server for these messages."""
    before = _processor_seconds(process.process.pid)
    process.write(raw)
    for _ in range(answers):
        process.line()
    return _processor_seconds(process.process.pid) - before


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


ATTACK = Attack(
    name="hashes",
    kinds={
        "ids": flood(ids, COUNT),
        "progress_tokens": flood(progress_tokens, COUNT),
        "cancellations": flood(cancellations, 1),
        "values": flood(values, 1),
    },
    check=check,
)
