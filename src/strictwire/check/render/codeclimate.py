"""A report as a Code Climate list, the format of GitLab's code quality report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from strictwire.canon.digest import digest
from strictwire.canon.json import JsonObject, render
from strictwire.check.finding import Finding, Impact, Level, Report
from strictwire.check.render.sarif import place_uri
from strictwire.check.render.text import evidence_of
from strictwire.fault.escape import for_json_lines

_LEVELS: Final[Mapping[Level, str]] = MappingProxyType(
    {Level.ERROR: "major", Level.WARNING: "minor", Level.NOTE: "info"},
)
_TIERS: Final[Mapping[Impact | None, str]] = MappingProxyType({Impact.CALLER: "critical"})
"""The tiers whose severity differs from that of their level."""


def render_codeclimate(*reports: Report) -> str:
    """One issue for each place: the format has no list of locations. Waived and known findings are left out."""
    issues = [issue for report in reports for finding in report.findings for issue in _issues(finding)]
    return for_json_lines(msgspec.json.format(render(issues), indent=2).decode()) + "\n"


def _issues(finding: Finding) -> Iterator[JsonObject]:
    lines = [finding.advice, *(f"{label}: {text}" for label, text in evidence_of(finding))]
    for place in finding.places:
        tool = f"{place.tool}: " if place.tool else ""
        yield {
            "type": "issue",
            "check_name": finding.rule,
            "description": f"{tool}{finding.message}",
            "content": {"body": "\n".join(lines)},
            "categories": ["Compatibility" if finding.impact else "Style"],
            "severity": _TIERS.get(finding.impact) or _LEVELS[finding.level],
            "location": {"path": place_uri(place), "lines": {"begin": max(place.line, 1)}},
            # GitLab needs a different one for each issue.
            "fingerprint": digest([finding.rule, finding.message, *place]),
        }
