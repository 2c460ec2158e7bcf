"""The tools of an upstream as it lists them, compiled for calls: fetched when needed, kept while fresh.

A call is checked against the list at hand. Before a call is refused because of the list, the list is fetched again, so that
no client is refused by a contract that has changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from strictwire.canon.json import JsonObject, NotJson
from strictwire.client.message import Era, header_value
from strictwire.contract.conform import Conformer, compile_schema
from strictwire.contract.registry import ContractRefused
from strictwire.contract.schema import SchemaRefused, check_schema, check_tool_input
from strictwire.contract.tool import ToolContract
from strictwire.fault.failure import Failure, fail
from strictwire.gateway.links.link import Link
from strictwire.gateway.links.listing import FRESH_SECONDS, RENEW_SECONDS, fetch_list
from strictwire.gateway.links.upstream import Upstream
from strictwire.gateway.options import RelayOptions
from strictwire.gateway.pins.drift import ToolPins
from strictwire.pipeline.compiled import CompiledTool
from strictwire.profiles.endpoint import Headers
from strictwire.profiles.mcp.header_echo import Mirrored, argument_at, mirrored_arguments

PARAM_PREFIX: Final = "mcp-param-"
"""Begins the names of headers that repeat arguments."""


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
        for each in self.mirrored:
            argument = argument_at(arguments, each.path)
            if isinstance(argument, str | int):
                headers[PARAM_PREFIX + each.header.lower()] = _header_text(argument)
        return headers

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


def _header_text(value: str | int) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return header_value(str(value))


Compile: TypeAlias = Callable[[ToolContract, Conformer | None, Conformer | None], CompiledTool]
"""Binds a contract, with the validators of its input and output, to the stages of a relayed call."""


class ToolList:
    """The tools of one upstream, as one legacy session or all stateless clients see them."""

    def __init__(
        self,
        upstream: Upstream,
        *,
        era: Era,
        compile_tool: Compile,
        options: RelayOptions,
        elapsed: Callable[[], float],
        pins: ToolPins | None = None,
    ) -> None:
        self._upstream = upstream
        self._era = era
        self._compile = compile_tool
        self._options = options
        self._elapsed = elapsed
        self._pins = pins
        self._lock = asyncio.Lock()
        self._entries: dict[str, JsonObject] = {}
        self._tools: dict[str, ListedTool] = {}
        """Compiled on first use."""
        self._link: Link | None = None
        """The link that the list was read from; None if the list must be read again."""
        self._listed_at = 0.0
        self._fresh_until = 0.0

    def forget(self) -> None:
        """The upstream's tools have changed, or may have."""
        self._link = None

    async def find(self, name: str, link: Link) -> ListedTool | None:
        """The tool of that name. Raises ClientError: the list cannot be read."""
        if self._link is not link or self._elapsed() >= self._fresh_until:
            async with self._lock:
                if self._link is not link or self._elapsed() >= self._fresh_until:
                    await self._fetch(link)
        return self._tools.get(name) or self._compiled(name)

    async def renew(self, name: str, link: Link) -> ListedTool | None:
        """The tool of that name, from a list that was read just now. Raises ClientError."""
        async with self._lock:
            if self._elapsed() - self._listed_at >= RENEW_SECONDS or self._link is not link:
                await self._fetch(link)
        return self._tools.get(name) or self._compiled(name)

    async def _fetch(self, link: Link) -> None:
        entries, fresh = await fetch_list(self._upstream, link, "tools/list", self._era)
        if self._pins is not None:
            self._pins.pin_first(entries.values())
        self._tools = {
            name: self._tools[name]
            for name, entry in entries.items()
            if name in self._tools and self._entries.get(name) == entry
        }
        self._entries = entries
        self._link = link
        self._listed_at = self._elapsed()
        self._fresh_until = self._listed_at + max(fresh, FRESH_SECONDS)

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
