"""A report as one line for each rule: how many findings, and in how many tools."""

from __future__ import annotations

from collections import Counter

from strictwire.check.finding import Report
from strictwire.check.render.text import IMPACT_LABELS, count
from strictwire.fault.escape import for_terminal


def render_statistics(report: Report) -> str:
    """The rules, the most frequent first, and a total."""
    findings = Counter((each.rule, IMPACT_LABELS[each.impact] if each.impact else "") for each in report.findings)
    tools = Counter({key: len({f.tool for f in report.findings if f.rule == key[0]}) for key in findings})
    width = max((len(rule) for rule, _ in findings), default=0)
    lines = [
        f"{number:>7,}  {rule:<{width}}  in {count(tools[rule, tier], 'tool')}{f'  {tier}' if tier else ''}"
        for (rule, tier), number in sorted(findings.items(), key=lambda item: (-item[1], item[0]))
    ]
    total = f"{report.check}: {count(len(report.findings), 'finding')} in {count(report.tools, report.unit)}"
    return "\n".join([*lines, f"{total} of {for_terminal(report.subject)}"]) + "\n"
