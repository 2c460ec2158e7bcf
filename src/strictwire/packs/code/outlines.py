"""What files define, by tree-sitter, and how widely names are used, by the word index."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from strictwire.packs.code.engine import TREE_SITTER, EngineIdentity, FileSymbols
from strictwire.packs.code.languages import maybe_language
from strictwire.packs.code.syntax.grammar import grammar_version, maybe_grammar
from strictwire.packs.code.syntax.kept import KeptSymbols
from strictwire.packs.code.words import Words


class SyntaxOutlines:
    """See engine.Outlines."""

    def __init__(self, kept: KeptSymbols, words: Words) -> None:
        self._kept = kept
        self._words = words

    async def symbols(self, paths: Sequence[Path]) -> tuple[FileSymbols, ...]:
        """See Outlines."""
        found = await self._kept.read([str(path) for path in paths])
        return tuple(
            FileSymbols(path=Path(path), engine=identity_of(path), symbols=symbols) for path, symbols in found.items()
        )

    async def counts(self, words: Collection[str], *, language: str) -> dict[str, int]:
        """See Outlines."""
        return await self._words.counts(words, language=language)


def identity_of(path: str) -> EngineIdentity:
    """Who answers for a file by its syntax."""
    grammar = maybe_grammar(path)
    version = grammar_version(grammar) if grammar is not None else ""
    return EngineIdentity(name=TREE_SITTER, version=version, language=maybe_language(path) or "")
