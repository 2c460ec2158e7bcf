"""A report as one JSON object, for programs."""

from __future__ import annotations

import msgspec

from strictwire.canon.json import JsonObject, render
from strictwire.check.finding import Report
from strictwire.fault.escape import for_json_lines


def render_json(*reports: Report) -> str:
    """The report with a stable order of keys, indented by two spaces; a list if there are several."""
    values = [_value(each) for each in reports]
    text = msgspec.json.format(render(values[0] if len(values) == 1 else values), indent=2).decode()
    return for_json_lines(text) + "\n"


def _value(report: Report) -> JsonObject:
    value: JsonObject = {
        "check": report.check,
        "subject": report.subject,
        "against": report.against or None,
        "ruleset": report.ruleset,
        f"{report.unit}s": report.tools,
        "failing": len(report.failing),
        "findings": [each.as_json() for each in report.findings],
        "waived": [{**each.finding.as_json(), "reason": each.reason} for each in report.waived],
    }
    if report.known:
        value["known"] = [each.as_json() for each in report.known]
    if report.notes:
        value["notes"] = list(report.notes)
    return value
