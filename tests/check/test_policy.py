"""Policies: which rules a project selects, and waivers, which always need a reason."""

from __future__ import annotations

from typing import Any

import pytest

from strictwire.check.engine import lint, select_rules
from strictwire.check.finding import Finding
from strictwire.check.lint import RULES
from strictwire.check.policy import LintPolicy, PolicyRefused, Waiver, parse_policy
from strictwire.check.rule import Category
from strictwire.check.rulesets import RULESETS
from strictwire.check.subject import ToolSet
from strictwire.check.tree import LintParameters
from strictwire.sources.dump import parse_dump

RULESET = RULESETS["2026.11"]
TOOLS = parse_dump(b'{"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}', "tools.json")


def found(policy: LintPolicy, tools: ToolSet = TOOLS) -> tuple[list[str], list[str]]:
    report = lint(tools, select_rules(RULES, RULESET, policy), policy, version=RULESET.version)
    return [each.rule for each in report.findings], [f"{each.finding.rule}: {each.reason}" for each in report.waived]


def test_every_key_of_a_policy_is_read() -> None:
    table = {
        "ruleset": "2026.11",
        "category": "strict",
        "also": ["code"],
        "without": {"NAME_LENGTH": "names are prefixed"},
        "waivers": [{"rule": "NO_DEFAULT", "tool": "x_*", "pointer": "/properties/*", "reason": "published"}],
        "page_cap": 50,
        "query_cap": 80,
        "null_cursor": ["list"],
        "caps": {"limit.maximum": 10},
    }

    assert parse_policy(table) == LintPolicy(
        ruleset="2026.11",
        category=Category.STRICT,
        also=(Category.CODE,),
        without={"NAME_LENGTH": "names are prefixed"},
        waivers=(Waiver(rule="NO_DEFAULT", tool="x_*", pointer="/properties/*", reason="published"),),
        parameters=LintParameters(page_cap=50, query_cap=80, null_cursor=frozenset({"list"}), caps={"limit.maximum": 10}),
    )


@pytest.mark.parametrize(
    "table",
    [
        {"rulesets": "x"},
        {"category": "HIGH"},
        {"also": "CODE"},
        {"without": ["NAME_LENGTH"]},
        {"without": {"NAME_LENGTH": ""}},
        {"waivers": [{"rule": "NO_DEFAULT"}]},
        {"waivers": [{"rule": "NO_DEFAULT", "reason": "  "}]},
        {"waivers": [{"rule": "NO_DEFAULT", "reason": "r", "file": "x"}]},
        {"waivers": {"rule": "NO_DEFAULT"}},
        {"page_cap": 0},
        {"caps": {"a": "b"}},
    ],
)
def test_an_invalid_policy_is_refused(table: dict[str, Any]) -> None:
    with pytest.raises(PolicyRefused):
        parse_policy(table)


def test_a_waived_finding_is_listed_separately_with_its_reason() -> None:
    waiver = Waiver(rule="DESCRIPTION_PRESENT", tool="a*", reason="an alias")

    assert found(LintPolicy(category=Category.MINIMAL)) == (["DESCRIPTION_PRESENT"], [])
    assert found(LintPolicy(category=Category.MINIMAL, waivers=(waiver,))) == ([], ["DESCRIPTION_PRESENT: an alias"])


def test_a_waiver_that_matches_no_finding_is_a_finding() -> None:
    waiver = Waiver(rule="NAME_GRAMMAR", reason="old")

    assert found(LintPolicy(category=Category.MINIMAL, waivers=(waiver,)))[0] == ["WAIVER_USED", "DESCRIPTION_PRESENT"]


def test_a_waiver_of_a_rule_that_did_not_run_is_not_a_finding() -> None:
    waivers = Waiver(rule="NO_DEFAULT", reason="STRICT only"), Waiver(rule="CHANGE_TESTED", reason="no commit was named")

    assert found(LintPolicy(category=Category.MINIMAL, waivers=waivers))[0] == ["DESCRIPTION_PRESENT"]


def test_an_excluded_rule_does_not_run_and_an_unknown_one_is_refused() -> None:
    assert found(LintPolicy(category=Category.MINIMAL, without={"DESCRIPTION_PRESENT": "r"})) == ([], [])
    with pytest.raises(PolicyRefused, match="NO_SUCH"):
        found(LintPolicy(without={"NO_SUCH": "r"}))


@pytest.mark.parametrize(
    ("pointer", "covers"), [("*", True), ("/properties/path", True), ("/properties/p*", True), ("/properties/file", False)]
)
def test_a_waiver_matches_the_end_of_a_pointer(pointer: str, covers: bool) -> None:
    finding = Finding(rule="R", message="", advice="", tool="t", pointer="/tools/3/inputSchema/properties/path")

    assert Waiver(rule="R", reason="r", pointer=pointer).covers(finding) is covers
