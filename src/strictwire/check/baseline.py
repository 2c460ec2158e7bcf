"""A baseline: findings that are known and do not fail, so that a check can begin on a project that has some.

A finding is recognised by rule, tool and location inside the tool, not by line or wording: those change without anybody
changing the finding. A baseline counts, so a second finding of the same kind at the same place is new.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

import msgspec

from strictwire.canon.json import NotStrict, parse_object, render_sorted
from strictwire.check.finding import Finding, Report

VERSION = 1


class BaselineRefused(ValueError):
    """The file is not a baseline. The message says what to do."""


def key_of(finding: Finding) -> str:
    """What identifies a finding. The position of the tool in its list is left out."""
    _, _, inside = finding.pointer.partition("/inputSchema")
    side = "input" if inside or finding.pointer.endswith("/inputSchema") else ""
    if not side:
        _, _, inside = finding.pointer.partition("/outputSchema")
        side = "output" if inside or finding.pointer.endswith("/outputSchema") else ""
    place = f"{side}{inside}" if side else finding.pointer.rpartition("/")[2]
    return " ".join((finding.rule, finding.tool or finding.file, place))


def render_baseline(findings: Iterable[Finding]) -> bytes:
    """The content of a baseline file."""
    known = Counter(key_of(each) for each in findings)
    return msgspec.json.format(render_sorted({"baseline": VERSION, "findings": dict(known)}), indent=2) + b"\n"


def parse_baseline(raw: bytes) -> Mapping[str, int]:
    """The known findings and how often each occurs. Raises BaselineRefused."""
    try:
        value = parse_object(raw)
    except NotStrict as exc:
        raise BaselineRefused(str(exc)) from exc
    known = value.get("findings")
    if value.get("baseline") != VERSION or not isinstance(known, dict):
        raise BaselineRefused("not a baseline file; write one with --write-baseline")
    if not all(isinstance(number, int) for number in known.values()):
        raise BaselineRefused("a count in the baseline file is not a number")
    return known


def without_known(report: Report, known: Mapping[str, int]) -> Report:
    """The report with the findings of the baseline listed apart."""
    left = Counter(known)
    new: list[Finding] = []
    old: list[Finding] = []
    for finding in report.findings:
        is_known = left[key_of(finding)] > 0
        left[key_of(finding)] -= is_known
        (old if is_known else new).append(finding)
    return replace(report, findings=tuple(new), known=(*report.known, *old))
