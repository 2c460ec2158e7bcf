"""A report as SARIF 2.1.0, the format of code scanning services."""

from __future__ import annotations

from typing import Final

import msgspec

from strictwire.canon.json import JsonObject, render
from strictwire.check.finding import Finding, Report

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def render_sarif(report: Report) -> str:
    """One SARIF run; waived findings are suppressed results with their reasons."""
    ids = sorted({each.rule for each in report.findings} | {each.finding.rule for each in report.waived})
    advice = {each.rule: each.advice for each in (*report.findings, *(waived.finding for waived in report.waived))}
    suppressed = [
        {**_result(each.finding), "suppressions": [{"kind": "external", "justification": each.reason}]}
        for each in report.waived
    ]
    driver: JsonObject = {
        "name": "strictwire",
        "rules": [{"id": each, "help": {"text": advice[each]}} for each in ids],
    }
    run = {
        "tool": {"driver": driver},
        "results": [*map(_result, report.findings), *suppressed],
        "columnKind": "unicodeCodePoints",
    }
    value = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return msgspec.json.format(render(value), indent=2).decode() + "\n"


def _result(finding: Finding) -> JsonObject:
    physical: JsonObject = {"artifactLocation": {"uri": finding.file or "tools"}}
    if finding.line:
        physical["region"] = {"startLine": finding.line, "startColumn": finding.column}
    location: JsonObject = {"physicalLocation": physical}
    if finding.tool:
        location["logicalLocations"] = [{"name": finding.tool, "fullyQualifiedName": finding.tool + finding.pointer}]
    return {
        "ruleId": finding.rule,
        "level": "error" if finding.fails else "note",
        "message": {"text": f"{finding.message}. {finding.advice}"},
        "locations": [location],
    }
