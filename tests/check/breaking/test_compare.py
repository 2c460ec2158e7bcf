"""The verdict of each hand-made change under both semantics, on both sides, and its witnesses."""

from __future__ import annotations

import re
from typing import Any

import pytest

from strictwire.canon.json import JsonObject, parse, parse_object, render
from strictwire.check.breaking import RULES
from strictwire.check.breaking.compare import find_breaking_changes
from strictwire.check.finding import Finding, Impact
from strictwire.check.policy import LintPolicy
from strictwire.check.rule import Semantics
from strictwire.check.rulesets import LATEST, RULESETS
from strictwire.check.subject import Side, ToolSet
from strictwire.contract.conform import compile_schema
from strictwire.sources.dump import parse_dump
from tests.check.breaking.change_table import CHANGES

KNOWN = {rule.id: rule for rule in RULES}
CURRENT = {name: KNOWN[name] for name in RULESETS[LATEST].breaking}
IDS = [re.sub(r"\W+", "_", change[0]) for change in CHANGES]


def tools(schema: Any, side: Side) -> ToolSet:
    entry: dict[str, Any] = {"name": "t", "description": "Does something.", "inputSchema": {"type": "object"}}
    entry[f"{side.value}Schema"] = schema
    return parse_dump(render([entry]), "tools.json")


def changes(old: Any, new: Any, side: Side, semantics: Semantics) -> list[Finding]:
    policy = LintPolicy(semantics=semantics)
    report = find_breaking_changes(tools(old, side), tools(new, side), CURRENT, policy, version=LATEST)
    return [each for each in report.findings if each.impact in (Impact.CALLER, Impact.READER)]


def verdict(findings: list[Finding]) -> str:
    names = dict.fromkeys(re.sub(r"^(INPUT|OUTPUT)_", "", each.rule) for each in findings)
    plain = (re.sub(r"^(TYPE|VALUES|BOUNDS|OPTIONAL|REQUIRED|PATTERNS|MEMBERS|OPEN)_KEPT$", r"\1", name) for name in names)
    return " ".join(sorted(plain))


@pytest.mark.parametrize("change", CHANGES, ids=IDS)
def test_a_change_has_the_expected_verdicts(change: tuple[Any, ...]) -> None:
    _, old, new, *expected = change
    found = [verdict(changes(old, new, side, semantics)) for side in Side for semantics in Semantics]

    assert found == [" ".join(sorted(each.split())) for each in expected]


@pytest.mark.parametrize("change", CHANGES, ids=IDS)
def test_every_claim_about_a_schema_has_a_witness_that_the_right_version_accepts(change: tuple[Any, ...]) -> None:
    _, old, new, *_ = change
    for side in Side:
        for semantics in Semantics:
            for finding in changes(old, new, side, semantics):
                is_of_old = side is Side.INPUT or finding.rule.startswith("RESULT_")
                value = parse(finding.witness.encode())

                assert compile_schema(old if is_of_old else new).accepts(value)
                if semantics is Semantics.EXACT and finding.rule != "DEFAULT_KEPT":
                    assert not compile_schema(new if is_of_old else old).accepts(value)


def test_no_hand_made_change_is_undecided_and_there_are_at_least_100() -> None:
    assert len({change[0] for change in CHANGES}) == len(CHANGES) >= 100
    assert [change[0] for change in CHANGES if "DECIDED" in " ".join(change[3:])] == []


def test_a_renamed_tool_is_reported_once_and_an_unlike_one_as_removed() -> None:
    old = parse_dump(b'[{"name": "read_file", "inputSchema": {"type": "object"}}, {"name": "x", "inputSchema": {}}]', "old")
    new = parse_dump(b'[{"name": "readFile", "inputSchema": {"type": "object"}}]', "new")
    report = find_breaking_changes(old, new, CURRENT, LintPolicy(), version=LATEST)

    assert [(each.rule, each.tool) for each in report.failing] == [("TOOL_NAME_KEPT", "read_file"), ("TOOL_KEPT", "x")]


@pytest.mark.parametrize(("side", "rule"), [(Side.INPUT, "ARGUMENT_NAME_KEPT"), (Side.OUTPUT, "RESULT_NAME_KEPT")])
def test_a_rename_shows_the_property_under_both_names(side: Side, rule: str) -> None:
    def schema(name: str) -> JsonObject:
        one = {name: {"type": "integer", "minimum": 1}}
        return {"type": "object", "properties": one, "required": [name], "additionalProperties": False}

    old, new = tools(schema("bike_id"), side), tools(schema("bike_no"), side)
    [found] = find_breaking_changes(old, new, CURRENT, LintPolicy(), version=LATEST).failing

    assert (found.rule, found.old, found.new) == (
        rule,
        '{"bike_id":{"minimum":1,"type":"integer"}}',
        '{"bike_no":{"minimum":1,"type":"integer"}}',
    )


def test_the_frozen_ruleset_keeps_its_question_and_its_gate() -> None:
    old, new = tools({"type": "object", "properties": {"a": {}}}, Side.INPUT), tools({"type": "object"}, Side.INPUT)
    rules = {name: KNOWN[name] for name in RULESETS["2026.11"].breaking}
    report = find_breaking_changes(old, new, rules, LintPolicy(ruleset="2026.11"), version="2026.11")
    text = parse_object(render({"texts": [each.rule for each in report.findings]}))

    assert (text, report.fail_on) == ({"texts": ["INPUT_COMPATIBLE"]}, Impact.MODEL)
