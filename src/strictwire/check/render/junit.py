"""A report as JUnit XML: one failed test case per finding, or one passed test case if there are none."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from strictwire.check.finding import Finding, Report
from strictwire.check.render.text import IMPACT_LABELS, evidence_of, other_places, shorten
from strictwire.fault.escape import for_terminal


def render_junit(*reports: Report) -> str:
    """One test suite for each report."""
    body = "\n".join(map(_suite, reports))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n{body}\n</testsuites>\n'


def _suite(report: Report) -> str:
    """A test suite, named after the check; waived findings are skipped test cases."""
    cases = [_case(each) for each in report.failing]
    cases += [_skipped(each.finding, each.reason) for each in report.waived]
    cases += [_skipped(each, "in the baseline") for each in report.known]
    if not report.failing:
        cases.append(f'    <testcase classname="strictwire.{report.check}" name="no findings"/>')
    head = (
        f'  <testsuite name="strictwire {report.check}" tests="{len(cases)}" failures="{len(report.failing)}" '
        f'skipped="{len(report.waived) + len(report.known)}">'
    )
    return "\n".join([head, *cases, "  </testsuite>"])


def _open(finding: Finding) -> str:
    where = f"{finding.tool}{finding.pointer}" if finding.tool else f"{finding.file} {finding.pointer}".strip()
    name = quoteattr(for_terminal(where))
    return f'    <testcase classname="strictwire.{finding.rule}" name={name}'


def _case(finding: Finding) -> str:
    tier = f" ({IMPACT_LABELS[finding.impact]})" if finding.impact else ""
    message = quoteattr(for_terminal(finding.message) + tier)
    lines = [f"{finding.location}: {finding.advice}"]
    lines += [f"{label}: {shorten(text)}" for label, text in evidence_of(finding)]
    lines += [f"also at: {other_places(finding)}"] if finding.also else []
    text = escape("\n".join(map(for_terminal, lines)))
    return f'{_open(finding)}>\n      <failure type="{finding.rule}" message={message}>{text}</failure>\n    </testcase>'


def _skipped(finding: Finding, reason: str) -> str:
    return f"{_open(finding)}>\n      <skipped message={quoteattr(for_terminal(reason))}/>\n    </testcase>"
