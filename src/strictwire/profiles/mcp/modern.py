"""MCP 2026-07-28: stateless. Every request states its version and capabilities; nothing is remembered between two.

The ladder of one request: `_meta`, headers, version, method, optional `_meta`, parameters; the first failure is the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from strictwire.canon.json import JsonObject, parse_object, render
from strictwire.fault.failure import Failure, fail
from strictwire.pipeline.call import Asking, Kind
from strictwire.profiles.endpoint import Inbound, Reply
from strictwire.profiles.mcp.context import Home, ModernContext
from strictwire.profiles.mcp.core import Core
from strictwire.profiles.mcp.exchange import Exchange
from strictwire.profiles.mcp.header_echo import find_argument_mismatch
from strictwire.profiles.mcp.identity import stamp
from strictwire.profiles.mcp.listen import listen
from strictwire.profiles.mcp.listing import LISTS
from strictwire.profiles.mcp.request_meta import RequestMeta, find_meta_fault, find_stated_fault, read_meta
from strictwire.profiles.mcp.targets import ASKING, CALLS, Target, malformed, read_target
from strictwire.wire.envelope import render_result
from strictwire.wire.names import META_LOG_LEVEL, META_SERVER
from strictwire.wire.revisions import MODERN, MODERN_NAMES, REVISIONS

REVISION: Final = REVISIONS[MODERN]

LIST_TTL: Final = 60_000
"""Milliseconds that a client may keep a list; changes are announced besides."""

DISCOVER_TTL: Final = 3_600_000
"""Milliseconds that a client may keep the discovery answer."""

_NOT_CACHED: Final = b',"ttlMs":0,"cacheScope":"private"'
"""A resource is read anew each time, and may differ between callers."""


class Modern:
    """Serves requests of the stateless era from our own catalogue."""

    def __init__(self, core: Core) -> None:
        self._core = core
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
            await self._listen(exchange, params)
        elif request.method == "server/discover":
            exchange.answer(Reply(body=render_result(request.id, self._discover())))
        else:
            self._list(exchange, params)

    def _find_method_fault(self, method: str, meta: RequestMeta) -> Failure | None:
        return find_meta_fault(meta.meta) if self._offers(method) else fail("METHOD_NOT_FOUND")

    def _offers(self, method: str) -> bool:
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

    def _list(self, exchange: Exchange, params: JsonObject) -> None:
        request, cursor = exchange.request, params.get("cursor")
        if cursor is not None and not isinstance(cursor, str):
            exchange.refuse(malformed("cursor"))
            return
        page = self._core.lister.page(request.method, self._core.registry, REVISION, cursor)
        if isinstance(page, Failure):
            exchange.refuse(page)
            return
        entries, following = page
        more = b"" if following is None else b',"nextCursor":' + render(following)
        hints = b',"ttlMs":%d,"cacheScope":"public"' % LIST_TTL
        exchange.answer(Reply(body=render_result(request.id, b"{" + entries + more + hints + self._tail)))

    async def _listen(self, exchange: Exchange, params: JsonObject) -> None:
        wanted = params.get("notifications")
        if isinstance(wanted, dict):
            await listen(exchange, wanted, self._core)
        else:
            exchange.refuse(malformed("notifications"))

    async def _call(self, exchange: Exchange, params: JsonObject, meta: RequestMeta) -> None:
        target = read_target(exchange.request.method, params)
        if isinstance(target, Failure):
            exchange.refuse(target)
            return
        answers = self._find_answers(exchange, target, params)
        refused = answers if isinstance(answers, Failure) else self._find_argument_mismatch(target, exchange.inbound)
        if isinstance(answers, Failure) or refused is not None:
            exchange.refuse(refused or fail("INTERNAL"))
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
            answers=answers,
        )
        try:
            await self._core.perform(
                exchange,
                target,
                context,
                capabilities=meta.capabilities,
                tail=_NOT_CACHED + self._tail if target.kind is Kind.RESOURCE else self._tail,
                write_asking=partial(self._write_asking, exchange, target, answers),
            )
        finally:
            context.end()

    def _find_answers(self, exchange: Exchange, target: Target, params: JsonObject) -> Mapping[str, JsonObject] | Failure:
        """Answers of earlier rounds, out of the sealed state, and of this one."""
        if exchange.request.method not in ASKING:
            return {}
        state, given = params.get("requestState"), params.get("inputResponses", {})
        if not isinstance(given, dict):
            return malformed("inputResponses")
        if state is None:
            return given
        binding = _binding(exchange, target)
        earlier = self._core.sealer.open(state, binding) if isinstance(state, str) else None
        return fail("STATE_REJECTED") if earlier is None else {**earlier, **given}

    def _find_argument_mismatch(self, target: Target, inbound: Inbound) -> Failure | None:
        if inbound.headers is None or target.kind is not Kind.TOOL:
            return None
        tool = self._core.registry.tools.get(target.name)
        if tool is None:
            return None
        return find_argument_mismatch(inbound.headers, self._core.mirrored_of(tool), target.arguments)

    def _write_asking(self, exchange: Exchange, target: Target, answers: Mapping[str, JsonObject], asking: Asking) -> bytes:
        # The handler may have changed the arguments that it was given; the state is bound to those that the client sent.
        sent = read_target(exchange.request.method, parse_object(exchange.raw)["params"])
        binding = _binding(exchange, target if isinstance(sent, Failure) else sent)
        return render(
            {
                "resultType": "input_required",
                "inputRequests": {
                    key: {"method": ask.method, "params": ask.params} for key, ask in asking.questions.items()
                },
                "requestState": self._core.sealer.seal(answers, binding),
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
