"""Reports in every format, from one example that has every field set."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from strictwire.canon.json import parse, parse_object
from strictwire.check.finding import Finding, Impact, Level, Place, Report, WaivedFinding
from strictwire.check.render import FORMATS
from strictwire.check.render.reference import render_reference, render_reference_html
from strictwire.contract.safety import Safety
from strictwire.contract.tool import ToolContract
from strictwire.fault.failure_code import FailureCode
from tests.check.code_scanning import find_faults

NASTY = "a|b <b> \x1b[31m\n::error::%"
FINDING = Finding(
    rule="NO_DEFAULT", message=f"bad {NASTY}", advice="Mend it.", file="schemas/tools/a.json", pointer="/properties/x",
    line=3, column=5, tool="a",
)  # fmt: skip
BREAKING = Finding(
    rule="INPUT_BOUNDS_KEPT", message="less", advice="Keep.", tool="b", impact=Impact.CALLER, witness='{"n":5}',
    old='{"maximum":9}', new='{"maximum":4}',
)  # fmt: skip
NOTE = Finding(rule="TOOL_ADDED", message="new", advice="Nothing.", tool="c", impact=Impact.ADDITIVE)
REPORT = Report(
    check="breaking",
    subject="schemas",
    tools=3,
    findings=(FINDING, BREAKING, NOTE),
    waived=(WaivedFinding(finding=FINDING, reason="because"),),
    ruleset="2026.11",
    against="git:main",
)
CLEAN = Report(check="lint", subject="schemas", tools=1, findings=(), ruleset="2026.11")


def test_text_has_location_rule_message_advice_and_a_summary() -> None:
    assert FORMATS["text"](REPORT).splitlines() == [
        "schemas/tools/a.json",
        "  3:5  NO_DEFAULT  a: bad a|b <b> \\u001b[31m\\u000a::error::%",
        "      Mend it.",
        "",
        "schemas",
        "  -  INPUT_BOUNDS_KEPT  b: less (breaks callers)",
        '      old: {"maximum":9}',
        '      new: {"maximum":4}',
        '      for example: {"n":5}',
        "      Keep.",
        "  -  TOOL_ADDED  c: new (compatible)",
        "      Nothing.",
        "",
        "breaking: 2 findings, 1 note, 1 waived in 3 tools of schemas against git:main",
    ]


def test_a_report_without_findings_has_only_the_summary() -> None:
    assert FORMATS["text"](CLEAN) == "lint: 0 findings in 1 tool of schemas\n"


def test_colour_is_the_text_format_plus_our_own_escape_sequences() -> None:
    plain = FORMATS["colour"](REPORT)
    for code in ("\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[33m"):
        plain = plain.replace(code, "")

    assert plain == FORMATS["text"](REPORT)


def test_json_has_every_non_empty_field() -> None:
    value = parse_object(FORMATS["json"](REPORT).encode())

    assert value == {
        "check": "breaking",
        "subject": "schemas",
        "against": "git:main",
        "ruleset": "2026.11",
        "tools": 3,
        "failing": 2,
        "findings": [FINDING.as_json(), BREAKING.as_json(), NOTE.as_json()],
        "waived": [{**FINDING.as_json(), "reason": "because"}],
    }


def test_sarif_has_results_locations_and_suppressions() -> None:
    run = parse_object(FORMATS["sarif"](REPORT).encode())["runs"][0]

    assert [(each["ruleId"], each["level"], "suppressions" in each) for each in run["results"]] == [
        ("NO_DEFAULT", "error", False),
        ("INPUT_BOUNDS_KEPT", "error", False),
        ("TOOL_ADDED", "note", False),
        ("NO_DEFAULT", "error", True),
    ]
    assert run["results"][0]["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "schemas/tools/a.json"},
        "region": {"startLine": 3, "startColumn": 5},
    }


def test_sarif_conforms_to_the_standard_and_to_what_code_scanning_requires() -> None:
    live = replace(FINDING, file="python3 'my server.py' --token x", line=0, column=0, pointer="/tools/0/inputSchema")
    joined = replace(FINDING, also=(live.place, Place("b", "a folder/ü.json", "/x", 2, 1)))
    report = replace(REPORT, findings=(FINDING, BREAKING, NOTE, live, joined), known=(NOTE,))
    run = parse_object(FORMATS["sarif"](report).encode())["runs"][0]
    uris = [each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in run["results"]]

    assert find_faults(FORMATS["sarif"](report)) == []
    assert uris[:4] == ["schemas/tools/a.json", "tools/b", "tools/c", "tools/a"]


def test_several_reports_are_one_document_in_every_format() -> None:
    sarif = FORMATS["sarif"](REPORT, CLEAN)
    junit = ET.fromstring(FORMATS["junit"](REPORT, CLEAN))

    assert find_faults(sarif) == []
    assert [each["automationDetails"]["id"] for each in parse_object(sarif.encode())["runs"]] == [
        "strictwire/breaking/",
        "strictwire/lint/",
    ]
    assert [each.get("name") for each in junit] == ["strictwire breaking", "strictwire lint"]
    assert parse(FORMATS["json"](REPORT, CLEAN).encode()) == [
        parse(FORMATS["json"](each).encode()) for each in (REPORT, CLEAN)
    ]
    assert FORMATS["text"](REPORT, CLEAN) == FORMATS["text"](REPORT) + FORMATS["text"](CLEAN)


def test_every_format_has_old_and_new_text_excerpt_and_witness() -> None:
    finding = replace(BREAKING, excerpt="EXCERPT", old="OLD", new="NEW", witness="WITNESS")
    texts = {name: render(replace(REPORT, findings=(finding,))) for name, render in FORMATS.items() if name != "statistics"}
    missing = [(name, word) for name in texts for word in ("EXCERPT", "OLD", "NEW", "WITNESS") if word not in texts[name]]

    assert missing == []


@pytest.mark.parametrize(("report", "counts"), [(REPORT, ("3", "2", "1")), (CLEAN, ("1", "0", "0"))])
def test_junit_is_xml_with_a_test_case_for_each_finding(report: Report, counts: tuple[str, str, str]) -> None:
    suite = ET.fromstring(FORMATS["junit"](report)).find("testsuite")

    assert suite is not None
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == counts
    assert len(suite.findall("testcase")) == int(counts[0])


def test_github_commands_escape_their_content() -> None:
    assert FORMATS["github"](REPORT).splitlines() == [
        (
            "::error file=schemas/tools/a.json,line=3,col=5,title=NO_DEFAULT"
            "::a: bad a|b <b> \\u001b[31m\\u000a::error::%25. Mend it."
        ),
        (
            "::error title=INPUT_BOUNDS_KEPT::b: less (breaks callers). Keep."
            '%0Aold: {"maximum":9}%0Anew: {"maximum":4}%0Afor example: {"n":5}'
        ),
        "::notice title=TOOL_ADDED::c: new (compatible). Nothing.",
    ]


def test_markdown_escapes_table_cells() -> None:
    lines = FORMATS["markdown"](REPORT).splitlines()

    assert lines[6] == (
        "| NO_DEFAULT | a | schemas/tools/a.json:3:5 | bad a\\|b &lt;b> \\\\u001b\\[31m ::error::% | Mend it. |"
    )
    assert "| NO_DEFAULT | a | because |" in lines


def test_markdown_makes_no_links_images_or_mentions_of_what_it_quotes() -> None:
    evil = replace(FINDING, message="**b** [l](x) ![i](http://x/y.png) @user #1 www.x.y &lt; `c`", witness="`a|b`")
    line = FORMATS["markdown"](replace(REPORT, findings=(evil,), waived=())).splitlines()[6]

    assert line.split(" | ")[3] == (
        r"\*\*b\*\* \[l\](x) !\[i\](http:&#8203;//x/y.png) @&#8203;user #&#8203;1 www&#8203;.x.y &amp;lt; \`c\`"
        r"<br>for example: `` `a\|b` ``"
    )


def test_a_junit_case_is_named_after_the_file_where_there_is_no_tool() -> None:
    finding = replace(FINDING, tool="", pointer="Castle/Door:m_Script")
    suite = ET.fromstring(FORMATS["junit"](replace(CLEAN, findings=(finding,)))).find("testsuite")

    assert suite is not None
    assert [each.get("name") for each in suite] == ["schemas/tools/a.json Castle/Door:m_Script"]


TOOL = ToolContract(
    name="search",
    description="Finds <pages>.",
    input_schema={
        "type": "object",
        "properties": {
            "query": {"type": "string", "maxLength": 512, "description": "What | to find."},
            "kind": {"enum": ["a", 1]},
            "tags": {"type": "array", "items": {"type": ["string", "null"]}},
            "at": {"$ref": "#/$defs/place"},
            "any": True,
            "one": {"const": None},
        },
        "required": ["query"],
    },
    output_schema={"type": "object"},
    annotations={"readOnlyHint": True},
)


def test_the_reference_lists_arguments_with_their_types() -> None:
    page = render_reference([TOOL], "Tools of | us")

    assert page.splitlines()[0] == "# Tools of \\| us"
    assert [line for line in page.splitlines() if line.startswith("| ") and "required" not in line] == [
        "| query | string (maxLength 512) | yes | What \\| to find. |",
        '| kind | one of "a", 1 | no |  |',
        "| tags | list of string or null | no |  |",
        "| at | place | no |  |",
        "| any | anything | no |  |",
        "| one | null | no |  |",
    ]


def test_the_reference_shows_the_safety_and_the_failures_of_a_tool() -> None:
    failure = FailureCode(code="shop/OUT_OF_STOCK", meaning="Sold <out>.", action="Choose | another.", retryable=True)
    hints = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True}
    tool = replace(TOOL, annotations=hints, safety=Safety.DESTRUCTIVE, failures=(failure,))

    markdown, html = render_reference([tool], "T"), render_reference_html([tool], "T")

    assert "Safety: destructive. Hints: idempotent." in markdown
    assert "| shop/OUT\\_OF\\_STOCK | Sold &lt;out>. | Choose \\| another. | yes |" in markdown
    assert "<td>Sold &lt;out&gt;.</td><td>Choose | another.</td><td>yes</td>" in html


def test_the_html_reference_is_escaped_and_has_no_scripts() -> None:
    page = render_reference_html([TOOL], "<Tools>")

    assert "&lt;Tools&gt;" in page
    assert "Finds &lt;pages&gt;." in page
    assert "<script" not in page
    assert "<pages>" not in page


def test_every_format_renders_every_report() -> None:
    assert all(isinstance(render(report), str) for render in FORMATS.values() for report in (REPORT, CLEAN))


SEVERE = Report(
    check="unity check",
    subject="Game",
    tools=12,
    unit="asset",
    findings=(
        Finding(rule="GUID_UNIQUE", message="twice", advice="Change one.", file="Assets/a b%.mat", severity=Level.WARNING),
    ),
    known=(Finding(rule="SCRIPT_EXISTS", message="gone", advice="Restore it.", file="Assets/x\u202e.unity", line=7),),
    notes=("3 references cannot be verified",),
)


def test_a_warning_fails_only_from_its_threshold_on() -> None:
    assert SEVERE.failing == ()
    assert replace(SEVERE, threshold=Level.WARNING).failing == SEVERE.findings


def test_severity_baseline_and_notes_are_in_every_format() -> None:
    text = FORMATS["text"](SEVERE)
    value = parse_object(FORMATS["json"](SEVERE).encode())
    results = parse_object(FORMATS["sarif"](SEVERE).encode())["runs"][0]["results"]

    assert "warning GUID_UNIQUE" in text
    assert "note: 3 references cannot be verified" in text
    assert text.endswith("unity check: 0 findings, 1 warning, 1 in the baseline in 12 assets of Game\n")
    assert (value["assets"], len(value["known"]), value["notes"]) == (12, 1, ["3 references cannot be verified"])
    assert [(each["ruleId"], each["level"], each.get("baselineState")) for each in results] == [
        ("GUID_UNIQUE", "warning", None),
        ("SCRIPT_EXISTS", "error", "unchanged"),
    ]
    assert results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "Assets/a%20b%25.mat"
    assert FORMATS["github"](SEVERE).startswith("::warning file=Assets/a b%25.mat,")


def test_an_annotation_of_a_running_server_names_no_file() -> None:
    listed = replace(FINDING, file="npx -y some-server", pointer="/tools/0/inputSchema", line=0, column=0)

    assert FORMATS["github"](replace(REPORT, findings=(listed,))).startswith("::error title=NO_DEFAULT::a: bad")


def test_statistics_and_markdown_count_as_the_text_does_and_mark_what_does_not_fail() -> None:
    counts = "2 findings, 1 note, 1 waived in 3 tools of "
    statistics, markdown = FORMATS["statistics"](REPORT), FORMATS["markdown"](REPORT)

    assert counts in FORMATS["text"](REPORT)
    assert statistics.splitlines() == [
        "      1  INPUT_BOUNDS_KEPT  in 1 tool  breaks callers",
        "      1  NO_DEFAULT         in 1 tool",
        "      1  TOOL_ADDED         in 1 tool  compatible; note, does not fail",
        f"breaking: {counts}schemas",
    ]
    failing, _, others = markdown.partition("These do not fail the check:")
    assert counts in failing
    assert ("| TOOL_ADDED" in failing, "| TOOL_ADDED" in others) == (False, True)
