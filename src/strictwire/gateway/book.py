"""The contracts of an upstream's tools, as it lists them: fetched when needed, kept while they are fresh.

A call is judged by the list at hand. Before a call is refused the list is fetched anew, so that nobody is refused by a
contract that is no longer shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from strictwire.canon.json import JsonObject, NotJson
from strictwire.contract.conform import Conformer, compile_schema
from strictwire.contract.fingerprint import fingerprint
from strictwire.contract.handler import Handler
from strictwire.contract.registry import ContractRefused
from strictwire.contract.schema import SchemaRefused, check_schema, check_tool_input
from strictwire.contract.tool import ToolContract
from strictwire.fault.failure import Failure
from strictwire.gateway.drift import Drift
from strictwire.gateway.link import Era, Link
from strictwire.gateway.roll import FRESH_SECONDS, RENEW_SECONDS, SHAPES, asking, fetch_all
from strictwire.gateway.terms import Terms
from strictwire.gateway.upstream import Upstream
from strictwire.pipeline.call import Kind
from strictwire.pipeline.compiled import CompiledTool, Refuse, Verify
from strictwire.pipeline.limits import ConcurrencyLimit
from strictwire.profiles.mcp.header_echo import Mirrored, mirrored_arguments

TOOLS: Final = "tools/list"


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayStages:
    """The stages of a call that is relayed, where they differ from those of our own tools."""

    authorise: Refuse
    accept: Refuse
    relay: Handler
    verify: Verify


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool of the list, ready to be judged by."""

    compiled: CompiledTool
    terms: Terms = field(default_factory=Terms)
    """How strictly it is held."""
    mirrored: tuple[Mirrored, ...] = ()
    """Arguments that HTTP headers repeat."""
    unusable: str | None = None
    """Why its schemas cannot be used, if they cannot."""
    held: Failure | None = None
    """Why it must not be called: it is not the tool that was pinned."""


class Book:
    """The tools of one upstream, as one session or all stateless clients see them."""

    def __init__(
        self,
        upstream: Upstream,
        *,
        era: Era,
        stages: RelayStages,
        limit_of: Callable[[str], ConcurrencyLimit],
        terms: Terms,
        elapsed: Callable[[], float],
        drift: Drift | None = None,
    ) -> None:
        self._upstream = upstream
        self._drift = drift
        self._era = era
        self._stages = stages
        self._limit_of = limit_of
        self._terms = terms
        self._elapsed = elapsed
        self._lock = asyncio.Lock()
        self._entries: dict[str, JsonObject] = {}
        self._tools: dict[str, Tool] = {}
        self._link: Link | None = None
        self._listed_at = 0.0
        self._fresh_until = 0.0

    def forget(self) -> None:
        """The upstream said that its tools changed, or may have."""
        self._link = None

    async def find(self, name: str, link: Link) -> Tool | None:
        """The tool of that name. Raises ClientError: the list cannot be had."""
        if self._link is not link or self._elapsed() >= self._fresh_until:
            async with self._lock:
                if self._link is not link or self._elapsed() >= self._fresh_until:
                    await self._list(link)
        return self._tool(name)

    async def renew(self, name: str, link: Link) -> Tool | None:
        """The tool of that name by a list that is new. Raises ClientError."""
        async with self._lock:
            if self._elapsed() - self._listed_at >= RENEW_SECONDS or self._link is not link:
                await self._list(link)
        return self._tool(name)

    async def _list(self, link: Link) -> None:
        entries, fresh = await fetch_all(asking(self._upstream, link, TOOLS, self._era), SHAPES[TOOLS])
        if self._drift is not None:
            self._drift.learn(entries.values())
        kept = {name: self._tools[name] for name, entry in entries.items() if self._is_same(name, entry)}
        self._entries, self._tools = entries, kept
        self._link = link
        self._listed_at = self._elapsed()
        self._fresh_until = self._listed_at + max(fresh, FRESH_SECONDS)

    def _is_same(self, name: str, entry: JsonObject) -> bool:
        return name in self._tools and self._entries.get(name) == entry

    def _tool(self, name: str) -> Tool | None:
        if name not in self._tools and name in self._entries:
            entry = self._entries[name]
            held = None if self._drift is None else self._drift.judge(entry)
            self._tools[name] = replace(self._read(entry), held=held)
        return self._tools.get(name)

    def _read(self, entry: JsonObject) -> Tool:
        terms = self._terms.of_tool(entry["name"])
        try:
            contract = read_contract(entry)
            mirrored = mirrored_arguments(contract.input_schema)
            promises = None if contract.output_schema is None else compile_schema(contract.output_schema)
            compiled = self._bind(contract, compile_schema(contract.input_schema), promises)
        except (SchemaRefused, ContractRefused, NotJson, TypeError, RecursionError) as exc:
            reason = exc.problem.value if isinstance(exc, SchemaRefused) else "invalid"
            return Tool(compiled=self._bind(_nameless(entry), None, None), terms=terms, unusable=reason)
        return Tool(compiled=compiled, terms=terms, mirrored=mirrored)

    def _bind(self, contract: ToolContract, given: Conformer | None, promised: Conformer | None) -> CompiledTool:
        terms = self._terms.of_tool(contract.name)
        return CompiledTool(
            kind=Kind.TOOL,
            name=contract.name,
            handler=self._stages.relay,
            is_async=True,
            authorise=self._stages.authorise,
            accept=self._stages.accept,
            verify=self._stages.verify,
            limit=self._limit_of(contract.name),
            contract=contract,
            input=given,
            output=promised,
            caps=terms.caps,
            seconds=None,
            tier=terms.tier,
            roles=terms.roles,
            read_only=contract.annotations.get("readOnlyHint") is True,
            fingerprint=fingerprint(contract).whole,
        )


def read_contract(entry: JsonObject) -> ToolContract:
    """The contract that an entry of tools/list shows. Raises SchemaRefused, TypeError."""
    schema, output, annotations = entry.get("inputSchema"), entry.get("outputSchema"), entry.get("annotations")
    if not isinstance(schema, dict) or not isinstance(output, dict | None):
        raise TypeError("a schema must be an object")
    check_tool_input(schema)
    if output is not None:
        check_schema(output)
    return ToolContract(
        name=entry["name"],
        description=_text(entry.get("description")) or "",
        title=_text(entry.get("title")),
        input_schema=schema,
        output_schema=output,
        annotations=annotations if isinstance(annotations, dict) else {},
    )


def _nameless(entry: JsonObject) -> ToolContract:
    """What is left of a tool whose schemas cannot be used."""
    return ToolContract(name=entry["name"], description="", input_schema={"type": "object"})


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
