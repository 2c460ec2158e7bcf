"""A report as a Markdown table, for CI job summaries and pull request comments."""

from __future__ import annotations

from strictwire.check.finding import Finding, Report
from strictwire.check.render.text import IMPACT_LABELS, count, evidence_of, shorten
from strictwire.fault.escape import for_markdown, for_markdown_code, for_terminal


def render_markdown(report: Report) -> str:
    """A heading, a table of findings and a table of waived findings."""
    against = f" against {for_markdown_code(report.against)}" if report.against else ""
    judged = f"{count(report.tools, report.unit)} of {for_markdown_code(report.subject)}"
    summary = f"{count(len(report.failing), 'finding')} in {judged}{against}."
    lines = [f"## strictwire {report.check}", "", summary, ""]
    if report.findings:
        lines += ["| rule | tool | location | finding | advice |", "|---|---|---|---|---|"]
        lines += [_row(each) for each in report.findings] + [""]
    if report.waived:
        lines += ["| waived | tool | reason |", "|---|---|---|"]
        lines += [
            f"| {w.finding.rule} | {for_markdown(w.finding.tool)} | {for_markdown(w.reason)} |" for w in report.waived
        ] + [""]
    return "\n".join(lines)


def _row(finding: Finding) -> str:
    impact = f" ({IMPACT_LABELS[finding.impact]})" if finding.impact else ""
    evidence = "".join(f"<br>{label}: {_code(shorten(text))}" for label, text in evidence_of(finding))
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
