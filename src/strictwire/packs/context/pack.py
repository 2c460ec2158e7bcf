"""The context pack: four tools over the caches below one root.

Settings: `root` (required), the folder that contains the caches. It may be created after the server has started.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.contract.handler import CallContext, Handler
from strictwire.packs.context.arguments import check_query, read_cache_name, read_resolve_request
from strictwire.packs.context.inspection import inspect_leniently, list_caches
from strictwire.packs.context.library import Library
from strictwire.packs.context.paths import resolve_name
from strictwire.packs.context.render import selection_object
from strictwire.packs.context.search.searcher import LIMIT, Search, Searcher
from strictwire.packs.context.search.token_counters import TokenCounter, open_token_counter
from strictwire.packs.context.select import select
from strictwire.packs.pack import Environment, PackRefused

MAX_FEDERATED: Final = 16
"""Most caches in one search: the number that the library keeps in memory."""


class ContextTools:
    """The handlers. They are plain functions: they run in threads, outside the event loop, any number at once."""

    def __init__(self, library: Library, counter: TokenCounter | None = None) -> None:
        self.library = library
        self._searcher = Searcher(counter or open_token_counter())

    def resolve(self, arguments: JsonObject, _context: CallContext) -> JsonObject:
        """The tool context.resolve.

        Raises Refused: INVALID_BUDGET, INVALID_QUERY, CACHE_MISSING, CACHE_INVALID, IO_ERROR.
        """
        request = read_resolve_request(arguments)
        index = self.library.open(request.cache).index
        return selection_object(index, select(index, request.query, request.budget))

    def list_caches(self, _arguments: JsonObject, _context: CallContext) -> JsonObject:
        """The tool context.list_caches. Raises Refused: CACHE_MISSING, IO_ERROR."""
        return list_caches(self.library.root)

    def inspect_cache(self, arguments: JsonObject, _context: CallContext) -> JsonObject:
        """The tool context.inspect_cache. Raises Refused: INVALID_QUERY, CACHE_MISSING, IO_ERROR."""
        return asdict(inspect_leniently(resolve_name(self.library.root, read_cache_name(arguments))))

    def search(self, arguments: JsonObject, _context: CallContext) -> JsonObject:
        """The tool context.search. Raises Refused: INVALID_QUERY, CACHE_MISSING, CACHE_INVALID, IO_ERROR."""
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
        """See Pack.open. Raises PackRefused if `root` is not set."""
        root = environment.settings.get("root")
        if not isinstance(root, str) or not root:
            raise PackRefused(self.name, "set `root` in [packs.context] to the folder that contains the caches")
        self._library = Library(os.fspath(Path(root)))
        tools = ContextTools(self._library)
        handlers = (tools.resolve, tools.list_caches, tools.inspect_cache, tools.search)
        return dict(zip(self.tools, handlers, strict=True))

    async def close(self) -> None:
        """See Pack.close."""
        if self._library is not None:
            self._library.close()
            self._library = None
