"""Answers are classified and described."""

from __future__ import annotations

import pytest

from strictwire.client.rawhttp import RawAnswer
from strictwire.probe.observation import Kind, observe
from strictwire.probe.wire_http import observe_http

RESULT = b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"hi"}]}}'
TOOL_ERROR = b'{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}'
ERROR = b'{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error","data":{"a":1}}}'
NOTE = b'{"jsonrpc":"2.0","method":"notifications/message","params":{}}'


@pytest.mark.parametrize(
    ("raws", "kind", "described"),
    [
        ([], Kind.SILENCE, "silence"),
        ([NOTE], Kind.SILENCE, "silence"),
        ([NOTE, RESULT], Kind.RESULT, "result 'hi'"),
        ([TOOL_ERROR], Kind.TOOL_ERROR, """tool error '{"content":[],"isError":true}'"""),
        ([ERROR], Kind.ERROR, "error -32700 'Parse error'"),
        ([b'{"a":1,"a":2}'], Kind.GARBAGE, """not strict JSON '{"a":1,"a":2}'"""),
        ([b"debug"], Kind.GARBAGE, "not strict JSON 'debug'"),
    ],
)
def test_lines(raws: list[bytes], kind: Kind, described: str) -> None:
    seen = observe(raws)

    assert (seen.kind, seen.describe()) == (kind, described)


def test_the_first_response_is_the_answer_and_the_rest_is_kept() -> None:
    seen = observe([NOTE, ERROR, RESULT])

    assert (seen.code, seen.text, seen.data, len(seen.more)) == (-32700, "Parse error", {"a": 1}, 2)


@pytest.mark.parametrize(
    ("status", "media", "body", "kind"),
    [
        (200, "application/json", RESULT, Kind.RESULT),
        (400, "application/json; charset=utf-8", ERROR, Kind.ERROR),
        (200, "text/event-stream", b"data: " + NOTE + b"\n\ndata: " + RESULT + b"\n\n", Kind.RESULT),
        (200, "text/event-stream", b": nothing\n\n", Kind.SILENCE),
        (202, "", b"", Kind.ACCEPTED),
        (200, "application/json", b"NaN", Kind.GARBAGE),
        (413, "text/plain", b"too large", Kind.REFUSED),
    ],
)
def test_http_answers(status: int, media: str, body: bytes, kind: Kind) -> None:
    answer = RawAnswer(status=status, headers=(("content-type", media),), body=body)

    assert observe_http(answer, {}).kind is kind
