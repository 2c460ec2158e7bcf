"""JSON-RPC with one language server over any stream of bytes: requests, replies, notifications, and the server's questions.

A transport calls `receive` with bytes and gets bytes through `write`. Everything that waits is bounded: requests in
flight, the size of a message, and how much the server may send without being asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from strictwire.canon.json import JsonObject, JsonValue, Limits, NotStrict, parse_object
from strictwire.packs.code.lsp.framing import MAX_BODY, BadFrame, FrameReader, frame

MAX_IN_FLIGHT: Final = 512
"""Requests without a reply. A reference check sends up to 256 at once."""

MAX_UNASKED: Final = 256 * 1024 * 1024
"""Bytes of notifications between two replies. basedpyright sends 4 MB while it indexes Django; a flood never stops."""

METHOD_NOT_FOUND: Final = -32601
RETRY_CODES: Final = frozenset({-32800, -32801, -32802})
"""RequestCancelled, ContentModified, ServerCancelled: the same request may be sent again."""


class Broken(Exception):
    """The conversation is over: the server sent what is not LSP, flooded us, or went away. `reason` is ours."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class RequestRefused(Exception):
    """The server answered a request with an error. Its text is not kept: it may name anything."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Listener(Protocol):
    """Hears what the server sends unasked."""

    def on_notification(self, method: str, params: JsonObject) -> None:
        """A notification."""


@dataclass(frozen=True, slots=True)
class _Pending:
    number: int
    future: asyncio.Future[JsonValue]


class Client:
    """See the module. `answers` maps a method that the server may ask to a function of its params."""

    def __init__(
        self,
        write: Callable[[bytes], None],
        listener: Listener,
        answers: Mapping[str, Callable[[JsonObject], JsonValue]],
        *,
        max_body: int = MAX_BODY,
    ) -> None:
        self._write = write
        self._listener = listener
        self._answers = answers
        self._reader = FrameReader(max_body)
        self._limits = Limits(size=max_body)
        self._pending: dict[int, _Pending] = {}
        self._last = 0
        self._unasked = 0
        self._broken: Broken | None = None

    @property
    def in_flight(self) -> int:
        """Requests without a reply."""
        return len(self._pending)

    def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification. Raises Broken."""
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    async def request(self, method: str, params: JsonObject | None) -> JsonValue:
        """Send a request and wait for its result; being cancelled cancels it. Raises Broken, RequestRefused."""
        if len(self._pending) >= MAX_IN_FLIGHT:
            raise RequestRefused(0)
        self._last += 1
        pending = _Pending(self._last, asyncio.get_running_loop().create_future())
        message: JsonObject = {"jsonrpc": "2.0", "id": pending.number, "method": method}
        self._send(message if params is None else {**message, "params": params})
        self._pending[pending.number] = pending
        try:
            return await pending.future
        except asyncio.CancelledError:
            if pending.number in self._pending and self._broken is None:
                self.notify("$/cancelRequest", {"id": pending.number})
            raise
        finally:
            self._pending.pop(pending.number, None)

    def receive(self, data: bytes) -> None:
        """Take in bytes from the server. Raises Broken; every request in flight ends with it too."""
        try:
            self._feed(data)
        except (BadFrame, NotStrict):
            broken = Broken("it sent what is not LSP")
        except Broken as exc:
            broken = exc
        else:
            return
        self.end(broken)
        raise broken

    def _feed(self, data: bytes) -> None:
        self._unasked += len(data)
        for body in self._reader.feed(data):
            self._take(parse_object(body, self._limits))
        if self._unasked > MAX_UNASKED:
            raise Broken("it sends without end")

    def end(self, reason: Broken) -> None:
        """Fail every request in flight, and every later one."""
        if self._broken is not None:
            return
        self._broken = reason
        for pending in self._pending.values():
            if not pending.future.done():
                pending.future.set_exception(Broken(reason.reason))

    def _send(self, message: JsonObject) -> None:
        if self._broken is not None:
            raise Broken(self._broken.reason)
        self._write(frame(message))

    def _take(self, message: JsonObject) -> None:
        method, number = message.get("method"), message.get("id")
        if isinstance(method, str):
            params = message.get("params")
            self._take_call(method, number, params if isinstance(params, dict) else {})
        elif type(number) is int and number in self._pending:  # True equals 1 in Python, and is no id
            self._unasked = 0
            _settle(self._pending[number].future, message)
        elif type(number) is not int or not 0 < number <= self._last:
            raise Broken("it answered a request that was not sent")
        # A reply to a request that was cancelled meanwhile is dropped.

    def _take_call(self, method: str, number: object, params: JsonObject) -> None:
        if number is None:
            self._listener.on_notification(method, params)
        elif method in self._answers:
            self._send({"jsonrpc": "2.0", "id": number, "result": self._answers[method](params)})
        else:
            self._send({"jsonrpc": "2.0", "id": number, "error": {"code": METHOD_NOT_FOUND, "message": "not offered"}})


def _settle(future: asyncio.Future[JsonValue], message: JsonObject) -> None:
    if future.done():
        return
    error = message.get("error")
    if error is None:
        future.set_result(message.get("result"))
    else:
        code = error.get("code") if isinstance(error, dict) else None
        future.set_exception(RequestRefused(code if isinstance(code, int) else 0))
