"""Runs the probes of one variant: lanes at the same time, the probes of a lane one after another."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from strictwire.client.errors import ClientError
from strictwire.probe import survey
from strictwire.probe.definition import Evaluation, Lane, Probe, ProbeContext, VariantState, found, not_run, skipped
from strictwire.probe.observation import ResponseKind
from strictwire.probe.opening import AnyWire, make_wire
from strictwire.probe.record import ProbeOptions, Status, Variant
from strictwire.probe.wire_http import HttpWire
from strictwire.probe.wire_stdio import StdioWire

SPLIT: Final = 16
"""Single messages that make a second process worth its start-up time: most silent servers cost a quarter second each."""

SLOW_START_SECONDS: Final = 2.0
"""Start-up time from which fewer processes are faster: on two cores, starting one delays the others."""

_NO_TIME: Final = "the time budget was used up"
_INTERRUPTED: Final = "the time budget ended while it ran"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What all variants of a run share."""

    options: ProbeOptions
    probes: Sequence[Probe]
    deadline: float
    """When the time budget ends, by `time.monotonic`."""
    on_start: Callable[[Variant, Probe], None]
    """Called before a probe runs, or is skipped."""


async def run_variant(wire: AnyWire, run: Run) -> tuple[Mapping[str, Evaluation], VariantState]:
    """The evaluation of every probe, and what the lanes saw. Closes the connection."""
    state = VariantState()
    evaluations: dict[str, Evaluation] = {}
    is_slow = isinstance(wire, StdioWire) and wire.opening_seconds >= SLOW_START_SECONDS
    split = _split_for_slow_start if is_slow else _split
    lanes = split([probe for probe in run.probes if probe.maybe_reason_to_skip(wire.variant) is None])
    try:
        workers = [_LaneWorker(wire=wire, is_first=not index, run=run, state=state) for index in range(len(lanes))]
        made = await asyncio.gather(*(worker.work(lane) for worker, lane in zip(workers, lanes, strict=True)))
    finally:
        await wire.close()
    for part in made:
        evaluations |= part
    _sort_log(state, run.probes)
    context = ProbeContext(wire=wire, options=run.options, state=state)
    for probe in run.probes:
        if probe.id not in evaluations:
            run.on_start(wire.variant, probe)
            reason = probe.maybe_reason_to_skip(wire.variant)
            evaluations[probe.id] = skipped(reason) if reason else await probe.run(context)
    return evaluations, state


def _split(probes: Sequence[Probe]) -> list[tuple[Lane, Sequence[Probe]]]:
    """The lanes to run. Tools are called even if only the responses of these calls are checked."""
    by_lane = {lane: [probe for probe in probes if probe.lane is lane] for lane in Lane}
    single = by_lane[Lane.BYTES]
    halves = [single[::2], single[1::2]] if len(single) > SPLIT else [single]
    lanes: list[tuple[Lane, Sequence[Probe]]] = [(Lane.BYTES, half) for half in halves if half]
    if any(by_lane[lane] for lane in (Lane.TOOLS, Lane.PROCESSES, Lane.AFTER)):
        lanes.append((Lane.TOOLS, by_lane[Lane.TOOLS]))
    if by_lane[Lane.PROCESSES]:
        lanes.append((Lane.PROCESSES, by_lane[Lane.PROCESSES]))
    return lanes


def _split_for_slow_start(probes: Sequence[Probe]) -> list[tuple[Lane, Sequence[Probe]]]:
    """At most two lanes: the open connection for single messages, and one more process for all others."""
    single = [probe for probe in probes if probe.lane is Lane.BYTES]
    others = [probe for lane in (Lane.TOOLS, Lane.PROCESSES) for probe in probes if probe.lane is lane]
    needs_tools = others or any(probe.lane is Lane.AFTER for probe in probes)
    lanes: list[tuple[Lane, Sequence[Probe]]] = [(Lane.BYTES, single)] if single else []
    return [*lanes, (Lane.TOOLS, others)] if needs_tools else lanes


def _sort_log(state: VariantState, probes: Sequence[Probe]) -> None:
    """Order the responses as if the probes had run one after another, so that reports do not depend on timing."""
    order = {probe.id: index for index, probe in enumerate(probes)}
    state.log.sort(key=lambda entry: order.get(entry[0], -1))


class _LaneWorker:
    """Runs one lane."""

    def __init__(self, *, wire: AnyWire, is_first: bool, run: Run, state: VariantState) -> None:
        self._first = wire
        self._is_first = is_first
        self._run = run
        self._state = state

    async def work(self, lane: tuple[Lane, Sequence[Probe]]) -> dict[str, Evaluation]:
        """The evaluations of the probes of a lane."""
        kind, probes = lane
        try:
            async with asyncio.timeout(self._seconds_left()):
                wire = await self._connect()
        except (ClientError, TimeoutError) as exc:
            reason = _NO_TIME if isinstance(exc, TimeoutError) else f"another process could not be started: {exc}"
            self._skip_survey(kind, reason)
            return {probe.id: not_run(reason) for probe in probes}
        try:
            return await self._work_on(wire, kind, probes)
        finally:
            if wire is not self._first:
                await wire.close()

    def _skip_survey(self, kind: Lane, reason: str) -> None:
        if kind is Lane.TOOLS:
            self._state.uncalled["*"] = reason
            self._state.surveyed.set()

    async def _connect(self) -> AnyWire:
        """The first lane uses the open connection. Over HTTP all lanes do: each request has a socket of its own."""
        if self._is_first or isinstance(self._first, HttpWire):
            return self._first
        wire = make_wire(self._first.variant, self._run.options)
        try:
            await wire.open()
        except BaseException:
            await wire.close()
            raise
        return wire

    async def _work_on(self, wire: AnyWire, kind: Lane, probes: Sequence[Probe]) -> dict[str, Evaluation]:
        context = ProbeContext(wire=wire, options=self._run.options, state=self._state, deadline=self._run.deadline)
        if kind is Lane.TOOLS:
            await self._survey(context)
        evaluations = {}
        for probe in probes:
            self._run.on_start(wire.variant, probe)
            evaluations[probe.id] = evaluation = await self._judge(context, probe)
            self._state.log += [(probe.id, seen) for seen in evaluation.seen]
            self._collect_deaths(wire, probe.id)
        return evaluations

    async def _survey(self, context: ProbeContext) -> None:
        try:
            async with asyncio.timeout(self._seconds_left()):
                await survey.list_and_call(context)
        except (ClientError, TimeoutError):
            self._state.uncalled.setdefault("*", "listing and calling the tools was interrupted")
        self._collect_deaths(context.wire, "tools")

    async def _judge(self, context: ProbeContext, probe: Probe) -> Evaluation:
        if self._state.gone_after:
            return not_run(f"the server can no longer be reached since {self._state.gone_after}")
        if self._seconds_left() <= 0:
            return not_run(_NO_TIME)
        try:
            async with asyncio.timeout(self._seconds_left()):
                evaluation = await probe.run(context)
                return await self._check_life(context, probe, evaluation)
        except TimeoutError:
            return not_run(_INTERRUPTED)
        except ClientError as exc:
            return not_run(f"the server could not be started again: {exc}")

    async def _check_life(self, context: ProbeContext, probe: Probe, evaluation: Evaluation) -> Evaluation:
        """A finding if the server ended. An HTTP server that does not respond any more is asked once again."""
        if any(seen.is_fatal for seen in evaluation.seen):
            return replace(evaluation, status=Status.FINDING)
        is_suspect = any(seen.kind is ResponseKind.CLOSED or seen.is_slow for seen in evaluation.seen)
        if not is_suspect or isinstance(context.wire, StdioWire):
            return evaluation
        again = await context.wire.ask(context.wire.messages.harmless_request())
        if again.kind is not ResponseKind.CLOSED and not again.is_slow:
            return evaluation
        self._state.gone_after = probe.id
        seen = tuple(replace(each, is_fatal=True) for each in evaluation.seen)
        note = "the server can no longer be reached; other requests may have been in flight"
        return replace(found(*seen, got=f"{evaluation.got}; {note}"), problems=evaluation.problems)

    def _collect_deaths(self, wire: AnyWire, where: str) -> None:
        if isinstance(wire, StdioWire):
            wire.note_death()
            self._state.deaths += [(where, death) for death in wire.deaths]
            wire.deaths.clear()

    def _seconds_left(self) -> float:
        return max(0.0, self._run.deadline - time.monotonic())
