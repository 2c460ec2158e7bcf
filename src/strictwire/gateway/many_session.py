"""One legacy session of a client in front of several upstreams, each with a session of its own behind it.

All of them agree with the client on one version: the oldest that any of them answers. An upstream that does not open
is left out until it does; the session begins if one does.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from strictwire.canon.json import JsonObject, render
from strictwire.client.errors import ClientError
from strictwire.fault.failure import Failure
from strictwire.gateway.health import State
from strictwire.gateway.hearing import StreamHearer
from strictwire.gateway.link import Answer, Question, answer_exchange, question_of
from strictwire.gateway.merge import merge_capabilities, merge_instructions
from strictwire.gateway.rewrite import replace_at
from strictwire.gateway.session import GuardSession
from strictwire.gateway.status import Status
from strictwire.gateway.switch import Switch
from strictwire.gateway.terms import timed_out
from strictwire.gateway.upstream import OPENING_SECONDS
from strictwire.gateway.warden import Warden
from strictwire.gateway.wing import SessionWing, Visit, health_of, name_of
from strictwire.profiles.endpoint import Outlet
from strictwire.profiles.mcp.exchange import Exchange
from strictwire.profiles.mcp.identity import Identity
from strictwire.profiles.mcp.streams import Streams
from strictwire.wire.envelope import Notification, Response, render_notification, render_result
from strictwire.wire.revisions import LEGACY_NAMES, REVISIONS, Revision
from strictwire.wire.session import InFlight

CHANGED: Final = ("tools", "prompts", "resources")
DELAYS: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Seconds before an upstream that did not open is tried again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """The upstreams that a session is opened with, and who the guard says it is."""

    wardens: Sequence[Warden]
    identity: Identity
    elapsed: Callable[[], float]


class ManySession:
    """Looks like one session to the endpoint, and holds one for each upstream."""

    def __init__(self, crowd: Crowd, *, session_id: str | None, principal: str, opening: Question) -> None:
        self.id = session_id
        self.principal = principal
        self.revision: Revision = REVISIONS[LEGACY_NAMES[-1]]
        self.in_flight: InFlight[Exchange] = InFlight()
        self.streams = Streams()
        self.closed = asyncio.Event()
        self.opening = b""
        """The answer to `initialize`."""
        self._closing: asyncio.Future[None] | None = None
        self._crowd = crowd
        self._opening = opening
        self._outlet: Outlet | None = None
        self._revivals: list[asyncio.Task[None]] = []
        self._wings: tuple[SessionWing, ...] = tuple(
            SessionWing(warden, self._new_session(warden, number, opening)) for number, warden in enumerate(crowd.wardens)
        )
        self._switch = Switch(
            self._wings,
            status=Status([health_of(wing) for wing in self._wings]),
            tail=b"}",
            elapsed=crowd.elapsed,
            modern=False,
        )

    def _new_session(self, warden: Warden, number: int, opening: Question) -> GuardSession:
        return GuardSession(
            warden,
            session_id=self.id,
            principal=self.principal,
            opening=opening,
            in_flight=self.in_flight,
            mark=f"strictwire-{number}",
            changed=partial(self._forget, number),
        )

    async def start(self, hearer: StreamHearer) -> Answer | Failure:
        """Open a session with each; the first failure if none opens."""
        answers = await asyncio.gather(*(self._start(wing, hearer) for wing in self._wings))
        opened = [wing for wing, answer in zip(self._wings, answers, strict=True) if _is_open(answer)]
        if not opened:
            return next((each for each in answers if isinstance(each, Answer)), answers[0])
        self.revision = min((wing.session.revision for wing in opened), key=lambda each: LEGACY_NAMES.index(each.name))
        await asyncio.gather(*(self._agree(wing, hearer) for wing in opened))
        for wing in self._wings:
            wing.session.settle(self._worded(), self.revision)
            if wing not in opened:
                self._revivals.append(asyncio.create_task(self._revive(wing)))
        answer = self._answer()
        self.opening = answer.raw
        return answer

    async def _start(self, wing: SessionWing, hearer: StreamHearer) -> Answer | Failure:
        try:
            async with asyncio.timeout(OPENING_SECONDS):
                answer = await wing.session.start(hearer)
        except TimeoutError:
            answer = timed_out(OPENING_SECONDS)
        if not _is_open(answer):
            # A process that ended has said so already, with its reason.
            if health_of(wing).state is not State.DOWN:
                health_of(wing).note_down("it does not open a session")
            await wing.session.drop_link()
        return answer

    async def _agree(self, wing: SessionWing, hearer: StreamHearer) -> None:
        """One that answered a newer version is opened again with the one that all share."""
        if wing.session.revision is self.revision:
            return
        await wing.session.drop_link()
        wing.session.settle(self._worded(), self.revision)
        await self._start(wing, hearer)

    def _worded(self) -> Question:
        """The client's `initialize`, asking for the version that was agreed."""
        name = self.revision.name
        if self._opening.params.get("protocolVersion") == name:
            return self._opening
        params = {**self._opening.params, "protocolVersion": name}
        raw = replace_at(self._opening.raw, ("params", "protocolVersion"), render(name))
        return replace(self._opening, params=params, raw=raw)

    def _answer(self) -> Answer:
        result: JsonObject = {
            "protocolVersion": self.revision.name,
            "capabilities": self._capabilities(),
            "serverInfo": self._crowd.identity.as_json(),
        }
        said = ((name_of(wing), wing.session.opened.get("instructions")) for wing in self._wings)
        instructions = merge_instructions(said)
        if instructions is not None:
            result["instructions"] = instructions
        return Answer(raw=render_result(self._opening.id, render(result)), result=result)

    def _capabilities(self) -> JsonObject:
        return merge_capabilities([*(wing.offered for wing in self._wings), {"resources": {}}])

    async def serve(self, exchange: Exchange) -> None:
        """Answer one request of the session."""
        answer_exchange(exchange, await self._switch.serve(question_of(exchange), Visit(exchange=exchange)))

    def hear(self, notification: Notification, raw: bytes) -> None:
        """Everybody hears what a client says of itself; word of a question's progress is for those who ask something."""
        for wing in self._wings:
            if notification.method != "notifications/progress" or wing.session.has_asked:
                wing.session.hear(notification, raw)

    def take_answer(self, response: Response, raw: bytes) -> bool:
        """Hand an answer to the upstream that asked; False if none did."""
        return any(wing.session.take_answer(response, raw) for wing in self._wings)

    def attach(self, outlet: Outlet) -> None:
        """Where messages go that belong to no request."""
        self._outlet = outlet
        for wing in self._wings:
            wing.session.attach(outlet)

    def detach(self, outlet: Outlet) -> None:
        """That stream is gone."""
        if self._outlet is outlet:
            self._outlet = None
        for wing in self._wings:
            wing.session.detach(outlet)

    def end_input(self) -> None:
        """Questions of an upstream end with its link."""

    def retire(self) -> None:
        """Another session takes its place: end this one, and the upstream sessions behind it."""
        self._closing = asyncio.ensure_future(self.close())

    def announce(self, warden: Warden) -> None:
        """An upstream is back: its lists may have changed."""
        wing = next(each for each in self._wings if each.warden is warden)
        self._switch.forget(wing)
        if self._outlet is not None and health_of(wing).state is State.UP:
            for kind in CHANGED:
                if kind in wing.offered:
                    self._outlet.send(render_notification(f"notifications/{kind}/list_changed", {}))

    async def _revive(self, wing: SessionWing) -> None:
        """Open an upstream that did not open with the others, and tell the client what it brings."""
        for seconds in itertools.chain(DELAYS, itertools.repeat(DELAYS[-1])):
            await asyncio.sleep(seconds)
            with contextlib.suppress(ClientError):
                await wing.session.live_link()
                self.announce(wing.warden)
                return

    async def close(self) -> None:
        """End the session with each of them."""
        self.closed.set()
        self.streams.close()
        for task in self._revivals:
            task.cancel()
        await asyncio.gather(*self._revivals, return_exceptions=True)
        await asyncio.gather(*(wing.session.close() for wing in self._wings))

    def _forget(self, number: int) -> None:
        self._switch.forget(self._wings[number])


def _is_open(answer: Answer | Failure) -> bool:
    return isinstance(answer, Answer) and answer.result is not None
