"""Fits passages into a token budget that covers the whole answer: structured content and text, as they are sent. Pure.

Passages are offered best first. Neighbouring passages of a document become one. The result is counted as it is sent, and
passages are dropped from the end until it fits, so an answer is never above its budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from strictwire.canon.json import JsonObject, render
from strictwire.contract.handler import Answer
from strictwire.packs.context.extract import VERBATIM
from strictwire.packs.context.search.token_counters import TokenCounter

MIN_BUDGET: Final = 256
"""Smallest budget: an answer without passages always fits."""

MAX_BUDGET: Final = 1_000_000
"""Largest budget, as in the schemas of the tools."""

_MAX_NAMES: Final = 5
"""Most caches that an answer names as skipped or not yet indexed; it also has their number."""

_MAX_NAME: Final = 40
"""Most characters of such a name."""

_SCORE_DIGITS: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Lines of a document that match: `first` up to but not including `last`, counted from 0."""

    cache: str
    id: str
    source: str
    version: str
    kind: str
    headings: tuple[str, ...]
    first: int
    last: int
    lines: Sequence[str]
    """All lines of the document."""
    score: float

    @property
    def text(self) -> str:
        """The text of the lines."""
        return "\n".join(self.lines[self.first : self.last])

    def as_json(self) -> JsonObject:
        """Return the passage as structured content, with lines counted from 1. Usual values are left out."""
        made: JsonObject = {
            "cache": self.cache,
            "id": self.id,
            "lines": {"first": self.first + 1, "last": self.last},
            "headings": list(self.headings),
            "score": round(self.score, _SCORE_DIGITS),
            "version": self.version,
            "text": self.text,
        }
        if self.source != self.id:
            made["source"] = self.source
        if self.kind != "markdown":
            made["kind"] = self.kind
        if self.kind not in VERBATIM:
            made["verbatim"] = False
        return made

    def as_text(self) -> str:
        """Return the passage as text: where it is, and its lines."""
        path = f" ({' > '.join(self.headings)})" if self.headings else ""
        return f"{self.cache} {self.id} lines {self.first + 1}-{self.last}{path}\n{self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Which caches an answer covers."""

    searched: int = 0
    skipped: tuple[tuple[str, str], ...] = ()
    """Name and failure code of each cache that cannot be used."""
    indexing: tuple[str, ...] = ()
    """Caches whose index is still being made."""
    lexical_only: tuple[tuple[str, str], ...] = ()
    """Name and reason of each cache that is ranked by words alone although there is a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerWriter:
    """Writes answers of one search."""

    counter: TokenCounter
    budget: int
    limit: int
    coverage: Coverage = field(default_factory=Coverage)
    names: int = _MAX_NAMES
    """Most caches that are named for each reason."""

    def write(self, offered: Iterable[Found]) -> Answer:
        """Return the answer with the passages that fit, best first. If room is short, fewer caches are named."""
        if self.names and self._count([], is_all=False)[1] > min(self.budget, MIN_BUDGET):
            return replace(self, names=self.names - 1).write(offered)
        candidates = list(offered)
        taken = self._take(candidates)
        while True:
            answer, used = self._count(merge_neighbours(taken), is_all=len(taken) == len(candidates))
            if used <= self.budget or not taken:
                return answer
            taken.pop()

    def _take(self, candidates: Sequence[Found]) -> list[Found]:
        """Take passages as long as the sum of their parts fits. If not even the best one fits, take its first lines."""
        left = self.budget - self._count([], is_all=False)[1]
        taken: list[Found] = []
        for found in candidates:
            cost = self._cost(found)
            if cost <= left and len(taken) < self.limit:
                taken.append(found)
                left -= cost
        if not taken and candidates:
            taken = self._shorten(candidates[0], left)
        return taken

    def _shorten(self, found: Found, room: int) -> list[Found]:
        low, high = 0, found.last - found.first
        while low < high:
            middle = (low + high + 1) // 2
            if self._cost(replace(found, last=found.first + middle)) <= room:
                low = middle
            else:
                high = middle - 1
        return [replace(found, last=found.first + low)] if low else []

    def _cost(self, found: Found) -> int:
        separators = 2
        return self.counter.count(render(found.as_json()).decode()) + self.counter.count(found.as_text()) + separators

    def _count(self, passages: Sequence[Found], *, is_all: bool) -> tuple[Answer, int]:
        """Return the answer and its tokens. The answer contains its own count, so it is written until the count is right."""
        used = 0
        while True:
            structured = self._structured(passages, used, is_all=is_all)
            text = self._text(passages, used, is_all=is_all)
            counted = self.counter.count(render(structured).decode()) + self.counter.count(text)
            if counted == used:
                return Answer(structured=structured, content=({"type": "text", "text": text},)), used
            used = counted

    def _structured(self, passages: Sequence[Found], used: int, *, is_all: bool) -> JsonObject:
        selection: JsonObject = {
            "budget": self.budget,
            "tokensUsed": used,
            "tokenizer": self.counter.name,
            "cachesSearched": self.coverage.searched,
            "hasMore": not is_all,
        }
        if self.coverage.skipped:
            named = self.coverage.skipped[: self.names]
            selection["skipped"] = [{"cache": _short(name), "code": code} for name, code in named]
            selection["skippedTotal"] = len(self.coverage.skipped)
        if self.coverage.indexing:
            selection["indexing"] = [{"cache": _short(name)} for name in self.coverage.indexing[: self.names]]
            selection["indexingTotal"] = len(self.coverage.indexing)
        if self.coverage.lexical_only:
            named = self.coverage.lexical_only[: self.names]
            selection["lexicalOnly"] = [{"cache": _short(name), "reason": reason} for name, reason in named]
            selection["lexicalOnlyTotal"] = len(self.coverage.lexical_only)
        return {"passages": [passage.as_json() for passage in passages], "selection": selection}

    def _text(self, passages: Sequence[Found], used: int, *, is_all: bool) -> str:
        coverage = self.coverage
        head = f"{len(passages)} passages from {coverage.searched} caches, {used} tokens."
        if not passages and not is_all:
            head += " Not even the first line of the best passage fits: use a larger budget."
        elif not passages and not coverage.indexing:
            head += " Nothing matches: use other words, or read a whole document with context.get."
        if coverage.skipped:
            head += f" Skipped {len(coverage.skipped)}: {_names((name for name, _ in coverage.skipped), self.names)}."
        if coverage.indexing:
            head += f" Still indexing {len(coverage.indexing)}, search again later: {_names(coverage.indexing, self.names)}."
        if coverage.lexical_only:
            named = _names((name for name, _ in coverage.lexical_only), self.names)
            head += f" Ranked by words alone {len(coverage.lexical_only)}: {named}."
        return "\n\n".join([head, *(passage.as_text() for passage in passages)])


def merge_neighbours(passages: Sequence[Found]) -> list[Found]:
    """Join passages that follow each other in a document. The joined one takes the place and score of its best part."""
    merged: list[Found] = []
    for passage in passages:
        for at, other in enumerate(merged):
            if _touch(passage, other):
                merged[at] = _join(other, passage)
                break
        else:
            merged.append(passage)
    # A passage can close the gap between two that were apart.
    return merged if len(merged) == len(passages) else merge_neighbours(merged)


def _touch(left: Found, right: Found) -> bool:
    same = (left.cache, left.id) == (right.cache, right.id)
    return same and (left.last == right.first or right.last == left.first)


def _join(best: Found, other: Found) -> Found:
    upper = best if best.first < other.first else other
    return replace(best, first=upper.first, last=max(best.last, other.last), headings=upper.headings)


def _short(name: str) -> str:
    return name if len(name) <= _MAX_NAME else name[: _MAX_NAME - 3] + "..."


def _names(names: Iterable[str], most: int) -> str:
    listed = [_short(name) for name in names]
    return ", ".join([*listed[:most], *(["..."] if len(listed) > most else [])])
