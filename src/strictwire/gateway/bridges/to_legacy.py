"""A bridge for a client of the stateless era to an upstream that has only sessions.

The guard opens a session for each client, with exactly that client's capabilities. A call that asks is parked: its questions
go to the client as a result, the client sends its answers with the next request, and the call goes on.
"""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue, NotStrict, parse, render
from strictwire.client.background import BackgroundTasks
from strictwire.client.message import Era
from strictwire.gateway.bridges.legacy_session import BridgedSession, as_discovery
from strictwire.gateway.bridges.resumable_call import ResumableCall
from strictwire.gateway.bridges.subscriptions import ACKNOWLEDGED, LISTEN
from strictwire.gateway.bridges.translation import invalid_param, own_result, to_legacy_request, to_modern_answer
from strictwire.gateway.links.background import retrieve_exception
from strictwire.gateway.links.errors import SessionsExhausted, StateExpired
from strictwire.gateway.links.link import Listener, UpstreamRequest
from strictwire.gateway.links.notifications import TOOLS_CHANGED
from strictwire.gateway.links.raw_message import UpstreamAnswer, slice_at, value_at
from strictwire.gateway.links.upstream import Upstream
from strictwire.gateway.tool_list import ToolList
from strictwire.profiles.mcp.listen import WANTS
from strictwire.profiles.mcp.targets import ASKING, CALLS
from strictwire.wire.envelope import Notification, render_notification, render_result
from strictwire.wire.names import META_LOG_LEVEL, META_SERVER, META_SUBSCRIPTION

PARKED_SECONDS: Final = 600.0
"""How long a parked call waits for its client, as long as a call may take in all; then it is cancelled."""

MAX_PARKED: Final = 200
"""Parked calls of one client."""

MAX_URIS: Final = 100
"""Resources that one subscription may name."""

_MEMBERS: Final = {f"notifications/{kind}/list_changed": member for kind, member in WANTS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class _ParkedCall:
    """A call that waits for the answers of its client."""

    call: ResumableCall
    session: BridgedSession
    expiry: asyncio.TimerHandle


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Subscription:
    """One open `subscriptions/listen`."""

    id: JsonValue
    granted: JsonObject
    listener: Listener

    def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification under the id of the subscription."""
        meta = params.get("_meta")
        marked: JsonObject = {**params, "_meta": {**(meta if isinstance(meta, dict) else {}), META_SUBSCRIPTION: self.id}}
        self.listener.on_notification(render_notification(method, marked), Notification(method, marked))


class LegacyBridge:
    """A Link of the stateless era for one client, over a session of the legacy era."""

    alive = True
    """The session behind it comes and goes."""

    def __init__(self, upstream: Upstream, tools: ToolList, client: JsonObject) -> None:
        """`client` are the params of `initialize`."""
        self.tools = tools
        """The tools as this client sees them."""
        self._upstream = upstream
        self._client = client
        self._session: BridgedSession | None = None
        self._opening: asyncio.Task[BridgedSession] | None = None
        self._parked: dict[str, _ParkedCall] = {}
        self._subscriptions: set[_Subscription] = set()
        self._subscribed: dict[str, int] = {}
        """Resources, with the number of subscriptions to each."""
        self._ending = BackgroundTasks()
        self._is_closed = False

    @property
    def is_busy(self) -> bool:
        """Whether a request still needs the session."""
        running = self._session is not None and self._session.calls
        return bool(running or self._subscriptions or self._ending or self._is_opening)

    @property
    def _is_opening(self) -> bool:
        return self._opening is not None and not self._opening.done()

    async def request(self, request: UpstreamRequest, listener: Listener) -> UpstreamAnswer:
        """See Link. Raises ClientError, StateExpired, SessionsExhausted."""
        state = _state_of(request)
        if state is not None:
            return await self._resume(request, listener, state)
        session = await self._live_session()
        if request.method == "server/discover":
            return to_modern_answer(own_result(request, as_discovery(session.opened)), request, _identity_of(session))
        if request.method == LISTEN:
            return await self._listen(request, listener, session)
        if request.method in CALLS:
            await session.lower_level(value_at(request.params, "_meta", META_LOG_LEVEL))
        sent = to_legacy_request(request, session.next_id())
        call = ResumableCall(session.link, sent, capabilities=self._client["capabilities"])
        session.calls.append(call)
        return await self._run_round(request, listener, call, session)

    async def send(self, raw: bytes) -> None:
        """See Link. Clients of this era send no notification that a session needs."""

    async def check_alive(self, request: UpstreamRequest, seconds: float) -> None:  # noqa: ARG002 - sessions have `ping`
        """See Link."""
        if self._session is not None:
            await self._session.link.check_alive(self._upstream.make_request("ping", {}, Era.LEGACY), seconds)

    async def close(self) -> None:
        """Cancel parked calls and end the session."""
        self._is_closed = True
        for state in tuple(self._parked):
            self._expire(state)
        await self._ending.join()
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.gather(self._opening, return_exceptions=True)
        session, self._session = self._session, None
        if session is not None:
            await session.link.close()

    async def _live_session(self) -> BridgedSession:
        """The session, opened again if it has ended. Raises ClientError, SessionsExhausted."""
        if self._session is not None and self._session.link.alive:
            return self._session
        if self._opening is None or self._opening.done():
            if self._is_closed:
                raise SessionsExhausted
            self._opening = asyncio.create_task(self._open(self._session))
            self._opening.add_done_callback(retrieve_exception)
        # Shielded: a start may take longer than one call has time, and other requests wait for the same one.
        return await asyncio.shield(self._opening)

    async def _open(self, dead: BridgedSession | None) -> BridgedSession:
        self._session = None
        if dead is not None:
            self._upstream.note_end()
            await dead.link.close()
        session = BridgedSession(self._upstream, self._notify_change)
        await session.open(self._client)
        self._upstream.discovery = as_discovery(session.opened)
        if dead is not None:
            self.tools.forget()
        for uri in tuple(self._subscribed):
            await session.set_subscription(uri, "resources/subscribe")
        self._session = session
        return session

    # Calls.

    async def _run_round(
        self, request: UpstreamRequest, listener: Listener, call: ResumableCall, session: BridgedSession
    ) -> UpstreamAnswer:
        has_questions = False
        try:
            answer = await call.resume(request, listener)
            has_questions = answer is None
        finally:
            if not has_questions:
                session.end(call)
        if answer is None:
            return self._park(request, call, session)
        return to_modern_answer(answer, request, _identity_of(session))

    def _park(self, request: UpstreamRequest, call: ResumableCall, session: BridgedSession) -> UpstreamAnswer:
        """Park a call and answer with its questions. `requestState` is a random name; the guard seals it afterwards.

        Raises SessionsExhausted: too many calls of this client are parked.
        """
        state = secrets.token_urlsafe(18)
        expiry = asyncio.get_running_loop().call_later(PARKED_SECONDS, self._expire, state)
        self._parked[state] = _ParkedCall(call=call, session=session, expiry=expiry)
        if len(self._parked) > MAX_PARKED:
            self._expire(state)
            raise SessionsExhausted
        questions = call.questions
        members: JsonObject = {"requestState": state, "_meta": {META_SERVER: _identity_of(session)}}
        raw = b'{"resultType":"input_required","inputRequests":%b,%b' % (questions, render(members)[1:])
        result: JsonObject = {"resultType": "input_required", "inputRequests": parse(questions), **members}
        return UpstreamAnswer(raw=render_result(request.id, raw), result=result)

    async def _resume(self, request: UpstreamRequest, listener: Listener, state: str) -> UpstreamAnswer:
        parked = self._parked.pop(state, None)
        if parked is None:
            raise StateExpired
        parked.expiry.cancel()
        return await self._run_round(request, listener, parked.call, parked.session)

    def _expire(self, state: str) -> None:
        parked = self._parked.pop(state)
        parked.expiry.cancel()
        self._ending.start(_cancel(parked))

    # Subscriptions.

    async def _listen(self, request: UpstreamRequest, listener: Listener, session: BridgedSession) -> UpstreamAnswer:
        """Notify of changes until the request is cancelled."""
        wanted = request.params.get("notifications")
        if not isinstance(wanted, dict):
            return invalid_param(request, "notifications")
        granted: JsonObject = {
            member: True
            for kind, member in WANTS.items()
            if wanted.get(member) is True and session.offers(kind, "listChanged")
        }
        uris: list[str] = []
        subscription = _Subscription(id=request.id, granted=granted, listener=listener)
        self._subscriptions.add(subscription)
        try:
            await self._subscribe(session, wanted.get("resourceSubscriptions"), uris)
            if uris:
                granted["resourceSubscriptions"] = uris
            subscription.notify(ACKNOWLEDGED, {"notifications": dict(granted)})
            await asyncio.get_running_loop().create_future()
        finally:
            self._subscriptions.discard(subscription)
            self._unsubscribe(uris)
        return own_result(request, {})

    async def _subscribe(self, session: BridgedSession, wanted: JsonValue, granted: list[str]) -> None:
        """Subscribe to resources, and add those that the upstream grants to `granted`."""
        if not isinstance(wanted, list) or not session.offers("resources", "subscribe"):
            return
        for uri in [each for each in wanted if isinstance(each, str)][:MAX_URIS]:
            if uri in self._subscribed or await session.set_subscription(uri, "resources/subscribe"):
                self._subscribed[uri] = self._subscribed.get(uri, 0) + 1
                granted.append(uri)

    def _unsubscribe(self, uris: list[str]) -> None:
        for uri in uris:
            self._subscribed[uri] -= 1
            if self._subscribed[uri] == 0:
                del self._subscribed[uri]
                self._ending.start(self._end_subscription(uri))

    async def _end_subscription(self, uri: str) -> None:
        if self._session is not None and self._session.link.alive:
            await self._session.set_subscription(uri, "resources/unsubscribe")

    def _notify_change(self, notification: Notification) -> None:
        if notification.method == TOOLS_CHANGED:
            self.tools.forget()
        params, member = notification.params or {}, _MEMBERS.get(notification.method)
        for each in tuple(self._subscriptions):
            uris = each.granted.get("resourceSubscriptions", ())
            if member in each.granted if member else params.get("uri") in uris:
                each.notify(notification.method, params)


async def _cancel(parked: _ParkedCall) -> None:
    await parked.call.cancel()
    parked.session.end(parked.call)


def _identity_of(session: BridgedSession) -> JsonValue:
    return session.opened.get("serverInfo")


def _state_of(request: UpstreamRequest) -> str | None:
    """The name of a parked call. It is read from the bytes, where the guard has put the opened state."""
    raw = slice_at(request.raw, ("params", "requestState")) if request.method in ASKING else None
    try:
        state = None if raw is None else parse(raw)
    except NotStrict:
        return None
    return state if isinstance(state, str) else None
