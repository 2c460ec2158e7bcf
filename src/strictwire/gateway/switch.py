"""Sends each request to the upstream it belongs to, and makes one list of many. The same in both eras.

A list is asked of every upstream at once. One that is slow or down contributes what it last listed: whoever calls that
is told by name what is down, and nobody else waits for it.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from strictwire.canon.json import JsonObject, join_members, render, slice_members
from strictwire.client.errors import NotUnderstood
from strictwire.fault.failure import Failure, fail
from strictwire.gateway.directory import Directory
from strictwire.gateway.health import State
from strictwire.gateway.link import Question, Relayed
from strictwire.gateway.merge import (
    NOT_KEPT,
    Entry,
    Hints,
    Listing,
    cut_page,
    merge_entries,
    merge_hints,
    read_hints,
    read_page,
)
from strictwire.gateway.rewrite import NAMED, replace_at, slice_at, value_at
from strictwire.gateway.roll import MAX_ENTRIES, MAX_PAGES, SHAPES
from strictwire.gateway.status import STATUS_URI, Status
from strictwire.gateway.wing import Visit, Wing, health_of, name_of, naming_of
from strictwire.profiles.endpoint import Reply
from strictwire.profiles.mcp.targets import BEHIND, malformed, read_target
from strictwire.wire.envelope import render_result

log = logging.getLogger("strictwire.guard")

PATIENCE: Final = 10.0
"""Seconds that one upstream may keep a merged answer waiting."""

MAX_KEPT: Final = 1000
"""Lists that are kept for when an upstream is down."""

_Answered = TypeVar("_Answered")

REFERENCE: Final = ("params", "ref", "name")


class Switch:
    """Serves what several upstreams serve together."""

    def __init__(
        self, wings: Sequence[Wing], *, status: Status, tail: bytes, elapsed: Callable[[], float], modern: bool
    ) -> None:
        self._wings = tuple(wings)
        self._status = status
        self._tail = tail
        self._modern = modern
        self._directory = Directory(self._wings, elapsed, PATIENCE)
        self._last: OrderedDict[tuple[object, ...], Listing] = OrderedDict()
        self._methods: Mapping[str, Callable[[Question, Visit], Awaitable[Relayed]]] = {
            **dict.fromkeys(SHAPES, self._list),
            "tools/call": self._tool,
            "prompts/get": self._prompt,
            "resources/read": self._resource,
            "resources/subscribe": self._resource,
            "resources/unsubscribe": self._resource,
            "completion/complete": self._completion,
            "logging/setLevel": self._level,
            "ping": self._pong,
        }

    def forget(self, wing: Wing) -> None:
        """Its lists changed, or may have."""
        self._directory.forget(wing)

    async def place(self, uri: str, visit: Visit) -> Wing | None:
        """The upstream that a resource belongs to."""
        return await self._directory.place(uri, visit)

    async def serve(self, question: Question, visit: Visit) -> Relayed:
        """Answer one request. A method that names no upstream is not found: nothing says where it should go."""
        serve = self._methods.get(question.method)
        await self.see_ready(visit)
        if serve is None or not self._offers(question.method):
            return fail("METHOD_NOT_FOUND")
        return await serve(question, visit)

    async def see_ready(self, visit: Visit) -> None:
        """Wait, not too long, for upstreams that never told what they offer. Those that are down are not waited for."""
        new = [wing for wing in self._wings if not wing.offered and health_of(wing).state is not State.DOWN]
        if new:
            await asyncio.gather(*(self._bounded(wing.open(visit)) for wing in new))

    def _offers(self, method: str) -> bool:
        behind = BEHIND.get(method)
        return behind in (None, "resources") or any(behind in wing.offered for wing in self._wings)

    # One upstream. The question itself is changed and not copied: if it is withdrawn, the reason is put into it.

    async def _tool(self, question: Question, visit: Visit) -> Relayed:
        return await self._named(question, visit, "tools/list", fail("UNKNOWN_TOOL"))

    async def _prompt(self, question: Question, visit: Visit) -> Relayed:
        return await self._named(question, visit, "prompts/list", fail("UNKNOWN_PROMPT"))

    async def _named(self, question: Question, visit: Visit, listed: str, unknown: Failure) -> Relayed:
        target = read_target(question.method, question.params)
        if isinstance(target, Failure):
            return target
        found = await self._directory.owner(listed, target.name, visit)
        if found is None:
            return unknown
        wing, own = found
        if own == target.name:
            return await wing.relay(question, visit)
        question.raw = replace_at(question.raw, NAMED, render(own))
        question.params = {**question.params, "name": own}
        question.shown = target.name
        return await wing.relay(question, visit)

    async def _resource(self, question: Question, visit: Visit) -> Relayed:
        uri = question.params.get("uri")
        if not isinstance(uri, str) or not uri:
            return malformed("uri")
        if uri == STATUS_URI and question.method == "resources/read":
            return Reply(body=render_result(question.id, self._status.contents(self._tail, modern=self._modern)))
        return await self._placed(question, visit, uri)

    async def _placed(self, question: Question, visit: Visit, uri: str) -> Relayed:
        wing = await self._directory.place(uri, visit)
        if wing is None:
            return fail("RESOURCE_NOT_FOUND", details={"uri": uri})
        return await wing.relay(question, visit)

    async def _completion(self, question: Question, visit: Visit) -> Relayed:
        target = read_target(question.method, question.params)
        if isinstance(target, Failure):
            return target
        ref: JsonObject = target.arguments["ref"]
        if ref["type"] == "ref/resource":
            return await self._placed(question, visit, ref["uri"])
        found = await self._directory.owner("prompts/list", ref["name"], visit)
        if found is None:
            return fail("UNKNOWN_PROMPT")
        wing, own = found
        question.raw = replace_at(question.raw, REFERENCE, render(own))
        question.params = {**question.params, "ref": {**ref, "name": own}}
        return await wing.relay(question, visit)

    # All of them.

    async def _level(self, question: Question, visit: Visit) -> Relayed:
        """To everybody who logs; one that takes it is enough."""
        wings = [wing for wing in self._wings if "logging" in wing.offered]
        answers = await asyncio.gather(*(self._bounded(wing.relay(question, visit)) for wing in wings))
        taken = [each for each in answers if isinstance(each, Reply)]
        fine = next((each for each in taken if each.envelope is None), None)
        return fine or next(iter(taken), None) or next((each for each in answers if each is not None), fail("UPSTREAM_GONE"))

    async def _pong(self, question: Question, visit: Visit) -> Relayed:  # noqa: ARG002 - one of a table
        return Reply(body=render_result(question.id, b"{}"))

    async def _list(self, question: Question, visit: Visit) -> Relayed:
        cursor = question.params.get("cursor")
        if cursor is not None and not isinstance(cursor, str):
            return malformed("cursor")
        wings = [wing for wing in self._wings if BEHIND[question.method] in wing.offered]
        listings = list(await asyncio.gather(*(self._listing(wing, question, visit) for wing in wings)))
        own = self._status.listing(question.method)
        page = cut_page(merge_entries([*listings, *([own] if own else [])]), cursor)
        if isinstance(page, Failure):
            return page
        items, following = page
        more = b"" if following is None else b',"nextCursor":' + render(following)
        body = b"{%b:%b%b" % (render(SHAPES[question.method].member), items, more)
        return Reply(body=render_result(question.id, body + self._hints(listings) + self._tail))

    def _hints(self, listings: Sequence[Listing]) -> bytes:
        if not self._modern:
            return b""
        ttl, scope = merge_hints([each.hints for each in listings])
        return b',"ttlMs":%d,"cacheScope":"%b"' % (ttl, scope.encode())

    async def _listing(self, wing: Wing, question: Question, visit: Visit) -> Listing:
        """What one upstream lists, or listed last to a caller like this one."""
        caller = visit.exchange.inbound.caller
        key = (name_of(wing), question.method, caller.principal, caller.role, caller.tier)
        found = await self._bounded(self._pages(wing, question, visit))
        if isinstance(found, Listing):
            self._last[key] = replace(found, hints=NOT_KEPT)
            self._last.move_to_end(key)
            while len(self._last) > MAX_KEPT:
                self._last.popitem(last=False)
            return found
        log.debug("upstream %s is missing from %s", name_of(wing), question.method)
        return self._last.get(key, Listing(upstream=name_of(wing)))

    async def _pages(self, wing: Wing, question: Question, visit: Visit) -> Listing | Failure:
        shape, naming = SHAPES[question.method], naming_of(wing, question.method)
        rename = naming.shown if shape.key == "name" else _same
        entries: list[Entry] = []
        hints: list[Hints] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            answer = await wing.list(_page_question(question, cursor), visit)
            if isinstance(answer, Failure):
                return answer
            try:
                entries += read_page(answer.raw, answer.result or {}, shape, rename)
            except NotUnderstood:
                return fail("UPSTREAM_BROKE", details={"reason": "list"})
            hints.append(read_hints(answer.result or {}))
            cursor = _text(value_at(answer.result, "nextCursor"))
            if cursor is None or len(entries) > MAX_ENTRIES:
                break
        return Listing(upstream=name_of(wing), entries=tuple(entries[:MAX_ENTRIES]), hints=merge_hints(hints))

    async def _bounded(self, asked: Awaitable[_Answered]) -> _Answered | None:
        """None if it takes too long."""
        try:
            async with asyncio.timeout(PATIENCE):
                return await asked
        except TimeoutError:
            return None


def _page_question(question: Question, cursor: str | None) -> Question:
    """The client's own question for another page: everything else it says of itself stays."""
    members = dict(slice_members(slice_at(question.raw, ("params",)) or b"{}"))
    members.pop("cursor", None)
    params = {name: value for name, value in question.params.items() if name != "cursor"}
    if cursor is not None:
        members["cursor"], params["cursor"] = render(cursor), cursor
    raw = replace_at(question.raw, ("params",), join_members(members))
    return replace(question, params=params, raw=raw)


def _same(key: str) -> str:
    return key


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
