"""Sends each request to the upstream that owns its target, and merges the lists of all upstreams. The same in both eras.

A list is requested from every upstream at once. An upstream that is slow or down contributes what it listed last: a call of
one of its tools then fails with its own failure, and no other request waits for it.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, TypeVar

import msgspec

from strictwire.canon.json import JsonObject, join_members, render, slice_members
from strictwire.client.errors import NotUnderstood
from strictwire.fault.failure import Failure, fail
from strictwire.gateway.links.errors import protocol_broken
from strictwire.gateway.links.health import UpstreamState
from strictwire.gateway.links.listing import LIST_SHAPES, MAX_ENTRIES, MAX_PAGES, entries_of
from strictwire.gateway.links.raw_message import replace_at, slice_at
from strictwire.gateway.many.directory import Directory
from strictwire.gateway.many.merge import (
    NOT_CACHED,
    CacheHints,
    ListEntry,
    Listing,
    cut_page,
    merge_hints,
    read_hints,
    read_page,
)
from strictwire.gateway.many.owners import GUARD_SCHEME
from strictwire.gateway.many.topology import Topology
from strictwire.gateway.many.upstream_view import UpstreamView
from strictwire.gateway.relayed_call import ClientRequest, Relayed
from strictwire.pipeline.call import Kind
from strictwire.profiles.endpoint import Reply
from strictwire.profiles.mcp.targets import BEHIND, malformed, read_target
from strictwire.wire.envelope import render_result

log = logging.getLogger("strictwire.guard")

MERGE_SECONDS: Final = 10.0
"""How long one upstream may delay a merged answer."""

MAX_REMEMBERED: Final = 1000
"""Lists that are remembered for when an upstream is down, one for each kind of caller."""

STATUS_URI: Final = f"{GUARD_SCHEME}://upstreams"
STATUS: Final[JsonObject] = {
    "uri": STATUS_URI,
    "name": "upstreams",
    "description": "The servers behind this guard and whether each can be used now.",
    "mimeType": "application/json",
}
"""The guard's own resource: the state of every upstream."""

_T = TypeVar("_T")


class Router:
    """Serves the requests of clients to several upstreams."""

    def __init__(self, views: Sequence[UpstreamView], topology: Topology, *, result_end: bytes) -> None:
        """`result_end` closes every result of the guard itself, with what the revision adds to it."""
        self._views = tuple(views)
        self._policy = topology.policy
        self._end = result_end
        self.directory = Directory(self._views, topology.elapsed, owners=topology.owners, seconds=MERGE_SECONDS)
        self._remembered: OrderedDict[tuple[object, ...], Listing] = OrderedDict()
        self._methods: Mapping[str, Callable[[ClientRequest], Awaitable[Relayed]]] = {
            **dict.fromkeys(LIST_SHAPES, self._list),
            "tools/call": partial(self._relay_named, listed_by="tools/list", unknown="UNKNOWN_TOOL"),
            "prompts/get": partial(self._relay_named, listed_by="prompts/list", unknown="UNKNOWN_PROMPT"),
            "resources/read": self._use_resource,
            "resources/subscribe": self._use_resource,
            "resources/unsubscribe": self._use_resource,
            "completion/complete": self._complete,
            "logging/setLevel": self._set_level,
            "ping": self._ping,
        }

    async def relay(self, request: ClientRequest) -> Relayed:
        """Relay one request. A method that names no upstream is not found: nothing says where it should go."""
        method = self._methods.get(request.method)
        await self.discover(request)
        behind = BEHIND.get(request.method)
        # The guard itself offers a resource, so these methods always exist.
        exists = behind in (None, "resources") or any(behind in view.client.offered for view in self._views)
        return fail("METHOD_NOT_FOUND") if method is None or not exists else await method(request)

    async def discover(self, request: ClientRequest) -> None:
        """Wait, for a limited time, for upstreams whose offers are unknown. Those that are down are not waited for."""
        unknown = [
            view for view in self._views if not view.client.offered and view.upstream.health.state is not UpstreamState.DOWN
        ]
        if unknown:
            await asyncio.gather(*(_bounded(view.client.discover(request)) for view in unknown))

    # Methods of one upstream. They change the request in place.

    async def _relay_named(self, request: ClientRequest, *, listed_by: str, unknown: str) -> Relayed:
        target = read_target(request.method, request.params)
        if isinstance(target, Failure):
            return target
        found = await self.directory.owner_of_name(listed_by, target.name, request)
        if found is None:
            return fail(unknown)
        view, own_name = found
        if own_name != target.name:
            request.raw = replace_at(request.raw, ("params", "name"), render(own_name))
            request.params = {**request.params, "name": own_name}
            request.client_name = target.name
        return await view.client.relay(request)

    async def _use_resource(self, request: ClientRequest) -> Relayed:
        uri = request.params.get("uri")
        if not isinstance(uri, str) or not uri:
            return malformed("uri")
        if uri == STATUS_URI and request.method == "resources/read":
            is_hidden = self._policy.hides(Kind.RESOURCE, uri, request.exchange.inbound.caller)
            return fail("PERMISSION_DENIED") if is_hidden else self._read_status(request)
        return await self._relay_to_owner(request, uri)

    def _read_status(self, request: ClientRequest) -> Reply:
        text = render({"upstreams": [view.upstream.health.as_json() for view in self._views]}).decode()
        result = render({"contents": [{"uri": STATUS_URI, "mimeType": STATUS["mimeType"], "text": text}]})
        # It shows the present state, so it must not be cached.
        hints = b',"ttlMs":0,"cacheScope":"private"' if request.exchange.revision.modern else b""
        return Reply(body=render_result(request.id, result[:-1] + hints + self._end))

    async def _relay_to_owner(self, request: ClientRequest, uri: str) -> Relayed:
        view = await self.directory.owner_of_uri(uri, request)
        if view is None:
            return fail("RESOURCE_NOT_FOUND", details={"uri": uri})
        return await view.client.relay(request)

    async def _complete(self, request: ClientRequest) -> Relayed:
        target = read_target(request.method, request.params)
        if isinstance(target, Failure):
            return target
        ref: JsonObject = target.arguments["ref"]
        if ref["type"] == "ref/resource":
            return await self._relay_to_owner(request, ref["uri"])
        found = await self.directory.owner_of_name("prompts/list", ref["name"], request)
        if found is None:
            return fail("UNKNOWN_PROMPT")
        view, own_name = found
        request.raw = replace_at(request.raw, ("params", "ref", "name"), render(own_name))
        request.params = {**request.params, "ref": {**ref, "name": own_name}}
        return await view.client.relay(request)

    # Methods of all upstreams.

    async def _set_level(self, request: ClientRequest) -> Relayed:
        """Relay to every upstream that logs. One success is enough."""
        views = [view for view in self._views if "logging" in view.client.offered]
        answers = await asyncio.gather(*(_bounded(view.client.relay(request)) for view in views))
        replies = [each for each in answers if isinstance(each, Reply)]
        replies.sort(key=lambda reply: reply.envelope is not None)
        return next(iter(replies), None) or next((each for each in answers if each is not None), fail("UPSTREAM_GONE"))

    async def _ping(self, request: ClientRequest) -> Relayed:
        return Reply(body=render_result(request.id, b"{}"))

    async def _list(self, request: ClientRequest) -> Relayed:
        cursor = request.params.get("cursor")
        if cursor is not None and not isinstance(cursor, str):
            return malformed("cursor")
        views = [view for view in self._views if BEHIND[request.method] in view.client.offered]
        listings = list(await asyncio.gather(*(self._listing(view, request) for view in views)))
        entries = [entry for each in listings for entry in each.entries]
        if request.method == "resources/list" and not self._policy.hides(
            Kind.RESOURCE, STATUS_URI, request.exchange.inbound.caller
        ):
            entries.append(ListEntry(key=STATUS_URI, raw=render(STATUS)))
        page = cut_page(entries, cursor)
        if isinstance(page, Failure):
            return page
        items, following = page
        body = b"{%b:%b" % (render(LIST_SHAPES[request.method].member), items)
        if following is not None:
            body += b',"nextCursor":' + render(following)
        if request.exchange.revision.modern:
            ttl, scope = merge_hints([each.hints for each in listings])
            body += b',"ttlMs":%d,"cacheScope":"%b"' % (ttl, scope.encode())
        return Reply(body=render_result(request.id, body + self._end))

    async def _listing(self, view: UpstreamView, request: ClientRequest) -> Listing:
        """The entries of one upstream; or those that it listed last to a caller like this one."""
        caller, name = request.exchange.inbound.caller, view.upstream.name
        key = (name, request.method, caller.principal, caller.role, caller.tier)
        found = await _bounded(self._read_pages(view, request))
        if isinstance(found, Listing):
            self._remembered[key] = replace(found, hints=NOT_CACHED)
            self._remembered.move_to_end(key)
            while len(self._remembered) > MAX_REMEMBERED:
                self._remembered.popitem(last=False)
            return found
        log.debug("upstream %s is missing from %s", name, request.method)
        return self._remembered.get(key, Listing(upstream=name))

    async def _read_pages(self, view: UpstreamView, request: ClientRequest) -> Listing | Failure:
        shape = LIST_SHAPES[request.method]
        rename = view.upstream.naming.for_method(request.method).to_client if shape.key == "name" else str
        entries: dict[str, ListEntry] = {}
        hints: list[CacheHints] = []
        cursor: object = None
        for _ in range(MAX_PAGES):
            answer = await view.list_page(_page_request(request, cursor))
            if isinstance(answer, Failure):
                return answer
            result = answer.result or {}
            try:
                shown = read_page(answer.raw, result, shape, rename)
            except NotUnderstood:
                return protocol_broken("list")
            entries |= {
                entry.key: entry
                for own, entry in zip(entries_of(result, shape), shown, strict=True)
                if entry.key not in entries and self.directory.may_offer(view, request.method, own[shape.key], entry.key)
            }
            hints.append(read_hints(result))
            cursor = result.get("nextCursor")
            if not isinstance(cursor, str) or len(entries) > MAX_ENTRIES:
                break
        return Listing(upstream=view.upstream.name, entries=tuple(entries.values())[:MAX_ENTRIES], hints=merge_hints(hints))


def _page_request(request: ClientRequest, cursor: object) -> ClientRequest:
    """The client's own request for another page; everything else that it states stays."""
    members = dict(slice_members(slice_at(request.raw, ("params",)) or b"{}"))
    members.pop("cursor", None)
    params = {name: value for name, value in request.params.items() if name != "cursor"}
    if isinstance(cursor, str):
        members["cursor"], params["cursor"] = render(cursor), cursor
    return msgspec.structs.replace(request, params=params, raw=replace_at(request.raw, ("params",), join_members(members)))


async def _bounded(work: Awaitable[_T]) -> _T | None:
    """The result; None if it takes too long."""
    try:
        async with asyncio.timeout(MERGE_SECONDS):
            return await work
    except TimeoutError:
        return None
