"""Runs the breaking rules over two sets of tools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from strictwire.check.breaking import terms
from strictwire.check.breaking.pair import Pair, compare
from strictwire.check.engine import Places, Progress, flaw_findings, make_report, silent
from strictwire.check.finding import Finding, Report
from strictwire.check.inclusion.decide import NotIncluded
from strictwire.check.inclusion.shape import value_text
from strictwire.check.policy import Policy
from strictwire.check.rule import Rule, Scope
from strictwire.check.subject import Problem, Side, ToolSet

MAX_WITNESS = 300
"""Characters of a witness that are shown."""


def breaking(
    old: ToolSet, new: ToolSet, rules: Mapping[str, Rule], policy: Policy, *, version: str, progress: Progress = silent
) -> Report:
    """Judge what changed from `old` to `new`. Unreadable parts of either are findings: they were not compared."""
    before, after = old.by_name(), new.by_name()
    places = Places(new)
    findings = [*flaw_findings(old), *flaw_findings(new)]
    for done, (name, subject) in enumerate(before.items()):
        if name in after:
            findings += _pair_findings(compare(subject, after[name]), rules, places)
        else:
            findings += _findings(terms.tool_kept, terms.tool_kept.check(subject), rules, Places(old))
        progress(done + 1, len(before))
    for name, subject in after.items():
        if name not in before:
            findings += _findings(terms.tool_added, terms.tool_added.check(subject), rules, places)
    return make_report("breaking", new, findings, policy, version=version, against=old.label)


def _pair_findings(pair: Pair, rules: Mapping[str, Rule], places: Places) -> Iterator[Finding]:
    for rule in rules.values():
        if rule.scope is Scope.PAIR:
            yield from _findings(rule, rule.check(pair), rules, places, witness=_witness(pair, rule))


def _witness(pair: Pair, rule: Rule) -> str:
    side = next((side for side in Side if rule.id.startswith(side.name + "_")), None)
    verdict = pair.comparison(side).verdict if side else None
    if not isinstance(verdict, NotIncluded):
        return ""
    text = value_text(verdict.witness)
    return text if len(text) <= MAX_WITNESS else text[: MAX_WITNESS - 1] + "…"


def _findings(
    rule: Rule, problems: Iterable[Problem], rules: Mapping[str, Rule], places: Places, *, witness: str = ""
) -> Iterator[Finding]:
    for problem in problems if rule.id in rules else ():
        line, column = places.of(problem.origin)
        yield Finding(
            rule=rule.id,
            message=problem.message,
            advice=rule.advice,
            file=problem.origin.file,
            pointer=problem.origin.pointer,
            line=line,
            column=column,
            tool=problem.tool,
            hurts=rule.hurts,
            witness=witness,
        )
