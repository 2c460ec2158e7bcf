"""The contracts of an upstream's tools, as it lists them: fetched when needed, kept while they are fresh.

A call is judged by the list at hand. Before a call is refused the list is fetched anew, so that nobody is refused by a
contract that is no longer shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from strictwire.canon.json import JsonObject, NotJson
from strictwire.client.errors import NotUnderstood
from strictwire.contract.conform import Conformer, compile_schema
from strictwire.contract.fingerprint import fingerprint
from strictwire.contract.handler import CallContext
from strictwire.contract.registry import ContractRefused
from strictwire.contract.schema import SchemaRefused, check_schema, check_tool_input
from strictwire.contract.tool import Caps, ToolContract
from strictwire.fault.failure import Failure
from strictwire.gateway.drift import Drift
from strictwire.gateway.link import Deaf, Era, Link
from strictwire.gateway.upstream import Upstream
from strictwire.pipeline.call import Kind, Operation
from strictwire.pipeline.caps import Gate
from strictwire.profiles.mirror import Mirrored, mirrored_arguments

FRESH_SECONDS: Final = 60.0
"""A list is kept at least this long unless the upstream says that it changed."""

RENEW_SECONDS: Final = 1.0
"""A list this young is not fetched again, however many calls it refuses."""

MAX_PAGES: Final = 100
MAX_TOOLS: Final = 10_000
LIST_SECONDS: Final = 30.0
METHOD_NOT_FOUND: Final = -32601


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool of the list, ready to be judged by."""

    operation: Operation
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
        gate: Gate,
        caps: Caps,
        elapsed: Callable[[], float],
        drift: Drift | None = None,
    ) -> None:
        self._upstream = upstream
        self._drift = drift
        self._era = era
        self._gate = gate
        self._caps = caps
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
        entries, fresh = await self._fetch(link)
        if self._drift is not None:
            self._drift.learn(entries.values())
        kept = {name: self._tools[name] for name, entry in entries.items() if self._is_same(name, entry)}
        self._entries, self._tools = entries, kept
        self._link = link
        self._listed_at = self._elapsed()
        self._fresh_until = self._listed_at + max(fresh, FRESH_SECONDS)

    def _is_same(self, name: str, entry: JsonObject) -> bool:
        return name in self._tools and self._entries.get(name) == entry

    async def _fetch(self, link: Link) -> tuple[dict[str, JsonObject], float]:
        entries: dict[str, JsonObject] = {}
        params: JsonObject = {}
        fresh = float("inf")
        for _ in range(MAX_PAGES):
            result = await self._ask(link, params)
            for entry in _tools_of(result):
                entries[entry["name"]] = entry
            if len(entries) > MAX_TOOLS:
                raise NotUnderstood(f"more than {MAX_TOOLS} tools")
            ttl = result.get("ttlMs")
            fresh = min(fresh, ttl / 1000 if isinstance(ttl, int) else 0)
            cursor = result.get("nextCursor")
            if not isinstance(cursor, str):
                return entries, fresh
            params = {"cursor": cursor}
        raise NotUnderstood(f"more than {MAX_PAGES} pages of tools")

    async def _ask(self, link: Link, params: JsonObject) -> JsonObject:
        question = self._upstream.question("tools/list", params, self._era)
        try:
            async with asyncio.timeout(LIST_SECONDS):
                answer = await link.ask(question, Deaf())
        except TimeoutError as exc:
            raise NotUnderstood("tools/list is not answered") from exc
        if answer.result is not None:
            return answer.result
        if (answer.error or {}).get("code") == METHOD_NOT_FOUND:
            return {"tools": []}
        raise NotUnderstood("tools/list is refused")

    def _tool(self, name: str) -> Tool | None:
        if name not in self._tools and name in self._entries:
            entry = self._entries[name]
            held = None if self._drift is None else self._drift.judge(entry)
            self._tools[name] = replace(self._read(entry), held=held)
        return self._tools.get(name)

    def _read(self, entry: JsonObject) -> Tool:
        try:
            contract = read_contract(entry)
            mirrored = mirrored_arguments(contract.input_schema)
            promises = None if contract.output_schema is None else compile_schema(contract.output_schema)
            operation = self._bind(contract, compile_schema(contract.input_schema), promises)
        except (SchemaRefused, ContractRefused, NotJson, TypeError, RecursionError) as exc:
            reason = exc.problem.value if isinstance(exc, SchemaRefused) else "invalid"
            return Tool(operation=self._bind(_nameless(entry), None, None), unusable=reason)
        return Tool(operation=operation, mirrored=mirrored)

    def _bind(self, contract: ToolContract, accepts: Conformer | None, promises: Conformer | None) -> Operation:
        return Operation(
            kind=Kind.TOOL,
            name=contract.name,
            handler=_relayed,
            contract=contract,
            accepts=accepts,
            promises=promises,
            caps=self._caps,
            gate=Gate(self._caps.concurrency, self._gate),
            is_async=True,
            read_only=contract.annotations.get("readOnlyHint") is True,
            fingerprint=fingerprint(contract).whole,
        )


def _relayed(_arguments: JsonObject, _context: CallContext) -> None:
    """Calls of an upstream are relayed; nothing runs here."""


def _tools_of(result: JsonObject) -> list[JsonObject]:
    tools = result.get("tools")
    named = isinstance(tools, list) and all(isinstance(each, dict) and isinstance(each.get("name"), str) for each in tools)
    if not isinstance(tools, list) or not named:
        raise NotUnderstood("tools/list without a list of named tools")
    return tools


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
