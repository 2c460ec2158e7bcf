"""Renders a report as text or as JSON. Pure.

In the JSON, a variant is called `lane` and a result `verdict`: these keys are published and stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.check.render.text import count
from strictwire.fault.escape import for_terminal
from strictwire.probe.compare import Comparison
from strictwire.probe.findings import Finding, Place, rank_findings
from strictwire.probe.harm import MEANINGS, Harm
from strictwire.probe.quote import SHOWN_ON_TERMINAL, quote_bytes
from strictwire.probe.record import Description, Fatal, ProbeReport, Status

JSON_VERSION: Final = 1
"""Version of the JSON form; it changes if a member changes its meaning."""

SHOWN_PLACES: Final = 6
"""Places of one finding that the text shows; the JSON has all."""

SHOWN_TOOLS: Final = 40
"""Tools that were not called and that the text names."""


def render_text(report: ProbeReport, comparison: Comparison | None = None) -> str:
    """The server's own findings, worst first; then those of its framework, one line each; then what was not tested."""
    findings = rank_findings(report)
    own = [each for each in findings if not each.is_shared]
    shared = [each for each in findings if each.is_shared]
    lines = [
        *_head(report),
        *_own(own, comparison),
        *_shared(shared, report),
        *_changes(comparison),
        *_untested(report),
        "",
        summarize(report, comparison),
    ]
    return "\n".join(lines)


def render_json(report: ProbeReport, comparison: Comparison | None = None) -> JsonObject:
    """The whole report as JSON. Also what `--save` writes."""
    value: JsonObject = {
        "version": JSON_VERSION,
        "target": report.target,
        "lanes": [str(variant) for variant in report.variants],
        "closedLanes": {str(variant): reason for variant, reason in report.closed.items()},
        "clean": report.is_clean,
        "complete": not report.not_run,
        "seconds": round(report.seconds, 3),
        "seed": report.seed,
        "budget": report.budget,
        "framework": _framework_json(report),
        "findings": [_place_json(each, place) for each in rank_findings(report) for place in each.places],
        "probes": [_probe_json(probe, report) for probe in report.probes],
        "uncalledTools": dict(report.uncalled),
        "differences": [
            {
                "probe": each.probe,
                "what": each.what,
                "left": {"lane": str(each.left), "got": each.got_left},
                "right": {"lane": str(each.right), "got": each.got_right},
            }
            for each in report.differences
        ],
    }
    if comparison is not None:
        value["comparison"] = {
            "new": sorted(comparison.new),
            "unchanged": sorted(comparison.unchanged),
            "gone": list(comparison.gone),
            "unchecked": list(comparison.unchecked),
        }
    return value


def summarize(report: ProbeReport, comparison: Comparison | None = None) -> str:
    """One line of counts."""
    findings = rank_findings(report)
    own = Counter(each.harm for each in findings if not each.is_shared)
    tiers = ", ".join(f"{own[harm]} {harm.value}" for harm in Harm if own[harm])
    shared = sum(each.is_shared for each in findings)
    counts = Counter(result.status for result in report.results)
    parts = [
        f"{count(own.total(), 'finding')} of the server" + (f" ({tiers})" if tiers else ""),
        f"{shared} of its framework",
        *([f"{len(comparison.new)} new"] if comparison else []),
        f"{counts[Status.PASS]} passed",
        f"{counts[Status.NOT_APPLICABLE]} not applicable",
        f"{counts[Status.NOT_RUN]} not run",
        f"{report.seconds:.1f} s",
        f"seed {report.seed}",
    ]
    return ", ".join(parts)


def merge_places(places: Sequence[Place]) -> list[tuple[str, list[str], Fatal | None]]:
    """What the server did, with the variants on which it did the same."""
    merged: dict[str, list[str]] = {}
    fatal: dict[str, Fatal | None] = {}
    for place in places:
        text = f"{place.subject}: {place.got}" if place.subject else place.got
        merged.setdefault(text, []).append(place.where)
        fatal[text] = fatal.get(text) or place.fatal
    return [(text, where, fatal[text]) for text, where in merged.items()]


def describe_framework(report: ProbeReport) -> str:
    """The framework and the evidence for it, in one line."""
    if report.framework is None:
        return "not recognised; all findings count as the server's own"
    return f"{report.framework.name} ({'; '.join(report.framework.evidence)})"


def _head(report: ProbeReport) -> Iterator[str]:
    for transport, target in report.target.items():
        if target:
            yield f"{transport}: {for_terminal(str(target))}"
    yield f"framework: {for_terminal(describe_framework(report))}"


def _own(findings: Sequence[Finding], comparison: Comparison | None) -> Iterator[str]:
    tier: Harm | None = None
    for each in findings:
        if each.harm is not tier:
            tier = each.harm
            yield from ("", f"{tier.value.upper()}: {MEANINGS[tier]}")
        yield f"  {each.probe.id}{_mark(each, comparison)}: {each.probe.purpose}"
        yield f"    expected: {each.probe.expected}"
        yield f"    why:      {each.probe.why}"
        merged = merge_places(each.places)
        for text, where, fatal in merged[:SHOWN_PLACES]:
            yield f"    got:      {for_terminal(text)} [{', '.join(where)}]"
            yield from _fatal(fatal)
        if len(merged) > SHOWN_PLACES:
            yield f"    and {len(merged) - SHOWN_PLACES} more places; --format json shows all"


def _mark(finding: Finding, comparison: Comparison | None) -> str:
    return " (NEW)" if comparison and finding.ids & comparison.new else ""


def _fatal(fatal: Fatal | None) -> Iterator[str]:
    if fatal is not None:
        yield f"    sent:     {quote_bytes(fatal.sent, SHOWN_ON_TERMINAL)}"
        yield from (f"    stderr:   {for_terminal(line)}" for line in fatal.stderr.splitlines())


def _shared(findings: Sequence[Finding], report: ProbeReport) -> Iterator[str]:
    if not findings or report.framework is None:
        return
    yield from ("", f"FROM THE FRAMEWORK: {for_terminal(report.framework.name)}, {count(len(findings), 'finding')}")
    width = max(len(each.probe.id) for each in findings)
    for each in findings:
        text, where, _ = merge_places(each.places)[0]
        yield f"  {each.harm.value:<9}  {each.probe.id:<{width}}  {for_terminal(text)} [{', '.join(where)}]"


def _changes(comparison: Comparison | None) -> Iterator[str]:
    if comparison is None:
        return
    yield from ("", f"SINCE THE SAVED RUN: {len(comparison.new)} new, {len(comparison.unchanged)} unchanged")
    yield from (f"  gone: {for_terminal(id_)}" for id_ in comparison.gone)
    yield from (f"  not checked again: {for_terminal(id_)}" for id_ in comparison.unchecked)


def _untested(report: ProbeReport) -> Iterator[str]:
    reasons: dict[tuple[str, str], list[str]] = {}
    for result in report.results:
        if result.status in (Status.NOT_APPLICABLE, Status.NOT_RUN):
            label = f"{result.status.value}: " if result.status is Status.NOT_RUN else ""
            reasons.setdefault((f"{label}{result.got}", str(result.variant)), []).append(result.probe)
    tools: dict[str, list[str]] = {}
    for name, reason in report.uncalled.items():
        tools.setdefault(reason, []).append(for_terminal(name))
    if reasons or tools or report.closed:
        yield from ("", "NOT TESTED (a skip is not a pass)")
    for variant, closed in report.closed.items():
        yield f"  {variant}, all probes: {for_terminal(closed)}"
    for (reason, on), probes in reasons.items():
        yield f"  {on}, {for_terminal(reason)}: {', '.join(probes)}"
    for reason, names in tools.items():
        more = f" and {len(names) - SHOWN_TOOLS} more" if len(names) > SHOWN_TOOLS else ""
        yield f"  not called, {for_terminal(reason)}: {', '.join(names[:SHOWN_TOOLS])}{more}"


def _framework_json(report: ProbeReport) -> JsonObject | None:
    framework = report.framework
    return None if framework is None else {"name": framework.name, "evidence": list(framework.evidence)}


def _place_json(finding: Finding, place: Place) -> JsonObject:
    value: JsonObject = {
        "id": place.id,
        "probe": finding.probe.id,
        "harm": finding.harm.value,
        "origin": "framework" if finding.is_shared else "server",
        "where": place.where,
        "got": place.got,
    }
    if place.subject:
        value["subject"] = place.subject
    if place.fatal is not None:
        value["sent"] = quote_bytes(place.fatal.sent)
        value["stderr"] = place.fatal.stderr
    return value


def _probe_json(probe: Description, report: ProbeReport) -> JsonObject:
    results = [result for result in report.results if result.probe == probe.id]
    return {
        "id": probe.id,
        "purpose": probe.purpose,
        "expected": probe.expected,
        "why": probe.why,
        "verdicts": [{"lane": str(each.variant), "status": each.status.value, "got": each.got} for each in results],
    }
