"""Runs the breaking rules over two versions of a set of tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

from strictwire.check.breaking import terms
from strictwire.check.breaking.pair import ToolPair, compare
from strictwire.check.breaking.renames import find_renamed_tools
from strictwire.check.engine import Progress, no_progress
from strictwire.check.finding import Finding, Report
from strictwire.check.policy import LintPolicy
from strictwire.check.report import Judged, find_locations, make_finding, make_report, read_problem_findings
from strictwire.check.rule import Rule, Scope
from strictwire.check.rulesets import LATEST, RULESETS
from strictwire.check.subject import Problem, Subject, ToolSet

RuleProblem: TypeAlias = tuple[Rule, Problem]
"""A rule and the problem it found."""


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
    ruleset = RULESETS.get(version, RULESETS[LATEST])
    semantics = policy.semantics or ruleset.semantics
    before, after = old.by_name(), new.by_name()
    gone = [subject for name, subject in before.items() if name not in after]
    added = [subject for name, subject in after.items() if name not in before]
    changed: list[RuleProblem] = []
    for done, (name, subject) in enumerate(before.items()):
        if name in after:
            changed += _pair_problems(compare(subject, after[name], semantics=semantics), rules)
        progress(done + 1, len(before))
    removed = list(_removed_tools(gone, added, rules))
    changed += [(terms.tool_added, each) for subject in added for each in terms.tool_added.check(subject)]
    findings = [
        *read_problem_findings(old),
        *read_problem_findings(new),
        *_findings(removed, rules, old),
        *_findings(changed, rules, new),
    ]
    findings = findings if ruleset.has_tiers else [_with_tier_of_rule(each, rules) for each in findings]
    judged = Judged(
        check="breaking",
        subject=new.label,
        tools=len(new.subjects),
        version=version,
        rules=rules,
        against=old.label,
        fail_on=policy.fail_on or ruleset.fail_on,
    )
    return make_report(judged, findings, policy, ran=rules.keys())


def _removed_tools(gone: list[Subject], added: list[Subject], rules: Mapping[str, Rule]) -> Iterator[RuleProblem]:
    renamed = find_renamed_tools(gone, added) if terms.tool_name_kept.id in rules else {}
    for subject in gone:
        new_name = renamed.get(subject.contract.name)
        if new_name is None:
            yield from ((terms.tool_kept, each) for each in terms.tool_kept.check(subject))
        else:
            yield from ((terms.tool_name_kept, each) for each in terms.tool_name_kept.check(subject, new_name))


def _pair_problems(pair: ToolPair, rules: Mapping[str, Rule]) -> Iterator[RuleProblem]:
    for rule in rules.values():
        if rule.scope is Scope.PAIR:
            yield from ((rule, problem) for problem in rule.check(pair))


def _findings(problems: list[RuleProblem], rules: Mapping[str, Rule], tools: ToolSet) -> Iterator[Finding]:
    kept = [each for each in problems if each[0].id in rules]
    locations = find_locations(tools, (problem.origin for _, problem in kept))
    for rule, problem in kept:
        yield make_finding(rule, problem, locations)


def _with_tier_of_rule(finding: Finding, rules: Mapping[str, Rule]) -> Finding:
    return replace(finding, impact=rules[finding.rule].impact) if finding.rule in rules else finding
