"""A call to a legacy upstream for a client of the stateless era. The upstream may ask the client in the middle of it.

A round ends with the answer, or with questions. The call stays open between rounds; the next round brings the client's
answers to the upstream and waits on.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue, join_members, render
from strictwire.client.background import BackgroundTasks
from strictwire.contract.handler import Ask
from strictwire.gateway.bridges.translation import can_answer
from strictwire.gateway.links.link import Link, Listener, NullListener, UpstreamRequest, try_send
from strictwire.gateway.links.raw_message import (
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    NOTIFIED_TOKEN,
    PROGRESS_TOKEN,
    UpstreamAnswer,
    replace_at,
    slice_at,
    value_at,
)
from strictwire.profiles.mcp.answers import is_usable
from strictwire.profiles.mcp.targets import ASKING
from strictwire.wire.envelope import Notification, Request, RequestId, render_error, render_result

MAX_QUESTIONS: Final = 100
"""Questions of one call that may be open at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """A question of the upstream that its client has not answered yet."""

    id: RequestId
    ask: Ask
    raw: bytes
    adopted: bool
    """The question named no call, so it may belong to another one."""


class ResumableCall:
    """The call, and the Listener for what the upstream sends before its answer."""

    def __init__(self, link: Link, sent: UpstreamRequest, *, capabilities: Mapping[str, JsonValue]) -> None:
        """Sends the request at once."""
        self._link = link
        self._sent = sent
        self._capabilities = capabilities
        self.may_ask = sent.method in ASKING
        """Whether the method may be answered with questions at all."""
        self._listener: Listener | None = None
        """The client's listener during a round."""
        self._token: bytes | None = None
        """The client's progress token in this round."""
        self._questions: dict[str, _Question] = {}
        self._numbers = itertools.count(1)
        self._asked = asyncio.Event()
        self._tasks = BackgroundTasks()
        self._answer = asyncio.create_task(link.request(sent, self))

    @property
    def questions(self) -> bytes:
        """The open questions, as `inputRequests` of the stateless era."""
        return join_members({key: _as_input_request(each) for key, each in self._questions.items()})

    @property
    def has_client(self) -> bool:
        """Whether the client waits now; otherwise the call is parked."""
        return self._listener is not None

    async def resume(self, request: UpstreamRequest, listener: Listener) -> UpstreamAnswer | None:
        """Run one round: the answer in the terms of the session, or None if there are questions. Raises ClientError.

        Cancelling a round cancels the call.
        """
        self._listener = listener
        has_token = value_at(request.params, "_meta", PROGRESS_TOKEN[-1]) is not None
        self._token = slice_at(request.raw, PROGRESS_TOKEN) if has_token else None
        self._pass_answers(request)
        try:
            while not self._answer.done() and not self._questions:
                self._asked.clear()
                asked = asyncio.ensure_future(self._asked.wait())
                await asyncio.wait({self._answer, asked}, return_when=asyncio.FIRST_COMPLETED)
                asked.cancel()
        except asyncio.CancelledError:
            self._sent.exchange = request.exchange  # the reason of the cancellation is there
            await self.cancel()
            raise
        finally:
            self._listener = None
        return self._answer.result() if self._answer.done() else None

    async def cancel(self) -> None:
        """Cancel the call at the upstream, if it is not answered yet."""
        self._answer.cancel()
        await asyncio.gather(self._answer, self._tasks.cancel(), return_exceptions=True)

    # A Listener.

    def on_stream(self) -> None:
        """See Listener. The client's stream opens with its first message: until then an error can have a status."""

    def on_notification(self, raw: bytes, notification: Notification) -> None:
        """See Listener. Notifications go to the client of the running round, under its token."""
        listener = self._listener or NullListener()
        if notification.method != "notifications/progress":
            listener.on_notification(raw, notification)
        elif self._token is not None:
            listener.on_notification(replace_at(raw, NOTIFIED_TOKEN, self._token), notification)

    def on_request(self, raw: bytes, request: Request) -> None:
        """See Listener. A question of this call."""
        self.ask(raw, request, adopted=False)

    def ask(self, raw: bytes, request: Request, *, adopted: bool) -> None:
        """Keep a question for the client, or refuse it on the client's behalf.

        An adopted question named no call; its answer finds its way back by its id, whichever call carries it.
        """
        params = request.params or {}
        if request.method == "ping":
            self._send(render_result(request.id, b"{}"))
        elif not self.may_ask or not can_answer(self._capabilities, request.method, params):
            self._refuse(request.id, METHOD_NOT_FOUND, "The client did not declare this capability")
        elif len(self._questions) >= MAX_QUESTIONS:
            self._refuse(request.id, INTERNAL_ERROR, "Too many questions are unanswered")
        else:
            ask = Ask(method=request.method, params=params)
            self._questions[f"q{next(self._numbers)}"] = _Question(id=request.id, ask=ask, raw=raw, adopted=adopted)
            self._asked.set()

    def take_adopted(self) -> list[tuple[bytes, Request]]:
        """Take the adopted questions out, for another call to carry: this one is over."""
        left, self._questions = self._questions, {}
        return [
            (each.raw, Request(each.id, each.ask.method, dict(each.ask.params))) for each in left.values() if each.adopted
        ]

    def withdraw(self, request_id: JsonValue) -> None:
        """Drop a question that the upstream cancelled."""
        for key, each in tuple(self._questions.items()):
            if type(each.id) is type(request_id) and each.id == request_id:
                del self._questions[key]

    def _pass_answers(self, request: UpstreamRequest) -> None:
        """Pass usable answers to the upstream. A missing or malformed one is asked for again."""
        given = request.params.get("inputResponses")
        for key, each in tuple(self._questions.items()):
            answer = given.get(key) if isinstance(given, dict) else None
            if is_usable(answer, each.ask):
                del self._questions[key]
                self._send(render_result(each.id, slice_at(request.raw, ("params", "inputResponses", key)) or b"{}"))

    def _refuse(self, request_id: RequestId, code: int, text: str) -> None:
        error: JsonObject = {"code": code, "message": text}
        self._send(render_error(request_id, error))

    def _send(self, raw: bytes) -> None:
        self._tasks.start(try_send(self._link, raw))


def _as_input_request(question: _Question) -> bytes:
    return join_members({"method": render(question.ask.method), "params": slice_at(question.raw, ("params",)) or b"{}"})
