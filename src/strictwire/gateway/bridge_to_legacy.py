"""A client of the stateless era in front of an upstream that has sessions only.

The guard opens the sessions, with exactly the capabilities of that client, and keeps clients apart. A call that asks
is parked, and its questions go out as a result that asks; the client comes back with the answers, and the call goes on.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue, NotStrict, parse, render
from strictwire.gateway.book import Book
from strictwire.gateway.bridge_conversation import Conversation
from strictwire.gateway.bridge_errors import Crowded, StateGone
from strictwire.gateway.bridge_listen import ACKNOWLEDGED, CHANGES, LISTEN
from strictwire.gateway.bridge_session import BridgeSession, discovered
from strictwire.gateway.bridge_terms import (
    invalid,
    legacy_question,
    modern_answer,
    plain_result,
)
from strictwire.gateway.link import Answer, Era, Hearer, Question
from strictwire.gateway.rewrite import SUBSCRIPTION, slice_at, value_at
from strictwire.gateway.upstream import Upstream
from strictwire.profiles.mcp.era import META_LOG_LEVEL, META_SERVER
from strictwire.profiles.mcp.modern import ASKING
from strictwire.profiles.mcp.targets import CALLS
from strictwire.wire.envelope import Notification, render_notification, render_result

PARKED_SECONDS: Final = 600.0
"""How long a call waits for the answers of its client; then it is withdrawn."""

MAX_PARKED: Final = 200
"""Calls of one client that may wait for answers."""

MAX_URIS: Final = 100
"""Resources that one subscription may name."""

_CHANGE_OF: Final = {f"notifications/{kind}/list_changed": member for kind, member in CHANGES}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parked:
    """A call that waits for its client to come back."""

    conversation: Conversation
    session: BridgeSession
    expiry: asyncio.TimerHandle


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listening:
    """One `subscriptions/listen` that is open."""

    id: JsonValue
    granted: JsonObject
    hearer: Hearer


class OverLegacy:
    """A link of the stateless era outside, of the legacy era inside, for one client."""

    alive = True
    """The session behind it comes and goes."""

    def __init__(self, upstream: Upstream, book: Book, client: JsonObject, make_room: Callable[[], None]) -> None:
        self._upstream = upstream
        self.book = book
        """The tools as this client is shown them."""
        self._client = client
        self._make_room = make_room
        self._capabilities: JsonObject = client["capabilities"]
        self._session: BridgeSession | None = None
        self._opening = asyncio.Lock()
        self._parked: dict[str, _Parked] = {}
        self._listening: dict[int, _Listening] = {}
        self._watched: dict[str, int] = {}
        self._ending: set[asyncio.Task[None]] = set()

    @property
    def is_open(self) -> bool:
        """Whether it has a session now."""
        return self._session is not None or self._opening.locked()

    @property
    def busy(self) -> bool:
        """Whether somebody still waits for something here."""
        running = self._session is not None and self._session.conversations
        return bool(running or self._listening or self._ending or self._opening.locked())

    async def ask(self, question: Question, hearer: Hearer) -> Answer:
        """See Link. Raises ClientError, StateGone, Crowded."""
        state = _state_of(question)
        if state is not None:
            return await self._go_on(question, hearer, state)
        session = await self._live()
        if question.method == "server/discover":
            return modern_answer(plain_result(question, discovered(session.opened)), question, _server(session))
        if question.method == LISTEN:
            return await self._listen(question, hearer, session)
        if question.method in CALLS:
            await session.hear_from(value_at(question.params, "_meta", META_LOG_LEVEL))
        sent = legacy_question(question, session.next_id())
        conversation = Conversation(session.link, sent, capabilities=self._capabilities)
        session.conversations.append(conversation)
        return await self._round(question, hearer, conversation, session)

    async def tell(self, raw: bytes) -> None:
        """Clients of this era say nothing that a session would need to hear."""

    async def prove(self, question: Question, seconds: float) -> None:  # noqa: ARG002 - a session is asked with `ping`
        """See Link."""
        if self._session is not None:
            await self._session.link.prove(self._upstream.question("ping", {}, Era.LEGACY), seconds)

    async def close(self) -> None:
        """Withdraw what is parked, end the session."""
        for state in tuple(self._parked):
            self._expire(state)
        await asyncio.gather(*self._ending, return_exceptions=True)
        session, self._session = self._session, None
        if session is not None:
            await session.link.close()

    async def _live(self) -> BridgeSession:
        """The session, started again if it ended. Raises ClientError, Crowded."""
        if self._session is not None and self._session.link.alive:
            return self._session
        async with self._opening:
            if self._session is None or not self._session.link.alive:
                self._session = await self._reopen(self._session)
            return self._session

    async def _reopen(self, dead: BridgeSession | None) -> BridgeSession:
        self._session = None
        if dead is None:
            self._make_room()
        else:
            self._upstream.note_end()
            await dead.link.close()
        session = BridgeSession(self._upstream, self._tell_change)
        await session.start(self._client)
        self._upstream.discovery = discovered(session.opened)
        self.book.forget()
        for uri in tuple(self._watched):
            await session.set_watch(uri, "resources/subscribe")
        return session

    # Calls.

    async def _round(self, question: Question, hearer: Hearer, conversation: Conversation, session: BridgeSession) -> Answer:
        asked = False
        try:
            answer = await conversation.go_on(question, hearer)
            asked = answer is None
        finally:
            if not asked:
                session.end(conversation)
        if answer is None:
            return self._ask_client(question, conversation, session)
        return modern_answer(answer, question, _server(session))

    def _ask_client(self, question: Question, conversation: Conversation, session: BridgeSession) -> Answer:
        """Park the call. The state is only a name; whoever shows it to a client seals it first. Raises Crowded."""
        state = secrets.token_urlsafe(18)
        expiry = asyncio.get_running_loop().call_later(PARKED_SECONDS, self._expire, state)
        self._parked[state] = _Parked(conversation=conversation, session=session, expiry=expiry)
        if len(self._parked) > MAX_PARKED:
            self._expire(state)
            raise Crowded
        questions = conversation.questions
        shown: JsonObject = {"requestState": state, "_meta": {META_SERVER: _server(session)}}
        raw = b'{"resultType":"input_required","inputRequests":%b,%b' % (questions, render(shown)[1:])
        result: JsonObject = {"resultType": "input_required", "inputRequests": parse(questions), **shown}
        return Answer(raw=render_result(question.id, raw), result=result)

    async def _go_on(self, question: Question, hearer: Hearer, state: str) -> Answer:
        parked = self._parked.pop(state, None)
        if parked is None:
            raise StateGone
        parked.expiry.cancel()
        return await self._round(question, hearer, parked.conversation, parked.session)

    def _expire(self, state: str) -> None:
        parked = self._parked.pop(state)
        parked.expiry.cancel()
        self._finish(self._give_up(parked))

    async def _give_up(self, parked: _Parked) -> None:
        await parked.conversation.end()
        parked.session.end(parked.conversation)

    def _finish(self, work: Coroutine[object, object, None]) -> None:
        """Have something done that nobody waits for."""
        task = asyncio.create_task(work)
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    # Subscriptions.

    async def _listen(self, question: Question, hearer: Hearer, session: BridgeSession) -> Answer:
        """Tell of changes until the request is cancelled."""
        wanted = question.params.get("notifications")
        if not isinstance(wanted, dict):
            return invalid(question, "notifications")
        granted: JsonObject = {
            member: True for kind, member in CHANGES if wanted.get(member) is True and session.offers(kind, "listChanged")
        }
        uris: list[str] = []
        listening = _Listening(id=question.id, granted=granted, hearer=hearer)
        self._listening[id(listening)] = listening
        try:
            await self._watch(session, wanted.get("resourceSubscriptions"), uris)
            if uris:
                granted["resourceSubscriptions"] = uris
            _say(listening, ACKNOWLEDGED, {"notifications": dict(granted)})
            await asyncio.get_running_loop().create_future()
        finally:
            del self._listening[id(listening)]
            self._unwatch(uris)
        return plain_result(question, {})

    async def _watch(self, session: BridgeSession, wanted: JsonValue, granted: list[str]) -> None:
        """Subscribe to each resource; what the upstream refuses is not among those granted."""
        if not isinstance(wanted, list) or not session.offers("resources", "subscribe"):
            return
        for uri in [each for each in wanted if isinstance(each, str)][:MAX_URIS]:
            if uri in self._watched or await session.set_watch(uri, "resources/subscribe"):
                self._watched[uri] = self._watched.get(uri, 0) + 1
                granted.append(uri)

    def _unwatch(self, uris: list[str]) -> None:
        for uri in uris:
            self._watched[uri] -= 1
            if self._watched[uri] == 0:
                del self._watched[uri]
                self._finish(self._end_watch(uri))

    async def _end_watch(self, uri: str) -> None:
        if self._session is not None and self._session.link.alive:
            await self._session.set_watch(uri, "resources/unsubscribe")

    def _tell_change(self, notification: Notification) -> None:
        """Something changed in one of the sessions."""
        if notification.method == "notifications/tools/list_changed":
            self.book.forget()
        params = notification.params or {}
        for each in tuple(self._listening.values()):
            member = _CHANGE_OF.get(notification.method)
            told = member in each.granted if member else params.get("uri") in each.granted.get("resourceSubscriptions", ())
            if told:
                _say(each, notification.method, params)


def _say(listening: _Listening, method: str, params: JsonObject) -> None:
    meta = params.get("_meta")
    marked: JsonObject = {**params, "_meta": {**(meta if isinstance(meta, dict) else {}), SUBSCRIPTION: listening.id}}
    listening.hearer.hear(render_notification(method, marked), Notification(method, marked))


def _server(session: BridgeSession) -> JsonValue:
    """Who the upstream said it is."""
    return session.opened.get("serverInfo")


def _state_of(question: Question) -> str | None:
    """The state as this side knows it: in the bytes, where it was unsealed. On other methods nobody unseals one."""
    raw = slice_at(question.raw, ("params", "requestState")) if question.method in ASKING else None
    try:
        state = None if raw is None else parse(raw)
    except NotStrict:
        return None
    return state if isinstance(state, str) else None
