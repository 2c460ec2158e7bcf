"""A link over Streamable HTTP: one POST a request, so nothing has to be renamed.

In the stateless era that is all. In the legacy era there is a session: its id is repeated, its GET stream is kept open
for what belongs to no request, and a stream that breaks off before its answer is taken up again where it can be.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from http import HTTPStatus
from typing import Final, NamedTuple

from strictwire.canon.json import JsonObject, NotStrict, parse_object, render
from strictwire.client.errors import CannotReach, ClientError, NotUnderstood, ServerGone
from strictwire.client.http import HttpClient, HttpStream
from strictwire.client.message import modern_headers
from strictwire.client.sse import Event
from strictwire.gateway.links.link import Answer, Era, Hearer, Question, check_answer, withdrawal
from strictwire.gateway.links.raw_message import ANSWER_LIMITS, ID, one_line, read_upstream, replace_at
from strictwire.wire.envelope import Notification, Request, Response

ACCEPT: Final = "application/json, text/event-stream"
RETRY_SECONDS: Final = 1.0
"""Before a stream is taken up again, where the server does not say how long to wait."""

MAX_RETRY_SECONDS: Final = 30.0
MAX_RESUMES: Final = 20
"""How often the stream of one request is taken up again."""

_NO_STREAM: Final = frozenset({HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_FOUND, HTTPStatus.BAD_REQUEST})


class _Place:
    """Where a stream stands: the last event id, and how long to wait before taking it up again."""

    def __init__(self) -> None:
        self.last: str | None = None
        self.wait = RETRY_SECONDS

    def note(self, event: Event) -> None:
        self.last = event.id if event.id is not None else self.last
        if event.retry is not None:
            self.wait = min(event.retry / 1000, MAX_RETRY_SECONDS)


class Lines(NamedTuple):
    """The connections to one upstream, shared by its links."""

    kept: HttpClient
    """For questions: used again for the next one."""
    single: HttpClient
    """For messages that get no result. Servers accept them before they take them in, and close the connection if that goes
    wrong: no call may be on it by then."""

    async def close(self) -> None:
        """Close all of them."""
        await self.kept.close()
        await self.single.close()


class HttpLink:
    """One endpoint, or one session of it."""

    def __init__(self, url: str, *, lines: Lines, era: Era, headers: Mapping[str, str], stray: Hearer) -> None:
        self._url = url
        self._lines = lines
        self._era = era
        self._extra = dict(headers)
        self._stray = stray
        self._session_id: str | None = None
        self._version: str | None = None
        self._listening: asyncio.Task[None] | None = None
        self._farewells: set[asyncio.Task[None]] = set()
        self._ended = False

    @property
    def alive(self) -> bool:
        """False once the upstream has forgotten the session."""
        return not self._ended

    async def ask(self, question: Question, hearer: Hearer) -> Answer:
        """See Link. Raises ClientError."""
        headers = self._headers({"method": question.method, "params": question.params}) | dict(question.headers)
        try:
            async with self._lines.kept.stream("POST", self._url, headers=headers, body=question.raw) as answer:
                self._check_session(answer)
                found = await self._read(answer, question, hearer)
        except asyncio.CancelledError:
            self._withdraw(question)
            raise
        if question.method == "initialize" and found.result is not None:
            self._agree(answer, found.result)
        return found

    async def tell(self, raw: bytes) -> None:
        """See Link. Raises ClientError."""
        message = parse_object(raw)
        async with self._lines.single.stream("POST", self._url, headers=self._headers(message), body=raw) as answer:
            self._check_session(answer)
            if answer.status >= HTTPStatus.MULTIPLE_CHOICES:
                raise NotUnderstood(f"HTTP {answer.status} for a notification", status=answer.status)
        if message.get("method") == "notifications/initialized":
            self._listening = asyncio.create_task(self._listen())

    async def prove(self, question: Question, seconds: float) -> None:
        """Every request has its own connection, so silence on one says nothing of the others."""

    async def close(self) -> None:
        """End the session. The connections are shared and stay."""
        self._ended = True
        tasks = [*self._farewells, *([self._listening] if self._listening is not None else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._session_id is not None:
            with contextlib.suppress(ClientError, TimeoutError):
                async with asyncio.timeout(2):
                    await self._lines.single.send("DELETE", self._url, headers=self._headers({}))

    def _headers(self, message: JsonObject) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": ACCEPT}
        if self._era is Era.MODERN:
            headers |= modern_headers(message)
        elif self._version is not None:
            headers["MCP-Protocol-Version"] = self._version
        if self._session_id is not None:
            headers["Mcp-Session-Id"] = self._session_id
        return headers | self._extra

    def _agree(self, answer: HttpStream, result: JsonObject) -> None:
        self._session_id = answer.headers.get("mcp-session-id")
        version = result.get("protocolVersion")
        self._version = version if isinstance(version, str) else None

    def _check_session(self, answer: HttpStream) -> None:
        if answer.status == HTTPStatus.NOT_FOUND and self._session_id is not None:
            self._ended = True
            raise ServerGone

    async def _read(self, answer: HttpStream, question: Question, hearer: Hearer) -> Answer:
        if not answer.is_event_stream:
            return _read_body(await answer.read(), answer.status, question)
        hearer.open()
        place = _Place()
        found = await self._follow(answer, question, hearer, place)
        for _ in range(MAX_RESUMES):
            if found is not None or place.last is None or self._era is Era.MODERN:
                break
            await asyncio.sleep(place.wait)
            async with self._take_up(place) as resumed:
                found = await self._follow(resumed, question, hearer, place)
        if found is None:
            raise ServerGone
        return found

    async def _follow(self, answer: HttpStream, question: Question, hearer: Hearer, place: _Place) -> Answer | None:
        """Hand on what comes until the answer; None if the stream ends or breaks before it."""
        with contextlib.suppress(ServerGone):
            async for event in answer.events():
                place.note(event)
                found = _pass_event(event.data, question, hearer)
                if found is not None:
                    return found
        return None

    @contextlib.asynccontextmanager
    async def _take_up(self, place: _Place) -> AsyncIterator[HttpStream]:
        """A GET that goes on where a stream broke off. Raises NotUnderstood: the upstream does not know the place."""
        headers = self._headers({}) | ({"Last-Event-ID": place.last} if place.last is not None else {})
        headers |= {"Accept": "text/event-stream"}
        headers.pop("Content-Type")
        async with self._lines.kept.stream("GET", self._url, headers=headers) as answer:
            if answer.status != HTTPStatus.OK or not answer.is_event_stream:
                raise NotUnderstood(f"HTTP {answer.status} for an event stream", status=answer.status)
            yield answer

    async def _listen(self) -> None:
        """Keep the GET stream of the session open, for as long as the upstream offers one."""
        place = _Place()
        while not self._ended:
            try:
                async with self._take_up(place) as answer:
                    async for event in answer.events():
                        place.note(event)
                        _pass_event(event.data, None, self._stray)
            except NotUnderstood as exc:
                if exc.status in _NO_STREAM:
                    return
                place.last = None
            except (CannotReach, ServerGone):
                place.wait = min(max(place.wait, RETRY_SECONDS) * 2, MAX_RETRY_SECONDS)
            except ClientError:
                place.last = None
            await asyncio.sleep(place.wait)

    def _withdraw(self, question: Question) -> None:
        """In the stateless era the closed stream says it; in the legacy era a notification does."""
        if self._era is Era.MODERN or question.method == "initialize":
            return
        task = asyncio.create_task(self._say(withdrawal(question, question.id)))
        self._farewells.add(task)
        task.add_done_callback(self._farewells.discard)

    async def _say(self, raw: bytes) -> None:
        with contextlib.suppress(ClientError):
            await self.tell(raw)


def _pass_event(data: bytes, question: Question | None, hearer: Hearer) -> Answer | None:
    """Hand on one message of a stream; the answer to the question is returned. Raises NotUnderstood."""
    if not data:
        return None
    data = one_line(data)
    match read_upstream(data):
        case Notification() as notification:
            hearer.hear(data, notification)
        case Request() as request:
            hearer.asked(data, request)
        case Response() as response:
            if question is not None and _is_same(response, question):
                return check_answer(response, data)
        case _:
            if question is not None:
                return _read_body(data, HTTPStatus.OK, question)
    return None


def _is_same(response: Response, question: Question) -> bool:
    return type(response.id) is type(question.id) and response.id == question.id


def _read_body(body: bytes, status: int, question: Question) -> Answer:
    """A whole answer. An error may come without an id: the POST tells which request it answers. Raises NotUnderstood."""
    body = one_line(body)
    read = read_upstream(body)
    if isinstance(read, Response) and _is_same(read, question):
        return check_answer(read, body, status)
    try:
        message = parse_object(body, ANSWER_LIMITS)
    except NotStrict as exc:
        raise NotUnderstood(f"HTTP {status} without a JSON-RPC message", body, status) from exc
    error = message.get("error")
    if message.get("id") is None and isinstance(error, dict) and "result" not in message:
        return check_answer(Response(question.id, None, error), replace_at(body, ID, render(question.id)), status)
    raise NotUnderstood(f"HTTP {status} with a message that does not answer the request", body, status)
