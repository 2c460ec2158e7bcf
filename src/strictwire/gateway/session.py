"""A legacy session of a client, and the upstream session that belongs to it alone.

`initialize` is relayed unchanged, so the upstream sees exactly this client's capabilities. If the upstream ends, the next
request starts it again and repeats the handshake.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.background import BackgroundTasks
from strictwire.client.errors import ClientError, NotUnderstood
from strictwire.client.inbox import notification_limit
from strictwire.client.message import Era
from strictwire.fault.failure import Failure
from strictwire.gateway.bridges.to_modern import maybe_bridge, open_bridge, refuses_sessions
from strictwire.gateway.client_questions import ClientQuestions
from strictwire.gateway.guard_session import GuardSession
from strictwire.gateway.links.background import retrieve_exception
from strictwire.gateway.links.errors import failure_of, protocol_broken
from strictwire.gateway.links.link import Link, UpstreamRequest, try_send
from strictwire.gateway.links.notifications import TOOLS_CHANGED, StreamListener
from strictwire.gateway.links.raw_message import UpstreamAnswer, value_at
from strictwire.gateway.links.upstream import OPENING_SECONDS, handshake, wait_for_link
from strictwire.gateway.relayed_call import ClientLink, ClientRequest, Relayed
from strictwire.gateway.upstream_calls import UpstreamCalls, answer_exchange, client_request
from strictwire.profiles.endpoint import Outlet, Reply, Silent
from strictwire.profiles.mcp.exchange import Exchange
from strictwire.profiles.mcp.targets import CALLS
from strictwire.wire.envelope import Notification, Request, Response
from strictwire.wire.revisions import LEGACY_NAMES, REVISIONS, Revision
from strictwire.wire.session import InFlight

REPEATED: Final = frozenset({"logging/setLevel", "resources/subscribe", "resources/unsubscribe"})
"""Requests that set something in the upstream's session; they are repeated when the upstream is started again."""

RESOURCE_UPDATED: Final = "notifications/resources/updated"
MAX_REPEATED: Final = 1000
INITIALIZED_SECONDS: Final = 10.0
"""How long requests wait until `notifications/initialized` is sent: before it a server may refuse every request."""


class UpstreamSession(GuardSession):
    """A session with one upstream. It is also the Listener for messages of the upstream that belong to no request."""

    def __init__(
        self,
        calls: UpstreamCalls,
        exchange: Exchange,
        session_id: str | None,
        *,
        in_flight: InFlight[Exchange] | None = None,
        prefix: str = "strictwire",
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        """Sessions with several upstreams for one client share its requests in flight, and differ in the `prefix` of their
        question ids. `on_change` is called when a list of the upstream has changed.
        """
        super().__init__(exchange, session_id, in_flight)
        self.calls = calls
        self._caller = exchange.inbound.caller
        self.opened: JsonObject = {}
        """The upstream's result of `initialize`."""
        self._initialize: UpstreamRequest = client_request(exchange)
        capabilities = self._initialize.params.get("capabilities")
        self._capabilities: Mapping[str, JsonValue] = capabilities if isinstance(capabilities, dict) else {}
        self._on_change = on_change
        self._tools = calls.new_tool_list(Era.LEGACY)
        self._link: Link | None = None
        self._is_bridged = False
        self._reopening: asyncio.Task[Link] | None = None
        self._initialized: bytes | None = None
        """The client's `notifications/initialized`."""
        self._initializing: asyncio.Task[None] | None = None
        """Sends it."""
        self._settings: dict[str, UpstreamRequest] = {}
        """Requests to repeat after a restart, by what they set."""
        self.questions = ClientQuestions(self._capabilities, prefix=prefix, send=self._send)
        self._limit = notification_limit()
        self._tasks = BackgroundTasks()

    @property
    def offered(self) -> JsonObject:
        """The upstream's capabilities; empty while it has no session."""
        capabilities = self.opened.get("capabilities")
        return capabilities if isinstance(capabilities, dict) else {}

    # The client's side.

    async def open(self, listener: StreamListener) -> UpstreamAnswer | Failure:
        """Relay `initialize`. After an error or a failure the session cannot be used and must be closed."""
        answer = await self._relay_initialize(listener)
        if isinstance(answer, Failure) or answer.result is None:
            if self._link is not None and not self._link.alive:
                self.calls.upstream.note_end()
            return answer if isinstance(answer, Failure) else self.calls.masked(answer, self._initialize.params)
        version = answer.result.get("protocolVersion")
        if not isinstance(version, str) or version not in LEGACY_NAMES:
            return failure_of(NotUnderstood("initialize names a version that we do not speak"))
        self.revision, self.opened, self.opening = REVISIONS[version], answer.result, answer.raw
        return answer

    async def serve(self, exchange: Exchange) -> None:
        """See Session."""
        relayed = await self.relay(client_request(exchange))
        if relayed is not None:
            answer_exchange(exchange, relayed)

    async def relay(self, request: ClientRequest) -> Relayed:
        """Relay one request of the session."""
        via = await self.connect(request)
        relayed = await self.calls.relay(request, via)
        if request.method in REPEATED and isinstance(relayed, Reply) and relayed.envelope is None:
            self._remember(request)
        return relayed

    async def connect(self, request: ClientRequest) -> ClientLink | Failure:
        """The link for one request of the session."""
        # A call waits no longer for a start than for an answer; other requests wait for as long as a start may take.
        seconds = self.calls.options.idle_seconds if request.method in CALLS else None
        if self._initializing is not None and not self._initializing.done():
            await asyncio.wait({self._initializing}, timeout=min(seconds or INITIALIZED_SECONDS, INITIALIZED_SECONDS))
        try:
            link = self._link if self._link is not None and self._link.alive else await self.live_link(seconds)
        except ClientError as exc:
            return failure_of(exc)
        listener = StreamListener(request.exchange.outlet, era=Era.LEGACY, ask_client=self._ask)
        return ClientLink(link=link, tools=self._tools, listener=listener, capabilities=self._capabilities)

    async def discover(self, request: ClientRequest) -> None:
        """See UpstreamView. What the upstream offers is known when its session opens; a failed one is retried elsewhere."""

    def take_notification(self, notification: Notification, raw: bytes) -> None:
        """See Session. Notifications of the client are relayed."""
        sending = None if self._link is None else self._send(self._link, raw)
        if notification.method == "notifications/initialized":
            self._initialized, self._initializing = raw, sending

    def take_answer(self, response: Response, raw: bytes) -> bool:
        """See Session."""
        return self.questions.take_answer(response, raw)

    def end_input(self) -> None:
        """See Session. Calls that wait for an answer of the client end."""
        self.questions.fail_all()

    async def close(self) -> None:
        """See Session. The upstream's session ends, too."""
        await super().close()
        await self._tasks.cancel()
        if self._reopening is not None:
            self._reopening.cancel()
            await asyncio.gather(self._reopening, return_exceptions=True)
        if self._link is not None:
            await self._link.close()

    # The upstream's side: a Listener.

    def on_stream(self) -> None:
        """See Listener. Streams that belong to no request are opened by the client."""

    def on_notification(self, raw: bytes, notification: Notification) -> None:
        """See Listener. Notifications that belong to no request go to the client's open stream."""
        if notification.method == TOOLS_CHANGED:
            self._tools.forget()
        if notification.method.endswith("/list_changed"):
            self._on_change()
        if notification.method == "notifications/cancelled":
            raw = self.questions.cancel(raw, notification.params or {})
        if notification.method == RESOURCE_UPDATED and not self._may_read(value_at(notification.params, "uri")):
            return
        if raw and self._limit.take(asyncio.get_running_loop().time()):
            self._open_outlet().send(raw)

    def on_request(self, raw: bytes, request: Request) -> None:
        """See Listener. A question that belongs to no request."""
        self._ask(raw, request, self._open_outlet())

    def _may_read(self, uri: JsonValue) -> bool:
        return isinstance(uri, str) and self.calls.find_denial(uri, self._caller) is None

    def _ask(self, raw: bytes, request: Request, outlet: Outlet) -> None:
        if self._link is not None:
            self.questions.ask(raw, request, self._link, outlet)

    def _open_outlet(self) -> Outlet:
        """The client's own stream if it has one, otherwise that of its latest request."""
        if self._outlet is not None:
            return self._outlet
        running = list(self.in_flight.values())
        return running[-1].outlet if running else Silent()

    # The upstream's link.

    def agree_on(self, initialize: UpstreamRequest, revision: Revision) -> None:
        """Use this handshake for the next link, and expect this revision in its answer."""
        self._initialize, self.revision = initialize, revision

    async def drop_link(self) -> None:
        """Close the link to an upstream that did not open; the next request tries again."""
        link, self._link = self._link, None
        if link is not None:
            await link.close()

    async def _relay_initialize(self, listener: StreamListener) -> UpstreamAnswer | Failure:
        """On a link of its own; or on a bridge if the upstream has no sessions."""
        upstream, options = self.calls.upstream, self.calls.options
        if options.bridge and not upstream.has_sessions:
            return await self._initialize_bridge(protocol_broken("no_sessions"), listener)
        try:
            self._link = await upstream.session_link(self)
        except ClientError as exc:
            return failure_of(exc)
        # A call may have less time than a server needs to start.
        patient = replace(options, idle_seconds=max(options.idle_seconds, OPENING_SECONDS))
        answer = await upstream.send(self._initialize, self._link, listener, patient)
        if options.bridge and refuses_sessions(answer):
            return await self._initialize_bridge(answer, listener)
        return answer

    async def _initialize_bridge(
        self, refusal: UpstreamAnswer | Failure, listener: StreamListener
    ) -> UpstreamAnswer | Failure:
        """The upstream has no sessions: bridge to the stateless era, if it speaks that."""
        bridge = await maybe_bridge(self.calls.upstream, self)
        if bridge is None:
            return refusal
        if self._link is not None:
            await self._link.close()
        self._link, self._is_bridged = bridge, True
        return await self.calls.upstream.send(self._initialize, bridge, listener, self.calls.options)

    async def live_link(self, seconds: float | None = None) -> Link:
        """The link, opened again if it has ended; waits for at most `seconds`. Raises ClientError."""
        if self._link is not None and self._link.alive:
            return self._link
        if self._reopening is None or self._reopening.done():
            self._reopening = asyncio.create_task(self._reopen(self._link))
            self._reopening.add_done_callback(retrieve_exception)
        return await wait_for_link(self._reopening, seconds)

    async def _reopen(self, dead: Link | None) -> Link:
        upstream = self.calls.upstream
        if dead is not None:
            if not self._is_bridged:  # the upstream itself notes the end of its shared link
                upstream.note_end()
            await dead.close()
        self.questions.forget(dead)
        self._link = None
        link = await (open_bridge(upstream, self) if self._is_bridged else upstream.session_link(self))
        version, settings = (self.revision.name,), tuple(self._settings.values())
        self.opened = await handshake(link, self._initialize, self._initialized, versions=version, settings=settings)
        self._link = link
        upstream.health.note_up()
        return link

    def _remember(self, request: UpstreamRequest) -> None:
        uri = value_at(request.params, "uri")
        if request.method == "resources/unsubscribe":
            self._settings.pop(f"resources/subscribe {uri}", None)
        elif len(self._settings) < MAX_REPEATED:
            self._settings[f"{request.method} {uri or ''}"] = request

    def _send(self, link: Link, raw: bytes) -> asyncio.Task[None]:
        """Send without waiting."""
        return self._tasks.start(try_send(link, raw))
