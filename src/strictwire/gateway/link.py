"""The seam to an upstream: one request asked, one message told. Two carriers exist, `pipe_link` and `http_link`.

A link speaks one era. What it hands back is in the client's terms: the client's ids and tokens stand where the link
put its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, TypeAlias

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.errors import NotUnderstood
from strictwire.fault.failure import Failure
from strictwire.profiles.endpoint import Reply
from strictwire.profiles.mcp.exchange import Exchange
from strictwire.wire.envelope import Notification, Request, RequestId, Response, render_notification


class Era(StrEnum):
    """Which of the two ways of speaking a link uses."""

    MODERN = "modern"
    LEGACY = "legacy"


@dataclass(slots=True, kw_only=True)
class Question:
    """A request on its way upstream."""

    id: RequestId
    method: str
    params: JsonObject
    raw: bytes
    """The whole message as the client sent it."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers that repeat arguments, where the upstream speaks HTTP."""
    shown: str | None = None
    """What the client calls its target, where the upstream calls it otherwise."""
    exchange: Exchange | None = None
    """The exchange of the client that it belongs to, if it is one's."""

    @property
    def reason(self) -> JsonValue:
        """Why the client cancelled it, if it did and said so."""
        return None if self.exchange is None else self.exchange.cancel_reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What an upstream answered: exactly one of result and error."""

    raw: bytes
    """The whole message, with the client's id."""
    result: JsonObject | None = None
    error: JsonObject | None = None
    status: int | None = None
    """The HTTP status it came with, where it came by HTTP."""


def question_of(exchange: Exchange) -> Question:
    """The request of an exchange, as it is relayed."""
    request = exchange.request
    return Question(id=request.id, method=request.method, params=request.params or {}, raw=exchange.raw, exchange=exchange)


Relayed: TypeAlias = Reply | Failure | None
"""What became of a request: its answer, why it could not be relayed, or None where a call has answered it already."""


def answer_exchange(exchange: Exchange, relayed: Relayed) -> None:
    """Answer a request with what became of it."""
    if isinstance(relayed, Failure):
        exchange.refuse(relayed)
    elif relayed is not None:
        exchange.answer(relayed)


class Hearer(Protocol):
    """Whoever waits for an answer, and hears what comes before it."""

    def open(self) -> None:
        """The upstream has begun a stream."""

    def hear(self, raw: bytes, notification: Notification) -> None:
        """A notification that belongs to the request."""

    def asked(self, raw: bytes, request: Request) -> None:
        """A request of a legacy upstream, to be answered with `Link.tell`."""


class Link(Protocol):
    """A way to one upstream that is open."""

    @property
    def alive(self) -> bool:
        """Whether it can still be used."""

    async def ask(self, question: Question, hearer: Hearer) -> Answer:
        """Relay a request. Cancelling it tells the upstream. Raises ClientError."""

    async def tell(self, raw: bytes) -> None:
        """Relay a notification, or the answer to a request of the upstream. Raises ClientError."""

    async def prove(self, question: Question, seconds: float) -> None:
        """After a request that was not answered in time: close unless this one is. Never raises."""

    async def close(self) -> None:
        """Let go of everything. Never raises."""


def check_answer(response: Response, raw: bytes, status: int | None = None) -> Answer:
    """The answer, if it is one by the protocol: an object, or an error with a code and a text. Raises NotUnderstood."""
    if response.error is None:
        if not isinstance(response.result, dict):
            raise NotUnderstood("a result must be an object", raw, status)
        return Answer(raw=raw, result=response.result, status=status)
    if type(response.error.get("code")) is not int or not isinstance(response.error.get("message"), str):
        raise NotUnderstood("an error must have a code and a message", raw, status)
    return Answer(raw=raw, error=response.error, status=status)


def withdrawal(question: Question, request_id: RequestId) -> bytes:
    """What tells an upstream that nobody waits for the answer any more."""
    params: JsonObject = {"requestId": request_id}
    if question.reason is not None:
        params["reason"] = question.reason
    return render_notification("notifications/cancelled", params)


class Deaf:
    """A hearer of the guard's own requests, which have nothing before their answer."""

    def open(self) -> None:
        """Nothing to open."""

    def hear(self, raw: bytes, notification: Notification) -> None:
        """Not for us."""

    def asked(self, raw: bytes, request: Request) -> None:
        """Not for us."""
