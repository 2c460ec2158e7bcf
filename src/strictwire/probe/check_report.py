"""A probe report as a report of `check`, for the formats that all verbs share: SARIF, JUnit, GitHub, Markdown. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from strictwire.check import finding as check
from strictwire.probe.compare import Comparison
from strictwire.probe.findings import Finding, rank_findings
from strictwire.probe.harm import Harm
from strictwire.probe.quote import quote_bytes
from strictwire.probe.record import ProbeReport
from strictwire.probe.render import describe_framework, merge_places

_LEVELS: Final[Mapping[Harm, check.Level]] = MappingProxyType(
    {
        Harm.CRASH: check.Level.ERROR,
        Harm.WRONG: check.Level.ERROR,
        Harm.EXPOSURE: check.Level.ERROR,
        Harm.DROP: check.Level.WARNING,
        Harm.COERCION: check.Level.WARNING,
        Harm.RESOURCES: check.Level.WARNING,
        Harm.PARITY: check.Level.NOTE,
        Harm.STYLE: check.Level.NOTE,
    }
)


def as_check_report(report: ProbeReport, comparison: Comparison | None, tool_version: str) -> check.Report:
    """All findings fail the check, except those that a saved run has too."""
    findings = rank_findings(report)
    is_known = [comparison is not None and not each.ids & comparison.new for each in findings]
    notes = [f"Framework: {describe_framework(report)}."]
    notes += [f"Not run on {each.variant}: {each.probe} ({each.got})." for each in report.not_run]
    return check.Report(
        check="probe",
        subject=" and ".join(str(each) for each in report.target.values() if each),
        tools=len(report.probes),
        unit="probe",
        findings=tuple(_convert(each) for each, known in zip(findings, is_known, strict=True) if not known),
        known=tuple(_convert(each) for each, known in zip(findings, is_known, strict=True) if known),
        notes=tuple(notes),
        threshold=check.Level.NOTE,
        tool_version=tool_version,
    )


def _convert(finding: Finding) -> check.Finding:
    merged = merge_places(finding.places)
    got = "; ".join(f"{text} [{', '.join(where)}]" for text, where, _ in merged)
    fatal = next((fatal for _, _, fatal in merged if fatal), None)
    subjects = {place.subject for place in finding.places if place.subject.startswith("tool ")}
    return check.Finding(
        rule=finding.probe.id,
        message=f"{finding.harm.value}: expected {finding.probe.expected}; got {got}",
        advice=f"{finding.probe.purpose} Why: {finding.probe.why}.",
        tool=subjects.pop().removeprefix("tool ") if len(subjects) == 1 else "",
        witness=quote_bytes(fatal.sent) if fatal else "",
        severity=_LEVELS[finding.harm],
    )
