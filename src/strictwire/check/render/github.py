"""A report as GitHub workflow commands, which show as annotations on a pull request."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from strictwire.check.finding import Finding, Level, Report
from strictwire.check.render.text import IMPACT_LABELS, evidence_of, is_in_file, other_places, shorten
from strictwire.fault.escape import for_terminal

_COMMANDS: Final[Mapping[Level, str]] = MappingProxyType(
    {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}
)


def render_github(*reports: Report) -> str:
    """One workflow command per finding."""
    return "".join(_command(each) + "\n" for report in reports for each in report.findings)


def _command(finding: Finding) -> str:
    location = [f"file={_property(finding.file)}"] if is_in_file(finding.place) else []
    location += [f"line={finding.line}", f"col={finding.column}"] if finding.line else []
    location.append(f"title={_property(finding.rule)}")
    tool = f"{finding.tool}: " if finding.tool else ""
    tier = f" ({IMPACT_LABELS[finding.impact]})" if finding.impact else ""
    lines = [f"{tool}{finding.message}{tier}. {finding.advice}"]
    lines += [f"{label}: {shorten(text)}" for label, text in evidence_of(finding)]
    lines += [f"also at: {other_places(finding)}"] if finding.also else []
    return f"::{_COMMANDS[finding.level]} {','.join(location)}::{'%0A'.join(map(_data, lines))}"


def _data(text: str) -> str:
    return for_terminal(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
