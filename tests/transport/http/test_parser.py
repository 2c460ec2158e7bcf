"""Reading requests: limits of the head, framing, and heads that repeat."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strictwire.canon.json import parse_object
from strictwire.transport.http.gatekeeper import Gatekeeper, Token
from strictwire.transport.http.limits import HttpLimits
from strictwire.transport.http.parser import ParsedRequest, RequestParser
from strictwire.transport.http.rules import Answered, Decision, Site
from tests.fixtures.live import HttpProcess, modern, modern_headers, request
from tests.transport.http.endpoints import Unasked

LOCKED = Site(
    endpoints={"/mcp": Unasked()},
    gatekeeper=Gatekeeper(tokens=(Token(sha256=hashlib.sha256(b"secret").hexdigest(), principal="ann"),)),
    max_body=20,
)


class Requests:
    """What a parser hands on."""

    def __init__(self) -> None:
        self.complete: list[ParsedRequest] = []
        self.parser = RequestParser(self, LOCKED, HttpLimits())

    def request_began(self) -> None: ...

    def request_complete(self, request: ParsedRequest) -> None:
        self.complete.append(request)

    def head_authorised(self, _principal: str) -> None: ...

    def body_grew(self, _size: int) -> None: ...

    def body_wanted(self) -> None: ...

    def feed(self, *pieces: bytes) -> list[tuple[object, bytes, bool]]:
        for piece in pieces:
            self.parser.feed(piece)
        return [(values_of(each.decision), bytes(each.body), each.keep_alive) for each in self.complete]


def values_of(decision: Decision) -> object:
    """A decision as values that can be compared."""
    if isinstance(decision, Answered):
        return decision.reply
    headers = decision.head.headers
    return decision.caller, decision.head.method, decision.head.path, {name: headers.all(name) for name in headers.names()}


HOST = b"Host: localhost\r\n"
TOKEN = b"Authorization: Bearer secret\r\n"
JSON = b"Content-Type: application/json\r\n"
FIELDS = (HOST, TOKEN, JSON, b"Host: evil\r\n", b"Origin: http://evil\r\n", b"Accept: */*\r\n")
BODIES = (b"{}", b"[1,2]", b"x" * 30)


@st.composite
def requests(draw: st.DrawFn) -> bytes:
    """A request with any of a few header fields, and trailers that are header fields too."""
    line = draw(st.sampled_from([b"POST /mcp", b"POST /mcp?x", b"GET /healthz", b"OPTIONS /mcp"])) + b" HTTP/1.1\r\n"
    usual = draw(st.sampled_from([b"", HOST, HOST + TOKEN + JSON]))
    head = line + usual + b"".join(draw(st.lists(st.sampled_from(FIELDS), max_size=2)))
    body = draw(st.sampled_from(BODIES))
    if draw(st.booleans()):
        return head + b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    trailers = b"".join(draw(st.lists(st.sampled_from(FIELDS), max_size=2)))
    return head + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n%b\r\n" % (len(body), body, trailers)


@settings(max_examples=300, deadline=None)
@given(st.lists(requests(), min_size=1, max_size=5), st.lists(st.integers(1, 400), max_size=6))
def test_a_request_is_decided_as_if_it_were_alone(sent: list[bytes], cuts: list[int]) -> None:
    """Whatever came before on its connection, and however the bytes are cut into pieces."""
    raw, places = b"".join(sent), sorted({0, *cuts})
    pieces = [raw[start:end] for start, end in zip(places, [*places[1:], len(raw)], strict=True)]
    alone = [decided for each in sent for decided in Requests().feed(each)]

    assert Requests().feed(*pieces) == alone


@pytest.mark.parametrize("cut", [0, 1, 20, -30, -1])
def test_a_known_head_in_pieces_is_still_one_request(http: HttpProcess, cut: int) -> None:
    sums = []
    with http.connect() as connection:
        for number in range(12):
            body = modern(10 + number, "tools/call", {"name": "add", "arguments": {"a": number + 10, "b": 1}})
            raw = request(body, modern_headers(body), port=http.port)
            for piece in (raw[:cut], raw[cut:]) if cut and number % 3 == 2 else (raw,):
                connection.write(piece)
            sums.append(parse_object(connection.answer().body)["result"]["structuredContent"]["result"])

    assert sums == [number + 11 for number in range(12)]


def test_requests_with_a_known_head_that_come_together_are_all_answered(http: HttpProcess) -> None:
    bodies = [modern(10 + n, "tools/call", {"name": "add", "arguments": {"a": n, "b": 1}}) for n in range(9)]
    raws = [request(body, modern_headers(body), port=http.port) for body in bodies]
    with http.connect() as connection:
        connection.write(raws[0])
        answers = [connection.answer()]
        connection.write(b"".join(raws[1:]))
        answers += [connection.answer() for _ in raws[1:]]

    assert [parse_object(answer.body)["result"]["structuredContent"]["result"] for answer in answers] == list(range(1, 10))
