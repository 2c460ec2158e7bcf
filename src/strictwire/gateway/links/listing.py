"""The lists of an upstream (tools, prompts, resources, templates), read page by page in the guard's own name."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple, Protocol

from strictwire.canon.json import JsonObject
from strictwire.client.errors import NotUnderstood
from strictwire.client.message import Era
from strictwire.gateway.links.link import Link, UpstreamRequest
from strictwire.gateway.links.raw_message import METHOD_NOT_FOUND, UpstreamAnswer

FRESH_SECONDS: Final = 60.0
"""A list is kept at least this long, unless the upstream notifies that it changed."""

RENEW_SECONDS: Final = 1.0
"""A list this young is not fetched again, however often a client names something that is not in it."""

MAX_PAGES: Final = 100
"""Pages of one list: an upstream whose paging never ends must not occupy the guard for ever."""

MAX_ENTRIES: Final = 10_000
"""Entries of one list: more than any client can show, and a bound for what is kept in memory."""

LIST_SECONDS: Final = 30.0
"""Time for a whole list, where no call waits for it."""


class ListShape(NamedTuple):
    """How the answer to one list method is built."""

    member: str
    """The member that holds the entries."""
    key: str
    """The member of an entry that identifies it."""


LIST_SHAPES: Final[Mapping[str, ListShape]] = MappingProxyType(
    {
        "tools/list": ListShape("tools", "name"),
        "prompts/list": ListShape("prompts", "name"),
        "resources/list": ListShape("resources", "uri"),
        "resources/templates/list": ListShape("resourceTemplates", "uriTemplate"),
    }
)
"""Every list of the protocol."""


class Askable(Protocol):
    """Sends requests of the guard itself. Implemented by `upstream.Upstream`."""

    def make_request(self, method: str, params: JsonObject, era: Era) -> UpstreamRequest:
        """A request of the guard itself."""

    async def ask(self, request: UpstreamRequest, link: Link, era: Era, seconds: float) -> UpstreamAnswer:
        """Send it and wait for the answer. Raises ClientError, TimedOut among them."""


async def fetch_list(
    upstream: Askable, link: Link, method: str, era: Era, seconds: float = LIST_SECONDS
) -> dict[str, JsonObject]:
    """Every entry of a list by its key. `seconds` is the time for all pages together. Raises ClientError."""
    shape, entries = LIST_SHAPES[method], dict[str, JsonObject]()
    params: JsonObject = {}
    loop = asyncio.get_running_loop()
    ends = loop.time() + seconds
    for _ in range(MAX_PAGES):
        result = await _fetch_page(upstream, link, method, params, era, ends - loop.time())
        entries |= {entry[shape.key]: entry for entry in entries_of(result, shape)}
        if len(entries) > MAX_ENTRIES:
            raise NotUnderstood(f"more than {MAX_ENTRIES} {shape.member}")
        cursor = result.get("nextCursor")
        if not isinstance(cursor, str):
            return entries
        params = {"cursor": cursor}
    raise NotUnderstood(f"more than {MAX_PAGES} pages of {shape.member}")


async def _fetch_page(
    upstream: Askable, link: Link, method: str, params: JsonObject, era: Era, seconds: float
) -> JsonObject:
    """One page. A list that the upstream does not offer is empty."""
    answer = await upstream.ask(upstream.make_request(method, params, era), link, era, seconds)
    if answer.result is not None:
        return answer.result
    if (answer.error or {}).get("code") == METHOD_NOT_FOUND:
        return {LIST_SHAPES[method].member: []}
    raise NotUnderstood(f"{method} is refused")


def entries_of(result: JsonObject, shape: ListShape) -> list[JsonObject]:
    """The entries of one page. Raises NotUnderstood: not a list of objects that have their key."""
    entries = result.get(shape.member)
    if not isinstance(entries, list) or not all(
        isinstance(entry, dict) and isinstance(entry.get(shape.key), str) for entry in entries
    ):
        raise NotUnderstood(f"a list of {shape.member} without {shape.key}")
    return entries
