"""A report as one line for each rule: how many findings, and in how many tools."""

from __future__ import annotations

from collections import Counter

from strictwire.check.finding import Finding, Report
from strictwire.check.render.text import IMPACT_LABELS, count, tally
from strictwire.fault.escape import for_terminal


def render_statistics(*reports: Report) -> str:
    """For each report the rules, the most frequent first, and a total."""
    return "\n".join(map(_table, reports))


def _table(report: Report) -> str:
    places = [(_row(report, each), place) for each in report.findings for place in each.places]
    findings = Counter(row for row, _ in places)
    tools = Counter(row for row, _ in {(row, (place.file, place.tool)) for row, place in places})
    width = max((len(rule) for rule, _ in findings), default=0)
    lines = [
        f"{number:>7,}  {rule:<{width}}  in {count(tools[rule, label], 'tool')}{f'  {label}' if label else ''}"
        for (rule, label), number in sorted(findings.items(), key=lambda item: (-item[1], item[0]))
    ]
    total = f"{report.check}: {', '.join(tally(report))} in {count(report.tools, report.unit)}"
    return "\n".join([*lines, f"{total} of {for_terminal(report.subject)}"]) + "\n"


def _row(report: Report, finding: Finding) -> tuple[str, str]:
    """The rule, and its label: the tier, and the level of what does not fail the check."""
    tier = IMPACT_LABELS[finding.impact] if finding.impact else ""
    level = "" if report.fails(finding) else f"{finding.level.value}, does not fail"
    return finding.rule, "; ".join(filter(None, (tier, level)))
