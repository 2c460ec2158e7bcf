"""Runs the probes on every variant, all variants concurrently, and builds the report."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence

from strictwire.canon.json import JsonObject
from strictwire.client.errors import CannotReach, ClientError
from strictwire.probe import survey
from strictwire.probe.definition import Evaluation, Probe, ProbeContext, found, skipped
from strictwire.probe.parity import find_differences
from strictwire.probe.record import (
    VARIANTS,
    Difference,
    OnProgress,
    ProbeOptions,
    ProbeProgress,
    ProbeReport,
    ProbeResult,
    Transport,
    Variant,
)
from strictwire.probe.table import PROBES
from strictwire.probe.wire_http import HttpWire
from strictwire.probe.wire_stdio import StdioWire


def no_progress(_progress: ProbeProgress) -> None:
    """An `OnProgress` callback that does nothing."""


async def run_with(options: ProbeOptions, on_progress: OnProgress = no_progress) -> ProbeReport:
    """Test a server.

    Raises CannotReach if the server responds on none of the requested variants, because then nothing was tested, and
    ValueError for an unknown probe or if no server is given.
    """
    start = time.monotonic()
    probes = _chosen(options.only)
    requested = [
        variant for variant in VARIANTS if variant.era in options.eras and _target(options, variant.transport) is not None
    ]
    if not requested:
        raise ValueError("no server or era given; set a command or a URL, and at least one era")
    outcomes = await asyncio.gather(*(_run_variant(variant, options, probes, on_progress) for variant in requested))
    evaluations = {
        variant: outcome for variant, outcome in zip(requested, outcomes, strict=True) if not isinstance(outcome, str)
    }
    closed = {variant: outcome for variant, outcome in zip(requested, outcomes, strict=True) if isinstance(outcome, str)}
    if not evaluations:
        raise CannotReach(_describe(options), "; ".join(f"{variant}: {reason}" for variant, reason in closed.items()))
    return ProbeReport(
        target=_target_facts(options),
        variants=tuple(evaluations),
        closed=closed,
        probes=tuple(probe.description for probe in probes),
        results=tuple(_verdicts(probes, evaluations)),
        differences=tuple(_differences(probes, evaluations)),
        seconds=time.monotonic() - start,
    )


async def run(
    *,
    stdio: Sequence[str] | None = None,
    http: str | None = None,
    tools: Mapping[str, JsonObject] | None = None,
    on_progress: OnProgress = no_progress,
) -> ProbeReport:
    """Test a server with default options. Raises like `run_with`."""
    return await run_with(ProbeOptions(stdio=stdio, http=http, tools=tools or {}), on_progress)


def _chosen(only: frozenset[str] | None) -> tuple[Probe, ...]:
    if only is None:
        return PROBES
    unknown = sorted(only - {probe.id for probe in PROBES})
    if unknown:
        raise ValueError(f"unknown probe: {', '.join(unknown)}")
    return tuple(probe for probe in PROBES if probe.id in only)


def _target(options: ProbeOptions, transport: Transport) -> object:
    return options.stdio if transport is Transport.STDIO else options.http


async def _run_variant(
    variant: Variant, options: ProbeOptions, probes: Sequence[Probe], on_progress: OnProgress
) -> Mapping[str, Evaluation] | str:
    """The evaluation of each probe, or the reason why the server did not respond on this variant."""
    try:
        wire = StdioWire(variant, options) if variant.transport is Transport.STDIO else HttpWire(variant, options)
    except CannotReach as exc:
        return str(exc)
    try:
        try:
            await wire.open()
        except ClientError as exc:
            return str(exc)
        return await _run_probes(ProbeContext(wire=wire, options=options), probes, on_progress)
    finally:
        await wire.close()


async def _run_probes(context: ProbeContext, probes: Sequence[Probe], on_progress: OnProgress) -> Mapping[str, Evaluation]:
    await survey.list_and_call(context)
    evaluations: dict[str, Evaluation] = {}
    for done, probe in enumerate(probes):
        on_progress(ProbeProgress(variant=context.variant, probe=probe.id, done=done, total=len(probes)))
        evaluations[probe.id] = await _judge(context, probe)
        context.log += [(probe.id, seen) for seen in evaluations[probe.id].seen]
    return evaluations


async def _judge(context: ProbeContext, probe: Probe) -> Evaluation:
    reason = probe.maybe_reason_to_skip(context.variant)
    if reason is not None:
        return skipped(reason)
    try:
        return await probe.run(context)
    except ClientError as exc:
        return found(got=f"the server can no longer be reached: {exc}")


def _verdicts(probes: Sequence[Probe], evaluations: Mapping[Variant, Mapping[str, Evaluation]]) -> list[ProbeResult]:
    return [
        ProbeResult(probe=probe.id, variant=variant, status=outcome[probe.id].status, got=outcome[probe.id].got)
        for probe in probes
        for variant, outcome in evaluations.items()
    ]


def _differences(probes: Sequence[Probe], evaluations: Mapping[Variant, Mapping[str, Evaluation]]) -> list[Difference]:
    return [
        difference
        for probe in probes
        for difference in find_differences(probe, {variant: outcome[probe.id] for variant, outcome in evaluations.items()})
    ]


def _describe(options: ProbeOptions) -> str:
    return " and ".join(filter(None, (" ".join(options.stdio or ()), options.http)))


def _target_facts(options: ProbeOptions) -> JsonObject:
    return {"stdio": list(options.stdio) if options.stdio else None, "http": options.http}
