"""In-memory twins of the seam in `engine`, for tests: replies from a table, mentions from texts in memory.

They keep the promises of the Protocols and nothing more: no process, no disk, no clock.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.packs.code.engine import (
    Checked,
    CodeBase,
    Completeness,
    EngineIdentity,
    EngineMissing,
    EngineState,
    EngineStatus,
    Epochs,
    FileSymbols,
    Mention,
    Mentions,
    Reply,
    Span,
    TextQuery,
)

Script: TypeAlias = Mapping[str, JsonValue | Exception | Callable[[JsonObject], JsonValue]]
"""LSP method to its result, an exception to raise, or a function of the params."""

IDENTITY = EngineIdentity(name="memory", version="1.0", language="python")
"""Who answers in memory."""


@dataclass
class MemoryEngines:
    """Engines that answer from a table. Change `now` to bump an epoch, `completeness` to answer as while warming."""

    script: Script
    identity: EngineIdentity = IDENTITY
    completeness: Completeness = Completeness.COMPLETE
    now: Epochs = field(default_factory=Epochs)
    asked: list[tuple[str, JsonObject]] = field(default_factory=list)
    """Every request in order: how often the engine was really asked."""

    async def ask(self, path: Path, method: str, params: JsonObject, *, seconds: float) -> Reply:
        """See Engines. A method outside the table raises EngineMissing."""
        if method.startswith("textDocument/"):
            params = {"textDocument": {"uri": path.as_uri()}, **params}
        return self._reply(method, params)

    async def ask_all(self, method: str, params: JsonObject, *, seconds: float) -> tuple[Reply, ...]:
        """See Engines."""
        return (self._reply(method, params),)

    def epochs(self) -> Epochs:
        """See Engines."""
        return self.now

    async def states(self) -> tuple[EngineState, ...]:
        """See Engines."""
        return (EngineState(identity=self.identity, root=Path("/"), status=EngineStatus.READY),)

    def edit(self) -> None:
        """Count a changed file, as the watch would."""
        self.now = replace(self.now, text=self.now.text + 1, diagnostics=self.now.diagnostics + 1)

    def _reply(self, method: str, params: JsonObject) -> Reply:
        self.asked.append((method, params))
        if method not in self.script:
            raise EngineMissing(self.identity.language)
        answer = self.script[method]
        if isinstance(answer, Exception):
            raise answer
        value = answer(params) if callable(answer) else answer
        return Reply(value=value, engine=self.identity, completeness=self.completeness)


@dataclass
class MemoryWords:
    """A word index and text search over texts in memory. Characters are code points: keep the texts in the BMP."""

    texts: Mapping[Path, str]

    async def mentions(self, word: str, *, language: str | None = None, limit: int = 20_000) -> Mentions:
        """See WordIndex. Every file counts as the language."""
        return self._find(re.compile(rf"\b{re.escape(word)}\b"), limit)

    async def files(self) -> tuple[Path, ...]:
        """See WordIndex."""
        return tuple(sorted(self.texts))

    async def search(self, query: TextQuery, *, seconds: float) -> Mentions:
        """See TextSearch. Globs are not applied."""
        pattern = query.pattern if query.regex else re.escape(query.pattern)
        pattern = rf"\b(?:{pattern})\b" if query.whole_word else pattern
        return self._find(re.compile(pattern, re.IGNORECASE if query.ignore_case else 0), query.limit)

    def _find(self, pattern: re.Pattern[str], limit: int) -> Mentions:
        found = [
            Mention(path=path, line=number, character=hit.start(), end=hit.end(), preview=line.strip()[:200])
            for path in sorted(self.texts)
            for number, line in enumerate(self.texts[path].split("\n"))
            for hit in pattern.finditer(line)
        ]
        return Mentions(items=tuple(found[:limit]), capped=len(found) > limit)


@dataclass
class MemoryCheck:
    """A reference check by plain comparison: a mention that was not found is unconfirmed."""

    words: MemoryWords

    async def check(self, name: str, at: Span, found: tuple[Span, ...], reply: Reply, *, seconds: float) -> Checked:
        """See ReferenceCheck."""
        known = {(each.path, each.line, each.character) for each in (at, *found)}
        mentions = (await self.words.mentions(name)).items
        open_ones = tuple(each for each in mentions if (each.path, each.line, each.character) not in known)
        if reply.completeness is Completeness.COMPLETE and open_ones:
            return Checked(completeness=Completeness.PARTIAL, unconfirmed=open_ones)
        return Checked(completeness=reply.completeness, unconfirmed=open_ones)


@dataclass
class MemoryOutlines:
    """Outlines from the same script as the engine's document symbols."""

    engines: MemoryEngines
    words: MemoryWords

    async def symbols(self, paths: Sequence[Path]) -> tuple[FileSymbols, ...]:
        """See Outlines."""
        replies = [await self.engines.ask(path, "textDocument/documentSymbol", {}, seconds=0) for path in paths]
        return tuple(
            FileSymbols(path=path, engine=reply.engine, symbols=reply.value)
            for path, reply in zip(paths, replies, strict=True)
        )

    async def counts(self, words: Collection[str], *, language: str) -> Mapping[str, int]:
        """See Outlines. Every file counts as the language."""
        found = {word: (await self.words.mentions(word)).items for word in words}
        return {word: len({each.path for each in mentions}) for word, mentions in found.items()}


def memory_codebase(script: Script, texts: Mapping[Path, str], *roots: Path) -> CodeBase:
    """A CodeBase whose engine answers from the script."""
    words = MemoryWords(texts)
    engines = MemoryEngines(script)
    return CodeBase(
        roots=roots,
        engines=engines,
        words=words,
        references=MemoryCheck(words),
        text=words,
        outlines=MemoryOutlines(engines, words),
    )
