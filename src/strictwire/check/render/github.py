"""A report as GitHub workflow commands, which show as annotations on a pull request."""

from __future__ import annotations

from strictwire.check.finding import Finding, Report


def render_github(report: Report) -> str:
    """One workflow command per finding."""
    return "".join(_command(each) + "\n" for each in report.findings)


def _command(finding: Finding) -> str:
    level = "error" if finding.fails else "notice"
    location = [f"file={_property(finding.file)}"] if finding.file else []
    location += [f"line={finding.line}", f"col={finding.column}"] if finding.line else []
    location.append(f"title={_property(finding.rule)}")
    tool = f"{finding.tool}: " if finding.tool else ""
    return f"::{level} {','.join(location)}::{_data(f'{tool}{finding.message}. {finding.advice}')}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
