"""Faults of an upstream over HTTP, one by one, in both eras: what it sends for a call, and the one answer to it.

The counterpart of `test_misbehaviour`, which has the same for processes.
"""

from __future__ import annotations

import asyncio
import gzip
import resource
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from strictwire.canon.json import parse_object, render
from strictwire.gateway.links.connector import UpstreamTarget
from strictwire.gateway.options import RelayOptions
from tests.fixtures import fake_upstream
from tests.fixtures.live import legacy, modern
from tests.gateway.driver import Client, guarded, outcome
from tests.gateway.links.test_http_link import OPENED, answer, events

Act = Callable[[bytes], AsyncIterator[bytes]]
"""Given the id of the call as JSON, what is sent, piece by piece."""

FINE = {"y": 1}
GOOD = render(fake_upstream.GOOD)
DISCOVERED = fake_upstream.OPENINGS["server/discover"]
TERMS = RelayOptions(idle_seconds=2.0, total_seconds=6.0, liveness_seconds=0.5)
PATIENT = RelayOptions(idle_seconds=25.0, total_seconds=25.0)
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"


def whole(make: Callable[[bytes], bytes]) -> Act:
    async def act(request_id: bytes) -> AsyncIterator[bytes]:
        yield make(request_id)

    return act


def message(text: bytes) -> Act:
    """One message as a body, with the id in the place of %i."""
    return whole(lambda request_id: answer(text.replace(b"%i", request_id)))


def result(text: bytes) -> Act:
    return message(b'{"jsonrpc":"2.0","id":%i,"result":' + text + b"}")


def slowly(head: bytes, piece: bytes) -> Act:
    """Begins, and then sends a little now and again, for ever."""

    async def act(request_id: bytes) -> AsyncIterator[bytes]:
        yield head.replace(b"%i", request_id)
        while True:
            await asyncio.sleep(0.05)
            yield piece

    return act


def many(head: bytes, piece: bytes, count: int, end: bytes) -> Act:
    async def act(request_id: bytes) -> AsyncIterator[bytes]:
        yield head.replace(b"%i", request_id)
        for _ in range(count):
            yield piece
        yield end.replace(b"%i", request_id)

    return act


ANSWER = b'{"jsonrpc":"2.0","id":%i,"result":' + GOOD + b"}"
PROGRESS = b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}'
MEGABYTE = b"a" * (1024 * 1024)

FAULTS: dict[str, tuple[Act, object]] = {
    "good": (message(ANSWER), FINE),
    "two_answers": (
        whole(lambda i: events(ANSWER.replace(b"%i", i), ANSWER.replace(b"%i", i).replace(b'"y":1', b'"y":2'))),
        FINE,
    ),
    "noise_of_comments": (
        whole(lambda i: STREAM + b": hello\n\n: again\n\ndata: " + ANSWER.replace(b"%i", i) + b"\n\n"),
        FINE,
    ),
    "unknown_token": (whole(lambda i: events(PROGRESS.replace(b'"t"', b'"zz"'), ANSWER.replace(b"%i", i))), FINE),
    "foreign_answer_first": (whole(lambda i: events(ANSWER.replace(b"%i", b'"other"'), ANSWER.replace(b"%i", i))), FINE),
    "id_of_another_type": (message(ANSWER.replace(b"%i", b'"%i"')), "UPSTREAM_BROKE"),
    "bad_syntax": (result(b'{"content":[],}'), "UPSTREAM_BROKE"),
    "duplicate_key": (result(b'{"content":[],"content":[]}'), "UPSTREAM_BROKE"),
    "not_a_number": (result(b'{"content":[],"structuredContent":{"y":NaN}}'), "UPSTREAM_BROKE"),
    "bad_utf8": (result(b'{"content":[{"type":"text","text":"\xff"}]}'), "UPSTREAM_BROKE"),
    "byte_order_mark": (message(b"\xef\xbb\xbf" + ANSWER), "UPSTREAM_BROKE"),
    "lone_surrogate": (result(b'{"content":[{"type":"text","text":"\\ud800"}]}'), "UPSTREAM_BROKE"),
    "too_deep": (result(b'{"content":' + b"[" * 300 + b"]" * 300 + b"}"), "UPSTREAM_BROKE"),
    "no_version": (message(ANSWER.replace(b'"jsonrpc":"2.0",', b"")), "UPSTREAM_BROKE"),
    "both": (message(ANSWER[:-1] + b',"error":{"code":1,"message":"x"}}'), "UPSTREAM_BROKE"),
    "neither": (message(b'{"jsonrpc":"2.0","id":%i}'), "UPSTREAM_BROKE"),
    "result_is_array": (result(b"[]"), "UPSTREAM_BROKE"),
    "result_is_null": (result(b"null"), "UPSTREAM_BROKE"),
    "error_is_text": (message(b'{"jsonrpc":"2.0","id":%i,"error":"no"}'), "UPSTREAM_BROKE"),
    "error_without_code": (message(b'{"jsonrpc":"2.0","id":%i,"error":{"message":"no"}}'), "UPSTREAM_BROKE"),
    "empty_body": (message(b""), "UPSTREAM_BROKE"),
    "accepted_without_answer": (whole(lambda _: answer(b"", "202 Accepted")), "UPSTREAM_BROKE"),
    "page_of_a_login": (whole(lambda _: answer(b"<html>Sign in</html>", kind="text/html")), "UPSTREAM_BROKE"),
    "empty_stream": (whole(lambda _: STREAM), "UPSTREAM_GONE"),
    "no_http": (whole(lambda _: b"SSH-2.0-OpenSSH_9.6\r\n"), "UPSTREAM_GONE"),
    "two_lengths": (
        whole(lambda _: b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}"),
        "UPSTREAM_GONE",
    ),
    "bad_chunk": (whole(lambda _: CHUNKED + b"zz\r\n{}\r\n0\r\n\r\n"), "UPSTREAM_GONE"),
    "cut_chunk": (whole(lambda _: CHUNKED + b"ff\r\n{"), "UPSTREAM_GONE"),
    "no_content": (result(b'{"structuredContent":{"y":1},"resultType":"complete"}'), "OUTPUT_INVALID"),
    "no_structured": (result(b'{"content":[],"resultType":"complete"}'), "OUTPUT_INVALID"),
    "wrong_structured": (result(b'{"content":[],"structuredContent":{"y":"1"},"resultType":"complete"}'), "OUTPUT_INVALID"),
}
"""What is over at once."""

SLOW: dict[str, tuple[Act, object]] = {
    "never_answers": (slowly(b"", b""), "TIMEOUT"),
    "drips_a_head": (slowly(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"a"), "TIMEOUT"),
    "drips_a_body": (slowly(b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n", b"a"), "TIMEOUT"),
    "drips_an_event": (slowly(STREAM + b"data: ", b"a"), "TIMEOUT"),
    "keeps_alive_for_ever": (slowly(STREAM, b": alive\n\n"), "TIMEOUT"),
    "reports_progress_for_ever": (slowly(STREAM, b"data: " + PROGRESS + b"\n\n"), "TIMEOUT"),
}
"""What never ends by itself."""

LARGE: dict[str, tuple[Act, object]] = {
    "body_of_100_mb": (many(b"HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n", MEGABYTE, 100, b""), "CAP_EXCEEDED"),
    "event_of_100_mb": (many(STREAM + b"data: ", MEGABYTE, 100, b"\n\n"), "CAP_EXCEEDED"),
    "packed_body_of_200_mb": (
        whole(lambda _: answer(gzip.compress(MEGABYTE * 200, 1), more="Content-Encoding: gzip\r\n")),
        "CAP_EXCEEDED",
    ),
    "head_of_100_mb": (many(b"HTTP/1.1 200 OK\r\nX-Long: ", MEGABYTE, 100, b"\r\n\r\n"), "UPSTREAM_GONE"),
    "flood": (many(STREAM, (b"data: " + PROGRESS + b"\n\n") * 1000, 20, b"data: " + ANSWER + b"\n\n"), FINE),
}
"""What is too much."""

LISTS = [name for name in fake_upstream.LISTS if name.startswith(("list_", "schema_"))]


@asynccontextmanager
async def web(act: Act, listed: str = "") -> AsyncIterator[str]:
    """A server of both eras that answers a call in this way."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            fields = dict(line.lower().split(": ", 1) for line in head.splitlines()[1:] if ": " in line)
            body = await reader.readexactly(int(fields.get("content-length", "0")))
            async for piece in _reply(head, parse_object(body) if body else {}, act, listed):
                writer.write(piece)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
    finally:
        server.close()


async def _reply(head: str, body: dict[str, object], act: Act, listed: str) -> AsyncIterator[bytes]:
    method, request_id = body.get("method"), body.get("id")
    results: dict[object, object] = {"server/discover": DISCOVERED, "initialize": OPENED, "ping": {}}
    results["tools/list"] = {"tools": [fake_upstream.TOOL]}
    if not head.startswith("POST"):
        yield answer(b"", "405 Method Not Allowed")
    elif request_id is None:
        yield answer(b"", "202 Accepted")
    elif method == "tools/list" and listed:
        yield answer(render({"jsonrpc": "2.0", "id": request_id, "result": fake_upstream.LISTS[listed](body["params"])}))  # type: ignore[dict-item]
    elif method in results:
        yield answer(render({"jsonrpc": "2.0", "id": request_id, "result": results[method]}))  # type: ignore[dict-item]
    else:
        async for piece in act(render(request_id)):  # type: ignore[arg-type]
            yield piece


def drive(act: Act, era: str, options: RelayOptions, listed: str = "") -> list[object]:
    """What a call is answered, and what one after it is that behaves."""

    async def run() -> list[object]:
        async with web(act, listed) as url, guarded(UpstreamTarget(url=url), options) as client:
            return [outcome(await _act(client, era)), await _is_alive(client, era)]

    return asyncio.run(run())


async def _act(client: Client, era: str) -> dict[str, object]:
    if era == "legacy":
        await client.open_session()
    return await client.act(era, 1, progressToken="t")


async def _is_alive(client: Client, era: str) -> bool:
    """Whether the guard still answers."""
    raw = modern(2, "server/discover") if era == "modern" else legacy(2, "ping")
    return (await client.ask(raw))["id"] == 2


@pytest.mark.parametrize("era", ["modern", pytest.param("legacy", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_leads_to_one_answer(name: str, era: str) -> None:
    act, expected = FAULTS[name]

    assert drive(act, era, RelayOptions(idle_seconds=20)) == [expected, True]


@pytest.mark.slow
@pytest.mark.parametrize("era", ["modern", "legacy"])
@pytest.mark.parametrize("name", SLOW)
def test_an_endless_answer_times_out(name: str, era: str) -> None:
    act, expected = SLOW[name]

    assert drive(act, era, TERMS) == [expected, True]


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_an_oversized_answer_is_not_kept(name: str) -> None:
    act, expected = LARGE[name]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    assert drive(act, "modern", PATIENT) == [expected, True]
    # The packed body itself, 200 MB before it is packed, is made by this very process.
    allowed = 300 if name.startswith("packed") else 120
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < allowed * 1024


@pytest.mark.parametrize("name", LISTS)
def test_an_unusable_list_leads_to_one_answer(name: str) -> None:
    assert drive(FAULTS["good"][0], "modern", RelayOptions(idle_seconds=20), name) == ["UPSTREAM_BROKE", True]
