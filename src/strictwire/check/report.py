"""Turns problems into findings with their line and column, and findings into a report: waivers, order, unused waivers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from strictwire.check.finding import Finding, Impact, Report, WaivedFinding
from strictwire.check.location import locate_all
from strictwire.check.policy import LintPolicy, Waiver
from strictwire.check.reported import REPORTED
from strictwire.check.rule import Rule
from strictwire.check.subject import Problem, SourceLocation, ToolSet

STALE_WAIVER: Final = "WAIVER_USED"
"""Rule id of the finding for a waiver that matches no finding."""

Locations = Mapping[SourceLocation, tuple[int, int]]
"""Line and column of each origin, counted from 1; zeros if the source has no text."""


def make_finding(rule: Rule, problem: Problem, locations: Locations, excerpt: str = "") -> Finding:
    """The finding for a problem that a rule yielded."""
    impact = problem.impact or rule.impact
    return locate_finding(problem, locations, rule=rule.id, advice=rule.advice, impact=impact, excerpt=excerpt)


def locate_finding(
    problem: Problem, locations: Locations, *, rule: str, advice: str, impact: Impact | None = None, excerpt: str = ""
) -> Finding:
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
        impact=impact,
        excerpt=excerpt,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What a report is about."""

    check: str
    subject: str
    """The sources, as the user named them."""
    tools: int
    version: str
    """Of the ruleset."""
    rules: Mapping[str, Rule]
    """The rules that the policy selects."""
    against: str = ""
    fail_on: Impact = Impact.MODEL


def purposes_of(rules: Iterable[Rule]) -> Mapping[str, str]:
    """What each rule checks, also those that need no rule function."""
    return {rule.id: rule.purpose for rule in (*REPORTED, *rules)}


def make_report(judged: Judged, findings: Iterable[Finding], policy: LintPolicy, *, ran: AbstractSet[str]) -> Report:
    """Separate waived findings, add a finding for each unused waiver of a rule that ran, and sort."""
    kept, waived, used = [], [], set()
    for finding in findings:
        waiver = next((each for each in policy.waivers if each.covers(finding)), None)
        if waiver is None:
            kept.append(finding)
        else:
            waived.append(WaivedFinding(finding=finding, reason=waiver.reason))
            used.add(waiver)
    kept += [_stale(waiver, policy.file) for waiver in policy.waivers if waiver not in used and waiver.rule in ran]
    kept.sort(key=lambda each: (each.file, each.line, each.column, each.tool, each.rule, each.pointer, each.message))
    return Report(
        check=judged.check,
        subject=judged.subject,
        tools=judged.tools,
        findings=tuple(kept),
        waived=tuple(waived),
        ruleset=judged.version,
        purposes=purposes_of(judged.rules.values()),
        against=judged.against,
        fail_on=judged.fail_on,
    )


def _stale(waiver: Waiver, file: str) -> Finding:
    return Finding(
        rule=STALE_WAIVER,
        message=f"the waiver of {waiver.rule} for {waiver.tool!r} matches no finding",
        advice="Delete the waiver, so that it cannot hide a later finding.",
        file=file,
    )
