"""Runs one rule on its test data folder."""

from __future__ import annotations

from pathlib import Path

from strictwire.canon.json import parse_object
from strictwire.check.breaking import RULES as BREAKING
from strictwire.check.breaking.compare import find_breaking_changes
from strictwire.check.engine import group_rules, lint
from strictwire.check.finding import Finding
from strictwire.check.lint import RULES as LINT
from strictwire.check.lint.changes import Change
from strictwire.check.policy import LintPolicy
from strictwire.check.rule import Rule, Semantics
from strictwire.check.subject import ToolSet
from strictwire.check.tree import LintParameters
from strictwire.sources.specifier import read_source

TESTDATA = Path(__file__).parent / "testdata"
LINT_RULES = {rule.id: rule for rule in LINT}
BREAKING_RULES = {rule.id: rule for rule in BREAKING}
EXACT_ONLY = {"INPUT_OPEN_KEPT", "INPUT_MEMBERS_KEPT", "OUTPUT_MEMBERS_KEPT"}
"""Rules that find something only with `--semantics exact`."""
POLICY = LintPolicy(parameters=LintParameters(caps={"limit.maximum": 100}))


def read_tools(folder: Path) -> ToolSet:
    dump = folder / "tools.json"
    return read_source(str(dump if dump.is_file() else folder))


def found_by_lint(rule: Rule, folder: Path) -> list[list[str]]:
    if (folder / "change.json").is_file():
        return found_by_change_rule(rule, folder / "change.json")
    report = lint(read_tools(folder), group_rules({rule.id: rule}), POLICY, version="test")
    return [as_row(each, folder) for each in report.findings if each.rule == rule.id]


def found_by_change_rule(rule: Rule, file: Path) -> list[list[str]]:
    value = parse_object(file.read_bytes())
    change = Change(
        tools=tuple((name, path) for name, path in value["tools"]),
        touched=frozenset(value["touched"]),
        contract_text=value["contract_text"],
    )
    return [[each.origin.file, "", each.message] for each in rule.check(change)]


def found_by_breaking(rule: Rule, folder: Path) -> list[list[str]]:
    old, new = read_tools(folder / "previous"), read_tools(folder / "current")
    policy = LintPolicy(semantics=Semantics.EXACT if rule.id in EXACT_ONLY else None)
    report = find_breaking_changes(old, new, {rule.id: rule}, policy, version="test")
    return [[*as_row(each, folder), str(each.impact), each.witness] for each in report.findings]


def as_row(finding: Finding, folder: Path) -> list[str]:
    location = finding.location.removeprefix(f"{folder}/")
    return [location, finding.pointer, finding.message]
