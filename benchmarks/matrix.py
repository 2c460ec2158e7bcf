"""Measures several contenders in several scenarios: in every round, each contender takes a turn on each revision."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import product
from typing import TypeAlias

from benchmarks.drive import Load, Measurement, Pipes, Sockets, Stalled
from benchmarks.fixture import ExpectedCall
from benchmarks.messages import CallStream, MalformedStream, Revision, WrongResponse
from benchmarks.peers import Contender
from benchmarks.process import NotStarted
from benchmarks.results import Effort, Summary, summarise


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixKey:
    """One cell of the matrix."""

    http: bool
    revision: Revision
    scenario: str
    in_flight: int
    contender: str


@dataclass(slots=True)
class Matrix:
    """Summaries by cell, and the errors of contenders that could not be measured."""

    found: dict[MatrixKey, Summary] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    def of(self, *, http: bool, scenario: str, in_flight: int, contender: str) -> list[Summary]:
        """The summaries of one contender, one for each revision it supports."""
        return [
            summary
            for key, summary in self.found.items()
            if (key.http, key.scenario, key.in_flight, key.contender) == (http, scenario, in_flight, contender)
        ]


Channels: TypeAlias = Mapping[tuple[str, Revision], Pipes | Sockets]
"""Clients by contender and revision."""


@contextmanager
def running_servers(
    contenders: Sequence[Contender], revisions: Sequence[Revision], *, http: bool, matrix: Matrix
) -> Iterator[Channels]:
    """Start every contender once for each revision it supports. One that does not start is recorded as an error."""
    with ExitStack() as stack:
        channels: dict[tuple[str, Revision], Pipes | Sockets] = {}
        for contender, revision in product(contenders, revisions):
            if revision not in contender.revisions:
                continue
            try:
                running = stack.enter_context(contender.serve(http=http))
                channels[contender.name, revision] = Sockets(running, revision) if http else Pipes(running, revision)
            except (NotStarted, Stalled, OSError) as exc:
                matrix.errors.append(f"{contender.name}, {'HTTP' if http else 'stdio'}, {revision}: {exc}")
        try:
            yield channels
        finally:
            for channel in channels.values():
                if isinstance(channel, Sockets):
                    channel.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """The calls and the number in flight. `expected_calls` is None for requests that are not JSON."""

    name: str
    expected_calls: tuple[ExpectedCall, ...] | None
    in_flight: int


def measure(
    channels: Channels, scenarios: Sequence[Scenario], effort: Effort, matrix: Matrix, *, http: bool
) -> dict[MatrixKey, Summary]:
    """Measure scenarios in alternation: each takes a turn in every round. The first round is a warm-up."""
    keys = {
        MatrixKey(http=http, revision=revision, scenario=each.name, in_flight=each.in_flight, contender=name): (
            channel,
            MalformedStream() if each.expected_calls is None else CallStream(each.expected_calls, revision),
        )
        for (name, revision), channel in channels.items()
        for each in scenarios
    }
    runs: dict[MatrixKey, list[Measurement]] = {key: [] for key in keys}
    for turn in range(effort.rounds + 1):
        for key, (channel, stream) in keys.items():
            if key not in runs:
                continue
            try:
                measured = channel.drive(stream, Load(in_flight=key.in_flight, seconds=effort.seconds))
            except (Stalled, WrongResponse, OSError) as exc:
                matrix.errors.append(f"{key.contender}, {key.scenario}, {key.in_flight} in flight, {key.revision}: {exc}")
                del runs[key]
                continue
            if turn:
                runs[key].append(measured)
    return {key: summarise(found) for key, found in runs.items() if found}


def measure_all(
    contenders: Sequence[Contender], groups: Sequence[Sequence[Scenario]], effort: Effort, matrix: Matrix
) -> Matrix:
    """Measure every group of scenarios on both transports and revisions. Scenarios of one group take turns."""
    for http in (False, True):
        with running_servers(contenders, tuple(Revision), http=http, matrix=matrix) as channels:
            for scenarios in groups:
                for key, summary in measure(channels, scenarios, effort, matrix, http=http).items():
                    matrix.found[key] = summary
                    _print_summary(key, summary)
    return matrix


def _print_summary(key: MatrixKey, summary: Summary) -> None:
    transport = "http" if key.http else "stdio"
    sys.stderr.write(
        f"{transport:5} {key.revision} {key.scenario:10} {key.in_flight:3} in flight  {key.contender:13}"
        f"{summary.rate:9,.0f}/s  p50 {summary.p50:8,.0f} us  cpu {summary.cpu:7,.0f} us  load busy {summary.busy:.2f}\n"
    )
