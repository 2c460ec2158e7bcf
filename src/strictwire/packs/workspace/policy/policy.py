"""Checks what a change adds: findings in the new content that the old content did not have, and what the change removed.

The check has no time limit, and content can be crafted so that it never ends. The server therefore runs it through
`worker_pool`, which can kill it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from strictwire.packs.kit.text import NotText, decode
from strictwire.packs.workspace.policy.rule import (
    InChange,
    InCode,
    InComments,
    InText,
    InTree,
    PolicyFinding,
    PolicyRule,
    Severity,
)
from strictwire.packs.workspace.policy.rules import RULES
from strictwire.packs.workspace.policy.source import Source, text_of

MAX_CHECKED = 4 * 1024 * 1024
"""Largest file that is checked, in bytes. A larger one is refused, because content that is not checked is not accepted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyVerdict:
    """The result of a check: refused because of one finding, or accepted with warnings."""

    broken: PolicyFinding | None = None
    warnings: tuple[PolicyFinding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The rules, with the severities that the workspace has set."""

    rules: tuple[PolicyRule, ...] = RULES
    severities: Mapping[str, Severity] = field(default_factory=dict)

    def check(self, path: str, *, old: bytes | None, new: bytes) -> PolicyVerdict:
        """Return the first error of a change, in the order of the rules, or else its warnings."""
        added = self.added(path, old=old, new=new)
        for rule in self.rules:
            first = next((each for each in added if each.rule == rule.id), None)
            if first is not None and self._severity(rule) is Severity.ERROR:
                return PolicyVerdict(broken=first)
        return PolicyVerdict(warnings=tuple(added))

    def added(self, path: str, *, old: bytes | None, new: bytes) -> list[PolicyFinding]:
        """Return what the active rules find in the new content and did not find in the old."""
        after = _maybe_source(path, new)
        if after is None:
            return []
        before = _maybe_source(path, old) if old is not None else None
        if before is None:
            return self._find(after)
        old_findings = Counter((each.rule, each.text) for each in self._find(before))
        return [*_without(self._find(after), old_findings), *self._find_in_change(before, after)]

    def findings(self, path: str, data: bytes) -> list[PolicyFinding]:
        """Return everything that the active rules find in a file. Files that are not UTF-8 text have no findings."""
        source = _maybe_source(path, data)
        return [] if source is None else self._find(source)

    def _find(self, source: Source) -> list[PolicyFinding]:
        return [
            _finding(rule, source, row)
            for rule in self._active()
            for row in _rows(rule, source)
            if _applies(rule, source, row)
        ]

    def _find_in_change(self, before: Source, after: Source) -> Iterator[PolicyFinding]:
        for rule in self._active() if after.language is not None else ():
            if isinstance(rule.detector, InChange):
                rows = (row for row in rule.detector.find(before, after) if _applies(rule, after, row))
                yield from (_finding(rule, after, row) for row in rows)

    def _active(self) -> Iterator[PolicyRule]:
        return (rule for rule in self.rules if self._severity(rule) is not Severity.OFF)

    def _severity(self, rule: PolicyRule) -> Severity:
        return self.severities.get(rule.id, rule.severity)


def _maybe_source(path: str, data: bytes) -> Source | None:
    try:
        decode(data)
    except NotText:
        return None
    return Source(path, data)


def _finding(rule: PolicyRule, source: Source, row: int) -> PolicyFinding:
    return PolicyFinding(rule=rule.id, line=row + 1, text=source.lines[row].strip())


def _applies(rule: PolicyRule, source: Source, row: int) -> bool:
    """Return whether a finding counts. Minified lines are searched for secrets only."""
    return isinstance(rule.detector, InText) or not source.is_minified(row)


def _rows(rule: PolicyRule, source: Source) -> Iterator[int]:
    """Yield the rows, counted from 0, on which a rule finds something."""
    detector = rule.detector
    if isinstance(detector, InText):
        yield from (source.text.count("\n", 0, at) for at in detector.find(source.text))
    elif source.language is None:
        return
    elif isinstance(detector, InTree):
        yield from detector.find(source)
    elif isinstance(detector, InCode):
        yield from (node.start_point[0] for node in source.hits(detector.queries))
    elif isinstance(detector, InComments):
        pattern = re.compile(detector.patterns.get(source.language) or detector.patterns.get("*", r"(?!)"))
        yield from (node.start_point[0] for node in source.comments if pattern.search(text_of(node)))


def _without(findings: Iterable[PolicyFinding], old: Counter[tuple[str, str]]) -> Iterator[PolicyFinding]:
    """Yield the findings that are not in `old`, counting repetitions."""
    for each in findings:
        if old[each.rule, each.text] > 0:
            old[each.rule, each.text] -= 1
        else:
            yield each
