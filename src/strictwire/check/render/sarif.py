"""A report as SARIF 2.1.0, the format of code scanning services."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

import msgspec

from strictwire.canon.json import JsonObject, render
from strictwire.check.finding import Finding, Report

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def render_sarif(report: Report) -> str:
    """One SARIF run; waived findings are suppressed results with their reasons."""
    advice = {
        each.rule: each.advice for each in (*report.findings, *report.known, *(waived.finding for waived in report.waived))
    }
    suppressed = [
        {**_result(each.finding), "suppressions": [{"kind": "external", "justification": each.reason}]}
        for each in report.waived
    ]
    known = [{**_result(each), "baselineState": "unchanged"} for each in report.known]
    driver: JsonObject = {
        "name": "strictwire",
        "rules": [{"id": each, "help": {"text": advice[each]}} for each in sorted(advice)],
    }
    run = {
        "tool": {"driver": driver},
        "results": [*map(_result, report.findings), *suppressed, *known],
        "columnKind": "unicodeCodePoints",
    }
    value = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return msgspec.json.format(render(value), indent=2).decode() + "\n"


def _result(finding: Finding) -> JsonObject:
    physical: JsonObject = {"artifactLocation": {"uri": quote(finding.file) or "tools"}}
    if finding.line:
        physical["region"] = {"startLine": finding.line, "startColumn": finding.column}
    location: JsonObject = {"physicalLocation": physical}
    if finding.tool:
        location["logicalLocations"] = [{"name": finding.tool, "fullyQualifiedName": finding.tool + finding.pointer}]
    return {
        "ruleId": finding.rule,
        "level": finding.level.value,
        "message": {"text": f"{finding.message}. {finding.advice}"},
        "locations": [location],
    }
