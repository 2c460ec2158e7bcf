"""What an upstream lists, page by page, and the names in it: how the owner of a prompt or a resource is found."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from strictwire.canon.json import JsonObject
from strictwire.client.errors import ClientError, NotUnderstood
from strictwire.gateway.links.link import Deaf, Era, Link
from strictwire.gateway.links.upstream import Upstream

FRESH_SECONDS: Final = 60.0
"""A list is kept at least this long unless the upstream says that it changed."""

RENEW_SECONDS: Final = 1.0
"""A list this young is not fetched again, however often something is missing from it."""

MAX_PAGES: Final = 100
MAX_ENTRIES: Final = 10_000
LIST_SECONDS: Final = 30.0
METHOD_NOT_FOUND: Final = -32601


class Shape(NamedTuple):
    """How the answer to one list method is built."""

    member: str
    """Holds the entries."""
    key: str
    """Tells one entry from another."""


SHAPES: Final[Mapping[str, Shape]] = MappingProxyType(
    {
        "tools/list": Shape("tools", "name"),
        "prompts/list": Shape("prompts", "name"),
        "resources/list": Shape("resources", "uri"),
        "resources/templates/list": Shape("resourceTemplates", "uriTemplate"),
    }
)
"""Every list of the protocol."""

Ask: TypeAlias = Callable[[JsonObject], Awaitable[JsonObject]]
"""Asks for the page that the parameters name."""


def asking(upstream: Upstream, link: Link, method: str, era: Era) -> Ask:
    """Ask for pages in the guard's own name. What the upstream does not offer is empty. Raises ClientError."""

    async def ask(params: JsonObject) -> JsonObject:
        question = upstream.question(method, params, era)
        try:
            async with asyncio.timeout(LIST_SECONDS):
                answer = await link.ask(question, Deaf())
        except TimeoutError as exc:
            raise NotUnderstood(f"{method} is not answered") from exc
        if answer.result is not None:
            return answer.result
        if (answer.error or {}).get("code") == METHOD_NOT_FOUND:
            return {SHAPES[method].member: []}
        raise NotUnderstood(f"{method} is refused")

    return ask


async def fetch_all(ask: Ask, shape: Shape) -> tuple[dict[str, JsonObject], float]:
    """Every entry by its key, and for how many seconds the list may be kept. Raises ClientError."""
    entries: dict[str, JsonObject] = {}
    params: JsonObject = {}
    fresh = float("inf")
    for _ in range(MAX_PAGES):
        result = await ask(params)
        for entry in entries_of(result, shape):
            entries[entry[shape.key]] = entry
        if len(entries) > MAX_ENTRIES:
            raise NotUnderstood(f"more than {MAX_ENTRIES} {shape.member}")
        ttl = result.get("ttlMs")
        fresh = min(fresh, ttl / 1000 if isinstance(ttl, int) else 0)
        cursor = result.get("nextCursor")
        if not isinstance(cursor, str):
            return entries, fresh
        params = {"cursor": cursor}
    raise NotUnderstood(f"more than {MAX_PAGES} pages of {shape.member}")


def entries_of(result: JsonObject, shape: Shape) -> list[JsonObject]:
    """The entries of one page. Raises NotUnderstood: not a list, or of entries without their key."""
    entries = result.get(shape.member)
    if not isinstance(entries, list) or not all(_has(each, shape.key) for each in entries):
        raise NotUnderstood(f"a list of {shape.member} without {shape.key}")
    return entries


def _has(entry: object, key: str) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get(key), str)


class Roll:
    """The keys of one list, fetched when they are needed and kept while they are fresh."""

    def __init__(self, elapsed: Callable[[], float]) -> None:
        self._elapsed = elapsed
        self._lock = asyncio.Lock()
        self._listed_at = float("-inf")
        self._stale = True
        self.last: frozenset[str] = frozenset()
        """The keys as they were last known. Whoever is down keeps its own: calls of them fail with its name."""

    @property
    def fresh(self) -> frozenset[str]:
        """The keys, if nothing speaks against them; otherwise none."""
        is_fresh = not self._stale and self._elapsed() - self._listed_at < FRESH_SECONDS
        return self.last if is_fresh else frozenset()

    def forget(self) -> None:
        """The upstream said that its list changed, or may have."""
        self._stale = True

    def give_up(self) -> None:
        """It does not answer: the next one need not wait for it as long, until the list would be renewed anyway."""
        self._listed_at, self._stale = self._elapsed(), False

    async def renew(self, fetch: Callable[[], Awaitable[frozenset[str]]]) -> None:
        """Fetch the list, unless it is very young. What cannot be fetched stays as it was."""
        async with self._lock:
            if not self._stale and self._elapsed() - self._listed_at < RENEW_SECONDS:
                return
            with contextlib.suppress(ClientError):
                self.last = await fetch()
            self.give_up()
