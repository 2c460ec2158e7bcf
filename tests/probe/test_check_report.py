"""A probe report in the formats that all verbs share."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

from tests.probe.reports import REPORT

from strictwire.canon.json import render
from strictwire.check.finding import Level
from strictwire.check.render import FORMATS
from strictwire.probe.check_report import as_check_report
from strictwire.probe.compare import compare, parse_saved
from strictwire.probe.render import render_json


def test_findings_keep_their_order_and_get_a_level() -> None:
    report = as_check_report(REPORT, None, "1.0")

    assert [(each.rule, each.level, each.tool, each.witness) for each in report.findings] == [
        ("CRASHED", Level.ERROR, "", '{"a":"\\xff"}'),
        ("LEAK", Level.ERROR, "", ""),
        ("SHARED", Level.WARNING, "", ""),
        ("PARITY_ONLY", Level.NOTE, "", ""),
    ]
    assert report.failing == report.findings
    assert report.notes[1] == "Not run on stdio/modern: LATE (the time budget was used up)."


def test_what_a_saved_run_has_too_does_not_fail() -> None:
    report = as_check_report(REPORT, compare(REPORT, parse_saved(render(render_json(REPORT)))), "1.0")

    assert (report.findings, len(report.known)) == ((), 4)


def test_junit_and_sarif_are_well_formed_with_hostile_names() -> None:
    report = as_check_report(REPORT, None, "1.0")
    suite = ET.fromstring(FORMATS["junit"](report).encode())
    sarif = json.loads(FORMATS["sarif"](report))

    assert len(suite.findall(".//failure")) == 4
    assert [each["ruleId"] for each in sarif["runs"][0]["results"]] == ["CRASHED", "LEAK", "SHARED", "PARITY_ONLY"]
