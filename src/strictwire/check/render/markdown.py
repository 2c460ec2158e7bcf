"""A report as a Markdown table, for CI job summaries and pull request comments."""

from __future__ import annotations

from collections.abc import Sequence

from strictwire.check.finding import Finding, Report
from strictwire.check.render.text import IMPACT_LABELS, count, evidence_of, other_places, shorten, tally
from strictwire.fault.escape import for_markdown, for_markdown_code, for_terminal


def render_markdown(*reports: Report) -> str:
    """One section for each report."""
    return "\n".join(map(_section, reports))


def _section(report: Report) -> str:
    """A heading, and tables of the findings that fail the check, of those that do not, and of waived findings."""
    against = f" against {for_markdown_code(report.against)}" if report.against else ""
    judged = f"{count(report.tools, report.unit)} of {for_markdown_code(report.subject)}"
    lines = [f"## strictwire {report.check}", "", f"{', '.join(tally(report))} in {judged}{against}.", ""]
    lines += _table(report.failing)
    others = [each for each in report.findings if not report.fails(each)]
    lines += ["These do not fail the check:", "", *_table(others)] if others else []
    if report.waived:
        lines += ["| waived | tool | reason |", "|---|---|---|"]
        lines += [
            f"| {w.finding.rule} | {for_markdown(w.finding.tool)} | {for_markdown(w.reason)} |" for w in report.waived
        ] + [""]
    return "\n".join(lines)


def _table(findings: Sequence[Finding]) -> list[str]:
    if not findings:
        return []
    return ["| rule | tool | location | finding | advice |", "|---|---|---|---|---|", *map(_row, findings), ""]


def _row(finding: Finding) -> str:
    impact = f" ({IMPACT_LABELS[finding.impact]})" if finding.impact else ""
    evidence = "".join(f"<br>{label}: {_code(shorten(text))}" for label, text in evidence_of(finding))
    evidence += f"<br>also at: {for_markdown(_one_line(other_places(finding)))}" if finding.also else ""
    location = for_markdown(finding.location or finding.pointer)
    message = for_markdown(_one_line(finding.message)) + impact + evidence
    return f"| {finding.rule} | {for_markdown(finding.tool)} | {location} | {message} | {_cell(finding.advice)} |"


def _code(text: str) -> str:
    # Inside a code span only the bar still has a meaning for the table.
    return for_markdown_code(_one_line(text)).replace("|", "\\|")


def _cell(text: str) -> str:
    """Escape our own words so that they stay inside their table cell. Markup in them is meant."""
    return for_terminal(_one_line(text)).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def _one_line(text: str) -> str:
    """The text with each run of whitespace as one space: a line break would end the table row."""
    return " ".join(text.split())
