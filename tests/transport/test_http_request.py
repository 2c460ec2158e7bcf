"""Heads that are known: only what is exactly one request with the very same head is taken for it."""

from __future__ import annotations

import pytest

from strictwire.canon.json import parse_object
from strictwire.profiles.endpoint import Headers
from strictwire.transport.http_head import Head
from strictwire.transport.http_request import MAX_KNOWN_HEADS, Heads, Incoming
from tests.fixtures.live import HttpProcess, modern, modern_headers, request

HEAD = b"POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n"


def incoming(**changes: object) -> Incoming:
    fields = {"url": b"/mcp", "pairs": [(b"Host", b"a")], "length": b"2", "verb": "POST", "size": 2, "body": [b"{}"]}
    return Incoming(**(fields | changes))  # type: ignore[arg-type]


def test_the_same_head_with_another_body_is_known() -> None:
    heads = Heads()
    heads.learn(HEAD + b"{}", incoming())

    assert heads.find(HEAD + b"[]") == incoming(body=[b"[]"])


@pytest.mark.parametrize(
    "data",
    [
        HEAD,
        HEAD + b"{",
        HEAD + b"{}{",
        HEAD + b"{}" + HEAD,
        HEAD[:-1],
        HEAD[1:] + b"{}",
        b"\r\n" + HEAD + b"{}",
        HEAD.replace(b"a", b"b") + b"{}",
        HEAD.replace(b": 2", b": 3") + b"{} ",
        b"",
        b"\r\n\r\n",
    ],
)
def test_anything_else_is_left_to_the_parser(data: bytes) -> None:
    heads = Heads()
    heads.learn(HEAD + b"{}", incoming())

    assert heads.find(data) is None


EXPECTING = Head([], Headers([("expect", "100-continue")]), None, asks_leave=False)


@pytest.mark.parametrize(
    ("data", "request_"),
    [
        (HEAD + b"{}", incoming(keep_alive=False)),
        (HEAD + b"{}", incoming(head=EXPECTING)),
        (HEAD + b"{}x", incoming()),
        (HEAD + b"2\r\n{}\r\n0\r\n\r\n", incoming(length=b"0")),
        (b"X" * 5000 + HEAD + b"{}", incoming()),
    ],
)
def test_only_whole_and_plain_requests_are_learned(data: bytes, request_: Incoming) -> None:
    heads = Heads()
    heads.learn(data, request_)

    assert heads.find(data) is None


def test_the_number_of_known_heads_is_bounded() -> None:
    heads = Heads()
    for number in range(3 * MAX_KNOWN_HEADS):
        heads.learn(HEAD.replace(b"a", b"%d" % number) + b"{}", incoming())

    known = [n for n in range(3 * MAX_KNOWN_HEADS) if heads.find(HEAD.replace(b"a", b"%d" % n) + b"{}")]
    assert 0 < len(known) <= MAX_KNOWN_HEADS


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
