"""Opens a server: its lifespan, its server-scoped dependencies, its mounted servers, and the catalog that calls run from.

Everything that a call could ask about the server is decided here, once for each snapshot of the offers: handlers are bound
to the values of the running server, and wrapped in its middleware. What a server does not use costs its calls nothing.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from strictwire.contract.tags import TagFilter
from strictwire.fault.failure import Failure
from strictwire.pipeline.call import Kind
from strictwire.pipeline.catalog import Catalog, DerivedCatalog, Offers, is_async
from strictwire.pipeline.compiled import CompiledTool
from strictwire.server.adapting import Adaptation, adapt, select, tags_of_offers
from strictwire.server.declare.inject import BindableHandler
from strictwire.server.declare.lifespan import LifespanFailed, LifespanSpec, Opened
from strictwire.server.declare.refused import Place
from strictwire.server.declare.running import Running
from strictwire.server.middleware import Contract, MiddlewareChain
from strictwire.server.mounting import Composed, MountedOffers, compose, ignore_clash
from strictwire.server.wrapped import NarrowedList, wrap_tool

log = logging.getLogger("strictwire")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerParts:
    """What a server is made of."""

    server: Any
    """The Server, for its lifespan function."""
    own: Catalog
    """What it offers itself."""
    lifespan: LifespanSpec | None = None
    middleware: MiddlewareChain = field(default_factory=MiddlewareChain)
    adaptation: Adaptation = field(default_factory=Adaptation)
    mounts: tuple[tuple[str, ServerParts], ...] = ()
    """Prefix and parts of the mounted servers."""


@asynccontextmanager
async def open_server(parts: ServerParts, executor: Executor) -> AsyncIterator[Catalog]:
    """Open a server and close it at the end.

    Raises LifespanFailed; DeclarationRefused: a filter by tags is a mistake.
    """
    async with AsyncExitStack() as stack:
        yield await _open(parts, executor, stack, {})


async def _open(parts: ServerParts, executor: Executor, stack: AsyncExitStack, opened: dict[int, Catalog]) -> Catalog:
    """Open a server and those that are mounted in it, each once."""
    known = opened.get(id(parts.server))
    if known is not None:
        return known
    running = Running(executor, stack)
    if parts.lifespan is not None:
        manager = Opened(f"the lifespan {parts.lifespan.name}", parts.lifespan.open(parts.server))
        running.lifespan = await stack.enter_async_context(manager)
    tags = parts.adaptation.tags
    await _open_dependencies(select(parts.own.offers, tags) if tags else parts.own.offers, running)
    children = [(prefix, await _open(child, executor, stack, opened)) for prefix, child in parts.mounts]
    server = _RunningServer(parts, running, children)
    server.check_filter()
    catalog = server.catalog
    stack.callback(catalog.close)
    opened[id(parts.server)] = catalog
    return catalog


class _RunningServer:
    """A server that runs: its offers, and those of the servers mounted in it, as calls and lists see them."""

    def __init__(self, parts: ServerParts, running: Running, children: Sequence[tuple[str, Catalog]]) -> None:
        self._parts = parts
        self._running = running
        self._children = children
        self._composed = Composed(offers=parts.own.offers)
        self._narrowed = NarrowedList(parts.middleware)
        self.catalog = DerivedCatalog([parts.own, *(child for _, child in children)], self._derive)
        if parts.middleware.lists or any(child.narrow for _, child in children):
            self.catalog.narrow = self._narrow

    def _derive(self) -> Offers:
        own = bind_offers(self._parts.own.offers, self._running)
        mounted = [MountedOffers(prefix=prefix, offers=child.offers) for prefix, child in self._children]
        self._composed = adapt(compose(own, mounted, _log_clash), self._parts.adaptation, _log_clash)
        chain = self._parts.middleware
        if not chain.calls:
            return self._composed.offers
        return map_tools(self._composed.offers, lambda tool: wrap_tool(tool, chain, self._running))

    def check_filter(self) -> None:
        """Check that the filter by tags is no mistake. Raises DeclarationRefused."""
        adaptation = self._parts.adaptation
        if not adaptation.tags:
            return
        mounted = [MountedOffers(prefix=prefix, offers=child.offers) for prefix, child in self._children]
        everything = adapt(
            compose(self._parts.own.offers, mounted, ignore_clash), replace(adaptation, tags=TagFilter()), ignore_clash
        ).offers
        place = Place(function=f"Server({self._parts.server.identity.name!r})")
        unused = adaptation.tags.find_unused(tags_of_offers(everything))
        if unused is not None:
            raise place.refuse(unused)
        if not self.catalog.offers.kinds - {Kind.COMPLETION}:
            raise place.refuse("include_tags and exclude_tags leave nothing to offer; change one of them")

    async def _narrow(
        self, method: str, entries: Sequence[Contract], facts: Mapping[str, str | None]
    ) -> Sequence[Contract] | Failure:
        """The entries for a caller: each mounted server narrows its own, and the middleware of this server all of them."""
        origins = self._composed.origins
        mounted = {shown for each in origins for shown in each}
        kept = [entry for entry in entries if id(entry) not in mounted]
        for (_, child), own in zip(self._children, origins, strict=True):
            shown: dict[int, list[Contract]] = {}  # a tool may be offered several times, each transformed
            for entry in entries:
                if id(entry) in own:
                    shown.setdefault(id(own[id(entry)]), []).append(entry)
            inner = [own[id(versions[0])] for versions in shown.values()]
            found = inner if child.narrow is None else await child.narrow(method, inner, facts)
            if isinstance(found, Failure):
                return found
            kept += [version for entry in found for version in shown[id(entry)]]
        return await self._narrowed(method, kept, facts)


def _log_clash(name: str, reason: str) -> None:
    log.error("%r %s; it is left out", name, reason)


async def _open_dependencies(offers: Offers, running: Running) -> None:
    """Open the server-scoped dependencies of everything that is offered. Raises LifespanFailed."""
    for tool in offers.compiled.values():
        if isinstance(tool.handler, BindableHandler):
            for dependency in tool.handler.opened_at_start:
                try:
                    await running.open(dependency)
                except Exception as exc:
                    raise LifespanFailed(f"the dependency {dependency.name}", at_start=True, cause=exc) from exc


def bind_offers(offers: Offers, running: Running) -> Offers:
    """The offers with every handler bound to the running server."""

    def bind(tool: CompiledTool) -> CompiledTool:
        handler = tool.handler
        if not isinstance(handler, BindableHandler):
            return tool
        bound = handler.bind(running)
        return replace(tool, handler=bound, is_async=is_async(bound))

    return map_tools(offers, bind)


def map_tools(offers: Offers, change: Callable[[CompiledTool], CompiledTool]) -> Offers:
    """The offers with every compiled tool changed; the same value if none is."""
    compiled = {key: change(tool) for key, tool in offers.compiled.items()}
    if all(tool is offers.compiled[key] for key, tool in compiled.items()):
        return offers
    templates = tuple((template, compiled[tool.kind, tool.name]) for template, tool in offers.templates)
    return replace(offers, compiled=MappingProxyType(compiled), templates=templates)
