"""Findings with one cause are reported once, with all places, in every format."""

from __future__ import annotations

from dataclasses import replace

from strictwire.canon.json import parse, parse_object, render
from strictwire.check.causes import join_causes
from strictwire.check.engine import lint, select_rules
from strictwire.check.finding import Finding, Place, Report
from strictwire.check.lint import RULES
from strictwire.check.policy import LintPolicy
from strictwire.check.render import FORMATS
from strictwire.check.render.text import MAX_PLACES
from strictwire.check.rulesets import LATEST, RULESETS
from strictwire.sources.dump import parse_dump

FIRST = Finding(rule="R", message="m", advice="a", file="x.json", pointer="/p", line=1, column=2, tool="one", excerpt="e")
SECOND = replace(FIRST, file="y.json", line=7, tool="two")
OTHER = replace(FIRST, message="another")


def report(*findings: Finding) -> Report:
    return Report(check="lint", subject="schemas", tools=3, findings=join_causes(findings))


def test_equal_findings_become_one_with_all_places() -> None:
    assert join_causes([FIRST, OTHER, SECOND]) == (replace(FIRST, also=(Place("two", "y.json", "/p", 7, 2),)), OTHER)


def test_findings_with_another_message_tier_or_witness_stay_apart() -> None:
    findings = (FIRST, OTHER, replace(FIRST, witness="1"), replace(FIRST, old="x"), replace(FIRST, advice="b"))

    assert join_causes(findings) == findings


def test_every_format_names_every_place() -> None:
    for name, render_report in FORMATS.items():
        text = render_report(report(FIRST, SECOND))

        assert name == "statistics" or "y.json" in text, name


def test_the_summary_and_the_statistics_count_places() -> None:
    text = FORMATS["text"](report(FIRST, SECOND)).splitlines()

    assert text == [
        "x.json",
        "  1:2  R  one: m",
        "      here: e",
        "      also at: y.json:7:2 of two",
        "      a",
        "",
        "lint: 1 finding at 2 places in 3 tools of schemas",
    ]
    assert FORMATS["statistics"](report(FIRST, SECOND)).splitlines()[0] == "      2  R  in 2 tools"


def test_text_names_the_first_places_and_says_how_many_more_there_are() -> None:
    findings = [replace(FIRST, file=f"{number}.json") for number in range(MAX_PLACES + 6)]
    lines = FORMATS["text"](report(*findings)).splitlines()

    assert lines[3].endswith(f"{MAX_PLACES}.json:1:2 of one and 5 more (--format json lists all)")
    assert len(parse_object(FORMATS["json"](report(*findings)).encode())["findings"][0]["also"]) == MAX_PLACES + 5


def test_tools_of_a_listing_with_the_same_place_share_its_name() -> None:
    listed = [
        replace(FIRST, file="npx x", pointer=f"/tools/{number}/{inside}", line=0, column=0, tool=f"t{number}")
        for number, inside in enumerate(("inputSchema/type", "inputSchema/type", "outputSchema/type", "inputSchema/type"))
    ]

    assert FORMATS["text"](report(*listed)).splitlines()[3] == (
        "      also at: inputSchema/type of t1, t3; outputSchema/type of t2"
    )


def test_sarif_lists_further_places_as_related_locations_and_code_climate_as_issues_of_their_own() -> None:
    result = parse_object(FORMATS["sarif"](report(FIRST, SECOND)).encode())["runs"][0]["results"][0]
    issues = parse(FORMATS["codeclimate"](report(FIRST, SECOND)).encode())

    assert [each["physicalLocation"]["artifactLocation"]["uri"] for each in result["relatedLocations"]] == ["y.json"]
    assert isinstance(issues, list)
    assert [each["location"] for each in issues] == [
        {"path": "x.json", "lines": {"begin": 1}},
        {"path": "y.json", "lines": {"begin": 7}},
    ]
    assert len({each["fingerprint"] for each in issues}) == 2


def test_the_excerpt_is_the_schema_or_text_at_the_place_shortened_and_without_secrets() -> None:
    schema = {"type": "object", "properties": {"b": {"type": "array"}, "c": {"enum": ["x" * 300]}}}
    entry = {"name": "t", "description": "Uses api_key=9f86d081884c7d65", "inputSchema": schema}
    policy = LintPolicy(select=("CLIENT_ARRAY_ITEMS", "TEXT_NO_SECRETS", "ROOT_CLOSED"))
    selection = select_rules(RULES, RULESETS[LATEST], policy)
    findings = lint(parse_dump(render([entry]), "t.json"), selection, policy, version=LATEST).findings

    assert {each.rule: each.excerpt for each in findings} == {
        "CLIENT_ARRAY_ITEMS": '{"type":"array"}',
        "TEXT_NO_SECRETS": "Uses api_key=[redacted]",
        "ROOT_CLOSED": '{"type":"object","properties":{…}}',
    }
