"""Runs the probes on every variant within a time budget, and builds the report.

Variants run at the same time, and so do the lanes of a variant: over stdio each lane has a process of its own, so that no
probe disturbs another. What the budget leaves out is reported as not run, never as passed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.client.errors import CannotReach
from strictwire.probe.definition import Evaluation, Probe
from strictwire.probe.frameworks import detect_framework
from strictwire.probe.harm import harm_of
from strictwire.probe.lanes import Run, run_variant
from strictwire.probe.opening import open_variants, stderr_lines
from strictwire.probe.parity import find_differences
from strictwire.probe.record import (
    VARIANTS,
    Difference,
    Fatal,
    OnProgress,
    ProbeOptions,
    ProbeProgress,
    ProbeReport,
    ProbeResult,
    Status,
    Transport,
    Variant,
)
from strictwire.probe.table import PROBES
from strictwire.sources.label import command_label, url_label

CLOSE_RESERVE: Final = 2.0
"""Seconds of the budget that are kept for stopping processes, so that the whole run stays within it."""


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
    deadline = start + max(options.budget - CLOSE_RESERVE, options.budget / 2)
    wires, closed = await open_variants(requested, options, deadline - start)
    if not wires:
        raise CannotReach(_describe(options), _reasons(closed))
    counter = _Counter(len(wires) * len(probes), deadline, on_progress)
    shared = Run(options=options, probes=probes, deadline=deadline, on_start=counter.start)
    outcomes = await asyncio.gather(*(run_variant(wire, shared) for wire in wires.values()))
    evaluations = {variant: outcome for variant, (outcome, _) in zip(wires, outcomes, strict=True)}
    report = ProbeReport(
        target=_target_facts(options),
        variants=tuple(wires),
        closed=closed,
        probes=tuple(probe.description for probe in probes),
        results=tuple(_results(probes, evaluations)),
        differences=tuple(_differences(probes, evaluations)),
        seconds=time.monotonic() - start,
        seed=options.seed,
        budget=options.budget,
        uncalled={name: reason for _, state in outcomes for name, reason in state.uncalled.items()},
    )
    infos = [wire.opening.get("serverInfo") for wire in wires.values()]
    texts = [seen.text for _, state in outcomes for _, seen in state.log]
    return replace(report, framework=detect_framework(report, infos, texts))


async def run(
    *,
    stdio: Sequence[str] | None = None,
    http: str | None = None,
    tools: Mapping[str, JsonObject] | None = None,
    on_progress: OnProgress = no_progress,
) -> ProbeReport:
    """Test a server with default options. Raises like `run_with`."""
    return await run_with(ProbeOptions(stdio=stdio, http=http, tools=tools or {}), on_progress)


class _Counter:
    """Counts the probes of all variants that were started."""

    def __init__(self, total: int, deadline: float, on_progress: OnProgress) -> None:
        self._total = total
        self._deadline = deadline
        self._on_progress = on_progress
        self._done = 0

    def start(self, variant: Variant, probe: Probe) -> None:
        """Report that a probe starts."""
        left = max(0.0, self._deadline - time.monotonic())
        self._on_progress(
            ProbeProgress(variant=variant, probe=probe.id, done=self._done, total=self._total, seconds_left=left)
        )
        self._done += 1


def _chosen(only: frozenset[str] | None) -> tuple[Probe, ...]:
    if only is None:
        return PROBES
    unknown = sorted(only - {probe.id for probe in PROBES})
    if unknown:
        raise ValueError(f"unknown probe: {', '.join(unknown)}")
    return tuple(probe for probe in PROBES if probe.id in only)


def _target(options: ProbeOptions, transport: Transport) -> object:
    return options.stdio if transport is Transport.STDIO else options.http


def _results(probes: Sequence[Probe], evaluations: Mapping[Variant, Mapping[str, Evaluation]]) -> Iterator[ProbeResult]:
    for probe in probes:
        for variant, outcome in evaluations.items():
            yield _result(probe, variant, outcome[probe.id])


def _result(probe: Probe, variant: Variant, evaluation: Evaluation) -> ProbeResult:
    is_finding = evaluation.status is Status.FINDING
    return ProbeResult(
        probe=probe.id,
        variant=variant,
        status=evaluation.status,
        got=evaluation.got,
        harm=harm_of(evaluation.seen, probe.harm) if is_finding else None,
        problems=evaluation.problems,
        outcome=_outcome(evaluation),
        fatal=_maybe_fatal(evaluation),
    )


def _outcome(evaluation: Evaluation) -> str:
    """The part of a response that does not depend on the server's own names and texts."""
    if not evaluation.seen or evaluation.problems:
        return evaluation.status.value
    first = evaluation.seen[0]
    status = "" if first.status is None else f"HTTP {first.status} "
    return f"{status}{first.kind.value}{'' if first.code is None else f' {first.code}'}"


def _maybe_fatal(evaluation: Evaluation) -> Fatal | None:
    fatal = next((seen for seen in evaluation.seen if seen.is_fatal), None)
    return None if fatal is None else Fatal(sent=fatal.raw_sent, stderr="\n".join(stderr_lines(fatal.stderr)))


def _differences(probes: Sequence[Probe], evaluations: Mapping[Variant, Mapping[str, Evaluation]]) -> list[Difference]:
    return [
        difference
        for probe in probes
        for difference in find_differences(probe, {variant: outcome[probe.id] for variant, outcome in evaluations.items()})
    ]


def _reasons(closed: Mapping[Variant, str]) -> str:
    """Why the variants did not respond; an equal reason is given once."""
    variants: dict[str, list[str]] = {}
    for variant, reason in closed.items():
        variants.setdefault(reason, []).append(str(variant))
    return "\n".join(f"{', '.join(named)}: {reason}" for reason, named in variants.items())


def _describe(options: ProbeOptions) -> str:
    return " and ".join(filter(None, (_command(options), _url(options))))


def _target_facts(options: ProbeOptions) -> JsonObject:
    """What was tested, without the secrets of command lines and URLs."""
    return {"stdio": _command(options), "http": _url(options)}


def _command(options: ProbeOptions) -> str | None:
    return command_label(options.stdio) if options.stdio else None


def _url(options: ProbeOptions) -> str | None:
    return url_label(options.http) if options.http else None
