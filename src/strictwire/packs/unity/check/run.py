"""Runs the rules over a project and makes a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from strictwire.check.finding import Finding, Level, Report, WaivedFinding
from strictwire.check.report import STALE_WAIVER
from strictwire.packs.unity.check.baseline import split_known
from strictwire.packs.unity.check.files import file_readable
from strictwire.packs.unity.check.policy import CheckPolicy
from strictwire.packs.unity.check.references import count_unverifiable
from strictwire.packs.unity.check.rule import Problem, Subject, UnityRule, make_subject
from strictwire.packs.unity.check.rules import RULES
from strictwire.packs.unity.references.graph import Graph, Stop, never

_SHOWN_PACKAGES = 5
"""Names of absent packages in a note."""


class Checked(NamedTuple):
    """What a check of one project found."""

    findings: list[Finding]
    notes: list[str]
    """What limits the statement."""
    is_partial: bool
    """Whether time ended it."""


def check_project(graph: Graph, policy: CheckPolicy, *, prefix: str = "", scope: str = "", stop: Stop = never) -> Checked:
    """Check one project, before waivers and baseline.

    `prefix` is put before every path: where the project lies in what is reported. `scope` limits findings to one path.
    """
    subject = make_subject(graph, policy.limits, stop)
    findings = [
        _finding(rule, problem, severity, prefix)
        for rule in RULES.values()
        if (severity := policy.severity_of(rule.id)) is not None
        for problem in rule.check(subject)
        if _is_inside(problem.file, scope)
    ]
    findings += [_lost(path, prefix) for path in sorted(subject.lost)]
    return Checked(findings, list(_notes(subject, prefix)), subject.is_stopped or graph.is_partial)


def make_unity_report(
    findings: Iterable[Finding],
    policy: CheckPolicy,
    *,
    subject: str,
    assets: int,
    notes: Iterable[str],
    baseline: Counter[str],
) -> Report:
    """Set waived and known findings apart, report waivers that waive nothing, and sort."""
    kept: list[Finding] = []
    waived: list[WaivedFinding] = []
    used = set()
    for finding in findings:
        waiver = next((each for each in policy.waivers if each.covers(finding)), None)
        if waiver is None:
            kept.append(finding)
        else:
            used.add(waiver)
            waived.append(WaivedFinding(finding=finding, reason=waiver.reason))
    kept += [_stale_waiver(each.rule, each.path) for each in policy.waivers if each not in used]
    new, known, gone = split_known(sorted(kept, key=_order), baseline)
    fixed = [f"{gone} findings of the baseline no longer occur; update it with --write-baseline"] if gone else []
    return Report(
        check="unity check",
        subject=subject,
        tools=assets,
        unit="asset",
        findings=tuple(new),
        waived=tuple(sorted(waived, key=lambda each: _order(each.finding))),
        known=tuple(known),
        notes=(*notes, *fixed),
        threshold=policy.fail_on,
    )


def _finding(rule: UnityRule, problem: Problem, severity: Level, prefix: str) -> Finding:
    return Finding(
        rule=rule.id,
        message=problem.message,
        advice=rule.advice,
        file=prefix + problem.file,
        pointer=problem.place,
        line=problem.line,
        column=1 if problem.line else 0,
        severity=severity,
    )


def _lost(path: str, prefix: str) -> Finding:
    """A file that went away while it was checked: whatever the severities, what was not checked is no pass."""
    problem = Problem(file=path, message="The file was not checked: it disappeared during the check")
    return _finding(file_readable, problem, Level.ERROR, prefix)


def _stale_waiver(rule: str, path: str) -> Finding:
    return Finding(
        rule=STALE_WAIVER,
        message=f"The waiver of {rule} for {path} waives nothing",
        advice="Remove it from the settings.",
        pointer=f"{rule}:{path}",
        severity=Level.WARNING,
    )


def _order(finding: Finding) -> tuple[str, int, str, str]:
    return finding.file, finding.line, finding.rule, finding.pointer


def _is_inside(path: str, scope: str) -> bool:
    return not scope or path in (scope, f"{scope}.meta") or path.startswith(f"{scope}/")


def _notes(subject: Subject, prefix: str) -> Iterator[str]:
    project = subject.project
    where = f"{prefix.rstrip('/')}: " if prefix else ""
    if subject.graph.is_partial:
        done = len(subject.graph.scans)
        yield f"{where}{done} of {subject.graph.total} files were read before the time limit"
    if subject.is_stopped:
        yield f"{where}some rules ended at the time limit and may have found only a part"
    guids, files = count_unverifiable(subject)
    if guids:
        yield f"{where}{guids} GUIDs in {files} files cannot be verified: {_reason(subject)}"
    if not project.packages.is_listed:
        yield f"{where}the project has no Packages/manifest.json, so any package may be in use"


def _reason(subject: Subject) -> str:
    absent = subject.project.packages.absent
    if not absent:
        return "some files or folders of the project could not be read"
    more = f" and {len(absent) - _SHOWN_PACKAGES} more" if len(absent) > _SHOWN_PACKAGES else ""
    return f"these packages are not on disk: {', '.join(absent[:_SHOWN_PACKAGES])}{more}"
