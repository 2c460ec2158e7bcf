"""Reading requests: limits of the head, framing, and heads that repeat."""

from __future__ import annotations

import pytest

from strictwire.canon.json import parse_object
from tests.fixtures.live import HttpProcess, modern, modern_headers, request


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
