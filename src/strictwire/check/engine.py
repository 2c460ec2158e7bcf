"""Runs rules over tools. Knows no rule by name; `report` turns the problems they yield into findings."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import jsonschema_rs

from strictwire.canon.json import JsonObject
from strictwire.check.excerpt import excerpt_at
from strictwire.check.finding import Finding, Report
from strictwire.check.policy import LintPolicy, PolicyRefused
from strictwire.check.report import Judged, find_locations, make_finding, make_report, read_problem_findings
from strictwire.check.rule import Rule, Scope
from strictwire.check.rulesets import Ruleset
from strictwire.check.subject import Problem, Side, Subject, ToolSet
from strictwire.check.tree import InvalidSchema, Node, SchemaTree, ToolText, walk_tree
from strictwire.contract.conform import compile_schema
from strictwire.contract.schema import SchemaProblem, SchemaRefused

TEXT_KEYWORDS: Final = ("title", "description", "$comment")
"""Schema keywords whose text people or models read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSelection:
    """The rules of one run, grouped by the kind of argument their functions take."""

    rules: Mapping[str, Rule]
    on_set: tuple[Rule, ...]
    on_tool: tuple[Rule, ...]
    on_text: tuple[Rule, ...]
    on_invalid_schema: tuple[Rule, ...]
    on_node: tuple[Rule, ...]
    property_names: frozenset[str]
    """Property names that at least one node rule is limited to."""


def select_rules(rules: Iterable[Rule], ruleset: Ruleset, policy: LintPolicy) -> RuleSelection:
    """Select the rules that a policy asks for. Raises PolicyRefused if the policy excludes or waives an unknown rule."""
    category = policy.category or ruleset.default
    if category not in ruleset.lint:
        raise PolicyRefused(f"ruleset {ruleset.version} has no category {category.value}")
    ids = [*ruleset.rules_up_to(category), *(name for each in policy.also for name in ruleset.rules_up_to(each))]
    groups = {each.value: ruleset.rules_up_to(each) for each in ruleset.lint}
    return group_rules(choose_rules(rules, ids, policy, groups=groups))


def choose_rules(
    rules: Iterable[Rule], ids: Iterable[str], policy: LintPolicy, *, groups: Mapping[str, tuple[str, ...]]
) -> Mapping[str, Rule]:
    """The rules that run: `ids`, or those that the policy selects, without those that it ignores.

    `groups` are names that stand for several rules. Raises PolicyRefused if the policy names an unknown rule.
    """
    known = {rule.id: rule for rule in rules}
    for name in (*policy.without, *(waiver.rule for waiver in policy.waivers), *policy.select, *policy.ignore):
        if name not in known and name.upper() not in groups:
            near = difflib.get_close_matches(name, [*known, *groups], n=1)
            hint = f"did you mean {near[0]}?" if near else "docs/RULES.md lists the rules, and where each is configured"
            raise PolicyRefused(f"there is no rule {name!r} here; {hint}")
    ignored = {*policy.without, *_members(policy.ignore, groups)}
    return {name: known[name] for name in _members(policy.select, groups) or ids if name not in ignored}


def _members(names: Iterable[str], groups: Mapping[str, tuple[str, ...]]) -> list[str]:
    return [member for name in names for member in groups.get(name.upper(), (name,))]


def group_rules(chosen: Mapping[str, Rule]) -> RuleSelection:
    """Group rules by the kind of argument their functions take."""
    nodes = _scoped(chosen, Scope.NODE)
    return RuleSelection(
        rules=chosen,
        on_set=_scoped(chosen, Scope.SET),
        on_tool=_scoped(chosen, Scope.TOOL),
        on_text=_scoped(chosen, Scope.TEXT),
        on_invalid_schema=_scoped(chosen, Scope.INVALID_SCHEMA),
        on_node=nodes,
        property_names=frozenset(name for rule in nodes for name in rule.property_names),
    )


def _scoped(chosen: Mapping[str, Rule], scope: Scope) -> tuple[Rule, ...]:
    return tuple(rule for rule in chosen.values() if rule.scope is scope)


_RuleProblem: TypeAlias = tuple[Rule, Problem]

Progress = Callable[[int, int], None]
"""Callback: number of tools checked so far, and number of tools."""


def no_progress(_done: int, _total: int) -> None:
    """A `Progress` callback that does nothing."""


def lint(
    tools: ToolSet,
    selection: RuleSelection,
    policy: LintPolicy,
    *,
    version: str,
    progress: Progress = no_progress,
    change_findings: tuple[Finding, ...] | None = None,
) -> Report:
    """`lint_sources` for one source."""
    options = LintRun(version=version, progress=progress, change_findings=change_findings)
    return lint_sources((tools,), selection, policy, options)


@dataclass(frozen=True, slots=True, kw_only=True)
class LintRun:
    """What one run of lint needs besides rules and policy."""

    version: str
    """Of the ruleset."""
    progress: Progress = no_progress
    change_findings: tuple[Finding, ...] | None = None
    """Findings of the change rules, None if they did not run."""


def lint_sources(sources: Sequence[ToolSet], selection: RuleSelection, policy: LintPolicy, run: LintRun) -> Report:
    """Run every selected rule on every tool of each source. Rules about a whole listing see one source at a time."""
    total = sum(len(each.subjects) for each in sources)
    done = itertools.count(1)
    findings = list(run.change_findings or ())
    for tools in sources:
        findings += _source_findings(tools, selection, policy, lambda: run.progress(next(done), total))
    ran = {rule.id for rule in selection.rules.values() if rule.scope is not Scope.CHANGE or run.change_findings is not None}
    subject = ", ".join(each.label for each in sources)
    judged = Judged(check="lint", subject=subject, tools=total, version=run.version, rules=selection.rules)
    return make_report(judged, findings, policy, ran=ran)


def _source_findings(
    tools: ToolSet, selection: RuleSelection, policy: LintPolicy, count_tool: Callable[[], None]
) -> Iterator[Finding]:
    problems: list[_RuleProblem] = [(rule, each) for rule in selection.on_set for each in rule.check(tools)]
    rules_by_kind: _RulesByNodeKind = {}
    for subject in tools.subjects:
        problems += _tool_problems(subject, selection, policy, rules_by_kind)
        count_tool()
    yield from read_problem_findings(tools)
    yield from _as_findings(problems, tools)


def _tool_problems(
    subject: Subject, selection: RuleSelection, policy: LintPolicy, rules_by_kind: _RulesByNodeKind
) -> list[_RuleProblem]:
    schemas = [(side, schema) for side in Side if (schema := subject.schema(side)) is not None]
    invalid = [broken for side, schema in schemas if (broken := _find_invalid(subject, side, schema)) is not None]
    unreadable = {broken.side for broken in invalid if not _is_readable(broken)}
    found = [(rule, each) for broken in invalid for rule in selection.on_invalid_schema for each in rule.check(broken)]
    found += [
        (rule, each) for rule in selection.on_tool if rule.runs_on_invalid or not unreadable for each in rule.check(subject)
    ]
    texts = [
        ToolText(text, keyword, subject)
        for keyword, text in (("title", subject.contract.title), ("description", subject.contract.description))
        if text
    ]
    for side, schema in schemas:
        if side not in unreadable:
            nodes = walk_tree(SchemaTree(subject, side, schema, subject.origin(side), policy.parameters))
            found += _node_problems(nodes, selection, rules_by_kind)
            texts += _texts(nodes)
    found += [(rule, each) for rule in selection.on_text for text in texts for each in rule.check(text)]
    return found


def _find_invalid(subject: Subject, side: Side, schema: JsonObject) -> InvalidSchema | None:
    try:
        compile_schema(schema)
    except SchemaRefused as exc:
        return InvalidSchema(subject, side, schema, exc)
    return None


def _is_readable(broken: InvalidSchema) -> bool:
    """Whether node rules may still run: a remote reference does not make the rest of a schema invalid."""
    return broken.reason.problem is SchemaProblem.REMOTE_REF and jsonschema_rs.meta.is_valid(broken.schema)


_RulesByNodeKind: TypeAlias = dict[tuple[str, ...], tuple[Rule, ...]]
"""Cache: the rules that apply to nodes with the same side, name and keywords. A server has few such combinations."""


def _node_problems(nodes: list[Node], selection: RuleSelection, rules_by_kind: _RulesByNodeKind) -> list[_RuleProblem]:
    found = []
    for node in nodes:
        side, name = node.tree.side, node.name if node.name in selection.property_names else ""
        kind = (side, name, *node.schema)
        rules = rules_by_kind.get(kind)
        if rules is None:
            rules = rules_by_kind[kind] = tuple(
                rule for rule in selection.on_node if rule.applies_to(node.schema, name, side)
            )
        for rule in rules:
            for each in rule.check(node):
                found.append((rule, each))  # noqa: PERF401 - most rules find nothing; building empty lists doubles the time
    return found


def _texts(nodes: list[Node]) -> Iterator[ToolText]:
    for node in nodes:
        for keyword in TEXT_KEYWORDS:
            text = node.schema.get(keyword)
            if isinstance(text, str):
                yield ToolText(text, keyword, node.tree.subject, node)


def _as_findings(problems: list[_RuleProblem], tools: ToolSet) -> Iterator[Finding]:
    locations = find_locations(tools, (problem.origin for _, problem in problems))
    subjects = tools.by_name() if problems else {}
    for rule, problem in problems:
        subject = subjects.get(problem.tool)
        excerpt = excerpt_at(subject, problem.origin) if subject is not None else ""
        yield make_finding(rule, problem, locations, excerpt)
