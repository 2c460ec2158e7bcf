"""A report as SARIF 2.1.0, the format of code scanning services."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

import msgspec

from strictwire.canon.digest import digest
from strictwire.canon.json import JsonObject, render
from strictwire.check.finding import Finding, Report
from strictwire.check.render.text import evidence_of

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def render_sarif(report: Report) -> str:
    """One SARIF run; waived findings are suppressed results with their reasons, those of a baseline are `unchanged`."""
    suppressed = [
        {**_result(each.finding), "suppressions": [{"kind": "external", "justification": each.reason}]}
        for each in report.waived
    ]
    known = [{**_result(each), "baselineState": "unchanged"} for each in report.known]
    driver: JsonObject = {
        "name": "strictwire",
        "version": report.tool_version or "0",
        "informationUri": "https://pypi.org/project/strictwire/",
        "rules": _rules(report),
    }
    run = {
        "tool": {"driver": driver},
        "results": [*map(_result, report.findings), *suppressed, *known],
        "columnKind": "unicodeCodePoints",
    }
    value = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return msgspec.json.format(render(value), indent=2).decode() + "\n"


def _rules(report: Report) -> list[JsonObject]:
    """The rules of all findings, with what code scanning shows about each."""
    findings = (*report.findings, *report.known, *(waived.finding for waived in report.waived))
    advice = {each.rule: each.advice for each in findings}
    return [
        {
            "id": rule,
            "name": rule,
            "shortDescription": {"text": rule.replace("_", " ").capitalize()},
            "help": {"text": advice[rule]},
            "properties": {"tags": [report.check]},
        }
        for rule in sorted(advice)
    ]


def _result(finding: Finding) -> JsonObject:
    physical: JsonObject = {"artifactLocation": {"uri": _uri(finding)}}
    physical["region"] = {"startLine": max(finding.line, 1), "startColumn": max(finding.column, 1)}
    location: JsonObject = {"physicalLocation": physical}
    if finding.tool:
        location["logicalLocations"] = [{"name": finding.tool, "fullyQualifiedName": finding.tool + finding.pointer}]
    lines = [f"{finding.message}. {finding.advice}", *(f"{label}: {text}" for label, text in evidence_of(finding))]
    key = "\n".join((finding.rule, finding.tool, finding.pointer.rpartition("Schema")[2], finding.message))
    return {
        "ruleId": finding.rule,
        "level": finding.level.value,
        "message": {"text": "\n".join(lines)},
        "locations": [location],
        "partialFingerprints": {"strictwire/v1": digest(key)},
    }


def _uri(finding: Finding) -> str:
    """A relative URI. A source without files, such as a command, gets one that says so: code scanning requires a file."""
    is_listing = not finding.line and finding.pointer.startswith("/tools")
    if finding.file and not is_listing:
        return quote(finding.file)
    return "tools/" + quote(finding.tool or "list", safe="")
