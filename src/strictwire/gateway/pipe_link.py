"""A link over a process: every request shares one pair of pipes, so ids and tokens are ours and are mapped back.

What the process says of no request goes to `stray`. What it says against the protocol is counted and dropped: a line
that is no message, an answer nobody waits for, a second answer, an answer to a request that was withdrawn.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from strictwire.canon.json import render
from strictwire.client.errors import ClientError, NotUnderstood, ServerGone, TimedOut, TooLarge
from strictwire.client.stdio import StdioProcess
from strictwire.gateway.link import Answer, Deaf, Era, Hearer, Question, check_answer, withdrawal
from strictwire.gateway.rewrite import (
    CANCELLED_ID,
    ENDED_SUBSCRIPTION,
    ID,
    SUBSCRIPTION,
    TOKEN,
    TOLD_SUBSCRIPTION,
    TOLD_TOKEN,
    one_line,
    read_upstream,
    replace_at,
    slice_at,
    value_at,
    with_id,
)
from strictwire.profiles.mcp.era import META_LOG_LEVEL
from strictwire.profiles.mcp.targets import CALLS
from strictwire.wire.envelope import Notification, Request, Response, Unreadable

MAX_UNSENT: Final = 16 * 1024 * 1024
"""Bytes that may wait for a process that does not read; past it the process counts as hanging."""

FAIR: Final = 64
"""Lines that are taken in one go."""

EXIT_SECONDS: Final = 0.2
"""For a process that closed its output to tell its exit code; whoever waits for an answer waits no longer than this."""

MAX_KEPT: Final = 200
"""Bytes of a malformed line that are kept for whoever looks into it."""

Ended: TypeAlias = Callable[[ClientError], None]
"""Told, once, why a process is of no use any more."""

_ID: Final = re.compile(rb'"id"\s*:\s*([0-9]{1,15})\b')


def _unheard(_reason: ClientError) -> None:
    """Nobody wants to know."""


@dataclass(slots=True, kw_only=True)
class _Flight:
    """A request that waits for its answer."""

    question: Question
    hearer: Hearer
    answered: asyncio.Future[tuple[Response, bytes]]
    token: bytes | None
    """The client's own progress token."""


class PipeLink:
    """Reads a process in the background and hands everything to whom it belongs."""

    def __init__(self, process: StdioProcess, *, era: Era, stray: Hearer, ended: Ended = _unheard) -> None:
        self._process = process
        self._ended = ended
        self._era = era
        self._stray = stray
        self._flights: dict[int, _Flight] = {}
        self._numbers = itertools.count(1)
        self._unsent = 0
        self._farewells: set[asyncio.Task[None]] = set()
        self._reader = asyncio.create_task(self._read())
        self._closing: asyncio.Future[None] | None = None
        self.refused: Counter[str] = Counter()
        """What was dropped, by kind."""

    @property
    def alive(self) -> bool:
        """The process still has its output open."""
        return not self._reader.done()

    def turn(self, era: Era, stray: Hearer) -> None:
        """Speak another era from now on. Nothing may be in flight."""
        self._era, self._stray = era, stray

    async def ask(self, question: Question, hearer: Hearer) -> Answer:
        """See Link. Raises ServerGone, TooLarge, NotUnderstood."""
        number = next(self._numbers)
        token = slice_at(question.raw, TOKEN) if value_at(question.params, "_meta", "progressToken") is not None else None
        answered: asyncio.Future[tuple[Response, bytes]] = asyncio.get_running_loop().create_future()
        self._flights[number] = _Flight(question=question, hearer=hearer, answered=answered, token=token)
        try:
            await self._write(_with_numbers(question, number, token))
            response, line = await answered
        except asyncio.CancelledError:
            self._withdraw(number, question)
            raise
        finally:
            del self._flights[number]
        return _in_terms_of(question, check_answer(response, line), number)

    async def tell(self, raw: bytes) -> None:
        """See Link. Raises ServerGone."""
        await self._write(one_line(raw))

    async def prove(self, question: Question, seconds: float) -> None:
        """See Link: one process serves every request, so if it hangs all of them do."""
        try:
            async with asyncio.timeout(seconds):
                await self.ask(question, Deaf())
        except (TimeoutError, ClientError):
            self._ended(TimedOut("a proof of life", seconds))
            await self.close()

    @property
    def is_closed(self) -> bool:
        """Whether nothing is left of the process."""
        return self._closing is not None and self._closing.done()

    async def close(self) -> None:
        """Stop reading and end the process. Whoever stops waiting for that does not stop it: a process must not be left."""
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        tasks = [self._reader, *self._farewells]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._fail_all(ServerGone())
        await self._process.close()

    async def _write(self, line: bytes) -> None:
        if not self.alive or self._unsent > MAX_UNSENT:
            raise ServerGone(self._process.exit_code, self._process.stderr_tail)
        self._unsent += len(line)
        try:
            await self._process.write_line(line)
        finally:
            self._unsent -= len(line)

    def _withdraw(self, number: int, question: Question) -> None:
        """Tell the process without waiting for it: whoever withdrew does not wait either."""
        task = asyncio.create_task(self._say(withdrawal(question, number)))
        self._farewells.add(task)
        task.add_done_callback(self._farewells.discard)

    async def _say(self, raw: bytes) -> None:
        with contextlib.suppress(ClientError):
            await self._write(raw)

    async def _read(self) -> None:
        for count in itertools.count():
            if count % FAIR == 0:
                # A flood that is always there to be read must not keep everybody else from being served.
                await asyncio.sleep(0)
            try:
                line = await self._process.read_line()
            except TooLarge as exc:
                # Whose answer it was cannot be known any more, and waiting on would only look like a slow server.
                self.refused["too_large"] += 1
                self._fail_all(exc)
                continue
            if line is None:
                break
            self._take(line)
        with contextlib.suppress(TimedOut):
            await self._process.wait(EXIT_SECONDS)
        gone = ServerGone(self._process.exit_code, self._process.stderr_tail)
        self._ended(gone)
        self._fail_all(gone)

    def _take(self, line: bytes) -> None:
        match read_upstream(line):
            case Response() as response:
                self._settle(response, line)
            case Notification() as notification:
                self._route(notification, line)
            case Request() as request:
                self._pass_request(request, line)
            case Unreadable() as unreadable:
                self._refuse(unreadable, line)

    def _settle(self, response: Response, line: bytes) -> None:
        flight = self._find(response.id)
        if flight is None or flight.answered.done():
            self.refused["unasked_answer"] += 1
            return
        flight.answered.set_result((response, line))

    def _refuse(self, unreadable: Unreadable, line: bytes) -> None:
        """A line that is no message. If it shows whose answer it was meant to be, that request has failed."""
        self.refused["no_message"] += 1
        flight = self._find(unreadable.id)
        if flight is None and b'"jsonrpc"' in line:
            flight = next((each for text in _ID.findall(line) if (each := self._find(int(text)))), None)
        if flight is not None and not flight.answered.done():
            flight.answered.set_exception(NotUnderstood("the answer is no JSON-RPC message", line[:MAX_KEPT]))

    def _find(self, number: object) -> _Flight | None:
        return self._flights.get(number) if type(number) is int else None

    def _route(self, notification: Notification, line: bytes) -> None:
        """To the request whose token, subscription or id it names; otherwise see `_pass_loose`."""
        for path, restored in _NAMING[self._era]:
            number = value_at({"params": notification.params}, *path)
            flight = self._find(number)
            value = _client_value(flight, restored) if flight is not None else None
            if flight is not None and value is not None:
                flight.hearer.hear(replace_at(line, path, value), notification)
                return
        if notification.method == "notifications/progress":
            self.refused["unasked_progress"] += 1
            return
        self._pass_loose(notification, line)

    def _pass_loose(self, notification: Notification, line: bytes) -> None:
        """Names no request. In the legacy era it is the session's; in the stateless era only a log message has an owner."""
        if notification.method == "notifications/message":
            owner = self._find_log_owner()
            if owner is not None:
                owner.hear(line, notification)
                return
        if self._era is Era.LEGACY:
            self._stray.hear(line, notification)
        else:
            self.refused["loose_notification"] += 1

    def _find_log_owner(self) -> Hearer | None:
        """The request that a log message must belong to; None if there are several, for nothing tells them apart."""
        asking = [flight.hearer for flight in self._flights.values() if self._may_log(flight.question)]
        return asking[0] if len(asking) == 1 else None

    def _may_log(self, question: Question) -> bool:
        if self._era is Era.LEGACY:
            return question.method in CALLS
        return value_at(question.params, "_meta", META_LOG_LEVEL) is not None

    def _pass_request(self, request: Request, line: bytes) -> None:
        if self._era is Era.MODERN:
            self.refused["request_of_server"] += 1
            return
        running = [flight.hearer for flight in self._flights.values() if flight.question.method in CALLS]
        (running[0] if len(running) == 1 else self._stray).asked(line, request)

    def _fail_all(self, error: ClientError) -> None:
        for flight in self._flights.values():
            if not flight.answered.done():
                flight.answered.set_exception(error)


_NAMING: Final = {
    Era.LEGACY: ((TOLD_TOKEN, TOKEN),),
    Era.MODERN: ((TOLD_TOKEN, TOKEN), (TOLD_SUBSCRIPTION, ID), (CANCELLED_ID, ID)),
}
"""Where a notification may name the request it belongs to, and what the client calls that.

A legacy server that cancels means a request of its own.
"""


def _with_numbers(question: Question, number: int, token: bytes | None) -> bytes:
    """The request with our number for its id and, if it has one, for its progress token."""
    mine = b"%d" % number
    renamed = with_id(question.raw, _raw_id(question), mine)
    return one_line(renamed if token is None else replace_at(renamed, TOKEN, mine))


def _client_value(flight: _Flight, path: tuple[str, ...]) -> bytes | None:
    """What the client calls its request: the token it gave, if it gave one, or the id."""
    return flight.token if path is TOKEN else _raw_id(flight.question)


def _raw_id(question: Question) -> bytes:
    return render(question.id)


def _in_terms_of(question: Question, answer: Answer, number: int) -> Answer:
    raw = with_id(answer.raw, b"%d" % number, _raw_id(question))
    if answer.result is None or value_at(answer.result, "_meta", SUBSCRIPTION) != number:
        return Answer(raw=raw, result=answer.result, error=answer.error)
    raw = replace_at(raw, ENDED_SUBSCRIPTION, _raw_id(question))
    return Answer(raw=raw, result=answer.result, error=answer.error)
