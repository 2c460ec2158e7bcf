"""Checks references against the word index, so that no answer is called complete that is not.

Every mention of the name in the roots must be accounted for: returned by the engine, in prose, or resolved by the engine
to another symbol. What is left is unconfirmed. The same holds for names under which the symbol is imported.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from strictwire.packs.code.engine import (
    Checked,
    Completeness,
    EngineFailed,
    EngineMissing,
    Engines,
    EngineTimeout,
    Mention,
    MentionKind,
    Reply,
    Span,
)
from strictwire.packs.code.languages import maybe_language
from strictwire.packs.code.mentioned import Seen, find_aliases, find_named, look_at, mentions_in
from strictwire.packs.code.targets import read_targets
from strictwire.packs.code.words import Words

MAX_RESOLVED: Final = 256
"""Mentions that the engine is asked about, in their order; 0.3 ms each once it is warm. Further ones stay unconfirmed."""

MAX_FILES: Final = 64
"""Files with such mentions. An engine may have to open each; beyond this the rest stays unconfirmed."""

NAME: Final = "reference check"
"""The name of the engine in a timeout."""

_AT_ONCE: Final = 16

Spot: TypeAlias = tuple[Path, int, int]
"""A place by path, line and first character."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """What is checked: a symbol and the references that were found."""

    name: str
    at: Span
    found: tuple[Span, ...]
    seconds: float


class WordCheck:
    """See engine.ReferenceCheck."""

    def __init__(self, engines: Engines, words: Words) -> None:
        self._engines = engines
        self._words = words

    async def check(self, name: str, at: Span, found: tuple[Span, ...], reply: Reply, *, seconds: float) -> Checked:
        """See ReferenceCheck."""
        try:
            async with asyncio.timeout(seconds):
                return await self._check(_Question(name=name, at=at, found=found, seconds=seconds), reply)
        except TimeoutError:
            raise EngineTimeout(NAME, seconds) from None

    async def _check(self, question: _Question, reply: Reply) -> Checked:
        language = maybe_language(question.at.path) or ""
        mentions = await self._words.mentions(question.name, language=language)
        known = _Known((question.at, *question.found))
        rest = [mention for mention in mentions.items if not known.covers(mention)]
        seen = await asyncio.to_thread(look_at, question.name, rest)
        doubtful = [each for each in seen if each.mention.kind is not MentionKind.TEXT]
        # An engine that is not ready, or cannot be trusted, gets no say in which mentions are not missing.
        if reply.completeness is Completeness.COMPLETE:
            doubtful = await self._resolve(doubtful, known, question)
        aliases = await self._check_aliases(question, mentions.items, known)
        unconfirmed = tuple(sorted({*(each.mention for each in doubtful), *aliases}))
        capped = mentions.capped or bool(self._words.gaps(language))
        verdict = reply.completeness
        if verdict is Completeness.COMPLETE and (unconfirmed or capped):
            verdict = Completeness.PARTIAL
        return Checked(completeness=verdict, unconfirmed=unconfirmed, capped=capped)

    async def _check_aliases(self, question: _Question, mentions: Iterable[Mention], known: _Known) -> list[Mention]:
        """Uses under another name. Engines take an alias for a symbol of its own and do not return them."""
        left: list[Mention] = []
        for path, alias in await asyncio.to_thread(find_aliases, question.name, mentions):
            uses = [mention for mention in mentions_in(path, alias) if not known.covers(mention)]
            seen = await asyncio.to_thread(look_at, alias, uses)
            left.extend(each.mention for each in seen if each.mention.kind is not MentionKind.TEXT)
        return left

    async def _resolve(self, seen: list[Seen], known: _Known, question: _Question) -> list[Seen]:
        """Those of the mentions that do not lead to another symbol of the same name."""
        asked = _choose(seen)
        targets = await self._targets(asked, question.seconds)
        places = {target for each in targets.values() for target in each}
        named = await asyncio.to_thread(find_named, question.name, places)
        imports = {_spot(each.mention) for each in seen if each.imports}
        unasked = [each for each in seen if _spot(each.mention) not in targets]
        elsewhere = {
            spot
            for spot, found in targets.items()
            if found and all(_is_another(target, known, imports) and target in named for target in found)
        }
        return [*unasked, *(each for each in asked if _spot(each.mention) not in elsewhere)]

    async def _targets(self, asked: list[Seen], seconds: float) -> dict[Spot, list[Span]]:
        gate = asyncio.Semaphore(_AT_ONCE)

        async def ask(mention: Mention) -> list[Span]:
            position = {"position": {"line": mention.line, "character": mention.character}}
            async with gate:
                try:
                    reply = await self._engines.ask(mention.path, "textDocument/definition", position, seconds=seconds)
                except (EngineFailed, EngineMissing, OSError):
                    return []
            return read_targets(reply.value)

        answers = await asyncio.gather(*(ask(each.mention) for each in asked))
        return {_spot(each.mention): answer for each, answer in zip(asked, answers, strict=True)}


class _Known:
    """The references that were found, by line."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._lines: dict[tuple[Path, int], list[Span]] = defaultdict(list)
        for span in spans:
            self._lines[span.path, span.line].append(span)

    def covers(self, mention: Mention) -> bool:
        """Whether a reference covers the mention; engines include quotes, or a whole dotted name."""
        here = self._lines.get((mention.path, mention.line), ())
        return any(span.character <= mention.character and mention.end <= span.end for span in here)

    def has(self, target: Span) -> bool:
        """Whether a target is one of the references."""
        here = self._lines.get((target.path, target.line), ())
        return any(span.character <= target.character < max(span.end, span.character + 1) for span in here)


def _choose(seen: list[Seen]) -> list[Seen]:
    """The mentions that the engine is asked about: code, in order, within the limits."""
    files: set[Path] = set()
    chosen: list[Seen] = []
    for each in seen:
        if each.mention.kind is MentionKind.CODE and len(chosen) < MAX_RESOLVED:
            if each.mention.path not in files and len(files) == MAX_FILES:
                continue
            files.add(each.mention.path)
            chosen.append(each)
    return chosen


def _is_another(target: Span, known: _Known, imports: set[Spot]) -> bool:
    """Whether a target is the declaration of another symbol.

    An import that leads to itself, or to another import of the name, was not followed: it may well be ours.
    """
    return not known.has(target) and (target.path, target.line, target.character) not in imports


def _spot(mention: Mention) -> Spot:
    return mention.path, mention.line, mention.character
