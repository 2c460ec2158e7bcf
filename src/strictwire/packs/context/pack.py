"""The context pack: four tools over the caches under one root.

Settings: `root` (required), the folder that holds the caches. The folder need not exist when the server starts.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.contract.handler import CallContext, Handler
from strictwire.packs.context.arguments import check_query, read_cache_name, read_question
from strictwire.packs.context.library import Library
from strictwire.packs.context.paths import resolve_name
from strictwire.packs.context.render import selection_object
from strictwire.packs.context.search.answer import LIMIT, Search, Searcher
from strictwire.packs.context.search.counters import Counter, open_counter
from strictwire.packs.context.select import select
from strictwire.packs.context.survey import inspect_loosely, list_caches
from strictwire.packs.pack import Environment, PackRefused

MAX_FEDERATED: Final = 16
"""Caches of one search; the same number as the library keeps."""


class ContextTools:
    """The handlers. Plain functions: they run off the event loop, and any number of them at once."""

    def __init__(self, library: Library, counter: Counter | None = None) -> None:
        self.library = library
        self._searcher = Searcher(counter or open_counter())

    def resolve(self, arguments: JsonObject, _context: CallContext) -> JsonObject:
        """context.resolve. Raises Refused: INVALID_BUDGET, INVALID_QUERY, CACHE_MISSING, CACHE_INVALID, IO_ERROR."""
        question = read_question(arguments)
        index = self.library.open(question.cache).index
        return selection_object(index, select(index, question.query, question.budget))

    def list_caches(self, _arguments: JsonObject, _context: CallContext) -> JsonObject:
        """context.list_caches. Raises Refused: CACHE_MISSING, IO_ERROR."""
        return list_caches(self.library.root)

    def inspect_cache(self, arguments: JsonObject, _context: CallContext) -> JsonObject:
        """context.inspect_cache. Raises Refused: INVALID_QUERY, CACHE_MISSING, IO_ERROR."""
        return asdict(inspect_loosely(resolve_name(self.library.root, read_cache_name(arguments))))

    def search(self, arguments: JsonObject, _context: CallContext) -> JsonObject:
        """context.search. Raises Refused: INVALID_QUERY, CACHE_MISSING, CACHE_INVALID, IO_ERROR."""
        search = Search(
            query=check_query(arguments["query"]),
            budget=int(arguments["budget"]),
            limit=int(arguments.get("limit", LIMIT)),
        )
        caches = {name: self.library.open(name) for name in arguments.get("caches") or self._all_names()}
        return self._searcher.search(search, caches)

    def _all_names(self) -> list[str]:
        found = [entry["path"] for entry in list_caches(self.library.root)["caches"] if entry["has_manifest"]]
        return found[:MAX_FEDERATED]


class ContextPack:
    """See packs.pack.Pack."""

    name: Final = "context"
    tools: Final = ("context.resolve", "context.list_caches", "context.inspect_cache", "context.search")
    schemas: Path | None = None

    def __init__(self) -> None:
        self._library: Library | None = None

    async def open(self, environment: Environment) -> Mapping[str, Handler]:
        """See Pack. Raises PackRefused: `root` is not given."""
        root = environment.settings.get("root")
        if not isinstance(root, str) or not root:
            raise PackRefused(self.name, "expected a setting `root`, the folder that holds the caches")
        self._library = Library(os.fspath(Path(root)))
        tools = ContextTools(self._library)
        handlers = (tools.resolve, tools.list_caches, tools.inspect_cache, tools.search)
        return dict(zip(self.tools, handlers, strict=True))

    async def close(self) -> None:
        """See Pack."""
        if self._library is not None:
            self._library.close()
            self._library = None
