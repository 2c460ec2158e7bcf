"""Symbols from tree-sitter where there is no engine. The answer names tree-sitter as its engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.packs.code.engine import Completeness, Reply
from strictwire.packs.code.outlines import identity_of
from strictwire.packs.code.syntax.grammar import maybe_grammar
from strictwire.packs.code.syntax.kept import KeptSymbols
from strictwire.packs.code.uri import render_file_uri

MAX_SYMBOLS: Final = 20_000
"""Symbols of one search: the cap on workspace symbols."""


async def ask_document(kept: KeptSymbols, path: str, note: str) -> Reply | None:
    """The symbols of a file; None if there is no grammar for it, or it cannot be read."""
    found = await kept.read([path])
    if path not in found:
        return None
    return Reply(value=found[path], engine=identity_of(path), completeness=Completeness.COMPLETE, note=note)


async def ask_workspace(kept: KeptSymbols, paths: list[str], query: str, note: str) -> Reply | None:
    """Symbols whose name contains the query, whatever its case; None if there is no grammar for any of the files."""
    known = next((path for path in paths if maybe_grammar(path) is not None), None)
    if known is None:
        return None
    found = await kept.read_naming(paths, query)
    value = [
        each for path, symbols in found.items() for each in _matching(symbols, query.lower(), render_file_uri(path), None)
    ]
    unread = kept.count_unread(paths)
    gap = f"more than {MAX_SYMBOLS} symbols" if len(value) > MAX_SYMBOLS else f"{unread} files not read" if unread else ""
    return Reply(
        value=value[:MAX_SYMBOLS],
        engine=identity_of(known),
        completeness=Completeness.PARTIAL if gap else Completeness.COMPLETE,
        note=gap or note,
    )


def _matching(symbols: list[JsonObject], query: str, uri: str, container: str | None) -> Iterator[JsonObject]:
    for symbol in symbols:
        if query in symbol["name"].lower():
            location = {"uri": uri, "range": symbol["selectionRange"]}
            named = {"name": symbol["name"], "kind": symbol["kind"], "location": location}
            yield named if container is None else {**named, "containerName": container}
        yield from _matching(symbol["children"], query, uri, symbol["name"])
