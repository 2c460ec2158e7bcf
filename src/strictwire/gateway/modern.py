"""Requests of the stateless era, relayed over one link that every client shares.

The ladder of one request: `_meta`, headers, an era that the upstream speaks, version, method; then it is relayed.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Final

from strictwire.canon.json import JsonObject, render
from strictwire.client.errors import ClientError
from strictwire.fault.failure import Failure, fail
from strictwire.gateway.book import Book
from strictwire.gateway.bridge_to_legacy import OverLegacy
from strictwire.gateway.bridges import Bridges
from strictwire.gateway.hearing import StreamHearer, Watcher
from strictwire.gateway.link import Answer, Era, Link, Question, Relayed, answer_exchange, question_of
from strictwire.gateway.rewrite import SUBSCRIPTION, replace_at, value_at
from strictwire.gateway.shown import relayed_status
from strictwire.gateway.terms import failure_of
from strictwire.gateway.upstream import NotSpoken
from strictwire.gateway.warden import Errand, Warden
from strictwire.pipeline.call import Caller
from strictwire.profiles.endpoint import Inbound, Reply
from strictwire.profiles.mcp.era import META_LOG_LEVEL
from strictwire.profiles.mcp.exchange import Exchange
from strictwire.profiles.mcp.header_echo import find_mismatch
from strictwire.profiles.mcp.modern import REVISION, RequestMeta, find_meta_fault, read_meta
from strictwire.profiles.mcp.targets import CALLS, read_target
from strictwire.wire.envelope import render_result
from strictwire.wire.revisions import LEGACY_NAMES, MODERN_NAMES

REMOVED: Final = frozenset(
    {"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "roots/list"}
)
"""Methods that 2026-07-28 took away. An upstream that speaks both eras must not take one for the start of a session."""

LISTEN: Final = "subscriptions/listen"


class ModernGuard:
    """Relays what needs no session."""

    def __init__(self, warden: Warden) -> None:
        self._warden = warden
        self._book = warden.new_book(Era.MODERN)
        self._bridges = Bridges(warden.upstream, new_book=lambda: warden.new_book(Era.MODERN), elapsed=warden.clock.elapsed)
        self._discovery: JsonObject = {}
        self._shared: tuple[str, ...] = ()
        self._watched: Link | None = None
        self._watch: asyncio.Task[None] | None = None
        self._ended = asyncio.Event()

    async def serve(self, exchange: Exchange) -> None:
        """Relay one request."""
        question = question_of(exchange)
        meta = read_meta(question.params)
        refused = meta if isinstance(meta, Failure) else find_refusal(question, meta, exchange.inbound)
        if isinstance(meta, Failure) or refused is not None:
            exchange.refuse(refused or fail("INTERNAL"))
        else:
            answer_exchange(exchange, await self.relay(question, meta, exchange))

    async def relay(self, question: Question, meta: RequestMeta, exchange: Exchange) -> Relayed:
        """Relay a question that may be relayed, as far as it alone can tell."""
        link = await self.find_link(meta, exchange.inbound.caller)
        if isinstance(link, Failure):
            return link
        hearer = StreamHearer(exchange.outlet, era=Era.MODERN, level=meta.meta.get(META_LOG_LEVEL))
        if question.method in CALLS:
            return await self._call(question, meta, exchange, link, hearer)
        if question.method == LISTEN:
            return await self._listen(question, link, hearer)
        answer = await self.ask(question, link, hearer, exchange.inbound.caller)
        return answer if isinstance(answer, Failure) else self._shown(answer, question)

    def end_subscriptions(self) -> None:
        """Nothing more will be told: whoever listens gets the result that ends a subscription."""
        self._ended.set()

    async def close(self) -> None:
        """Stop watching."""
        self._ended.set()
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        await self._bridges.close()

    def _book_of(self, link: Link) -> Book:
        """A bridge shows one client's tools; everybody else sees the same."""
        return link.book if isinstance(link, OverLegacy) else self._book

    def _versions(self) -> tuple[str, ...]:
        """Versions that both sides speak; found once a discovery."""
        discovery = self._warden.upstream.discovery
        if discovery is not self._discovery:
            offered = discovery.get("supportedVersions")
            self._discovery = discovery
            self._shared = tuple(name for name in MODERN_NAMES if isinstance(offered, list) and name in offered)
        return self._shared

    async def find_link(self, stated: RequestMeta, caller: Caller) -> Link | Failure:
        """The link that every client shares, if the upstream speaks what the request does."""
        try:
            link = await self._warden.upstream.modern()
        except NotSpoken:
            if self._warden.terms.bridge:
                return find_meta_fault(stated.meta) or self._bridges.bridge_for(caller.principal, stated)
            details: JsonObject = {"supported": list(LEGACY_NAMES), "requested": stated.version}
            return fail("UNSUPPORTED_VERSION", details=details)
        except ClientError as exc:
            return failure_of(exc)
        if link is not self._watched:
            self._begin_watch(link)
        return find_version_fault(stated, self._versions()) or find_meta_fault(stated.meta) or link

    async def _call(
        self, question: Question, meta: RequestMeta, exchange: Exchange, link: Link, hearer: StreamHearer
    ) -> Relayed:
        called = read_target(question.method, question.params)
        if isinstance(called, Failure):
            return called
        errand = Errand(
            exchange=exchange,
            question=question,
            called=called,
            capabilities=meta.capabilities,
            link=link,
            book=self._book_of(link),
            hearer=hearer,
        )
        await self._warden.perform(errand)
        return None

    async def _listen(self, question: Question, link: Link, hearer: StreamHearer) -> Reply | Failure:
        """A subscription has no time limit: it ends when one of the two sides ends it, or we do."""
        asking = asyncio.ensure_future(link.ask(question, hearer))
        ended = asyncio.ensure_future(self._ended.wait())
        try:
            await asyncio.wait({asking, ended}, return_when=asyncio.FIRST_COMPLETED)
            if asking.done():
                return self._shown(asking.result(), question)
            farewell: JsonObject = {"resultType": "complete", "_meta": {SUBSCRIPTION: question.id}}
            return Reply(body=render_result(question.id, render(farewell)))
        except ClientError as exc:
            return failure_of(exc)
        finally:
            asking.cancel()
            ended.cancel()
            await asyncio.gather(asking, ended, return_exceptions=True)

    async def ask(self, question: Question, link: Link, hearer: StreamHearer, caller: Caller) -> Answer | Failure:
        """The answer to what is no call; of a list, what this caller may see."""
        answer = await self._warden.relay(question, link, hearer)
        if isinstance(answer, Failure):
            return answer
        return await self._warden.screened(answer, question, self._book_of(link), link, caller)

    def _shown(self, answer: Answer, question: Question) -> Reply:
        shown = self._warden.masked(answer, question.params)
        raw = shown.raw
        if question.method == "server/discover" and answer.result is not None:
            raw = _with_versions(raw, answer.result)
        return Reply(body=raw, status=relayed_status(shown, REVISION), envelope=shown.error)

    def _begin_watch(self, link: Link) -> None:
        """Hear of changed tools from now on, where the upstream tells of them."""
        self._watched = link
        self._book.forget()
        if self._watch is not None:
            self._watch.cancel()
        tells = value_at(self._warden.upstream.discovery, "capabilities", "tools", "listChanged")
        self._watch = asyncio.create_task(self._follow(link)) if tells is True else None

    async def _follow(self, link: Link) -> None:
        params: JsonObject = {"notifications": {"toolsListChanged": True}}
        question = self._warden.upstream.question(LISTEN, params, Era.MODERN)
        with contextlib.suppress(ClientError):
            await link.ask(question, Watcher(self._book.forget))


def find_refusal(question: Question, stated: RequestMeta, inbound: Inbound) -> Failure | None:
    """What no upstream is asked about: headers that differ, a version or method that 2026-07-28 does not have."""
    if inbound.headers is not None:
        version = stated.version
        differs = find_mismatch(inbound.headers, version=version, method=question.method, params=question.params)
        if differs is not None:
            return differs
    unsupported = find_version_fault(stated, MODERN_NAMES)
    if unsupported is not None:
        return unsupported
    return fail("METHOD_NOT_FOUND") if question.method in REMOVED else None


def find_version_fault(stated: RequestMeta, supported: tuple[str, ...]) -> Failure | None:
    """UNSUPPORTED_VERSION, naming the ones that are."""
    if stated.version in supported:
        return None
    return fail("UNSUPPORTED_VERSION", details={"supported": list(supported), "requested": stated.version})


def _with_versions(raw: bytes, result: JsonObject) -> bytes:
    """Only versions that we speak too are offered."""
    offered = result.get("supportedVersions")
    shared = [name for name in offered if name in MODERN_NAMES] if isinstance(offered, list) else list(MODERN_NAMES)
    if shared == offered:
        return raw
    return replace_at(raw, ("result", "supportedVersions"), render(shared))
