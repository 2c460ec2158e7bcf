"""Runs the breaking rules over two versions of a set of tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from strictwire.check.breaking import terms
from strictwire.check.breaking.pair import ToolPair, compare
from strictwire.check.engine import Progress, find_locations, make_finding, make_report, no_progress, read_problem_findings
from strictwire.check.finding import Finding, Report
from strictwire.check.inclusion.decide import NotIncluded
from strictwire.check.inclusion.shape import canonical_text
from strictwire.check.policy import LintPolicy
from strictwire.check.rule import Rule, Scope
from strictwire.check.subject import Problem, Side, ToolSet

RuleProblem: TypeAlias = tuple[Rule, Problem, str]
"""A rule, the problem it found, and the witness (JSON, or empty)."""

MAX_WITNESS = 300
"""Longest witness in a finding, in characters; longer ones are truncated."""


def find_breaking_changes(
    old: ToolSet,
    new: ToolSet,
    rules: Mapping[str, Rule],
    policy: LintPolicy,
    *,
    version: str,
    progress: Progress = no_progress,
) -> Report:
    """Compare `old` with `new`. Unreadable parts of either are findings, because they could not be compared."""
    before, after = old.by_name(), new.by_name()
    removed: list[RuleProblem] = []
    changed: list[RuleProblem] = []
    for done, (name, subject) in enumerate(before.items()):
        if name in after:
            changed += _pair_problems(compare(subject, after[name]), rules)
        else:
            removed += [(terms.tool_kept, each, "") for each in terms.tool_kept.check(subject)]
        progress(done + 1, len(before))
    for name, subject in after.items():
        if name not in before:
            changed += [(terms.tool_added, each, "") for each in terms.tool_added.check(subject)]
    findings = [
        *read_problem_findings(old),
        *read_problem_findings(new),
        *_findings(removed, rules, old),
        *_findings(changed, rules, new),
    ]
    return make_report("breaking", new, findings, policy, version=version, ran=rules.keys(), against=old.label)


def _pair_problems(pair: ToolPair, rules: Mapping[str, Rule]) -> Iterator[RuleProblem]:
    for rule in rules.values():
        if rule.scope is Scope.PAIR:
            for problem in rule.check(pair):
                yield rule, problem, _witness(pair, rule)


def _witness(pair: ToolPair, rule: Rule) -> str:
    side = next((side for side in Side if rule.id.startswith(side.name + "_")), None)
    result = pair.comparison(side).result if side else None
    if not isinstance(result, NotIncluded):
        return ""
    text = canonical_text(result.witness)
    return text if len(text) <= MAX_WITNESS else text[: MAX_WITNESS - 1] + "…"


def _findings(problems: list[RuleProblem], rules: Mapping[str, Rule], tools: ToolSet) -> Iterator[Finding]:
    kept = [each for each in problems if each[0].id in rules]
    locations = find_locations(tools, (problem.origin for _, problem, _ in kept))
    for rule, problem, witness in kept:
        yield make_finding(rule, problem, locations, witness=witness)
