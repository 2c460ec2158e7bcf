"""Responses are classified and described."""

from __future__ import annotations

import pytest

from strictwire.client.rawhttp import RawAnswer
from strictwire.probe.observation import ResponseKind, observe
from strictwire.probe.wire_http import observe_http

RESULT = b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"hi"}]}}'
TOOL_ERROR = b'{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}'
ERROR = b'{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error","data":{"a":1}}}'
NOTE = b'{"jsonrpc":"2.0","method":"notifications/message","params":{}}'


@pytest.mark.parametrize(
    ("raws", "kind", "described"),
    [
        ([], ResponseKind.SILENCE, "no response"),
        ([NOTE], ResponseKind.SILENCE, "no response"),
        ([NOTE, RESULT], ResponseKind.RESULT, "result 'hi'"),
        ([TOOL_ERROR], ResponseKind.TOOL_ERROR, """tool error '{"content":[],"isError":true}'"""),
        ([ERROR], ResponseKind.ERROR, "error -32700 'Parse error'"),
        ([b'{"a":1,"a":2}'], ResponseKind.GARBAGE, """not strict JSON '{"a":1,"a":2}'"""),
        ([b"debug"], ResponseKind.GARBAGE, "not strict JSON 'debug'"),
    ],
)
def test_lines_are_classified(raws: list[bytes], kind: ResponseKind, described: str) -> None:
    seen = observe(raws)

    assert (seen.kind, seen.describe()) == (kind, described)


def test_the_first_response_counts_and_the_others_are_kept() -> None:
    seen = observe([NOTE, ERROR, RESULT])

    assert (seen.code, seen.text, seen.data, len(seen.more)) == (-32700, "Parse error", {"a": 1}, 2)


@pytest.mark.parametrize(
    ("status", "media", "body", "kind"),
    [
        (200, "application/json", RESULT, ResponseKind.RESULT),
        (400, "application/json; charset=utf-8", ERROR, ResponseKind.ERROR),
        (200, "text/event-stream", b"data: " + NOTE + b"\n\ndata: " + RESULT + b"\n\n", ResponseKind.RESULT),
        (200, "text/event-stream", b": nothing\n\n", ResponseKind.SILENCE),
        (202, "", b"", ResponseKind.ACCEPTED),
        (200, "application/json", b"NaN", ResponseKind.GARBAGE),
        (413, "text/plain", b"too large", ResponseKind.REFUSED),
    ],
)
def test_http_responses_are_classified(status: int, media: str, body: bytes, kind: ResponseKind) -> None:
    answer = RawAnswer(status=status, headers=(("content-type", media),), body=body)

    assert observe_http(answer, {}).kind is kind
