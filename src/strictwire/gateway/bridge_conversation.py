"""One call of a legacy upstream on behalf of a stateless client: it may ask in the middle, and is kept until it is answered.

A round ends with the answer, or with questions; the next round brings answers and goes on where the call stands.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue, join_members, render
from strictwire.client.errors import ClientError
from strictwire.contract.handler import Ask
from strictwire.gateway.bridge_terms import offers
from strictwire.gateway.link import Answer, Deaf, Hearer, Link, Question
from strictwire.gateway.rewrite import TOKEN, TOLD_TOKEN, replace_at, slice_at, value_at
from strictwire.profiles.mcp.context import is_usable
from strictwire.profiles.mcp.modern import ASKING
from strictwire.wire.envelope import Notification, Request, RequestId, render_error, render_result

MAX_QUESTIONS: Final = 100
"""Questions of one call that may be open at once."""

METHOD_NOT_FOUND: Final = -32601
INTERNAL: Final = -32603


@dataclass(frozen=True, slots=True, kw_only=True)
class _Open:
    """A question of the upstream that its client has not answered yet."""

    id: RequestId
    ask: Ask
    raw: bytes
    """The question as it came."""
    carried: bool
    """It named no call, so it may be another's."""


class Conversation:
    """The call, and the hearer of whatever comes before its answer."""

    def __init__(self, link: Link, sent: Question, *, capabilities: Mapping[str, JsonValue]) -> None:
        self._link = link
        self._sent = sent
        self._capabilities = capabilities
        self.may_ask = sent.method in ASKING
        """Whether its method may be answered with questions at all."""
        self._hearer: Hearer = Deaf()
        self._token: bytes | None = None
        self._questions: dict[str, _Open] = {}
        self._numbers = itertools.count(1)
        self._changed = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._call = asyncio.create_task(link.ask(sent, self))

    @property
    def questions(self) -> bytes:
        """What is to be answered, as `inputRequests` of the stateless era."""
        return join_members({key: _shown(each) for key, each in self._questions.items()})

    @property
    def has_client(self) -> bool:
        """Whether its client waits now; otherwise it is parked."""
        return not isinstance(self._hearer, Deaf)

    async def go_on(self, question: Question, hearer: Hearer) -> Answer | None:
        """One round: the answer in the terms of the session, or None if something is asked. Raises ClientError.

        A client that goes away takes the call with it.
        """
        self._hearer = hearer
        has_token = value_at(question.params, "_meta", TOKEN[-1]) is not None
        self._token = slice_at(question.raw, TOKEN) if has_token else None
        self._take_answers(question)
        try:
            while not self._call.done() and not self._questions:
                self._changed.clear()
                waiting = asyncio.ensure_future(self._changed.wait())
                await asyncio.wait({self._call, waiting}, return_when=asyncio.FIRST_COMPLETED)
                waiting.cancel()
        except asyncio.CancelledError:
            self._sent.exchange = question.exchange
            await self.end()
            raise
        finally:
            self._hearer = Deaf()
        return self._call.result() if self._call.done() else None

    async def end(self) -> None:
        """Give the call up, if it is not answered yet; the upstream is told."""
        for task in (self._call, *self._tasks):
            task.cancel()
        await asyncio.gather(self._call, *self._tasks, return_exceptions=True)

    # A Hearer.

    def open(self) -> None:
        """Our own stream is opened by the first word on it: until then an error can still have a status."""

    def hear(self, raw: bytes, notification: Notification) -> None:
        """Pass on what belongs to the call, to the round that runs now and under its token."""
        if notification.method != "notifications/progress":
            self._hearer.hear(raw, notification)
        elif self._token is not None:
            self._hearer.hear(replace_at(raw, TOLD_TOKEN, self._token), notification)

    def asked(self, raw: bytes, request: Request) -> None:
        """A question of this call."""
        self._keep(raw, request, carried=False)

    def carry(self, raw: bytes, request: Request) -> None:
        """A question that may be another call's: answers find their way back by its id, whoever brings them."""
        self._keep(raw, request, carried=True)

    def take_carried(self) -> list[tuple[bytes, Request]]:
        """Questions that somebody else must carry now that this call is over."""
        left, self._questions = self._questions, {}
        return [
            (each.raw, Request(each.id, each.ask.method, dict(each.ask.params))) for each in left.values() if each.carried
        ]

    def _keep(self, raw: bytes, request: Request, *, carried: bool) -> None:
        """Keep a question for the client, or refuse it in its name."""
        params = request.params or {}
        if request.method == "ping":
            self._tell(render_result(request.id, b"{}"))
        elif not self.may_ask or not offers(self._capabilities, request.method, params):
            self._refuse(request.id, METHOD_NOT_FOUND, "The client did not declare this capability")
        elif len(self._questions) >= MAX_QUESTIONS:
            self._refuse(request.id, INTERNAL, "Too many questions are unanswered")
        else:
            ask = Ask(method=request.method, params=params)
            self._questions[f"q{next(self._numbers)}"] = _Open(id=request.id, ask=ask, raw=raw, carried=carried)
            self._changed.set()

    def withdraw(self, request_id: JsonValue) -> None:
        """The upstream no longer wants an answer."""
        for key, each in tuple(self._questions.items()):
            if type(each.id) is type(request_id) and each.id == request_id:
                del self._questions[key]

    def _take_answers(self, question: Question) -> None:
        """Hand usable answers to the upstream. What is missing or of the wrong shape is asked again."""
        given = question.params.get("inputResponses")
        for key, each in tuple(self._questions.items()):
            answer = given.get(key) if isinstance(given, dict) else None
            if is_usable(answer, each.ask):
                del self._questions[key]
                raw = slice_at(question.raw, ("params", "inputResponses", key)) or b"{}"
                self._tell(render_result(each.id, raw))

    def _refuse(self, request_id: RequestId, code: int, text: str) -> None:
        error: JsonObject = {"code": code, "message": text}
        self._tell(render_error(request_id, error))

    def _tell(self, raw: bytes) -> None:
        task = asyncio.create_task(say(self._link, raw))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _shown(question: _Open) -> bytes:
    """A question as a client of the stateless era is shown it."""
    return join_members({"method": render(question.ask.method), "params": slice_at(question.raw, ("params",)) or b"{}"})


async def say(link: Link, raw: bytes) -> None:
    """Tell a link something that it may no longer hear."""
    with contextlib.suppress(ClientError):
        await link.tell(raw)
