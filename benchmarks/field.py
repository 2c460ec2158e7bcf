"""Runs contenders side by side in one scenario after another: rounds alternate between them, medians are kept."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

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


@contextmanager
def opened(
    contenders: Sequence[Contender], *, http: bool, wire: Wire, cells: Cells
) -> Iterator[Mapping[str, Pipes | Sockets]]:
    """Every contender that speaks the wire, running. One that does not start is a trouble, not the end."""
    with ExitStack() as stack:
        channels: dict[str, Pipes | Sockets] = {}
        for contender in contenders:
            if wire not in contender.wires:
                continue
            try:
                running = stack.enter_context(contender.serve(http=http))
                channels[contender.name] = Sockets(running, wire) if http else Pipes(running, wire)
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
    channels: Mapping[str, Pipes | Sockets], scenario: Scenario, wire: Wire, effort: Effort, troubles: list[str]
) -> dict[str, Summary]:
    """One scenario, rounds alternating between the contenders, after one that does not count."""
    runs: dict[str, list[Measured]] = {name: [] for name in channels}
    speakers = {name: Garbage() if scenario.questions is None else Talk(scenario.questions, wire) for name in channels}
    for turn in range(effort.rounds + 1):
        for name, channel in channels.items():
            if name not in runs:
                continue
            try:
                measured = channel.drive(speakers[name], Load(in_flight=scenario.in_flight, seconds=effort.seconds))
            except (Stalled, WrongAnswer, OSError) as exc:
                troubles.append(f"{name}, {scenario.name}, {scenario.in_flight} in flight, {wire}: {exc}")
                del runs[name]
                continue
            if turn:
                runs[name].append(measured)
    return {name: summarise(found) for name, found in runs.items() if found}


def survey(contenders: Sequence[Contender], scenarios: Sequence[Scenario], effort: Effort, cells: Cells) -> Cells:
    """Every scenario on both transports and both wires."""
    for http in (False, True):
        for wire in Wire:
            with opened(contenders, http=http, wire=wire, cells=cells) as channels:
                for scenario in scenarios:
                    found = measure(channels, scenario, wire, effort, cells.troubles)
                    for name, summary in found.items():
                        key = Key(http=http, wire=wire, scenario=scenario.name, in_flight=scenario.in_flight, contender=name)
                        cells.found[key] = summary
                        _tell(key, summary)
    return cells


def _tell(key: Key, summary: Summary) -> None:
    way = "http" if key.http else "stdio"
    sys.stderr.write(
        f"{way:5} {key.wire} {key.scenario:10} {key.in_flight:3} in flight  {key.contender:13}"
        f"{summary.rate:9,.0f}/s  p50 {summary.p50:8,.0f} us  cpu {summary.cpu:7,.0f} us  load busy {summary.busy:.2f}\n"
    )
