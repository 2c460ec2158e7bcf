"""A report as a table for people and as JSON for machines. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.probe.record import LANES, Description, Lane, Report, Status, Verdict

_MARKS: Final[Mapping[Status, str]] = {Status.PASS: "ok", Status.FINDING: "FINDING", Status.NOT_APPLICABLE: "-"}

JSON_VERSION: Final = 1
"""Of the JSON form; it changes when a member changes its meaning."""


def render_table(report: Report) -> str:
    """Probes by lanes, then each finding, each difference, and what did not apply and why."""
    return "\n".join([*_matrix(report), *_findings(report), *_differences(report), *_skips(report), *_summary(report)])


def render_json(report: Report) -> JsonObject:
    """The whole report."""
    return {
        "version": JSON_VERSION,
        "target": report.target,
        "lanes": [str(lane) for lane in report.lanes],
        "closedLanes": {str(lane): reason for lane, reason in report.closed.items()},
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


def _probe_json(probe: Description, report: Report) -> JsonObject:
    verdicts = [verdict for verdict in report.verdicts if verdict.probe == probe.id]
    return {
        "id": probe.id,
        "purpose": probe.purpose,
        "expected": probe.expected,
        "why": probe.why,
        "verdicts": [{"lane": str(each.lane), "status": each.status.value, "got": each.got} for each in verdicts],
    }


def _matrix(report: Report) -> Iterator[str]:
    by_place = {(verdict.probe, verdict.lane): verdict for verdict in report.verdicts}
    lanes = [lane for lane in LANES if lane in report.lanes]
    width = max((len(probe.id) for probe in report.probes), default=5)
    yield "  ".join(["PROBE".ljust(width), *(str(lane).ljust(12) for lane in lanes)]).rstrip()
    for probe in report.probes:
        marks = [_MARKS[by_place[probe.id, lane].status].ljust(12) for lane in lanes]
        yield "  ".join([probe.id.ljust(width), *marks]).rstrip()


def _findings(report: Report) -> Iterator[str]:
    described = {probe.id: probe for probe in report.probes}
    groups: dict[str, list[Verdict]] = {}
    for verdict in report.findings:
        groups.setdefault(verdict.probe, []).append(verdict)
    if groups:
        yield from ("", "FINDINGS")
    for name, verdicts in groups.items():
        probe = described[name]
        yield f"{name}: {probe.purpose}"
        yield f"  expected: {probe.expected}"
        yield f"  matters:  {probe.why}"
        for text, lanes in _by_text(verdicts).items():
            yield f"  got:      {text} [{', '.join(map(str, lanes))}]"


def _by_text(verdicts: list[Verdict]) -> Mapping[str, list[Lane]]:
    texts: dict[str, list[Lane]] = {}
    for verdict in verdicts:
        texts.setdefault(verdict.got, []).append(verdict.lane)
    return texts


def _differences(report: Report) -> Iterator[str]:
    if report.differences:
        yield from ("", "DIFFERENCES (the same request, two answers)")
    for each in report.differences:
        yield f"{each.probe}: {each.what}"
        yield f"  {each.left}: {each.got_left}"
        yield f"  {each.right}: {each.got_right}"


def _skips(report: Report) -> Iterator[str]:
    reasons: dict[tuple[str, Lane], list[str]] = {}
    for verdict in report.verdicts:
        if verdict.status is Status.NOT_APPLICABLE:
            reasons.setdefault((verdict.got, verdict.lane), []).append(verdict.probe)
    if reasons or report.closed:
        yield from ("", "NOT JUDGED (a skip is not a pass)")
    for lane, reason in report.closed.items():
        yield f"  {lane}, all probes: {reason}"
    for (reason, lane), probes in reasons.items():
        yield f"  {lane}, {reason}: {', '.join(probes)}"


def _summary(report: Report) -> Iterator[str]:
    counts = {status: sum(verdict.status is status for verdict in report.verdicts) for status in Status}
    yield ""
    yield (
        f"{counts[Status.FINDING]} findings, {len(report.differences)} differences, {counts[Status.PASS]} passed, "
        f"{counts[Status.NOT_APPLICABLE]} not applicable, {report.seconds:.1f} s"
    )
