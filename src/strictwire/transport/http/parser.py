"""Reads the requests of one HTTP connection with the llhttp parser (httptools) and hands each on when it is whole.

What cannot be read, is too large or is not wanted gets one clear answer at once, and nothing after it is heard.
"""

from __future__ import annotations

from typing import Final, Protocol

import httptools

from strictwire.fault.failure import Failure, fail
from strictwire.transport.http.gatekeeper import Gatekeeper
from strictwire.transport.http.request import Incoming, write_head_without_offer
from strictwire.transport.http.rules import Head, judge_head

MAX_HEAD: Final = 64 * 1024
"""Request line and headers together; nginx takes 32 KB, Node 16 KB."""


class Owner(Protocol):
    """Who is told."""

    def request_began(self) -> None:
        """The first byte of a request has come."""

    def request_came(self, incoming: Incoming) -> None:
        """A request is whole."""

    def request_waits(self) -> None:
        """A client asks whether to send the body, which is wanted."""

    def answer_now(self, incoming: Incoming) -> None:
        """Answer a request that is not whole, because the rest of it does not matter. Sets `stopped`."""


class RequestReader:
    """The requests of one connection."""

    def __init__(self, owner: Owner, gatekeeper: Gatekeeper, max_body: int) -> None:
        self._owner = owner
        self._gatekeeper = gatekeeper
        self._max_body = max_body
        self._parser = httptools.HttpRequestParser(self)
        self._incoming = Incoming()
        self._head: Head | None = None
        """That of the request before: clients repeat theirs, and what is known of it need not be found again."""
        self._head_size = 0
        self.reading = False
        """Whether a request has begun and is not whole."""
        self.stopped = False
        """Whether nothing more is heard."""

    def feed(self, data: bytes) -> None:
        """Take what has come. What the parser cannot read gets one clear answer, and the connection ends."""
        while data and not self.stopped:
            try:
                self._parser.feed_data(data)
                data = b""
            except httptools.HttpParserUpgrade as offer:
                data = self._without_offer() + data[offer.args[0] :]
            except httptools.HttpParserError:
                if not self.stopped:
                    self.refuse(fail("HTTP_MALFORMED"))

    def refuse(self, failure: Failure) -> None:
        """Have what is no request answered, after those that came before it."""
        self._owner.answer_now(Incoming(refusal=failure))

    # What the parser calls.

    def on_message_begin(self) -> None:
        """A new request."""
        self._incoming = Incoming()
        self._head_size = 0
        self.reading = True
        self._owner.request_began()

    def on_url(self, url: bytes) -> None:
        """A piece of the target."""
        self._incoming.url += url
        self._measure_head(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header field."""
        if name.lower() == b"content-length":
            self._incoming.length = value
        else:
            self._incoming.pairs.append((name, value))
        self._measure_head(len(name) + len(value))

    def on_headers_complete(self) -> None:
        """Judge the head, before any of the body is kept."""
        incoming = self._incoming
        incoming.verb = self._parser.get_method().decode("latin-1")
        incoming.keep_alive = self._parser.should_keep_alive()
        if self._parser.should_upgrade():
            return
        asks_leave = incoming.verb == "OPTIONS"
        head = self._head
        if head is None or incoming.pairs != head.pairs or asks_leave != head.asks_leave:
            head = self._head = judge_head(incoming.pairs, self._gatekeeper, asks_leave=asks_leave)
        incoming.head, incoming.refusal = head, head.refusal
        if (head.headers.get("expect") or "").lower() == "100-continue":
            self._say_whether_to_send(incoming)

    def on_body(self, body: bytes) -> None:
        """A piece of the body; past the limit it is counted and dropped."""
        incoming = self._incoming
        incoming.size += len(body)
        if incoming.size <= self._max_body and incoming.refusal is None:
            incoming.body.append(body)
        else:
            incoming.body.clear()
            # Reading on would only serve a sender of endless bodies; the answer is clear already.
            if incoming.size > 2 * self._max_body:
                self._owner.answer_now(incoming)

    def on_message_complete(self) -> None:
        """The request is whole: it is answered when its turn comes, but not before all that came with it was read."""
        if self._parser.should_upgrade():
            return
        self.reading = False
        if not self.stopped:
            self._owner.request_came(self._incoming)

    def _measure_head(self, size: int) -> None:
        self._head_size += size
        if self._head_size > MAX_HEAD:
            self.refuse(fail("HTTP_MALFORMED", text="The request head is too large"))

    def _say_whether_to_send(self, incoming: Incoming) -> None:
        """A client that asks before it sends a body is told at once, so that a body nobody wants is never sent."""
        length = int(incoming.length)
        if incoming.refusal is None and length <= self._max_body:
            self._owner.request_waits()
            return
        incoming.size = length
        self._owner.answer_now(incoming)

    def _without_offer(self) -> bytes:
        """The head that was just read, without its offer of another protocol, to be read again.

        HTTP lets a server pass over such an offer, and some clients make it with every request; but the parser then
        takes the body for the other protocol.
        """
        incoming = self._incoming
        if incoming.verb == "CONNECT":
            self.refuse(fail("HTTP_MALFORMED"))
            return b""
        self._parser = httptools.HttpRequestParser(self)
        return write_head_without_offer(incoming)
