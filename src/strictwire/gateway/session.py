"""One legacy session of a client, and the upstream session that belongs to it alone.

`initialize` is relayed as it came, so the upstream sees exactly this client's capabilities. What the upstream asks is
put to the client under ids of ours. If the upstream ends, the next request starts it again and repeats the opening.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue, render
from strictwire.client.errors import ClientError, NotUnderstood
from strictwire.fault.failure import Failure
from strictwire.gateway.bridge_to_modern import maybe_bridge, open_bridge, refuses_sessions
from strictwire.gateway.hearing import Faucet, StreamHearer
from strictwire.gateway.link import Answer, Deaf, Era, Link, Question, Relayed, answer_exchange, question_of
from strictwire.gateway.rewrite import CANCELLED_ID, ID, replace_at, slice_at, value_at
from strictwire.gateway.terms import broke, failure_of
from strictwire.gateway.upstream import OPENING_SECONDS
from strictwire.gateway.warden import Errand, Warden
from strictwire.pipeline.call import Caller
from strictwire.profiles.endpoint import Outlet, Reply, Silent
from strictwire.profiles.mcp.context import NEEDS
from strictwire.profiles.mcp.exchange import Exchange
from strictwire.profiles.mcp.streams import Streams
from strictwire.profiles.mcp.targets import CALLS, read_target
from strictwire.wire.envelope import Notification, Request, RequestId, Response, render_error
from strictwire.wire.revisions import LEGACY_NAMES, REVISIONS, Revision
from strictwire.wire.session import InFlight

MAX_ASKED: Final = 1000
"""Questions of one upstream that may wait for their answers."""

REPEATED: Final = frozenset({"logging/setLevel", "resources/subscribe", "resources/unsubscribe"})
"""Requests that set something in the session; they are repeated when the upstream is started again."""

MAX_REPEATED: Final = 1000
SETTLE_SECONDS: Final = 10.0
"""How long requests wait for `notifications/initialized` to have gone out."""

METHOD_NOT_FOUND: Final = -32601
INTERNAL: Final = -32603


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A question of the upstream that its client has not answered yet."""

    raw_id: bytes
    upstream_id: RequestId
    link: Link


class GuardSession:
    """One session. `id` is None where the transport itself is the session (stdio)."""

    def __init__(
        self,
        warden: Warden,
        *,
        session_id: str | None,
        principal: str,
        opening: Question,
        in_flight: InFlight[Exchange] | None = None,
        mark: str = "strictwire",
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        """One of several that share a client shares its table of requests, and marks its questions as its own."""
        self.id = session_id
        self.principal = principal
        """Who opened it; nobody else may use it."""
        self.revision: Revision = REVISIONS[LEGACY_NAMES[-1]]
        self.in_flight: InFlight[Exchange] = InFlight() if in_flight is None else in_flight
        self.opening = b""
        """The upstream's answer to `initialize`."""
        self.opened: JsonObject = {}
        """What the upstream answered to `initialize`."""
        self.streams = Streams()
        self.closed = asyncio.Event()
        capabilities = opening.params.get("capabilities")
        self.capabilities: Mapping[str, JsonValue] = capabilities if isinstance(capabilities, dict) else {}
        self._mark = mark
        self._changed = changed
        self._warden = warden
        self._opening = opening
        self._book = warden.new_book(Era.LEGACY)
        self._link: Link | None = None
        self._bridged = False
        self._reopening: asyncio.Task[Link] | None = None
        self._initialized: bytes | None = None
        self._settings: dict[str, Question] = {}
        self._asked: dict[str, _Asked] = {}
        self._counter = 0
        self._outlet: Outlet | None = None
        self._stray = _Stray(self)
        self._faucet = Faucet()
        self._tasks: set[asyncio.Task[None]] = set()
        self._settling: asyncio.Task[None] | None = None
        self._closing: asyncio.Future[None] | None = None

    # The client's side.

    async def start(self, hearer: StreamHearer) -> Answer | Failure:
        """Relay `initialize`. On an error or a failure the session is of no use and must be closed."""
        answer = await self._introduce(hearer)
        if isinstance(answer, Failure) or answer.result is None:
            if self._link is not None and not self._link.alive:
                self._warden.upstream.note_end()
            return answer if isinstance(answer, Failure) else self._warden.masked(answer, self._opening.params)
        version = answer.result.get("protocolVersion")
        if not isinstance(version, str) or version not in LEGACY_NAMES:
            return failure_of(NotUnderstood("initialize names a version we do not speak"))
        self.revision, self.opened, self.opening = REVISIONS[version], answer.result, answer.raw
        return answer

    async def _introduce(self, hearer: StreamHearer) -> Answer | Failure:
        """Over a link of its own; over a bridge if the upstream has no sessions."""
        upstream, bridges = self._warden.upstream, self._warden.terms.bridge
        if bridges and not upstream.has_sessions:
            return await self._cross(broke("no_sessions"), hearer)
        try:
            self._link = await upstream.legacy(self._stray)
        except ClientError as exc:
            return failure_of(exc)
        terms = self._warden.terms
        # A call may have less time than a server needs to start.
        patient = replace(terms, silence_seconds=max(terms.silence_seconds, OPENING_SECONDS))
        answer = await self._warden.relay(self._opening, self._link, hearer, patient)
        return await self._cross(answer, hearer) if bridges and refuses_sessions(answer) else answer

    async def _cross(self, refusal: Answer | Failure, hearer: StreamHearer) -> Answer | Failure:
        """The upstream has no sessions: speak to it without, if it understands that."""
        bridge = await maybe_bridge(self._warden.upstream, self._stray)
        if bridge is None:
            return refusal
        if self._link is not None:
            await self._link.close()
        self._link, self._bridged = bridge, True
        return await self._warden.relay(self._opening, bridge, hearer)

    async def serve(self, exchange: Exchange) -> None:
        """Relay one request of the session."""
        answer_exchange(exchange, await self.relay(question_of(exchange), exchange))

    async def relay(self, question: Question, exchange: Exchange) -> Relayed:
        """Relay a question that belongs to an exchange."""
        hearer = StreamHearer(exchange.outlet, era=Era.LEGACY, asked=self._put)
        if self._settling is not None and not self._settling.done():
            # The end of the opening must not be overtaken: before it a server may refuse every request.
            await asyncio.wait({self._settling}, timeout=SETTLE_SECONDS)
        try:
            link = await self.live_link()
        except ClientError as exc:
            return failure_of(exc)
        if question.method in CALLS:
            called = read_target(question.method, question.params)
            if isinstance(called, Failure):
                return called
            errand = Errand(
                exchange=exchange,
                question=question,
                called=called,
                capabilities=self.capabilities,
                link=link,
                book=self._book,
                hearer=hearer,
            )
            await self._warden.perform(errand)
            return None
        answer = await self._ask(question, link, hearer, exchange.inbound.caller)
        if isinstance(answer, Failure):
            return answer
        shown = self._warden.masked(answer, question.params)
        return Reply(body=shown.raw, envelope=shown.error)

    async def _ask(self, question: Question, link: Link, hearer: StreamHearer, caller: Caller) -> Answer | Failure:
        """The answer to what is no call; of a list, what this caller may see."""
        answer = await self._warden.relay(question, link, hearer)
        if isinstance(answer, Failure):
            return answer
        if answer.error is None:
            self._remember(question)
        return await self._warden.screened(answer, question, self._book, link, caller)

    async def list(self, question: Question, exchange: Exchange) -> Answer | Failure:
        """One page of a list."""
        try:
            link = await self.live_link()
        except ClientError as exc:
            return failure_of(exc)
        hearer = StreamHearer(exchange.outlet, era=Era.LEGACY, asked=self._put)
        return await self._ask(question, link, hearer, exchange.inbound.caller)

    def hear(self, notification: Notification, raw: bytes) -> None:
        """Pass on a notification of the client."""
        told = self._tell(self._link, raw) if self._link is not None else None
        if notification.method == "notifications/initialized":
            self._initialized, self._settling = raw, told

    def take_answer(self, response: Response, raw: bytes) -> bool:
        """Hand an answer of the client to the upstream that asked; False if none did."""
        asked = self._asked.pop(response.id, None) if isinstance(response.id, str) else None
        if asked is None:
            return False
        self._tell(asked.link, replace_at(raw, ID, asked.raw_id))
        return True

    def attach(self, outlet: Outlet) -> None:
        """Where messages go that belong to no request: stdout, or an open GET stream."""
        self._outlet = outlet

    def detach(self, outlet: Outlet) -> None:
        """That stream is gone."""
        if self._outlet is outlet:
            self._outlet = None

    async def close(self) -> None:
        """End the session and what belongs to it upstream."""
        self.closed.set()
        self.streams.close()
        for exchange in tuple(self.in_flight.values()):
            exchange.cancel()
        for task in tuple(self._tasks):
            task.cancel()
        if self._reopening is not None:
            self._reopening.cancel()
            await asyncio.gather(self._reopening, return_exceptions=True)
        if self._link is not None:
            await self._link.close()

    def end_input(self) -> None:
        """Questions of the upstream end with its link."""

    def retire(self) -> None:
        """Another session takes its place: end this one, and the upstream session behind it."""
        self._closing = asyncio.ensure_future(self.close())

    @property
    def has_asked(self) -> bool:
        """Whether a question of the upstream waits for the client."""
        return bool(self._asked)

    def settle(self, opening: Question, revision: Revision) -> None:
        """From now on it is opened like this, and must answer with this version."""
        self._opening, self.revision = opening, revision

    async def drop_link(self) -> None:
        """Let go of an upstream that did not open; the next request tries again."""
        dropped, self._link = self._link, None
        if dropped is not None:
            await dropped.close()

    def hear_upstream(self, raw: bytes, notification: Notification) -> None:
        """Pass on what belongs to no request."""
        if notification.method == "notifications/tools/list_changed":
            self._book.forget()
        if notification.method.endswith("/list_changed"):
            self._changed()
        if notification.method == "notifications/cancelled":
            raw = self._in_client_terms(raw, notification.params or {})
        if raw and self._faucet.allows():
            self._loose_outlet().send(raw)

    def ask_client(self, raw: bytes, request: Request) -> None:
        """Put a question that belongs to no request to the client."""
        self._put(raw, request, self._loose_outlet())

    def _put(self, raw: bytes, request: Request, outlet: Outlet) -> None:
        """Under an id of ours, so that only real answers find their way back."""
        link = self._link
        if link is None:
            return
        need = NEEDS.get(request.method)
        if need is not None and need not in self.capabilities:
            self._refuse(link, request, METHOD_NOT_FOUND, "The client did not declare this capability")
        elif len(self._asked) >= MAX_ASKED:
            self._refuse(link, request, INTERNAL, "Too many questions are unanswered")
        elif isinstance(outlet, Silent):
            self._refuse(link, request, INTERNAL, "The client has no open stream")
        else:
            self._counter += 1
            mine = f"{self._mark}-{self._counter}"
            raw_id = slice_at(raw, ID) or b"null"
            self._asked[mine] = _Asked(raw_id=raw_id, upstream_id=request.id, link=link)
            outlet.send(replace_at(raw, ID, render(mine)))

    def _refuse(self, link: Link, request: Request, code: int, text: str) -> None:
        if request.method == "ping":
            self._tell(link, b'{"jsonrpc":"2.0","id":%b,"result":{}}' % render(request.id))
            return
        self._tell(link, render_error(request.id, {"code": code, "message": text}))

    def _in_client_terms(self, raw: bytes, params: JsonObject) -> bytes:
        """The upstream withdraws a question: the client knows it under our id. Empty if it was answered already."""
        wanted = params.get("requestId")
        for mine, asked in self._asked.items():
            if type(asked.upstream_id) is type(wanted) and asked.upstream_id == wanted:
                del self._asked[mine]
                return replace_at(raw, CANCELLED_ID, render(mine))
        return b""

    def _loose_outlet(self) -> Outlet:
        """The client's own stream if there is one, otherwise that of its latest request."""
        if self._outlet is not None:
            return self._outlet
        running = list(self.in_flight.values())
        return running[-1].outlet if running else Silent()

    # The upstream's life.

    async def live_link(self) -> Link:
        """The link, started again if it ended. Raises ClientError."""
        if self._link is not None and self._link.alive:
            return self._link
        if self._reopening is None or self._reopening.done():
            self._reopening = asyncio.create_task(self._reopen(self._link))
            self._reopening.add_done_callback(_see)
        # Whoever stops waiting does not stop the start: others wait for it too.
        return await asyncio.shield(self._reopening)

    async def _reopen(self, dead: Link | None) -> Link:
        upstream = self._warden.upstream
        if dead is not None:
            if not self._bridged:  # the end of a shared link is noted by whoever shares it out
                upstream.note_end()
            await dead.close()
        self._asked = {mine: asked for mine, asked in self._asked.items() if asked.link is not dead}
        self._link = None
        link = await (open_bridge(upstream, self._stray) if self._bridged else upstream.legacy(self._stray))
        try:
            async with asyncio.timeout(OPENING_SECONDS):
                await self._repeat_opening(link)
        except TimeoutError as exc:
            await link.close()
            raise NotUnderstood("initialize is not answered") from exc
        except BaseException:
            await link.close()
            raise
        self._link = link
        upstream.health.note_up()
        return link

    async def _repeat_opening(self, link: Link) -> None:
        answer = await link.ask(self._opening, Deaf())
        if value_at(answer.result, "protocolVersion") != self.revision.name:
            raise NotUnderstood("initialize is answered differently than before")
        self.opened = answer.result or {}
        if self._initialized is not None:
            await link.tell(self._initialized)
        for question in tuple(self._settings.values()):
            await link.ask(question, Deaf())

    def _remember(self, question: Question) -> None:
        if question.method not in REPEATED or len(self._settings) >= MAX_REPEATED:
            return
        about = value_at(question.params, "uri")
        if question.method == "resources/unsubscribe":
            self._settings.pop(f"resources/subscribe {about}", None)
        else:
            self._settings[f"{question.method} {about or ''}".strip()] = question

    def _tell(self, link: Link, raw: bytes) -> asyncio.Task[None]:
        """Send without waiting."""
        task = asyncio.create_task(_say(link, raw))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _see(reopening: asyncio.Task[Link]) -> None:
    """Nobody may be left to hear how a start ended."""
    if not reopening.cancelled():
        reopening.exception()


async def _say(link: Link, raw: bytes) -> None:
    with contextlib.suppress(ClientError):
        await link.tell(raw)


class _Stray:
    """Hears what the upstream says of no request."""

    def __init__(self, session: GuardSession) -> None:
        self._session = session

    def open(self) -> None:
        """Nothing to open: streams of no request are opened by the client."""

    def hear(self, raw: bytes, notification: Notification) -> None:
        """A notification for the client."""
        self._session.hear_upstream(raw, notification)

    def asked(self, raw: bytes, request: Request) -> None:
        """A question for the client."""
        self._session.ask_client(raw, request)
