"""Subscriptions: what changes at a server, as an async iterator. Both eras.

Modern: one request, `subscriptions/listen`, whose notifications carry its id. Legacy: `resources/subscribe` for each URI;
changes of lists arrive by themselves. A change that happens twice before it is read is reported once, so nothing piles up.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Self

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.errors import CannotReach, ClientError, ServerGone, TimedOut
from strictwire.client.message import Era, id_key
from strictwire.client.session import Session
from strictwire.server.client.connection import Connection
from strictwire.server.client.failing import check_reply
from strictwire.server.client.targets import reopens
from strictwire.server.client.values import Change
from strictwire.wire.names import META_SUBSCRIPTION

RETRY_SECONDS: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Waits before a subscription that broke off is opened again. After the last one it has failed."""

CHECK_SECONDS: Final = 2.0
"""How often a reader without news looks whether the session is alive: a legacy server does not say that it forgot one."""

ACKNOWLEDGED: Final = "notifications/subscriptions/acknowledged"

_KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "notifications/tools/list_changed": "tools",
        "notifications/prompts/list_changed": "prompts",
        "notifications/resources/list_changed": "resources",
        "notifications/resources/updated": "resource",
    }
)
"""The kind of change of each notification."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interest:
    """Which changes a caller wants to see."""

    kinds: frozenset[str]
    """Lists: `tools`, `prompts`, `resources`."""
    uris: tuple[str, ...] = ()
    """Resources whose content is watched."""

    @property
    def filter(self) -> JsonObject:
        """The `notifications` of `subscriptions/listen`."""
        lists: JsonObject = {f"{kind}ListChanged": True for kind in sorted(self.kinds)}
        return lists | ({"resourceSubscriptions": list(self.uris)} if self.uris else {})

    @property
    def changes(self) -> list[Change]:
        """Every change that may happen."""
        lists = [Change(kind=kind) for kind in sorted(self.kinds)]
        return [*lists, *(Change(kind="resource", uri=uri) for uri in self.uris)]

    def change_of(self, method: str, params: JsonObject) -> Change | None:
        """The change that a notification reports; None if it is another notification, or not wanted."""
        kind, uri = _KINDS.get(method), params.get("uri")
        if kind == "resource":
            return Change(kind=kind, uri=uri) if isinstance(uri, str) and uri in self.uris else None
        return Change(kind=kind) if kind in self.kinds else None


class Changes:
    """The changes of a subscription: `async for change in changes`. Ends when the server ends the subscription."""

    def __init__(self, is_alive: Callable[[], bool] = lambda: True) -> None:
        """`is_alive` tells whether changes can still arrive."""
        self._is_alive = is_alive
        self._waiting: dict[Change, None] = {}
        self._news = asyncio.Event()
        self._end: BaseException | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Change:
        """The next change. Raises ClientError: the connection to the server broke."""
        while not self._waiting:
            if self._end is not None:
                raise self._end
            if not self._is_alive():
                raise ServerGone
            self._news.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(CHECK_SECONDS):
                    await self._news.wait()
        change = next(iter(self._waiting))
        del self._waiting[change]
        return change

    def add(self, change: Change) -> None:
        """Report a change."""
        self._waiting[change] = None
        self._news.set()

    def end(self, reason: BaseException) -> None:
        """Raise this once all changes are read."""
        self._end = reason
        self._news.set()


@contextlib.asynccontextmanager
async def subscribed(connection: Connection, interest: Interest, seconds: float) -> AsyncIterator[Changes]:
    """Subscribe, inside of the block. `seconds` is the time limit of the subscription's confirmation. Raises ClientError."""
    session = await connection.session()
    opened = _listen(connection, interest, seconds) if session.era is Era.MODERN else _subscribe(session, interest, seconds)
    async with opened as changes:
        yield changes


@contextlib.asynccontextmanager
async def _subscribe(session: Session, interest: Interest, seconds: float) -> AsyncIterator[Changes]:
    """The legacy era."""
    changes = Changes(lambda: session.alive)

    def take(method: str, params: JsonObject) -> None:
        if (change := interest.change_of(method, params)) is not None:
            changes.add(change)

    with session.inbox.listening(take):
        await _for_each(session, "resources/subscribe", interest.uris, seconds)
        try:
            yield changes
        finally:
            with contextlib.suppress(ClientError):
                await _for_each(session, "resources/unsubscribe", interest.uris, seconds)


async def _for_each(session: Session, method: str, uris: Sequence[str], seconds: float) -> None:
    for uri in uris:
        check_reply(uri, await session.request(method, {"uri": uri}, seconds=seconds))


@contextlib.asynccontextmanager
async def _listen(connection: Connection, interest: Interest, seconds: float) -> AsyncIterator[Changes]:
    """The modern era."""
    changes = Changes()
    stream = _Stream(interest, changes.add)
    running = asyncio.create_task(_run(connection, stream, changes))
    try:
        await _confirmed(running, stream, seconds)
        yield changes
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


class _Stream:
    """The notifications of one subscription, which may take several requests after another."""

    def __init__(self, interest: Interest, on_change: Callable[[Change], None]) -> None:
        self.interest = interest
        self.confirmed = asyncio.Event()
        self.is_interrupted = False
        """Whether the last request broke off, so that changes may have been missed."""
        self._on_change = on_change
        self._id: JsonValue = None

    def note_id(self, number: int) -> None:
        """The request is about to be sent with this id."""
        self._id = number

    def take(self, method: str, params: JsonObject) -> None:
        """Handle a notification of the server."""
        meta = params.get("_meta")
        if id_key(meta.get(META_SUBSCRIPTION) if isinstance(meta, dict) else None) != id_key(self._id):
            return
        if method == ACKNOWLEDGED:
            self._confirm()
        elif (change := self.interest.change_of(method, params)) is not None:
            self._on_change(change)

    def _confirm(self) -> None:
        self.confirmed.set()
        if self.is_interrupted:
            self.is_interrupted = False
            for change in self.interest.changes:
                self._on_change(change)


async def _run(connection: Connection, stream: _Stream, changes: Changes) -> None:
    """Keep the subscription open until the server ends it. One that breaks off is opened again, if the target allows it."""
    delays = iter(RETRY_SECONDS)
    while True:
        try:
            await _listen_once(await connection.session(), stream)
        except (ServerGone, CannotReach) as exc:
            if stream.confirmed.is_set() and not stream.is_interrupted:  # it worked until now
                stream.is_interrupted, delays = True, iter(RETRY_SECONDS)
            delay = next(delays, None) if stream.is_interrupted and reopens(connection.target) else None
            if delay is None:
                changes.end(exc)
                raise
            await asyncio.sleep(delay)
        except ClientError as exc:
            changes.end(exc)
            raise
        else:
            changes.end(StopAsyncIteration())
            return


async def _listen_once(session: Session, stream: _Stream) -> None:
    params = {"notifications": stream.interest.filter}
    with session.inbox.listening(stream.take):
        reply = await session.request("subscriptions/listen", params, seconds=math.inf, on_sent=stream.note_id)
    check_reply("subscriptions/listen", reply)


async def _confirmed(running: asyncio.Task[None], stream: _Stream, seconds: float) -> None:
    """Wait until the server has confirmed the subscription. Raises ClientError."""
    confirmed = asyncio.create_task(stream.confirmed.wait())
    try:
        await asyncio.wait((running, confirmed), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        confirmed.cancel()
    if running.done():
        await running
    if not stream.confirmed.is_set():
        raise TimedOut("subscriptions/listen", seconds)
