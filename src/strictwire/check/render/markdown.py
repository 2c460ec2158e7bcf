"""A report as a Markdown table, for CI job summaries and pull request comments."""

from __future__ import annotations

from strictwire.check.finding import Finding, Report
from strictwire.check.render.text import IMPACT_LABELS, count, evidence_of, printable, shorten


def render_markdown(report: Report) -> str:
    """A heading, a table of findings and a table of waived findings."""
    against = f" against `{report.against}`" if report.against else ""
    judged = f"{count(report.tools, report.unit)} of `{report.subject}`"
    summary = f"{count(len(report.failing), 'finding')} in {judged}{against}."
    lines = [f"## strictwire {report.check}", "", summary, ""]
    if report.findings:
        lines += ["| rule | tool | location | finding | advice |", "|---|---|---|---|---|"]
        lines += [_row(each) for each in report.findings] + [""]
    if report.waived:
        lines += ["| waived | tool | reason |", "|---|---|---|"]
        lines += [f"| {w.finding.rule} | {cell(w.finding.tool)} | {cell(w.reason)} |" for w in report.waived] + [""]
    return "\n".join(lines)


def _row(finding: Finding) -> str:
    impact = f" ({IMPACT_LABELS[finding.impact]})" if finding.impact else ""
    evidence = "".join(f"<br>{label}: {_code(shorten(text))}" for label, text in evidence_of(finding))
    location = cell(finding.location or finding.pointer)
    message = cell(finding.message) + impact + evidence
    return f"| {finding.rule} | {cell(finding.tool)} | {location} | {message} | {cell(finding.advice)} |"


def _code(text: str) -> str:
    """A code span inside a cell. Its line breaks become spaces; a backtick inside needs a longer fence."""
    fence = "``" if "`" in text else "`"
    return f"{fence}{printable(' '.join(text.split())).replace('|', chr(92) + '|')}{fence}"


def cell(text: str) -> str:
    """Escape text so that it stays inside its table cell."""
    return printable(" ".join(text.split())).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
