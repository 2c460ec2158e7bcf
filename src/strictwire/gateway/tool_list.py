"""The tools of an upstream as it lists them, compiled for calls: fetched when needed, kept while fresh.

A call is checked against the list at hand, which is never older than what a client was shown: a page that differs from it
makes it stale, in every session with the same upstream. Before a call is refused because of the list, the list is fetched
again, so that no client is refused by a contract that has changed.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from strictwire.canon.json import JsonObject, NotJson
from strictwire.client.errors import NotUnderstood
from strictwire.client.message import Era
from strictwire.client.mirroring import PARAM_PREFIX, argument_headers
from strictwire.contract.conform import Conformer, compile_schema
from strictwire.contract.registry import ContractRefused
from strictwire.contract.schema import SchemaRefused, check_schema, check_tool_input
from strictwire.contract.tool import ToolContract
from strictwire.fault.failure import Failure, fail
from strictwire.gateway.links.background import retrieve_exception
from strictwire.gateway.links.link import Link
from strictwire.gateway.links.listing import FRESH_SECONDS, LIST_SHAPES, RENEW_SECONDS, Askable, entries_of, fetch_list
from strictwire.gateway.options import RelayOptions
from strictwire.pipeline.compiled import CompiledTool
from strictwire.profiles.endpoint import Headers
from strictwire.profiles.mcp.header_echo import Mirrored, mirrored_arguments


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTool:
    """One tool of the list, ready for calls."""

    compiled: CompiledTool
    options: RelayOptions
    mirrored: tuple[Mirrored, ...] = ()
    """Arguments that HTTP headers repeat."""
    unusable: str | None = None
    """Why its schemas cannot be used, if so."""
    drift: Failure | None = None
    """How it differs from its pin, if so. Such a tool must not be called."""

    def argument_headers(self, arguments: JsonObject, given: Headers | None) -> dict[str, str]:
        """The headers that repeat arguments, for an upstream over HTTP.

        The client's own are passed on, because an upstream may require more than it lists; listed ones are made anew.
        """
        names = [] if given is None else [name for name in given.names() if name.startswith(PARAM_PREFIX)]
        headers = {name: value for name in names if given is not None and (value := given.get(name) or "").isascii()}
        return headers | argument_headers(self.mirrored, arguments)

    def find_output_fault(self, result: JsonObject) -> Failure | None:
        """OUTPUT_INVALID: no content, or structured content that is missing or does not conform to the output schema.

        A tool's own error need not conform.
        """
        promised = self.compiled.output
        if not isinstance(result.get("content"), list):
            return fail("OUTPUT_INVALID", details={"reason": "content"})
        if promised is None or result.get("isError") is True:
            return None
        if "structuredContent" not in result:
            return fail("OUTPUT_INVALID", details={"reason": "no_structured_content"})
        if promised.accepts(result["structuredContent"]):
            return None
        violations = [each.as_details() for each in promised.find_violations(result["structuredContent"])]
        return fail("OUTPUT_INVALID", details={"violations": violations})


Compile: TypeAlias = Callable[[ToolContract, Conformer | None, Conformer | None], CompiledTool]
"""Binds a contract, with the validators of its input and output, to the stages of a relayed call."""


OnRead: TypeAlias = Callable[[Mapping[str, JsonObject]], None]
"""Gets the entries of a whole list by their names."""


def ignore_tools(_entries: Mapping[str, JsonObject]) -> None:
    """The OnRead for a list without a watcher: does nothing."""


class PinCheck(Protocol):
    """Compares the tools of an upstream with their pins. Implemented by `pins.drift.ToolPins`."""

    def pin_first(self, entries: Iterable[JsonObject]) -> None:
        """Pin a whole list of tools if nothing is pinned yet. Raises SourceRefused: the file cannot be written."""

    def find_drift(self, entry: JsonObject) -> Failure | None:
        """CONTRACT_CHANGED if an entry of `tools/list` differs from its pin, or was never pinned."""

    async def close(self) -> None:
        """Wait for comparisons that still run."""


class ToolLists:
    """All lists of one upstream. What one client sees of a change makes the lists of the others stale."""

    def __init__(self) -> None:
        self.lists: weakref.WeakSet[ToolList] = weakref.WeakSet()

    def forget(self) -> None:
        """The upstream's tools have changed."""
        for each in self.lists:
            each.forget()


class ToolList:
    """The tools of one upstream, as one legacy session or all stateless clients see them."""

    def __init__(
        self,
        upstream: Askable,
        *,
        era: Era,
        compile_tool: Compile,
        options: RelayOptions,
        elapsed: Callable[[], float],
        group: ToolLists,
        pins: PinCheck | None = None,
        on_read: OnRead = ignore_tools,
    ) -> None:
        """`on_read` gets every list that is read."""
        self._upstream = upstream
        self._era = era
        self._compile = compile_tool
        self._options = options
        self._elapsed = elapsed
        self._pins = pins
        self._on_read = on_read
        self._group = group
        group.lists.add(self)
        self._fetching: asyncio.Task[None] | None = None
        """One fetch for all calls that wait for the list."""
        self._entries: dict[str, JsonObject] = {}
        self._tools: dict[str, ListedTool] = {}
        """Compiled on first use."""
        self._link: Link | None = None
        """The link that the list was read from; None if the list must be read again."""
        self._listed_at = 0.0
        self._fresh_until = 0.0
        self._changes = 0

    def forget(self) -> None:
        """The upstream's tools have changed, or may have."""
        self._link = None
        self._changes += 1

    def observe(self, result: JsonObject, *, is_first: bool) -> None:
        """Compare a page that a client reads with the list at hand. If they differ, no call is checked against the latter
        any more. `is_first` says that the page begins the list.
        """
        try:
            shown = {entry["name"]: entry for entry in entries_of(result, LIST_SHAPES["tools/list"])}
        except NotUnderstood:
            return  # calls read the list anew, and fail with what is wrong with it
        is_whole = is_first and not isinstance(result.get("nextCursor"), str)
        differs = any(self._entries.get(name) != entry for name, entry in shown.items())
        if self._link is not None and (differs or (is_whole and len(shown) != len(self._entries))):
            self._group.forget()

    async def find(self, name: str, link: Link) -> ListedTool | None:
        """The tool of that name. Raises ClientError: the list cannot be read."""
        if self._link is not link or self._elapsed() >= self._fresh_until:
            await self._refresh(link)
            if self._link is not link:  # it changed while it was read
                await self._refresh(link)
        return self._tools.get(name) or self._compiled(name)

    async def renew(self, name: str, link: Link) -> ListedTool | None:
        """The tool of that name, from a list that was read just now. Raises ClientError."""
        if self._elapsed() - self._listed_at >= RENEW_SECONDS or self._link is not link:
            await self._refresh(link)
        return self._tools.get(name) or self._compiled(name)

    async def _refresh(self, link: Link) -> None:
        if self._fetching is None or self._fetching.done():
            self._fetching = asyncio.create_task(self._fetch(link))
            self._fetching.add_done_callback(retrieve_exception)
        # Shielded: a call that is cancelled must not take the list away from the others.
        await asyncio.shield(self._fetching)

    async def _fetch(self, link: Link) -> None:
        changes = self._changes
        entries = await fetch_list(self._upstream, link, "tools/list", self._era, self._options.idle_seconds)
        if self._pins is not None:
            self._pins.pin_first(entries.values())
        if self._link is not None and entries != self._entries:
            # It changed without a notice, so other sessions must read it again, too.
            self._group.forget()
            changes = self._changes
        self._tools = {
            name: self._tools[name]
            for name, entry in entries.items()
            if name in self._tools and self._entries.get(name) == entry
        }
        self._entries, self._link = entries, link if changes == self._changes else None
        self._listed_at = self._elapsed()
        self._fresh_until = self._listed_at + FRESH_SECONDS
        self._on_read(entries)

    def _compiled(self, name: str) -> ListedTool | None:
        entry = self._entries.get(name)
        if entry is None:
            return None
        drift = None if self._pins is None else self._pins.find_drift(entry)
        self._tools[name] = tool = self._read(entry, drift)
        return tool

    def _read(self, entry: JsonObject, drift: Failure | None) -> ListedTool:
        options = self._options.of_tool(entry["name"])
        try:
            contract = read_contract(entry)
            mirrored = mirrored_arguments(contract.input_schema)
            promised = None if contract.output_schema is None else compile_schema(contract.output_schema)
            compiled = self._compile(contract, compile_schema(contract.input_schema), promised)
        except (SchemaRefused, ContractRefused, NotJson, TypeError, RecursionError) as exc:
            reason = exc.problem.value if isinstance(exc, SchemaRefused) else "invalid"
            # The name alone still stands for the tool in refusals and records.
            unusable = ToolContract(name=entry["name"], description="", input_schema={"type": "object"})
            compiled = self._compile(unusable, None, None)
            return ListedTool(compiled=compiled, options=options, unusable=reason, drift=drift)
        return ListedTool(compiled=compiled, options=options, mirrored=mirrored, drift=drift)


def read_contract(entry: JsonObject) -> ToolContract:
    """The contract that an entry of `tools/list` states. Raises SchemaRefused, TypeError."""
    schema, output, annotations = entry.get("inputSchema"), entry.get("outputSchema"), entry.get("annotations")
    if not isinstance(schema, dict) or not isinstance(output, dict | None):
        raise TypeError("a schema must be an object")
    check_tool_input(schema)
    if output is not None:
        check_schema(output)
    description, title = entry.get("description"), entry.get("title")
    return ToolContract(
        name=entry["name"],
        description=description if isinstance(description, str) else "",
        title=title if isinstance(title, str) else None,
        input_schema=schema,
        output_schema=output,
        annotations=annotations if isinstance(annotations, dict) else {},
    )
