"""A report as a Markdown table, for CI job summaries and pull request comments."""

from __future__ import annotations

import re
from typing import Final

from strictwire.check.finding import Finding, Report
from strictwire.check.render.text import IMPACT_LABELS, count, printable

_BACKTICKS: Final = re.compile("`+")
_MARKUP: Final = re.compile(r"[\\`*_\[\]|~]")
_AUTOMATIC: Final = re.compile(r"@|#(?=\d)|:(?=//)|\bwww(?=\.)", re.IGNORECASE)
"""What GitHub turns into mentions, references and links even without markup."""
_JOINER: Final = "&#8203;"
"""A zero-width space: it breaks up what would become a link and does not show."""


def render_markdown(report: Report) -> str:
    """A heading, a table of findings and a table of waived findings."""
    against = f" against {code(report.against)}" if report.against else ""
    judged = f"{count(report.tools, report.unit)} of {code(report.subject)}"
    summary = f"{count(len(report.failing), 'finding')} in {judged}{against}."
    lines = [f"## strictwire {report.check}", "", summary, ""]
    if report.findings:
        lines += ["| rule | tool | location | finding | advice |", "|---|---|---|---|---|"]
        lines += [_row(each) for each in report.findings] + [""]
    if report.waived:
        lines += ["| waived | tool | reason |", "|---|---|---|"]
        lines += [f"| {w.finding.rule} | {quoted(w.finding.tool)} | {quoted(w.reason)} |" for w in report.waived] + [""]
    return "\n".join(lines)


def _row(finding: Finding) -> str:
    impact = f" ({IMPACT_LABELS[finding.impact]})" if finding.impact else ""
    # Inside a code span only the bar still has a meaning for the table.
    witness = f", for example {code(finding.witness)}".replace("|", "\\|") if finding.witness else ""
    location = quoted(finding.location or finding.pointer)
    message = quoted(finding.message) + impact + witness
    return f"| {finding.rule} | {quoted(finding.tool)} | {location} | {message} | {cell(finding.advice)} |"


def cell(text: str) -> str:
    """Escape our own words so that they stay inside their table cell. Markup in them is meant."""
    return printable(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def quoted(text: str) -> str:
    """Escape words of others so that they show as they are: no markup, links, images or mentions."""
    marked = _MARKUP.sub(r"\\\g<0>", printable(text)).replace("&", "&amp;").replace("<", "&lt;")
    return _AUTOMATIC.sub(rf"\g<0>{_JOINER}", marked)


def code(text: str) -> str:
    """A code span that holds exactly this text."""
    shown = printable(text)
    if not shown.strip():
        return f'`"{shown}"`'
    fence = "`" * (1 + max((len(run) for run in _BACKTICKS.findall(shown)), default=0))
    space = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{space}{shown}{space}{fence}"
