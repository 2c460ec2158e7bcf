"""A report as SARIF 2.1.0, the format of code scanning services."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

import msgspec

from strictwire.canon.digest import digest
from strictwire.canon.json import JsonObject, render
from strictwire.check.finding import Finding, Place, Report
from strictwire.check.render.text import evidence_of, is_in_file, place_label
from strictwire.fault.escape import for_json_lines

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


MAX_RELATED: Final = 1_000
"""Code scanning accepts this many locations for one result. Code Climate and JSON have all."""


def render_sarif(*reports: Report) -> str:
    """One SARIF run for each report."""
    value = {"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(each) for each in reports]}
    return for_json_lines(msgspec.json.format(render(value), indent=2).decode()) + "\n"


def _run(report: Report) -> JsonObject:
    """A run; waived findings are suppressed results with their reasons, those of a baseline are `unchanged`."""
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
    return {
        "tool": {"driver": driver},
        # Code scanning replaces the results of an earlier run with the same id: each check has its own.
        "automationDetails": {"id": f"strictwire/{report.check}/"},
        "results": [*map(_result, report.findings), *suppressed, *known],
        "columnKind": "unicodeCodePoints",
    }


def _rules(report: Report) -> list[JsonObject]:
    """The rules of all findings, with what code scanning shows about each."""
    findings = (*report.findings, *report.known, *(waived.finding for waived in report.waived))
    advice = {each.rule: each.advice for each in findings}
    return [_rule(rule, report.purposes.get(rule, ""), advice[rule], report.check) for rule in sorted(advice)]


def _rule(rule: str, purpose: str, advice: str, tag: str) -> JsonObject:
    text = purpose or rule.replace("_", " ").capitalize()
    return {
        "id": rule,
        "name": rule,
        "shortDescription": {"text": text},
        "fullDescription": {"text": text},
        "help": {"text": advice},
        "properties": {"tags": [tag]},
    }


def _result(finding: Finding) -> JsonObject:
    lines = [f"{finding.message}. {finding.advice}", *(f"{label}: {text}" for label, text in evidence_of(finding))]
    key = "\n".join((finding.rule, finding.tool, finding.pointer.rpartition("Schema")[2], finding.message))
    result: JsonObject = {
        "ruleId": finding.rule,
        "level": finding.level.value,
        "message": {"text": "\n".join(lines)},
        "locations": [_location(finding.place)],
        "partialFingerprints": {"strictwire/v1": digest(key)},
    }
    if finding.also:
        # Code scanning shows only the first of `locations`, and lists these below it.
        result["relatedLocations"] = [_related(index, place) for index, place in enumerate(finding.also[:MAX_RELATED], 1)]
    return result


def _related(index: int, place: Place) -> JsonObject:
    return {"id": index, "message": {"text": f"also at {place_label(place)}"}, **_location(place)}


def _location(place: Place) -> JsonObject:
    physical: JsonObject = {"artifactLocation": {"uri": place_uri(place)}}
    physical["region"] = {"startLine": max(place.line, 1), "startColumn": max(place.column, 1)}
    location: JsonObject = {"physicalLocation": physical}
    if place.tool:
        location["logicalLocations"] = [{"name": place.tool, "fullyQualifiedName": place.tool + place.pointer}]
    return location


def place_uri(place: Place) -> str:
    """A relative URI. A source without files, such as a command, gets one that says so: code scanning requires a file."""
    if is_in_file(place):
        return quote(place.file)
    return "tools/" + quote(place.tool or "list", safe="")
