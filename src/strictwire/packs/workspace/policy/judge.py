"""Judges what a change adds: findings of the new content that the old one did not have, and what the change took away.

Takes as long as it takes, and content can be made so that it takes for ever: a server asks `judges`, which can end it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from strictwire.packs.kit.text import NotText, decode
from strictwire.packs.workspace.policy.rule import Finding, InChange, InCode, InComments, InText, InTree, Rule, Severity
from strictwire.packs.workspace.policy.rules import RULES
from strictwire.packs.workspace.policy.source import Source, text_of

MAX_JUDGED = 4 * 1024 * 1024
"""Bytes of a file that is judged. A larger one is refused: what is not judged is not passed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What becomes of a change: it is refused for one finding, or taken with some."""

    broken: Finding | None = None
    warnings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Rules, with severities of the workspace."""

    rules: tuple[Rule, ...] = RULES
    severities: Mapping[str, Severity] = field(default_factory=dict)

    def judge(self, path: str, *, old: bytes | None, new: bytes) -> Verdict:
        """The first error of a change in the order of the rules, or else its warnings."""
        added = self.added(path, old=old, new=new)
        for rule in self.rules:
            first = next((each for each in added if each.rule == rule.id), None)
            if first is not None and self._severity(rule) is Severity.ERROR:
                return Verdict(broken=first)
        return Verdict(warnings=tuple(added))

    def added(self, path: str, *, old: bytes | None, new: bytes) -> list[Finding]:
        """What the rules which are not off find in the new content that they did not find in the old."""
        after = _maybe_source(path, new)
        if after is None:
            return []
        before = _maybe_source(path, old) if old is not None else None
        if before is None:
            return self._of(after)
        had = Counter((each.rule, each.text) for each in self._of(before))
        return [*_without(self._of(after), had), *self._changes(before, after)]

    def findings(self, path: str, data: bytes) -> list[Finding]:
        """Everything that the rules which are not off find in a file; nothing in what is not text."""
        source = _maybe_source(path, data)
        return [] if source is None else self._of(source)

    def _of(self, source: Source) -> list[Finding]:
        return [
            _finding(rule, source, row)
            for rule in self._active()
            for row in _look(rule, source)
            if _is_told(rule, source, row)
        ]

    def _changes(self, before: Source, after: Source) -> Iterator[Finding]:
        for rule in self._active() if after.language is not None else ():
            if isinstance(rule.look, InChange):
                rows = (row for row in rule.look.find(before, after) if _is_told(rule, after, row))
                yield from (_finding(rule, after, row) for row in rows)

    def _active(self) -> Iterator[Rule]:
        return (rule for rule in self.rules if self._severity(rule) is not Severity.OFF)

    def _severity(self, rule: Rule) -> Severity:
        return self.severities.get(rule.id, rule.severity)


def _maybe_source(path: str, data: bytes) -> Source | None:
    try:
        decode(data)
    except NotText:
        return None
    return Source(path, data)


def _finding(rule: Rule, source: Source, row: int) -> Finding:
    return Finding(rule=rule.id, line=row + 1, text=source.lines[row].strip())


def _is_told(rule: Rule, source: Source, row: int) -> bool:
    """A secret is one wherever it stands."""
    return isinstance(rule.look, InText) or not source.is_packed(row)


def _look(rule: Rule, source: Source) -> Iterator[int]:
    """The rows, counted from 0, on which a rule finds something."""
    look = rule.look
    if isinstance(look, InText):
        yield from (source.text.count("\n", 0, at) for at in look.find(source.text))
    elif source.language is None:
        return
    elif isinstance(look, InTree):
        yield from look.find(source)
    elif isinstance(look, InCode):
        yield from (node.start_point[0] for node in source.hits(look.queries))
    elif isinstance(look, InComments):
        pattern = re.compile(look.patterns.get(source.language) or look.patterns.get("*", r"(?!)"))
        yield from (node.start_point[0] for node in source.comments if pattern.search(text_of(node)))


def _without(findings: Iterable[Finding], had: Counter[tuple[str, str]]) -> Iterator[Finding]:
    for each in findings:
        if had[each.rule, each.text] > 0:
            had[each.rule, each.text] -= 1
        else:
            yield each
