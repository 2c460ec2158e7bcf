"""Runs one rule over its folder of test data."""

from __future__ import annotations

from pathlib import Path

from strictwire.canon.json import parse_object
from strictwire.check.breaking import RULES as BREAKING
from strictwire.check.breaking.judge import breaking
from strictwire.check.engine import lint, make_plan
from strictwire.check.finding import Finding
from strictwire.check.lint import RULES as LINT
from strictwire.check.lint.gate import Change
from strictwire.check.policy import Policy
from strictwire.check.rule import Rule
from strictwire.check.subject import ToolSet
from strictwire.check.tree import Terms
from strictwire.sources.place import read_source

TESTDATA = Path(__file__).parent / "testdata"
LINT_RULES = {rule.id: rule for rule in LINT}
BREAKING_RULES = {rule.id: rule for rule in BREAKING}
POLICY = Policy(terms=Terms(caps={"limit.maximum": 100}))


def read_tools(folder: Path) -> ToolSet:
    dump = folder / "tools.json"
    return read_source(str(dump if dump.is_file() else folder))


def found_by_lint(rule: Rule, folder: Path) -> list[list[str]]:
    if (folder / "change.json").is_file():
        return found_by_gate(rule, folder / "change.json")
    report = lint(read_tools(folder), make_plan({rule.id: rule}), POLICY, version="test")
    return [told(each, folder) for each in report.findings if each.rule == rule.id]


def found_by_gate(rule: Rule, file: Path) -> list[list[str]]:
    value = parse_object(file.read_bytes())
    change = Change(
        tools=tuple((name, path) for name, path in value["tools"]),
        touched=frozenset(value["touched"]),
        contract_text=value["contract_text"],
    )
    return [[each.origin.file, "", each.message] for each in rule.check(change)]


def found_by_breaking(rule: Rule, folder: Path) -> list[list[str]]:
    old, new = read_tools(folder / "previous"), read_tools(folder / "current")
    report = breaking(old, new, {rule.id: rule}, Policy(), version="test")
    return [[*told(each, folder), str(each.hurts), each.witness] for each in report.findings]


def told(finding: Finding, folder: Path) -> list[str]:
    place = finding.place.removeprefix(f"{folder}/")
    return [place, finding.pointer, finding.message]
