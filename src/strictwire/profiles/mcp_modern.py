"""MCP 2026-07-28: stateless. Every request says its version and capabilities; nothing is remembered between two.

The ladder of one request: `_meta`, headers, version, method, capability, parameters; the first failure is the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

import msgspec

from strictwire.canon.json import JsonObject, JsonValue, render
from strictwire.fault.failure import Failure, fail
from strictwire.pipeline.call import Asking, Kind
from strictwire.profiles.era import META_CAPABILITIES, META_LOG_LEVEL, META_SERVER, META_VERSION
from strictwire.profiles.exchange import Inbound, Outlet
from strictwire.profiles.listen import listen
from strictwire.profiles.listing import LISTS
from strictwire.profiles.mcp_context import LEVELS, Home, ModernContext
from strictwire.profiles.mcp_core import BEHIND, CALLS, Core, Target, make_call, malformed, read_target, stamp
from strictwire.profiles.mcp_results import Written
from strictwire.profiles.mirror import find_argument_mismatch, find_mismatch
from strictwire.wire.envelope import Request, is_request_id, render_result
from strictwire.wire.revisions import MODERN, MODERN_NAMES, REVISIONS

REVISION: Final = REVISIONS[MODERN]

LIST_TTL: Final = 60_000
"""Milliseconds that a list may be kept; changes are announced besides."""

DISCOVER_TTL: Final = 3_600_000
"""Milliseconds that the discovery answer may be kept."""

ASKING: Final = frozenset({"tools/call", "prompts/get", "resources/read"})
"""Methods that may answer with questions."""


class Stated(msgspec.Struct, frozen=True, kw_only=True):
    """What a request says about itself in `_meta`."""

    version: str
    capabilities: Mapping[str, JsonValue]
    meta: JsonObject


class Modern:
    """Serves requests of the stateless era."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self.tail = stamp(core.identity)

    async def serve(self, request: Request, inbound: Inbound, outlet: Outlet) -> Written:
        """Answer one request."""
        params = request.params or {}
        stated = read_meta(params)
        failure = stated if isinstance(stated, Failure) else self._find_refusal(request, params, stated, inbound)
        if isinstance(stated, Failure) or failure is not None:
            return await self._core.refuse(request, failure or fail("INTERNAL"), inbound, REVISION)
        if request.method in CALLS:
            return await self._call(request, params, stated, inbound, outlet)
        if request.method == "subscriptions/listen":
            return await self._listen(request, params, inbound, outlet)
        if request.method == "server/discover":
            return Written(body=render_result(request.id, self._discover()))
        return await self._list(request, params, inbound)

    def _find_refusal(self, request: Request, params: JsonObject, stated: Stated, inbound: Inbound) -> Failure | None:
        if inbound.headers is not None:
            differs = find_mismatch(inbound.headers, version=stated.version, method=request.method, params=params)
            if differs is not None:
                return differs
        if stated.version not in MODERN_NAMES:
            details: JsonObject = {"supported": list(MODERN_NAMES), "requested": stated.version}
            return fail("UNSUPPORTED_VERSION", details=details)
        if not self._offers(request.method):
            return fail("METHOD_NOT_FOUND")
        return find_meta_fault(stated.meta)

    def _offers(self, method: str) -> bool:
        if method in ("server/discover", "subscriptions/listen"):
            return True
        known = method in LISTS or method in CALLS
        return known and BEHIND[method] in self._core.capabilities(REVISION)

    def _discover(self) -> bytes:
        core = self._core
        result: JsonObject = {
            "supportedVersions": list(MODERN_NAMES),
            "capabilities": core.capabilities(REVISION),
        }
        if core.identity.instructions:
            result["instructions"] = core.identity.instructions
        result |= {"ttlMs": DISCOVER_TTL, "cacheScope": "public"}
        return render(result)[:-1] + self.tail

    async def _list(self, request: Request, params: JsonObject, inbound: Inbound) -> Written:
        cursor = params.get("cursor")
        if cursor is not None and not isinstance(cursor, str):
            return await self._core.refuse(request, malformed("cursor"), inbound, REVISION)
        page = self._core.lister.page(request.method, self._core.registry, REVISION, cursor)
        if isinstance(page, Failure):
            return await self._core.refuse(request, page, inbound, REVISION)
        entries, following = page
        more = b"" if following is None else b',"nextCursor":' + render(following)
        hints = b',"ttlMs":%d,"cacheScope":"public"' % LIST_TTL
        return Written(body=render_result(request.id, b"{" + entries + more + hints + self.tail))

    async def _listen(self, request: Request, params: JsonObject, inbound: Inbound, outlet: Outlet) -> Written:
        wanted = params.get("notifications")
        if not isinstance(wanted, dict):
            return await self._core.refuse(request, malformed("notifications"), inbound, REVISION)
        return await listen(request, wanted, self._core, outlet)

    async def _call(self, request: Request, params: JsonObject, stated: Stated, inbound: Inbound, outlet: Outlet) -> Written:
        target = read_target(request.method, params)
        if isinstance(target, Failure):
            return await self._core.refuse(request, target, inbound, REVISION)
        binding = _binding(request, target, inbound)
        answers = self._find_answers(request, params, binding)
        failure = answers if isinstance(answers, Failure) else self._find_argument_mismatch(target, inbound)
        if isinstance(answers, Failure) or failure is not None:
            return await self._core.refuse(request, failure or fail("INTERNAL"), inbound, REVISION)
        context = ModernContext(
            outlet,
            inbound.caller,
            Home.here(),
            MODERN,
            inbound.transport,
            stated.capabilities,
            stated.meta.get("progressToken"),
            stated.meta.get(META_LOG_LEVEL),
            answers=answers,
        )
        call = make_call(
            target,
            caller=inbound.caller,
            inbound=inbound,
            method=request.method,
            revision=REVISION,
            context=context,
            capabilities=stated.capabilities,
        )
        tail = self.tail if request.method != "resources/read" else b',"ttlMs":0,"cacheScope":"private"' + self.tail
        try:
            return await self._core.perform(
                request,
                call,
                revision=REVISION,
                tail=tail,
                write_asking=partial(self._write_asking, answers, binding),
            )
        finally:
            context.end()

    def asking_writer(self, request: Request, target: Target, inbound: Inbound) -> Callable[[Asking], bytes]:
        """How the first round of a call writes its questions."""
        return partial(self._write_asking, {}, _binding(request, target, inbound))

    def _find_answers(self, request: Request, params: JsonObject, binding: JsonObject) -> Mapping[str, JsonObject] | Failure:
        """Answers of earlier rounds, out of the sealed state, and of this one."""
        if request.method not in ASKING:
            return {}
        state, given = params.get("requestState"), params.get("inputResponses", {})
        if not isinstance(given, dict):
            return malformed("inputResponses")
        if state is None:
            return given
        earlier = self._core.sealer.open(state, binding) if isinstance(state, str) else None
        return fail("STATE_REJECTED") if earlier is None else {**earlier, **given}

    def _find_argument_mismatch(self, target: Target, inbound: Inbound) -> Failure | None:
        tool = self._core.registry.tools.get(target.name) if target.kind is Kind.TOOL else None
        if inbound.headers is None or tool is None:
            return None
        return find_argument_mismatch(inbound.headers, self._core.mirrored_of(tool), target.arguments)

    def _write_asking(self, answers: Mapping[str, JsonObject], binding: JsonObject, asking: Asking) -> bytes:
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


def _binding(request: Request, target: Target, inbound: Inbound) -> JsonObject:
    return {
        "method": request.method,
        "target": target.name,
        "arguments": target.arguments,
        "principal": inbound.caller.principal,
    }


def read_meta(params: JsonObject) -> Stated | Failure:
    """The required members of `_meta`; MALFORMED_PARAMS names the one that is missing."""
    meta = params.get("_meta")
    if not isinstance(meta, dict):
        return malformed("_meta")
    version, capabilities = meta.get(META_VERSION), meta.get(META_CAPABILITIES)
    if not isinstance(version, str):
        return malformed(META_VERSION)
    if not isinstance(capabilities, dict):
        return malformed(META_CAPABILITIES)
    return Stated(version=version, capabilities=capabilities, meta=meta)


def find_meta_fault(meta: JsonObject) -> Failure | None:
    """MALFORMED_PARAMS for optional members that are there and wrong."""
    token, level = meta.get("progressToken"), meta.get(META_LOG_LEVEL)
    if token is not None and not is_request_id(token):
        return malformed("progressToken")
    if level is not None and (not isinstance(level, str) or level not in LEVELS):
        return malformed(META_LOG_LEVEL)
    return None
