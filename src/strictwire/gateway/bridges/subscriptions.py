"""What a legacy session subscribes to, heard from an upstream of the stateless era through `subscriptions/listen`.

One open request for the lists, and one for each resource; each is taken up again when it breaks off.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.errors import ClientError, NotUnderstood
from strictwire.gateway.bridges.translation import invalid, legacy_answer, plain_result
from strictwire.gateway.links.link import Answer, Deaf, Era, Hearer, Link, Question
from strictwire.gateway.links.raw_message import SUBSCRIPTION, value_at
from strictwire.gateway.links.upstream import Upstream
from strictwire.wire.envelope import Notification, render_notification

MAX_WATCHED: Final = 100
"""Resources that one session may subscribe to: over HTTP each is an open connection."""

ACKNOWLEDGE_SECONDS: Final = 20.0
RETRY_SECONDS: Final = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Before a subscription that broke off is taken up again."""

LISTEN: Final = "subscriptions/listen"
ACKNOWLEDGED: Final = "notifications/subscriptions/acknowledged"
CHANGES: Final = (
    ("tools", "toolsListChanged"),
    ("prompts", "promptsListChanged"),
    ("resources", "resourcesListChanged"),
)
"""What has a list, and the member that asks to hear of its changes."""


class Subscriptions:
    """Those of one session."""

    def __init__(self, inner: Link, upstream: Upstream, stray: Hearer) -> None:
        self._inner = inner
        self._upstream = upstream
        self._stray = stray
        self._listening: dict[str, asyncio.Task[None]] = {}

    def watch_lists(self) -> None:
        """Hear of changed lists from now on, where the upstream tells of them."""
        wanted: JsonObject = {
            member: True
            for kind, member in CHANGES
            if value_at(self._upstream.discovery, "capabilities", kind, "listChanged") is True
        }
        if wanted and "" not in self._listening:
            self._listening[""] = asyncio.create_task(self._listen(wanted, _Beginning()))

    async def add(self, question: Question) -> Answer:
        """Subscribe to a resource; answered once the upstream has acknowledged it. Raises NotUnderstood."""
        uri = question.params.get("uri")
        if not isinstance(uri, str) or not uri or (uri not in self._listening and len(self._listening) > MAX_WATCHED):
            return invalid(question, "uri")
        if uri in self._listening:
            return plain_result(question, {})
        beginning = _Beginning()
        task = asyncio.create_task(self._listen({"resourceSubscriptions": [uri]}, beginning))
        self._listening[uri] = task
        waiting = asyncio.ensure_future(beginning.known.wait())
        await asyncio.wait({task, waiting}, timeout=ACKNOWLEDGE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if beginning.granted:
            return plain_result(question, {})
        await self.drop(question)
        if beginning.refusal is None:
            raise NotUnderstood("a subscription is not acknowledged")
        refused = beginning.refusal.error is not None
        return legacy_answer(beginning.refusal, question) if refused else invalid(question, "uri")

    async def drop(self, question: Question) -> Answer:
        """End the subscription to a resource, if there is one."""
        uri = question.params.get("uri")
        task = self._listening.pop(uri, None) if isinstance(uri, str) and uri else None
        if task is not None:
            task.cancel()
        return plain_result(question, {})

    async def close(self) -> None:
        """End them all."""
        tasks = tuple(self._listening.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _listen(self, wanted: JsonObject, beginning: _Beginning) -> None:
        """Keep one subscription open, for as long as the upstream grants it."""
        for seconds in itertools.chain(RETRY_SECONDS, itertools.repeat(RETRY_SECONDS[-1])):
            with contextlib.suppress(ClientError):
                question = self._upstream.question(LISTEN, {"notifications": wanted}, Era.MODERN)
                answer = await self._inner.ask(question, _Listener(self._stray, wanted, beginning))
                beginning.note(answer)
                if answer.error is not None:
                    return
            if not self._inner.alive:
                return
            await asyncio.sleep(seconds)


class _Beginning:
    """How a subscription began: granted, refused, or not known yet."""

    def __init__(self) -> None:
        self.known = asyncio.Event()
        self.granted = False
        self.refusal: Answer | None = None

    def note(self, answer: Answer | None) -> None:
        """None grants it. Only the first word counts."""
        if not self.known.is_set():
            self.granted, self.refusal = answer is None, answer
            self.known.set()


class _Listener(Deaf):
    """Hands on what a subscription tells, in the words of a session."""

    def __init__(self, stray: Hearer, wanted: JsonObject, beginning: _Beginning) -> None:
        self._stray = stray
        self._wanted = wanted
        self._beginning = beginning

    def hear(self, raw: bytes, notification: Notification) -> None:  # noqa: ARG002 - told anew without its mark
        """A change, or the acknowledgement."""
        if notification.method == ACKNOWLEDGED:
            self._acknowledge(value_at(notification.params, "notifications", "resourceSubscriptions"))
            return
        params = dict(notification.params or {})
        meta = params.pop("_meta", None)
        if isinstance(meta, dict) and meta.keys() - {SUBSCRIPTION}:
            params["_meta"] = {name: value for name, value in meta.items() if name != SUBSCRIPTION}
        self._stray.hear(render_notification(notification.method, params), Notification(notification.method, params))

    def _acknowledge(self, heard: JsonValue) -> None:
        """A resource that is not among those granted is refused."""
        uris = self._wanted.get("resourceSubscriptions")
        granted = uris is None or (isinstance(heard, list) and uris[0] in heard)
        self._beginning.note(None if granted else Answer(raw=b"", result={}))
