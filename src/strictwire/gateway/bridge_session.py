"""A legacy session that the guard opens itself, for one client of the stateless era."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.errors import ClientError, NotUnderstood, ServerGone
from strictwire.gateway.bridge_conversation import METHOD_NOT_FOUND, Conversation, say
from strictwire.gateway.bridge_terms import server_capabilities
from strictwire.gateway.link import Deaf, Era, Link
from strictwire.gateway.rewrite import value_at
from strictwire.gateway.upstream import OPENING_SECONDS, Upstream
from strictwire.profiles.mcp.context import LEVELS
from strictwire.wire.envelope import Notification, Request, render_error, render_notification, render_result
from strictwire.wire.revisions import LATEST_LEGACY, LEGACY_NAMES, MODERN_NAMES

INITIALIZED: Final = render_notification("notifications/initialized", {})
CHANGED: Final = frozenset(
    {
        "notifications/tools/list_changed",
        "notifications/prompts/list_changed",
        "notifications/resources/list_changed",
        "notifications/resources/updated",
    }
)
"""Words of a session that belong to no request and that a subscription may want to hear."""


class BridgeSession:
    """The session, and the hearer of what names no request of it."""

    def __init__(self, upstream: Upstream, changed: Callable[[Notification], None]) -> None:
        self._upstream = upstream
        self._changed = changed
        self.link: Link
        self.opened: JsonObject = {}
        """The answer to `initialize`."""
        self.conversations: list[Conversation] = []
        """Requests that are not answered yet, oldest first."""
        self._level: str | None = None
        self._numbers = itertools.count(1)
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self, client: JsonObject) -> None:
        """Open the link and introduce the client. Raises ClientError."""
        self.link = await self._upstream.legacy(self)
        try:
            async with asyncio.timeout(OPENING_SECONDS):
                self.opened = await self._initialize(client)
                await self.link.tell(INITIALIZED)
        except TimeoutError as exc:
            await self.link.close()
            raise NotUnderstood("initialize is not answered") from exc
        except BaseException as exc:
            if isinstance(exc, ServerGone):
                self._upstream.note_end()
            await self.link.close()
            raise

    async def _initialize(self, client: JsonObject) -> JsonObject:
        params: JsonObject = {"protocolVersion": LATEST_LEGACY, **client}
        answer = await self.link.ask(self._upstream.question("initialize", params, Era.LEGACY), Deaf())
        version = value_at(answer.result, "protocolVersion")
        if answer.result is None or not isinstance(version, str) or version not in LEGACY_NAMES:
            raise NotUnderstood("initialize is refused, or names a version we do not speak")
        return answer.result

    def next_id(self) -> str:
        """An id that this session has not seen."""
        return f"strictwire-{next(self._numbers)}"

    def offers(self, *path: str) -> bool:
        """Whether the upstream declared a capability."""
        return value_at(self.opened, "capabilities", *path) not in (None, False)

    async def hear_from(self, level: JsonValue) -> None:
        """Have the upstream log at this level at least. Each request picks its own from what comes. Raises ClientError."""
        if not isinstance(level, str) or not self.offers("logging"):
            return
        if self._level is not None and LEVELS[self._level] <= LEVELS[level]:
            return
        self._level = level
        await self.link.ask(self._upstream.question("logging/setLevel", {"level": level}, Era.LEGACY), Deaf())

    async def set_watch(self, uri: str, method: str) -> bool:
        """Subscribe to a resource, or end that; whether the upstream agreed."""
        question = self._upstream.question(method, {"uri": uri}, Era.LEGACY)
        try:
            async with asyncio.timeout(OPENING_SECONDS):
                return (await self.link.ask(question, Deaf())).error is None
        except (TimeoutError, ClientError):
            return False

    def end(self, conversation: Conversation) -> None:
        """It is answered or given up. A question that it only carried for another goes to that other."""
        self.conversations.remove(conversation)
        for raw, request in conversation.take_carried():
            self.asked(raw, request)

    # A Hearer.

    def open(self) -> None:
        """Nothing to open."""

    def hear(self, raw: bytes, notification: Notification) -> None:
        """Changes go to subscriptions, withdrawals to whoever has the question, log messages to the only call meant."""
        if notification.method in CHANGED:
            self._changed(notification)
        elif notification.method == "notifications/cancelled":
            for each in self.conversations:
                each.withdraw((notification.params or {}).get("requestId"))
        elif notification.method == "notifications/message":
            running = self._running()
            if len(running) == 1:
                running[0].hear(raw, notification)

    def asked(self, raw: bytes, request: Request) -> None:
        """A question that names no call is put to the client with its latest call: they all are the same client's."""
        calls = self._running() or [each for each in self.conversations if each.may_ask]
        if calls:
            calls[-1].carry(raw, request)
            return
        refusal: JsonObject = {"code": METHOD_NOT_FOUND, "message": "No call is open that could be asked"}
        answer = render_result(request.id, b"{}") if request.method == "ping" else render_error(request.id, refusal)
        task = asyncio.create_task(say(self.link, answer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _running(self) -> list[Conversation]:
        """Calls whose client waits now."""
        return [each for each in self.conversations if each.may_ask and each.has_client]


def discovered(opened: JsonObject) -> JsonObject:
    """What `initialize` told, as `server/discover` would have."""
    result: JsonObject = {
        "supportedVersions": list(MODERN_NAMES),
        "capabilities": server_capabilities(opened.get("capabilities")),
    }
    return result | ({"instructions": opened["instructions"]} if isinstance(opened.get("instructions"), str) else {})


def describe(capabilities: Mapping[str, JsonValue], info: JsonValue) -> JsonObject:
    """How a client is introduced to the upstream."""
    known = isinstance(info, dict) and isinstance(info.get("name"), str) and isinstance(info.get("version"), str)
    client = info if known else {"name": "unnamed", "version": "0"}
    return {"capabilities": dict(capabilities), "clientInfo": client}
