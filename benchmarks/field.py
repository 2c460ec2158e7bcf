"""Runs contenders side by side in one scenario after another: all of them take a turn in every round, on every wire."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import product
from typing import TypeAlias

from benchmarks.drive import Load, Measured, Pipes, Sockets, Stalled
from benchmarks.fixture import Question
from benchmarks.peers import Contender
from benchmarks.process import NotStarted
from benchmarks.results import Effort, Summary, summarise
from benchmarks.talk import Garbage, Talk, Wire, WrongAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One cell of the big table."""

    http: bool
    wire: Wire
    scenario: str
    in_flight: int
    contender: str


@dataclass(slots=True)
class Cells:
    """Summaries by cell, and why there is none where one is missing."""

    found: dict[Key, Summary] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)

    def of(self, *, http: bool, scenario: str, in_flight: int, contender: str) -> list[Summary]:
        """The summaries of one contender, one for each wire it speaks."""
        return [
            summary
            for key, summary in self.found.items()
            if (key.http, key.scenario, key.in_flight, key.contender) == (http, scenario, in_flight, contender)
        ]


Channels: TypeAlias = Mapping[tuple[str, Wire], Pipes | Sockets]
"""By contender and wire."""


@contextmanager
def opened(contenders: Sequence[Contender], wires: Sequence[Wire], *, http: bool, cells: Cells) -> Iterator[Channels]:
    """Every contender, running, once for each wire that it speaks. One that does not start is a trouble, not the end."""
    with ExitStack() as stack:
        channels: dict[tuple[str, Wire], Pipes | Sockets] = {}
        for contender, wire in product(contenders, wires):
            if wire not in contender.wires:
                continue
            try:
                running = stack.enter_context(contender.serve(http=http))
                channels[contender.name, wire] = Sockets(running, wire) if http else Pipes(running, wire)
            except (NotStarted, Stalled, OSError) as exc:
                cells.troubles.append(f"{contender.name}, {'HTTP' if http else 'stdio'}, {wire}: {exc}")
        try:
            yield channels
        finally:
            for channel in channels.values():
                if isinstance(channel, Sockets):
                    channel.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """What is asked, and how many at a time. Without questions: bytes that are not JSON."""

    name: str
    questions: tuple[Question, ...] | None
    in_flight: int


def measure(
    channels: Channels, scenarios: Sequence[Scenario], effort: Effort, cells: Cells, *, http: bool
) -> dict[Key, Summary]:
    """Some scenarios side by side: all take a turn in every round, after one that does not count."""
    keys = {
        Key(http=http, wire=wire, scenario=each.name, in_flight=each.in_flight, contender=name): (
            channel,
            Garbage() if each.questions is None else Talk(each.questions, wire),
        )
        for (name, wire), channel in channels.items()
        for each in scenarios
    }
    runs: dict[Key, list[Measured]] = {key: [] for key in keys}
    for turn in range(effort.rounds + 1):
        for key, (channel, speaker) in keys.items():
            if key not in runs:
                continue
            try:
                measured = channel.drive(speaker, Load(in_flight=key.in_flight, seconds=effort.seconds))
            except (Stalled, WrongAnswer, OSError) as exc:
                cells.troubles.append(f"{key.contender}, {key.scenario}, {key.in_flight} in flight, {key.wire}: {exc}")
                del runs[key]
                continue
            if turn:
                runs[key].append(measured)
    return {key: summarise(found) for key, found in runs.items() if found}


def survey(contenders: Sequence[Contender], rivals: Sequence[Sequence[Scenario]], effort: Effort, cells: Cells) -> Cells:
    """Every group of scenarios that are compared with each other, on both transports and both wires."""
    for http in (False, True):
        with opened(contenders, tuple(Wire), http=http, cells=cells) as channels:
            for scenarios in rivals:
                for key, summary in measure(channels, scenarios, effort, cells, http=http).items():
                    cells.found[key] = summary
                    _tell(key, summary)
    return cells


def _tell(key: Key, summary: Summary) -> None:
    way = "http" if key.http else "stdio"
    sys.stderr.write(
        f"{way:5} {key.wire} {key.scenario:10} {key.in_flight:3} in flight  {key.contender:13}"
        f"{summary.rate:9,.0f}/s  p50 {summary.p50:8,.0f} us  cpu {summary.cpu:7,.0f} us  load busy {summary.busy:.2f}\n"
    )
