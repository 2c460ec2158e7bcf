"""The context pack: five tools over the caches below one root.

Settings: `root` (required), the folder that contains the caches. It may be created after the server has started.
`semantic_model`, `semantic_threads` and `semantic_tokens` are those of dense retrieval: see search/dense.py.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.contract.handler import Answer, CallContext, Handler
from strictwire.packs.context.arguments import check_query, read_cache_name, read_resolve_request
from strictwire.packs.context.described import Describer
from strictwire.packs.context.inspection import inspect_leniently, list_caches
from strictwire.packs.context.library import Library
from strictwire.packs.context.paths import resolve_name
from strictwire.packs.context.render import selection_object
from strictwire.packs.context.search.dense import DenseRanker, SemanticRefused, read_semantic_settings
from strictwire.packs.context.search.dense_opening import open_dense_ranker
from strictwire.packs.context.search.index_store import IndexStore
from strictwire.packs.context.search.lookup import BUDGET, Lookup, Wanted
from strictwire.packs.context.search.searcher import LIMIT, Search, Searcher
from strictwire.packs.context.search.token_counters import TokenCounter, open_token_counter
from strictwire.packs.context.select import select
from strictwire.packs.pack import Environment, PackRefused

INSTRUCTIONS: Final = (
    "Documentation and source code are in caches. Start with context.search: it finds passages by a question, words or "
    "identifiers in all caches at once, within a token budget. Use context.get to read more lines of a document that a "
    "search has found. context.list_caches says what each cache contains. context.resolve selects whole documents by the "
    "frozen Context Resolve v0 rules; prefer context.search."
)
"""What the server tells every client about this pack."""


class ContextTools:
    """The handlers. They are plain functions: they run in threads, outside the event loop, any number at once."""

    def __init__(
        self,
        library: Library,
        store: IndexStore,
        counter: TokenCounter | None = None,
        dense: DenseRanker | None = None,
    ) -> None:
        self.library = library
        counter = counter or open_token_counter()
        self._searcher = Searcher(counter, store, dense)
        self._lookup = Lookup(counter, store)
        self._describer = Describer()

    def resolve(self, arguments: JsonObject, _context: CallContext) -> JsonObject:
        """The tool context.resolve.

        Raises Refused: INVALID_BUDGET, INVALID_QUERY, CACHE_MISSING, CACHE_INVALID, IO_ERROR.
        """
        request = read_resolve_request(arguments)
        index = self.library.open(request.cache).index
        return selection_object(index, select(index, request.query, request.budget))

    def list_caches(self, _arguments: JsonObject, _context: CallContext) -> JsonObject:
        """The tool context.list_caches. Raises Refused: CACHE_MISSING, IO_ERROR."""
        return self._describer.describe(self.library.root)

    def inspect_cache(self, arguments: JsonObject, _context: CallContext) -> JsonObject:
        """The tool context.inspect_cache. Raises Refused: INVALID_QUERY, CACHE_MISSING, IO_ERROR."""
        return asdict(inspect_leniently(resolve_name(self.library.root, read_cache_name(arguments))))

    def get(self, arguments: JsonObject, _context: CallContext) -> Answer:
        """The tool context.get. Raises Refused: see Lookup.get."""
        wanted = Wanted(
            cache=arguments["cache"],
            id=arguments["id"],
            first=int(arguments.get("first", 1)),
            last=arguments.get("last"),
            budget=int(arguments.get("budget", BUDGET)),
        )
        return self._lookup.get(wanted, resolve_name(self.library.root, wanted.cache))

    def search(self, arguments: JsonObject, _context: CallContext) -> Answer:
        """The tool context.search. Raises Refused: INVALID_QUERY, CACHE_MISSING, CACHE_INVALID, IO_ERROR."""
        search = Search(
            query=check_query(arguments["query"]),
            budget=int(arguments["budget"]),
            limit=int(arguments.get("limit", LIMIT)),
        )
        given = arguments.get("caches")
        return self._searcher.search(search, self._paths(given) if given else self._all_paths())

    def _paths(self, names: Iterable[str]) -> dict[str, Path]:
        """Return the directories of caches. Raises Unusable for a name that is not a cache."""
        return {name: resolve_name(self.library.root, name) for name in names}

    def _all_paths(self) -> dict[str, Path]:
        listed = list_caches(self.library.root)["caches"]
        return self._paths(entry["path"] for entry in listed if entry["has_manifest"])


class ContextPack:
    """See packs.pack.Pack."""

    name: Final = "context"
    tools: Final = ("context.search", "context.get", "context.list_caches", "context.inspect_cache", "context.resolve")
    schemas: Path | None = None

    def __init__(self) -> None:
        self._library: Library | None = None
        self._store: IndexStore | None = None
        self._dense: DenseRanker | None = None

    async def open(self, environment: Environment) -> Mapping[str, Handler]:
        """See Pack.open. Raises PackRefused if `root` is not set, or if the semantic model cannot be used."""
        root = environment.settings.get("root")
        if not isinstance(root, str) or not root:
            raise PackRefused(
                self.name,
                "it does not know where the caches are; add to strictwire.toml:\n\n"
                '[packs.context]\nroot = "/path/to/caches"\n\n'
                "`strictwire context add NAME PATH --root /path/to/caches` makes the first cache",
            )
        folder = environment.state / "context" / "index" if environment.state is not None else None
        try:
            semantic = read_semantic_settings(environment.settings)
            if semantic is not None:
                self._dense = await asyncio.to_thread(open_dense_ranker, semantic, folder)
        except SemanticRefused as refused:
            raise PackRefused(self.name, str(refused)) from refused
        self._library = Library(os.fspath(Path(root)))
        self._store = IndexStore(folder)
        tools = ContextTools(self._library, self._store, dense=self._dense)
        handlers = (tools.search, tools.get, tools.list_caches, tools.inspect_cache, tools.resolve)
        environment.instruct(INSTRUCTIONS)
        return dict(zip(self.tools, handlers, strict=True))

    async def close(self) -> None:
        """See Pack.close."""
        if self._library is not None:
            self._library.close()
            self._library = None
        if self._store is not None:
            self._store.close()
            self._store = None
        if self._dense is not None:
            await asyncio.to_thread(self._dense.close)
            self._dense = None
