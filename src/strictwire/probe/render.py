"""Renders a report as a text table or as JSON. Pure.

In the JSON, a variant is called `lane` and a result `verdict`: these keys are published and stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.probe.record import VARIANTS, Description, ProbeReport, ProbeResult, Status, Variant

_MARKS: Final[Mapping[Status, str]] = {Status.PASS: "ok", Status.FINDING: "FINDING", Status.NOT_APPLICABLE: "-"}

JSON_VERSION: Final = 1
"""Version of the JSON form; it changes if a member changes its meaning."""


def render_table(report: ProbeReport) -> str:
    """A matrix of probes and variants, then findings, differences, and what was not tested and why."""
    return "\n".join([*_matrix(report), *_findings(report), *_differences(report), *_skips(report), *_summary(report)])


def render_json(report: ProbeReport) -> JsonObject:
    """The whole report as JSON."""
    return {
        "version": JSON_VERSION,
        "target": report.target,
        "lanes": [str(variant) for variant in report.variants],
        "closedLanes": {str(variant): reason for variant, reason in report.closed.items()},
        "clean": report.is_clean,
        "seconds": round(report.seconds, 3),
        "probes": [_probe_json(probe, report) for probe in report.probes],
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


def _probe_json(probe: Description, report: ProbeReport) -> JsonObject:
    results = [result for result in report.results if result.probe == probe.id]
    return {
        "id": probe.id,
        "purpose": probe.purpose,
        "expected": probe.expected,
        "why": probe.why,
        "verdicts": [{"lane": str(each.variant), "status": each.status.value, "got": each.got} for each in results],
    }


def _matrix(report: ProbeReport) -> Iterator[str]:
    by_probe_and_variant = {(result.probe, result.variant): result for result in report.results}
    variants = [variant for variant in VARIANTS if variant in report.variants]
    width = max((len(probe.id) for probe in report.probes), default=5)
    yield "  ".join(["PROBE".ljust(width), *(str(variant).ljust(12) for variant in variants)]).rstrip()
    for probe in report.probes:
        marks = [_MARKS[by_probe_and_variant[probe.id, variant].status].ljust(12) for variant in variants]
        yield "  ".join([probe.id.ljust(width), *marks]).rstrip()


def _findings(report: ProbeReport) -> Iterator[str]:
    described = {probe.id: probe for probe in report.probes}
    groups: dict[str, list[ProbeResult]] = {}
    for result in report.findings:
        groups.setdefault(result.probe, []).append(result)
    if groups:
        yield from ("", "FINDINGS")
    for name, results in groups.items():
        probe = described[name]
        yield f"{name}: {probe.purpose}"
        yield f"  expected: {probe.expected}"
        yield f"  why:      {probe.why}"
        for text, variants in _by_text(results).items():
            yield f"  got:      {text} [{', '.join(map(str, variants))}]"


def _by_text(results: list[ProbeResult]) -> Mapping[str, list[Variant]]:
    texts: dict[str, list[Variant]] = {}
    for result in results:
        texts.setdefault(result.got, []).append(result.variant)
    return texts


def _differences(report: ProbeReport) -> Iterator[str]:
    if report.differences:
        yield from ("", "DIFFERENCES (same request, different responses)")
    for each in report.differences:
        yield f"{each.probe}: {each.what}"
        yield f"  {each.left}: {each.got_left}"
        yield f"  {each.right}: {each.got_right}"


def _skips(report: ProbeReport) -> Iterator[str]:
    reasons: dict[tuple[str, Variant], list[str]] = {}
    for result in report.results:
        if result.status is Status.NOT_APPLICABLE:
            reasons.setdefault((result.got, result.variant), []).append(result.probe)
    if reasons or report.closed:
        yield from ("", "NOT TESTED (a skip is not a pass)")
    for variant, reason in report.closed.items():
        yield f"  {variant}, all probes: {reason}"
    for (reason, variant), probes in reasons.items():
        yield f"  {variant}, {reason}: {', '.join(probes)}"


def _summary(report: ProbeReport) -> Iterator[str]:
    counts = {status: sum(result.status is status for result in report.results) for status in Status}
    yield ""
    yield (
        f"{counts[Status.FINDING]} findings, {len(report.differences)} differences, {counts[Status.PASS]} passed, "
        f"{counts[Status.NOT_APPLICABLE]} not applicable, {report.seconds:.1f} s"
    )
