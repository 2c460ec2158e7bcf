"""Runs rules over tools and makes findings of their problems. Knows no rule by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, TypeAlias

import jsonschema_rs

from strictwire.canon.json import JsonObject
from strictwire.check.finding import Finding, Report, Waived
from strictwire.check.place import locate_all
from strictwire.check.policy import Policy, PolicyRefused
from strictwire.check.rule import Rule, Scope
from strictwire.check.rulesets import Ruleset
from strictwire.check.subject import Origin, Problem, Side, Subject, ToolSet
from strictwire.check.tree import Node, Refusal, Text, Tree, walk_tree
from strictwire.contract.conform import compile_schema
from strictwire.contract.schema import Problem as Reason
from strictwire.contract.schema import SchemaRefused

TEXTS: Final = ("title", "description", "$comment")

STALE_WAIVER: Final = "WAIVER_USED"
"""The id under which a waiver that waives nothing is reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The rules of one run, by what they are asked about."""

    rules: Mapping[str, Rule]
    on_set: tuple[Rule, ...]
    on_tool: tuple[Rule, ...]
    on_text: tuple[Rule, ...]
    on_refused: tuple[Rule, ...]
    on_node: tuple[Rule, ...]
    names: frozenset[str]
    """Property names that some rule is about."""


def plan_rules(rules: Iterable[Rule], ruleset: Ruleset, policy: Policy) -> Plan:
    """Choose the rules of a policy. Raises PolicyRefused: a rule that does not exist is left out or waived."""
    known = {rule.id: rule for rule in rules}
    named = [*policy.without, *(waiver.rule for waiver in policy.waivers)]
    unknown = [name for name in named if name not in known]
    if unknown:
        raise PolicyRefused(f"there is no rule {unknown[0]!r} in ruleset {ruleset.version}")
    ids = [*ruleset.rules_up_to(policy.category), *(name for each in policy.also for name in ruleset.rules_up_to(each))]
    chosen = {name: known[name] for name in ids if name not in policy.without}
    return make_plan(chosen)


def make_plan(chosen: Mapping[str, Rule]) -> Plan:
    """Sort rules by what they are asked about."""
    nodes = _scoped(chosen, Scope.NODE)
    return Plan(
        rules=chosen,
        on_set=_scoped(chosen, Scope.SET),
        on_tool=_scoped(chosen, Scope.TOOL),
        on_text=_scoped(chosen, Scope.TEXT),
        on_refused=_scoped(chosen, Scope.REFUSED),
        on_node=nodes,
        names=frozenset(name for rule in nodes for name in rule.names),
    )


def _scoped(chosen: Mapping[str, Rule], scope: Scope) -> tuple[Rule, ...]:
    return tuple(rule for rule in chosen.values() if rule.scope is scope)


Places = Mapping[Origin, tuple[int, int]]
"""Line and column of each place."""

Progress = Callable[[int, int], None]
"""Called with how many tools are done and how many there are."""


def silent(_done: int, _total: int) -> None:
    """No progress."""


def lint(
    tools: ToolSet,
    plan: Plan,
    policy: Policy,
    *,
    version: str,
    progress: Progress = silent,
    gate: tuple[Finding, ...] | None = None,
) -> Report:
    """Judge every tool by every rule of the plan. `gate`: what the change gate found, if it was asked."""
    problems: list[tuple[Rule, Problem]] = [(rule, each) for rule in plan.on_set for each in rule.check(tools)]
    asked: Asked = {}
    for done, subject in enumerate(tools.subjects):
        problems += _tool_problems(subject, plan, policy, asked)
        progress(done + 1, len(tools.subjects))
    findings = [*flaw_findings(tools), *_as_findings(problems, tools), *(gate or ())]
    ran = {rule.id for rule in plan.rules.values() if rule.scope is not Scope.CHANGE or gate is not None}
    return make_report("lint", tools, findings, policy, version=version, ran=ran)


def _tool_problems(subject: Subject, plan: Plan, policy: Policy, asked: Asked) -> list[tuple[Rule, Problem]]:
    schemas = [(side, schema) for side in Side if (schema := subject.schema(side)) is not None]
    refusals = [refusal for side, schema in schemas if (refusal := _find_refusal(subject, side, schema)) is not None]
    unsound = {refusal.side for refusal in refusals if not _is_readable(refusal)}
    found = [(rule, each) for refusal in refusals for rule in plan.on_refused for each in rule.check(refusal)]
    found += [(rule, each) for rule in plan.on_tool if rule.robust or not unsound for each in rule.check(subject)]
    texts = [
        Text(text, keyword, subject)
        for keyword, text in (("title", subject.contract.title), ("description", subject.contract.description))
        if text
    ]
    for side, schema in schemas:
        if side not in unsound:
            nodes = walk_tree(Tree(subject, side, schema, subject.origin(side), policy.terms))
            found += _node_problems(nodes, plan, asked)
            texts += _texts(nodes)
    found += [(rule, each) for rule in plan.on_text for text in texts for each in rule.check(text)]
    return found


def _find_refusal(subject: Subject, side: Side, schema: JsonObject) -> Refusal | None:
    try:
        compile_schema(schema)
    except SchemaRefused as exc:
        return Refusal(subject, side, schema, exc)
    return None


def _is_readable(refusal: Refusal) -> bool:
    """Whether rules may read the schema as valid: a reference to another file does not make the rest ill formed."""
    return refusal.reason.problem is Reason.REMOTE_REF and jsonschema_rs.meta.is_valid(refusal.schema)


Asked: TypeAlias = dict[tuple[str, ...], tuple[Rule, ...]]
"""Which rules are asked about nodes of one kind: side, name and keywords. Few kinds make up all the schemas of a server."""


def _node_problems(nodes: list[Node], plan: Plan, asked: Asked) -> list[tuple[Rule, Problem]]:
    found = []
    for node in nodes:
        side, name = node.tree.side, node.name if node.name in plan.names else ""
        kind = (side, name, *node.schema)
        rules = asked.get(kind)
        if rules is None:
            rules = asked[kind] = tuple(rule for rule in plan.on_node if rule.asks_about(node.schema, name, side))
        for rule in rules:
            for each in rule.check(node):
                found.append((rule, each))  # noqa: PERF401 - most rules find nothing, and a list for each takes as long as they do
    return found


def _texts(nodes: list[Node]) -> Iterator[Text]:
    for node in nodes:
        for keyword in TEXTS:
            text = node.schema.get(keyword)
            if isinstance(text, str):
                yield Text(text, keyword, node.tree.subject, node)


def _as_findings(problems: list[tuple[Rule, Problem]], tools: ToolSet) -> Iterator[Finding]:
    places = find_places(tools, (problem.origin for _, problem in problems))
    for rule, problem in problems:
        yield make_finding(rule, problem, places)


def make_finding(rule: Rule, problem: Problem, places: Places, *, witness: str = "") -> Finding:
    """A problem with its rule and its place."""
    line, column = places[problem.origin]
    return Finding(
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


def find_places(tools: ToolSet, origins: Iterable[Origin]) -> Places:
    """Lines and columns of places in the texts of a source; zeros where there is no text."""
    places: dict[Origin, tuple[int, int]] = {}
    pointers: dict[str, set[str]] = {}
    for origin in origins:
        places[origin] = (0, 0)
        if origin.file in tools.texts:
            pointers.setdefault(origin.file, set()).add(origin.pointer)
    for file, wanted in pointers.items():
        found = _locate(tools.texts[file], wanted)
        places.update({Origin(file, pointer): place for pointer, place in found.items()})
    return places


def _locate(raw: bytes, wanted: set[str]) -> Mapping[str, tuple[int, int]]:
    """A text without pointers into it need not be JSON: it may be a file that does not belong there."""
    if wanted == {""}:
        return {"": (1, 1)}
    return locate_all(raw.decode("utf-8", "replace"), wanted)


def flaw_findings(tools: ToolSet) -> Iterator[Finding]:
    """Reading flaws, reported whatever the rules: a file that was not read was not checked."""
    places = find_places(tools, (flaw.origin for flaw in tools.flaws if not flaw.line))
    for flaw in tools.flaws:
        line, column = (flaw.line, flaw.column) if flaw.line else places[flaw.origin]
        yield Finding(
            rule=flaw.rule,
            message=flaw.message,
            advice="Mend it: what cannot be read is not checked.",
            file=flaw.origin.file,
            pointer=flaw.origin.pointer,
            line=line,
            column=column,
        )


def make_report(
    check: str,
    tools: ToolSet,
    findings: Iterable[Finding],
    policy: Policy,
    *,
    version: str,
    ran: AbstractSet[str],
    against: str = "",
) -> Report:
    """Set waived findings apart, report waivers of rules that ran and found nothing to waive, and sort."""
    kept, waived, used = [], [], set()
    for finding in findings:
        waiver = next((each for each in policy.waivers if each.covers(finding)), None)
        if waiver is None:
            kept.append(finding)
        else:
            waived.append(Waived(finding=finding, reason=waiver.reason))
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
    )


def _stale(rule: str, tool: str) -> Finding:
    return Finding(
        rule=STALE_WAIVER,
        message=f"the waiver of {rule} for {tool!r} waives nothing",
        advice="Delete the waiver, so that it cannot hide something later.",
        file="strictwire.toml",
    )
