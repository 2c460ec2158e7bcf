"""Symbols from tree-sitter where there is no engine. The answer names tree-sitter as its engine."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.packs.code.engine import TREE_SITTER, Completeness, EngineIdentity, Reply
from strictwire.packs.code.lines import normalise, read_source
from strictwire.packs.code.syntax.grammar import grammar_version, maybe_grammar
from strictwire.packs.code.syntax.symbols import document_symbols
from strictwire.packs.code.uri import render_file_uri

MAX_SYMBOLS: Final = 20_000
"""Symbols of one search: the cap on workspace symbols."""


async def ask_document(path: str, language: str, note: str) -> Reply | None:
    """The symbols of a file; None if there is no grammar for it. Raises OSError."""
    grammar = maybe_grammar(path)
    if grammar is None:
        return None
    value = await asyncio.to_thread(lambda: document_symbols(grammar, normalise(read_source(path))))
    return Reply(value=value, engine=_identity(grammar, language), completeness=Completeness.COMPLETE, note=note)


async def ask_workspace(paths: list[str], language: str, query: str, note: str) -> Reply | None:
    """Symbols of files whose name contains the query, whatever its case; None if there is no grammar for any of them."""
    grammar = next(filter(None, map(maybe_grammar, paths)), None)
    if grammar is None:
        return None
    value = await asyncio.to_thread(_search, paths, query)
    capped = len(value) > MAX_SYMBOLS
    return Reply(
        value=value[:MAX_SYMBOLS],
        engine=_identity(grammar, language),
        completeness=Completeness.PARTIAL if capped else Completeness.COMPLETE,
        note=f"more than {MAX_SYMBOLS} symbols" if capped else note,
    )


def _search(paths: list[str], query: str) -> list[JsonObject]:
    pattern = re.compile(re.escape(query.encode()), re.IGNORECASE)
    found: list[JsonObject] = []
    for path in paths:
        grammar = maybe_grammar(path)
        try:
            raw = normalise(read_source(path)) if grammar is not None else b""
        except OSError:
            continue
        if grammar is None or not pattern.search(raw):
            continue
        uri = render_file_uri(Path(path))
        found.extend(_matching(document_symbols(grammar, raw), query.lower(), uri, None))
        if len(found) > MAX_SYMBOLS:
            break
    return found


def _matching(symbols: list[JsonObject], query: str, uri: str, container: str | None) -> Iterator[JsonObject]:
    for symbol in symbols:
        if query in symbol["name"].lower():
            location = {"uri": uri, "range": symbol["selectionRange"]}
            named = {"name": symbol["name"], "kind": symbol["kind"], "location": location}
            yield named if container is None else {**named, "containerName": container}
        yield from _matching(symbol["children"], query, uri, symbol["name"])


def _identity(grammar: str, language: str) -> EngineIdentity:
    return EngineIdentity(name=TREE_SITTER, version=grammar_version(grammar), language=language)
