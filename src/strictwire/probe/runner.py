"""Runs the table of probes on every lane that opens, lanes side by side, and puts the report together."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence

from strictwire.canon.json import JsonObject
from strictwire.client.errors import CannotReach, ClientError
from strictwire.probe import survey
from strictwire.probe.bench import Bench, Judged, Probe, found, skipped
from strictwire.probe.parity import find_differences
from strictwire.probe.record import (
    LANES,
    Difference,
    Lane,
    OnProgress,
    Options,
    Progress,
    Report,
    Transport,
    Verdict,
)
from strictwire.probe.table import PROBES
from strictwire.probe.wire_http import HttpWire
from strictwire.probe.wire_stdio import StdioWire


def ignore(_progress: Progress) -> None:
    """Tell nobody."""


async def run_with(options: Options, on_progress: OnProgress = ignore) -> Report:
    """Probe a server. Raises CannotReach when it answers on none of the lanes asked for: nothing was judged then.

    Raises ValueError for a probe name that does not exist.
    """
    start = time.monotonic()
    probes = _chosen(options.only)
    asked = [lane for lane in LANES if lane.era in options.eras and _target(options, lane.transport) is not None]
    if not asked:
        raise ValueError("name a command or a URL to probe, and an era")
    outcomes = await asyncio.gather(*(_run_lane(lane, options, probes, on_progress) for lane in asked))
    judged = {lane: outcome for lane, outcome in zip(asked, outcomes, strict=True) if not isinstance(outcome, str)}
    closed = {lane: outcome for lane, outcome in zip(asked, outcomes, strict=True) if isinstance(outcome, str)}
    if not judged:
        raise CannotReach(_describe(options), "; ".join(f"{lane}: {reason}" for lane, reason in closed.items()))
    return Report(
        target=_target_facts(options),
        lanes=tuple(judged),
        closed=closed,
        probes=tuple(probe.description for probe in probes),
        verdicts=tuple(_verdicts(probes, judged)),
        differences=tuple(_differences(probes, judged)),
        seconds=time.monotonic() - start,
    )


async def run(
    *,
    stdio: Sequence[str] | None = None,
    http: str | None = None,
    tools: Mapping[str, JsonObject] | None = None,
    on_progress: OnProgress = ignore,
) -> Report:
    """Probe a server with the usual options. Raises as `run_with`."""
    return await run_with(Options(stdio=stdio, http=http, tools=tools or {}), on_progress)


def _chosen(only: frozenset[str] | None) -> tuple[Probe, ...]:
    if only is None:
        return PROBES
    unknown = sorted(only - {probe.id for probe in PROBES})
    if unknown:
        raise ValueError(f"no such probe: {', '.join(unknown)}")
    return tuple(probe for probe in PROBES if probe.id in only)


def _target(options: Options, transport: Transport) -> object:
    return options.stdio if transport is Transport.STDIO else options.http


async def _run_lane(
    lane: Lane, options: Options, probes: Sequence[Probe], on_progress: OnProgress
) -> Mapping[str, Judged] | str:
    """What each probe says, or why the lane did not open."""
    try:
        wire = StdioWire(lane, options) if lane.transport is Transport.STDIO else HttpWire(lane, options)
    except CannotReach as exc:
        return str(exc)
    try:
        try:
            await wire.open()
        except ClientError as exc:
            return str(exc)
        return await _run_probes(Bench(wire=wire, options=options), probes, on_progress)
    finally:
        await wire.close()


async def _run_probes(bench: Bench, probes: Sequence[Probe], on_progress: OnProgress) -> Mapping[str, Judged]:
    await survey.take(bench)
    judged: dict[str, Judged] = {}
    for done, probe in enumerate(probes):
        on_progress(Progress(lane=bench.lane, probe=probe.id, done=done, total=len(probes)))
        judged[probe.id] = await _judge(bench, probe)
        bench.log += [(probe.id, seen) for seen in judged[probe.id].seen]
    return judged


async def _judge(bench: Bench, probe: Probe) -> Judged:
    reason = probe.maybe_reason_to_skip(bench.lane)
    if reason is not None:
        return skipped(reason)
    try:
        return await probe.judge(bench)
    except ClientError as exc:
        return found(got=f"the server could not be reached any more: {exc}")


def _verdicts(probes: Sequence[Probe], judged: Mapping[Lane, Mapping[str, Judged]]) -> list[Verdict]:
    return [
        Verdict(probe=probe.id, lane=lane, status=outcome[probe.id].status, got=outcome[probe.id].got)
        for probe in probes
        for lane, outcome in judged.items()
    ]


def _differences(probes: Sequence[Probe], judged: Mapping[Lane, Mapping[str, Judged]]) -> list[Difference]:
    return [
        difference
        for probe in probes
        for difference in find_differences(probe, {lane: outcome[probe.id] for lane, outcome in judged.items()})
    ]


def _describe(options: Options) -> str:
    return " and ".join(filter(None, (" ".join(options.stdio or ()), options.http)))


def _target_facts(options: Options) -> JsonObject:
    return {"stdio": list(options.stdio) if options.stdio else None, "http": options.http}
