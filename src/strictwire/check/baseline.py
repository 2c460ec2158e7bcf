"""A baseline: findings that are known and do not fail, so that a check can begin on a project that has some.

A finding is recognised by rule, tool and location inside the tool, not by line or wording: those change although the finding
does not. A finding of `breaking` is also recognised by what changed: a baseline with one new description does not accept the
next. A baseline counts, so a second finding of the same kind at the same place is new.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

import msgspec

from strictwire.canon.digest import digest
from strictwire.canon.json import NotStrict, parse_object, render_sorted
from strictwire.check.finding import Finding, Report

VERSION: Final = 1

_POSITION: Final = re.compile(r"^/(?:tools/)?[0-9]+(?=/|$)")
"""The position of a tool at the start of a pointer."""

_CHANGE_DIGITS: Final = 20
"""Digits of the digest of a change, with its prefix: enough to tell the changes of one place apart."""


class BaselineRefused(ValueError):
    """The file is not a baseline. The message says what to do."""


def key_of(finding: Finding) -> str:
    """What identifies a finding. The position of the tool in its list is left out."""
    place = _POSITION.sub("", finding.pointer)
    change = digest([finding.old, finding.new])[:_CHANGE_DIGITS] if finding.old or finding.new else ""
    return " ".join(filter(None, (finding.rule, finding.tool or finding.file, place, change)))


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
