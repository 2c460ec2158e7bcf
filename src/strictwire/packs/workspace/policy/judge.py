"""Judges what a change adds: findings of the new content that the old one did not have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from strictwire.packs.kit.text import NotText, decode
from strictwire.packs.workspace.policy.languages import COMMENTS, find_hits, maybe_language, parse
from strictwire.packs.workspace.policy.rule import Finding, InCode, InComments, InText, Rule, Severity
from strictwire.packs.workspace.policy.rules import RULES
from strictwire.packs.workspace.refusal import refuse

MAX_JUDGED = 4 * 1024 * 1024
"""Bytes of a file that is judged. A larger one is refused: what is not judged is not passed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Rules, with severities of the workspace."""

    rules: tuple[Rule, ...] = RULES
    severities: Mapping[str, Severity] = field(default_factory=dict)

    def check(self, path: str, *, old: bytes | None, new: bytes) -> list[Finding]:
        """The warnings of a change. Raises Refused: POLICY_VIOLATION, RUST_POLICY_VIOLATION with the first error."""
        if len(new) > MAX_JUDGED:
            raise refuse(
                "POLICY_VIOLATION", f"A file of more than {MAX_JUDGED} bytes is not judged, so not taken", "too_large"
            )
        had = Counter((each.rule, each.text) for each in self.findings(path, old or b""))
        added = list(_without(self.findings(path, new), had))
        for rule in self.rules:
            first = next((each for each in added if each.rule == rule.id), None)
            if first is not None and self._severity(rule) is Severity.ERROR:
                text = f"{path}:{first.line}: {rule.id}: {rule.fix}"
                raise refuse(rule.code, text, rule.id, line=first.line, invariant_id="POLICY_BEFORE_WRITE")
        return added

    def findings(self, path: str, data: bytes) -> list[Finding]:
        """Everything that the rules which are not off find in a file; nothing in what is not text."""
        try:
            text = decode(data)
        except NotText:
            return []
        language = maybe_language(path)
        root = parse(language, data) if language is not None else None
        lines = data.split(b"\n")
        return [
            Finding(rule=rule.id, line=number + 1, text=lines[number].strip().decode())
            for rule in self.rules
            if self._severity(rule) is not Severity.OFF
            for number in _look(rule, text, language, root)
        ]

    def _severity(self, rule: Rule) -> Severity:
        return self.severities.get(rule.id, rule.severity)


def _look(rule: Rule, text: str, language: str | None, root: Any) -> Iterator[int]:
    """The lines, counted from 0, on which a rule finds something."""
    look = rule.look
    if isinstance(look, InText):
        unless = re.compile(look.unless)
        yield from (text.count("\n", 0, hit.start()) for hit in re.finditer(look.pattern, text) if not unless.search(hit[0]))
    elif language is None:
        return
    elif isinstance(look, InCode) and language in look.queries:
        yield from (node.start_point[0] for node in find_hits(language, root, look.queries[language]))
    elif isinstance(look, InComments):
        pattern = re.compile(look.patterns.get(language) or look.patterns.get("*", r"(?!)"))
        comments = find_hits(language, root, COMMENTS[language])
        yield from (node.start_point[0] for node in comments if pattern.search(node.text.decode()))


def _without(findings: Iterable[Finding], had: Counter[tuple[str, str]]) -> Iterator[Finding]:
    for each in findings:
        if had[each.rule, each.text] > 0:
            had[each.rule, each.text] -= 1
        else:
            yield each
