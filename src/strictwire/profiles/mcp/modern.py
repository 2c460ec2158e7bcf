"""MCP 2026-07-28: stateless. Every request states its version and capabilities; the server keeps nothing between requests.

Checks of one request, in order: `_meta`, headers, version, method, optional `_meta`, parameters. The first failure is the
answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final, TypeAlias

from strictwire.canon.json import JsonObject, parse_object, render
from strictwire.fault.failure import Failure, fail
from strictwire.pipeline.call import Asking, Kind
from strictwire.pipeline.compiled import CompiledTool
from strictwire.profiles.endpoint import Inbound, Reply
from strictwire.profiles.mcp.context import Home, ModernContext, summarise_capabilities
from strictwire.profiles.mcp.core import AnswerWriter, Core
from strictwire.profiles.mcp.exchange import Exchange
from strictwire.profiles.mcp.header_echo import find_argument_mismatch
from strictwire.profiles.mcp.identity import stamp
from strictwire.profiles.mcp.listen import listen
from strictwire.profiles.mcp.listing import LISTS
from strictwire.profiles.mcp.request_meta import RequestMeta, find_meta_fault, find_stated_fault, read_meta
from strictwire.profiles.mcp.targets import ASKING, CALLS, Target, malformed, read_target
from strictwire.profiles.mcp.tasks.run import TaskContext
from strictwire.profiles.mcp.tasks.service import TASK_METHODS, Tasks
from strictwire.wire.envelope import render_result
from strictwire.wire.names import META_LOG_LEVEL, META_SERVER
from strictwire.wire.revisions import MODERN, MODERN_NAMES, REVISIONS

REVISION: Final = REVISIONS[MODERN]

Rounds: TypeAlias = Mapping[str, JsonObject]
"""What is known of the questions of a call: `answers` by key, and `asked`, how often each key was put."""

_NO_ROUNDS: Final[Rounds] = {"answers": {}, "asked": {}}

LIST_TTL: Final = 60_000
"""Milliseconds that a client may cache a list. Short, because only subscribed clients are notified of changes."""

DISCOVER_TTL: Final = 3_600_000
"""Milliseconds that a client may cache the discovery answer, which seldom changes."""

_NOT_CACHED: Final = b',"ttlMs":0,"cacheScope":"private"'
"""Clients must not cache a resource: it may change at any time and differ between callers."""


class Modern:
    """Serves requests of the stateless era from our own catalogue."""

    def __init__(self, core: Core, tasks: Tasks) -> None:
        self._core = core
        self._tasks = tasks
        self._home = Home.here()
        self._tail = stamp(core.identity)

    async def serve(self, exchange: Exchange) -> None:
        """Answer one request."""
        request, params = exchange.request, exchange.request.params or {}
        meta = read_meta(params)
        if isinstance(meta, Failure):
            exchange.refuse(meta)
            return
        refused = find_stated_fault(exchange.inbound.headers, request, meta) or self._find_method_fault(request.method, meta)
        if refused is not None:
            exchange.refuse(refused)
        elif request.method in CALLS:
            await self._call(exchange, params, meta)
        elif request.method == "subscriptions/listen":
            await self._listen(exchange, params, meta)
        elif request.method == "server/discover":
            exchange.answer(Reply(body=render_result(request.id, self._discover())))
        elif request.method in TASK_METHODS:
            await self._tasks.serve(exchange, params, meta.capabilities)
        else:
            await self._list(exchange, params)

    def _find_method_fault(self, method: str, meta: RequestMeta) -> Failure | None:
        return find_meta_fault(meta.meta) if self._offers(method) else fail("METHOD_NOT_FOUND")

    def _offers(self, method: str) -> bool:
        if method in TASK_METHODS:
            return self._core.catalog.offers.has_tasks
        known = method in CALLS or method in LISTS or method in ("server/discover", "subscriptions/listen")
        return known and self._core.offers(method, REVISION)

    def _discover(self) -> bytes:
        core = self._core
        result: JsonObject = {
            "supportedVersions": list(MODERN_NAMES),
            "capabilities": core.capabilities(REVISION),
        }
        if core.identity.instructions:
            result["instructions"] = core.identity.instructions
        result |= {"ttlMs": DISCOVER_TTL, "cacheScope": "public"}
        return render(result)[:-1] + self._tail

    async def _list(self, exchange: Exchange, params: JsonObject) -> None:
        request, cursor = exchange.request, params.get("cursor")
        if cursor is not None and not isinstance(cursor, str):
            exchange.refuse(malformed("cursor"))
            return
        page = await self._core.page(exchange, REVISION, cursor)
        if isinstance(page, Failure):
            exchange.refuse(page)
            return
        entries, following = page
        more = b"" if following is None else b',"nextCursor":' + render(following)
        scope = b"public" if self._core.catalog.narrow is None else b"private"
        hints = b',"ttlMs":%d,"cacheScope":"%b"' % (LIST_TTL, scope)
        exchange.answer(Reply(body=render_result(request.id, b"{" + entries + more + hints + self._tail)))

    async def _listen(self, exchange: Exchange, params: JsonObject, meta: RequestMeta) -> None:
        wanted = params.get("notifications")
        if isinstance(wanted, dict):
            of_tasks = await self._tasks.subscribe(exchange, wanted.get("taskIds"), meta.capabilities)
            await listen(exchange, wanted, self._core, of_tasks)
        else:
            exchange.refuse(malformed("notifications"))

    async def _call(self, exchange: Exchange, params: JsonObject, meta: RequestMeta) -> None:
        target = read_target(exchange.request.method, params)
        if isinstance(target, Failure):
            exchange.refuse(target)
            return
        rounds = self._find_rounds(exchange, target, params)
        refused = rounds if isinstance(rounds, Failure) else self._find_argument_mismatch(target, exchange.inbound)
        if isinstance(rounds, Failure) or refused is not None:
            exchange.refuse(refused or fail("INTERNAL"))
            return
        if "extensions" in meta.capabilities:
            tool = self._tasks.find_tool(target, meta.capabilities)
            if tool is not None:
                await self._start_task(exchange, target, tool, meta, rounds)
                return
        inbound = exchange.inbound
        context = ModernContext(
            exchange.outlet,
            inbound.caller,
            self._home,
            MODERN,
            inbound.transport,
            meta.capabilities,
            meta.meta.get("progressToken"),
            meta.meta.get(META_LOG_LEVEL),
            answers=rounds["answers"],
            asked=rounds["asked"],
        )
        try:
            await self._core.perform(
                exchange,
                target,
                context,
                capabilities=meta.capabilities,
                tail=_NOT_CACHED + self._tail if target.kind is Kind.RESOURCE else self._tail,
                write_asking=partial(self._write_asking, exchange, target, rounds),
            )
        finally:
            context.end()

    async def _start_task(
        self, exchange: Exchange, target: Target, tool: CompiledTool, meta: RequestMeta, rounds: Rounds
    ) -> None:
        capabilities = summarise_capabilities(meta.capabilities)  # kept as long as the task runs
        context = TaskContext(
            exchange.outlet,
            exchange.inbound.caller,
            self._home,
            MODERN,
            exchange.inbound.transport,
            capabilities,
            meta.meta.get("progressToken"),
            meta.meta.get(META_LOG_LEVEL),
            answers=rounds["answers"],
            asked=rounds["asked"],
        )
        call = self._core.call_of(exchange, target, context, capabilities)
        asking = partial(self._write_asking, exchange, target, rounds)
        plain = AnswerWriter(exchange.request.id, call, REVISION, self._core.clock, self._tail, asking)
        await self._tasks.start(exchange, call, tool, context, plain)

    def _find_rounds(self, exchange: Exchange, target: Target, params: JsonObject) -> Rounds | Failure:
        """The answers of earlier rounds, out of the sealed state, and of this one."""
        if ("requestState" not in params and "inputResponses" not in params) or exchange.request.method not in ASKING:
            return _NO_ROUNDS
        state, given = params.get("requestState"), params.get("inputResponses", {})
        if not isinstance(given, dict):
            return malformed("inputResponses")
        if state is None:
            return {"answers": given, "asked": {}}
        binding = _binding(exchange, target)
        earlier = self._core.sealer.open(state, binding) if isinstance(state, str) else None
        if earlier is None:
            return fail("STATE_REJECTED")
        return {"answers": {**earlier["answers"], **given}, "asked": earlier["asked"]}

    def _find_argument_mismatch(self, target: Target, inbound: Inbound) -> Failure | None:
        if inbound.headers is None or target.kind is not Kind.TOOL:
            return None
        tool = self._core.registry.tools.get(target.name)
        if tool is None:
            return None
        return find_argument_mismatch(inbound.headers, self._core.mirrored_of(tool), target.arguments)

    def _write_asking(self, exchange: Exchange, target: Target, rounds: Rounds, asking: Asking) -> bytes:
        # The handler may have modified its arguments in place; the state is bound to those that the client sent.
        sent = read_target(exchange.request.method, parse_object(exchange.raw)["params"])
        binding = _binding(exchange, target if isinstance(sent, Failure) else sent)
        asked = rounds["asked"]
        state: Rounds = {
            "answers": {key: answer for key, answer in rounds["answers"].items() if key not in asking.questions},
            "asked": {**asked, **{key: asked.get(key, 0) + 1 for key in asking.questions}},
        }
        return render(
            {
                "resultType": "input_required",
                "inputRequests": {
                    key: {"method": ask.method, "params": ask.params} for key, ask in asking.questions.items()
                },
                "requestState": self._core.sealer.seal(state, binding),
                "_meta": {META_SERVER: self._core.identity.as_json()},
            }
        )


def _binding(exchange: Exchange, target: Target) -> JsonObject:
    """What a sealed state is bound to: the same request of the same caller."""
    return {
        "method": exchange.request.method,
        "target": target.name,
        "arguments": target.arguments,
        "principal": exchange.inbound.caller.principal,
    }
