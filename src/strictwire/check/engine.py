"""Runs rules over tools and turns the problems they yield into findings. Knows no rule by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import jsonschema_rs

from strictwire.canon.json import JsonObject
from strictwire.check.finding import Finding, Impact, Report, WaivedFinding
from strictwire.check.location import locate_all
from strictwire.check.policy import LintPolicy, PolicyRefused
from strictwire.check.rule import Rule, Scope
from strictwire.check.rulesets import Ruleset
from strictwire.check.subject import Problem, Side, SourceLocation, Subject, ToolSet
from strictwire.check.tree import InvalidSchema, Node, SchemaTree, ToolText, walk_tree
from strictwire.contract.conform import compile_schema
from strictwire.contract.schema import SchemaProblem, SchemaRefused

TEXT_KEYWORDS: Final = ("title", "description", "$comment")
"""Schema keywords whose text people or models read."""

STALE_WAIVER: Final = "WAIVER_USED"
"""Rule id of the finding for a waiver that matches no finding."""


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

Locations = Mapping[SourceLocation, tuple[int, int]]
"""Line and column of each origin, counted from 1; zeros if the source has no text."""

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
    """Run every selected rule on every tool. `change_findings`: findings of the change rules, None if they did not run."""
    problems: list[_RuleProblem] = [(rule, each) for rule in selection.on_set for each in rule.check(tools)]
    rules_by_kind: _RulesByNodeKind = {}
    for done, subject in enumerate(tools.subjects):
        problems += _tool_problems(subject, selection, policy, rules_by_kind)
        progress(done + 1, len(tools.subjects))
    findings = [*read_problem_findings(tools), *_as_findings(problems, tools), *(change_findings or ())]
    ran = {rule.id for rule in selection.rules.values() if rule.scope is not Scope.CHANGE or change_findings is not None}
    return make_report("lint", tools, findings, policy, version=version, ran=ran)


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
    for rule, problem in problems:
        yield make_finding(rule, problem, locations)


def make_finding(rule: Rule, problem: Problem, locations: Locations) -> Finding:
    """The finding for a problem that a rule yielded."""
    found = locate_finding(problem, locations, rule=rule.id, advice=rule.advice)
    return replace(found, impact=problem.impact or rule.impact)


def locate_finding(problem: Problem, locations: Locations, *, rule: str, advice: str) -> Finding:
    """The finding for a problem under a rule id, with the line and column of its origin."""
    line, column = locations[problem.origin]
    return Finding(
        rule=rule,
        message=problem.message,
        advice=advice,
        file=problem.origin.file,
        pointer=problem.origin.pointer,
        line=line,
        column=column,
        tool=problem.tool,
        witness=problem.witness,
        old=problem.old,
        new=problem.new,
    )


def find_locations(tools: ToolSet, origins: Iterable[SourceLocation]) -> Locations:
    """The line and column of each origin in the texts of a source; zeros if there is no text."""
    locations: dict[SourceLocation, tuple[int, int]] = {}
    pointers: dict[str, set[str]] = {}
    for origin in origins:
        locations[origin] = (0, 0)
        if origin.file in tools.texts:
            pointers.setdefault(origin.file, set()).add(origin.pointer)
    for file, wanted in pointers.items():
        found = _locate(tools.texts[file], wanted)
        locations.update({SourceLocation(file, pointer): location for pointer, location in found.items()})
    return locations


def _locate(raw: bytes, wanted: set[str]) -> Mapping[str, tuple[int, int]]:
    """Locate pointers in a file. A file that only the empty pointer refers to may not be JSON (FILE_LAYOUT reports it)."""
    if wanted == {""}:
        return {"": (1, 1)}
    return locate_all(raw.decode("utf-8", "replace"), wanted)


def read_problem_findings(tools: ToolSet) -> Iterator[Finding]:
    """One finding for each read problem, whatever rules were selected: what was not read was not checked."""
    locations = find_locations(tools, (problem.origin for problem in tools.read_problems if not problem.line))
    for problem in tools.read_problems:
        line, column = (problem.line, problem.column) if problem.line else locations[problem.origin]
        yield Finding(
            rule=problem.rule,
            message=problem.message,
            advice="Fix it: strictwire cannot check what it cannot read.",
            file=problem.origin.file,
            pointer=problem.origin.pointer,
            line=line,
            column=column,
        )


def make_report(
    check: str,
    tools: ToolSet,
    findings: Iterable[Finding],
    policy: LintPolicy,
    *,
    version: str,
    ran: AbstractSet[str],
    against: str = "",
    fail_on: Impact = Impact.MODEL,
) -> Report:
    """Separate waived findings, add a finding for each unused waiver of a rule that ran, and sort."""
    kept, waived, used = [], [], set()
    for finding in findings:
        waiver = next((each for each in policy.waivers if each.covers(finding)), None)
        if waiver is None:
            kept.append(finding)
        else:
            waived.append(WaivedFinding(finding=finding, reason=waiver.reason))
            used.add(waiver)
    kept += [_stale(waiver.rule, waiver.tool) for waiver in policy.waivers if waiver not in used and waiver.rule in ran]
    kept.sort(key=lambda each: (each.file, each.line, each.column, each.tool, each.rule, each.pointer, each.message))
    return Report(
        check=check,
        subject=tools.label,
        tools=len(tools.subjects),
        findings=tuple(kept),
        waived=tuple(waived),
        ruleset=version,
        against=against,
        fail_on=fail_on,
    )


def _stale(rule: str, tool: str) -> Finding:
    return Finding(
        rule=STALE_WAIVER,
        message=f"the waiver of {rule} for {tool!r} matches no finding",
        advice="Delete the waiver, so that it cannot hide a later finding.",
        file="strictwire.toml",
    )
