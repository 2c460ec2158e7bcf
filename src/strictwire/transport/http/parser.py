"""Reads the requests of one connection with llhttp (httptools), within limits, and hands each on when it is complete.

The head of a request is fixed and decided on before any of its body is kept. A request that is malformed or too large gets
one refusal, and nothing after it on the connection is read: its end cannot be trusted.
"""

from __future__ import annotations

import logging
from typing import Final, Protocol, TypeAlias

import httptools
import msgspec

from strictwire.fault.failure import Failure, fail
from strictwire.profiles.endpoint import Headers
from strictwire.transport.http.http1 import render_request_head
from strictwire.transport.http.limits import HttpLimits
from strictwire.transport.http.rules import (
    Admitted,
    Answered,
    Decision,
    RequestHead,
    Site,
    decide,
    find_framing_fault,
    problem,
)

log = logging.getLogger("strictwire.http")

RawFields: TypeAlias = tuple[tuple[bytes, bytes], ...]

_VERSIONS: Final = frozenset({"1.0", "1.1"})
_FIELD_OVERHEAD: Final = len(b": \r\n")
_LENGTH_SIZE: Final = len(b"content-length")
_UNREAD: Final = Answered(reply=problem(fail("HTTP_MALFORMED")))
"""The decision on a request until its head is complete."""


class ParsedRequest(msgspec.Struct):
    """A request while it is read."""

    method: str = ""
    target: bytes = b""
    version: str = "1.1"
    fields: RawFields = ()
    """Header fields as they were sent, without Content-Length, the only one that differs from request to request. Set once,
    at the end of the head: trailers never get here."""
    length: int = 0
    """Content-Length."""
    keep_alive: bool = True
    decision: Decision = _UNREAD
    body: bytes | bytearray = b""
    size: int = 0
    """Bytes of the body so far, also of one that is not kept."""
    kept_size: int = 0
    """Bytes of a large body while it is kept."""

    @property
    def is_chunkable(self) -> bool:
        """Whether a response may come in chunks: HTTP/1.0 has none."""
        return self.version != "1.0"

    def render(self) -> bytes:
        """The request for another process to read: with its length, and without asking whether to send the body."""
        kept = self._fields_without(b"transfer-encoding", b"expect")
        fields = [*kept, (b"Content-Length", b"%d" % len(self.body))]
        return render_request_head(self.method, self.target, self.version, fields) + self.body

    def render_head_without_upgrade(self) -> bytes:
        """The head without its offer of another protocol."""
        fields = self._fields_without(b"connection", b"upgrade")
        fields += [] if self.keep_alive else [(b"Connection", b"close")]
        fields += [(b"Content-Length", b"%d" % self.length)] if self.length else []
        return render_request_head(self.method, self.target, self.version, fields)

    def _fields_without(self, *names: bytes) -> list[tuple[bytes, bytes]]:
        return [(name, value) for name, value in self.fields if name.lower() not in names]


class _KnownHead(msgspec.Struct, frozen=True):
    """The last head of a connection. Clients repeat theirs, and equal heads have equal decisions."""

    key: object = None
    """Everything that `decide` is given: no other head compares equal."""
    decision: Decision = _UNREAD


class Receiver(Protocol):
    """The connection that the requests belong to."""

    def request_began(self) -> None:
        """The first byte of a request has arrived."""

    def request_complete(self, request: ParsedRequest) -> None:
        """A request has arrived, or is refused before that and is the last one of the connection."""

    def head_authorised(self, principal: str) -> Failure | None:
        """A head that is not the same as the last one was admitted; returns why the request is refused all the same."""

    def body_grew(self, size: int) -> Failure | None:
        """A large body takes so many more bytes; returns why they are refused."""

    def body_wanted(self) -> None:
        """A client waits for `100 Continue` before it sends a body that is welcome."""


class RequestParser:
    """The requests of one connection."""

    def __init__(self, receiver: Receiver, site: Site, limits: HttpLimits) -> None:
        self._receiver = receiver
        self._site = site
        self._limits = limits
        self._parser = httptools.HttpRequestParser(self)
        self._request = ParsedRequest()
        self._fields: list[tuple[bytes, bytes]] = []
        self._in_head = True
        self._trailer_size = 0
        self._uncounted = 0
        """Bytes read since the head or a piece of the body was complete. httptools collects a field until that has ended."""
        self._known = _KnownHead()
        self.reading = False
        """Whether a request has begun and has not arrived in full."""
        self.stopped = False
        """Whether the rest of the input is ignored."""

    @property
    def body_size(self) -> int:
        """Bytes of a large body that has not arrived in full."""
        return self._request.kept_size if self.reading else 0

    def feed(self, data: bytes) -> None:
        """Read what has arrived."""
        while data and not self.stopped:
            self._uncounted = counted = self._uncounted + len(data)
            try:
                self._parser.feed_data(data)
                data = b""
            except httptools.HttpParserUpgrade as offer:
                data = self._without_upgrade() + data[offer.args[0] :]
            except httptools.HttpParserCallbackError:
                log.exception("a fault while reading an HTTP request")
                self.refuse(fail("INTERNAL"))
            except httptools.HttpParserError:
                self.refuse(fail("HTTP_MALFORMED"))
            if self._uncounted == counted > self._limits.max_head:
                self._refuse_head()

    def stop(self) -> None:
        """Ignore what arrives from now on."""
        self.stopped = True

    def release(self) -> None:
        """Ignore what arrives from now on, and drop what was kept: the cycle of parser and receiver may live for long."""
        self.stop()
        self._request = ParsedRequest()

    def refuse(self, failure: Failure) -> None:
        """Answer with a failure, after the requests that came before; then the connection ends."""
        self._refuse(ParsedRequest(decision=Answered(reply=problem(failure))))

    # What httptools calls.

    def on_message_begin(self) -> None:
        """A new request."""
        self._request = ParsedRequest()
        self._fields = []
        self._trailer_size = 0
        self.reading = self._in_head = True
        self._receiver.request_began()

    def on_url(self, url: bytes) -> None:
        """A piece of the request target."""
        self._request.target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header field, or a trailer, which is counted and dropped."""
        if not self._in_head:
            self._trailer_size += len(name) + len(value) + _FIELD_OVERHEAD
            if self._trailer_size > self._limits.max_head:
                self._refuse_head()
        elif len(name) == _LENGTH_SIZE and name.lower() == b"content-length":
            self._request.length = int(value)
        else:
            self._fields.append((name, value))

    def on_headers_complete(self) -> None:
        """Decide, before any of the body is kept."""
        self._in_head = False
        self._uncounted = 0
        request, parser = self._request, self._parser
        request.method = parser.get_method().decode("latin-1")
        request.version = parser.get_http_version()
        request.keep_alive = parser.should_keep_alive()
        request.fields = tuple(self._fields)
        if parser.should_upgrade() and request.version in _VERSIONS:
            return
        key = (request.method, request.target, request.version, request.fields)
        if self._known.key != key:
            self._decide(request)
            self._known = _KnownHead(key=key, decision=request.decision)
        request.decision = self._known.decision
        if isinstance(request.decision, Answered) or request.decision.head.headers.get("expect") is not None:
            self._answer_expectation(request)

    def on_body(self, body: bytes) -> None:
        """A piece of the body. Past the limit, and of a refused request, it is counted and dropped."""
        self._uncounted = 0
        request = self._request
        request.size += len(body)
        if self.stopped:
            return
        if request.size > self._site.max_body or isinstance(request.decision, Answered):
            request.body, request.kept_size = b"", 0
            # A client that sends on regardless is not worth reading to the end: the answer is certain already.
            if request.size > 2 * self._site.max_body:
                self._refuse(request)
        elif not request.body:
            request.body = body
        else:
            # One buffer, not a list of pieces: a body in chunks of one byte would take fifty times its size.
            request.body = bytearray(request.body) if isinstance(request.body, bytes) else request.body
            request.body += body
        if request.size > self._limits.large_body and request.body:
            self._hold(request)

    def on_message_complete(self) -> None:
        """The request has arrived."""
        self._uncounted = 0
        if not self.stopped and not self._parser.should_upgrade():
            self.reading = False
            self._receiver.request_complete(self._request)

    def _hold(self, request: ParsedRequest) -> None:
        """Count what a large body takes beyond what was counted."""
        grown, request.kept_size = request.size - request.kept_size, request.size
        refusal = self._receiver.body_grew(grown)
        if refusal is not None:
            request.body, request.kept_size = b"", 0
            self.refuse(refusal)

    def _decide(self, request: ParsedRequest) -> None:
        """Judge a head that is not the same as the last one."""
        size = len(request.target) + sum(len(name) + len(value) + _FIELD_OVERHEAD for name, value in request.fields)
        if size > self._limits.max_head or len(request.fields) > self._limits.max_fields:
            self._refuse_head()
            return
        if request.version not in _VERSIONS:
            self.refuse(fail("HTTP_MALFORMED", text="This server speaks HTTP/1.1 and HTTP/1.0"))
            return
        headers = Headers((name.decode("latin-1"), value.decode("latin-1")) for name, value in request.fields)
        path = request.target.partition(b"?")[0].decode("latin-1")
        head = RequestHead(method=request.method, path=path, headers=headers, version=request.version)
        fault = find_framing_fault(head)
        if fault is None:
            request.decision = decide(head, self._site)
            if isinstance(request.decision, Admitted):
                fault = self._receiver.head_authorised(request.decision.caller.principal)
        if fault is not None:
            self.refuse(fault)

    def _answer_expectation(self, request: ParsedRequest) -> None:
        """RFC 9110, 10.1.1: a client that asks first is not made to send a body that would be refused."""
        expected = [value.lower() for name, value in request.fields if name.lower() == b"expect"]
        if b"100-continue" not in expected or request.version == "1.0" or self.stopped:
            return
        if isinstance(request.decision, Answered) or request.length > self._site.max_body:
            request.size = request.length
            self._refuse(request)
        else:
            self._receiver.body_wanted()

    def _refuse_head(self) -> None:
        self.refuse(fail("HTTP_MALFORMED", text="The request head is too large"))

    def _refuse(self, request: ParsedRequest) -> None:
        if not self.stopped:
            self.stop()
            request.keep_alive = False
            self._receiver.request_complete(request)

    def _without_upgrade(self) -> bytes:
        """The head that was just read, to be read again without its offer of another protocol.

        A server may ignore such an offer, and some clients make it with every request (h2c). But llhttp takes what follows
        for the other protocol, so a new parser reads the body.
        """
        request = self._request
        if request.method == "CONNECT":
            self.refuse(fail("HTTP_MALFORMED"))
            return b""
        self._parser = httptools.HttpRequestParser(self)
        return request.render_head_without_upgrade()
