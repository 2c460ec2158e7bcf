"""Runs the breaking rules over two sets of tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from strictwire.check.breaking import terms
from strictwire.check.breaking.pair import Pair, compare
from strictwire.check.engine import Progress, find_places, flaw_findings, make_finding, make_report, silent
from strictwire.check.finding import Finding, Report
from strictwire.check.inclusion.decide import NotIncluded
from strictwire.check.inclusion.shape import value_text
from strictwire.check.policy import Policy
from strictwire.check.rule import Rule, Scope
from strictwire.check.subject import Problem, Side, ToolSet

Told: TypeAlias = tuple[Rule, Problem, str]
"""A rule, a problem it has, and the witness."""

MAX_WITNESS = 300
"""Characters of a witness that are shown."""


def breaking(
    old: ToolSet, new: ToolSet, rules: Mapping[str, Rule], policy: Policy, *, version: str, progress: Progress = silent
) -> Report:
    """Judge what changed from `old` to `new`. Unreadable parts of either are findings: they were not compared."""
    before, after = old.by_name(), new.by_name()
    gone: list[Told] = []
    told: list[Told] = []
    for done, (name, subject) in enumerate(before.items()):
        if name in after:
            told += _pair_problems(compare(subject, after[name]), rules)
        else:
            gone += [(terms.tool_kept, each, "") for each in terms.tool_kept.check(subject)]
        progress(done + 1, len(before))
    for name, subject in after.items():
        if name not in before:
            told += [(terms.tool_added, each, "") for each in terms.tool_added.check(subject)]
    findings = [*flaw_findings(old), *flaw_findings(new), *_findings(gone, rules, old), *_findings(told, rules, new)]
    return make_report("breaking", new, findings, policy, version=version, ran=rules.keys(), against=old.label)


def _pair_problems(pair: Pair, rules: Mapping[str, Rule]) -> Iterator[Told]:
    for rule in rules.values():
        if rule.scope is Scope.PAIR:
            for problem in rule.check(pair):
                yield rule, problem, _witness(pair, rule)


def _witness(pair: Pair, rule: Rule) -> str:
    side = next((side for side in Side if rule.id.startswith(side.name + "_")), None)
    verdict = pair.comparison(side).verdict if side else None
    if not isinstance(verdict, NotIncluded):
        return ""
    text = value_text(verdict.witness)
    return text if len(text) <= MAX_WITNESS else text[: MAX_WITNESS - 1] + "…"


def _findings(told: list[Told], rules: Mapping[str, Rule], tools: ToolSet) -> Iterator[Finding]:
    kept = [each for each in told if each[0].id in rules]
    places = find_places(tools, (problem.origin for _, problem, _ in kept))
    for rule, problem, witness in kept:
        yield make_finding(rule, problem, places, witness=witness)
