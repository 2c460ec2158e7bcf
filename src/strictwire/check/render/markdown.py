"""A report as a Markdown table, for summaries and comments."""

from __future__ import annotations

from strictwire.check.finding import Finding, Report
from strictwire.check.render.text import count, printable


def render_markdown(report: Report) -> str:
    """A heading, a table of findings, a table of what was waived."""
    against = f" against `{report.against}`" if report.against else ""
    judged = f"{count(report.tools, report.unit)} of `{report.subject}`"
    summary = f"{count(len(report.failing), 'finding')} in {judged}{against}."
    lines = [f"## strictwire {report.check}", "", summary, ""]
    if report.findings:
        lines += ["| rule | tool | place | finding | what to do |", "|---|---|---|---|---|"]
        lines += [_row(each) for each in report.findings] + [""]
    if report.waived:
        lines += ["| waived | tool | reason |", "|---|---|---|"]
        lines += [f"| {w.finding.rule} | {cell(w.finding.tool)} | {cell(w.reason)} |" for w in report.waived] + [""]
    return "\n".join(lines)


def _row(finding: Finding) -> str:
    hurts = f" (hurts {finding.hurts.value})" if finding.hurts else ""
    witness = f", for example `{cell(finding.witness)}`" if finding.witness else ""
    place = cell(finding.place or finding.pointer)
    message = cell(finding.message) + hurts + witness
    return f"| {finding.rule} | {cell(finding.tool)} | {place} | {message} | {cell(finding.advice)} |"


def cell(text: str) -> str:
    """Text that stays inside its cell."""
    return printable(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
