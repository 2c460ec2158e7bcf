"""A misbehaving upstream over HTTP leads to one failure, and gets nothing that it should not have."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from strictwire.canon.json import parse_object, render
from strictwire.gateway.links.connector import UpstreamTarget
from strictwire.gateway.options import RelayOptions
from tests.fixtures.guards import free_port
from tests.fixtures.live import modern
from tests.gateway.driver import SHORT, Client, guarded, outcome

DISCOVERED = {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
TOOL = {"name": "act", "inputSchema": {"type": "object", "properties": {"x": {"type": "integer", "x-mcp-header": "Ex"}}}}
FINE = {"content": [], "structuredContent": {"y": 1}, "resultType": "complete"}


@dataclass
class Web:
    """A server of raw bytes: what it was sent, and the URL."""

    url: str
    heads: list[dict[str, str]] = field(default_factory=list)
    gone: asyncio.Event = field(default_factory=asyncio.Event)


def answer(body: bytes, status: str = "200 OK", kind: str = "application/json", more: str = "") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}Connection: close\r\n\r\n"
    return head.encode() + body


def result(request_id: object, value: object) -> bytes:
    return render({"jsonrpc": "2.0", "id": request_id, "result": value})


def events(*messages: bytes) -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    return head + b"".join(b"data: " + message + b"\n\n" for message in messages)


PROGRESS = render({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "t", "progress": 1}})

CASES: dict[str, tuple[Callable[[object], bytes], object]] = {
    "json": (lambda i: answer(result(i, FINE)), {"y": 1}),
    "stream": (lambda i: events(PROGRESS, result(i, FINE)), {"y": 1}),
    "stream_ends_early": (lambda _: events(PROGRESS), "UPSTREAM_GONE"),
    "stream_of_noise": (lambda i: events(b"not json", result(i, FINE)), "UPSTREAM_BROKE"),
    "page_of_a_proxy": (lambda _: answer(b"<html>Bad Gateway</html>", "502 Bad Gateway", "text/html"), "UPSTREAM_BROKE"),
    "redirect": (lambda _: answer(b"", "307 Temporary Redirect", more="Location: http://x.invalid/\r\n"), "UPSTREAM_BROKE"),
    "other_id": (lambda _: answer(result("other", FINE)), "UPSTREAM_BROKE"),
    "batch": (lambda i: answer(b"[" + result(i, FINE) + b"]"), "UPSTREAM_BROKE"),
    "closed": (lambda _: b"", "UPSTREAM_GONE"),
    "half_a_head": (lambda _: b"HTTP/1.1 200", "UPSTREAM_GONE"),
    "short_body": (lambda _: b'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"json', "UPSTREAM_GONE"),
    "body_of_20_mb": (lambda i: answer(result(i, {**FINE, "x": "a" * 20_000_000})), "CAP_EXCEEDED"),
    "error_without_id": (
        lambda _: answer(b'{"jsonrpc":"2.0","error":{"code":-32602,"message":"no"}}', "400 Bad Request"),
        -32602,
    ),
}
"""What is sent for a call, given its id, and what the client is told."""


@asynccontextmanager
async def web(act: Callable[[object], bytes] | None) -> AsyncIterator[Web]:
    """A server that lists one tool, and answers its call in this way; None never answers it."""
    server_of = Web(url="")

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        fields = dict(line.lower().split(": ", 1) for line in head.splitlines()[1:] if ": " in line)
        body = parse_object(await reader.readexactly(int(fields.get("content-length", "0"))))
        server_of.heads.append(fields)
        if body["method"] == "tools/call" and act is None:
            await reader.read()
            server_of.gone.set()
        else:
            writer.write(_reply(body, act))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    server_of.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
    try:
        yield server_of
    finally:
        server.close()


def _reply(body: dict[str, object], act: Callable[[object], bytes] | None) -> bytes:
    if body["method"] == "server/discover":
        return answer(result(body["id"], DISCOVERED))
    if body["method"] == "tools/list":
        return answer(result(body["id"], {"tools": [TOOL], "resultType": "complete"}))
    return act(body["id"]) if act is not None else b""


def drive(act: Callable[[object], bytes] | None, use: Callable[[Client, Web], Awaitable[object]]) -> object:
    async def run() -> object:
        async with web(act) as server, guarded(UpstreamTarget(url=server.url), RelayOptions(idle_seconds=20)) as client:
            return await use(client, server)

    return asyncio.run(run())


@pytest.mark.parametrize("name", CASES)
def test_the_client_gets_one_valid_answer(name: str) -> None:
    act, expected = CASES[name]

    async def use(client: Client, _server: Web) -> object:
        return outcome(await client.act(progressToken="t"))

    assert drive(act, use) == expected


def test_a_refused_connection_is_a_failure() -> None:
    async def run() -> object:
        async with guarded(UpstreamTarget(url=f"http://127.0.0.1:{free_port()}/mcp"), SHORT) as client:
            return outcome(await client.act())

    assert asyncio.run(run()) == "UPSTREAM_GONE"


def test_headers_are_made_anew_and_credentials_of_clients_are_not_relayed() -> None:
    raw = modern(1, "tools/call", {"name": "act", "arguments": {"x": 5}})
    given = {
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "act",
        "Mcp-Param-Ex": "5",
        "Authorization": "Bearer of-the-client",
        "Cookie": "of=the-client",
    }

    async def use(client: Client, server: Web) -> object:
        await client.send(raw, given)
        sent = server.heads[-1]
        names = ("mcp-protocol-version", "mcp-method", "mcp-name", "mcp-param-ex", "authorization", "cookie")
        return [sent.get(name) for name in names]

    assert drive(CASES["json"][0], use) == ["2026-07-28", "tools/call", "act", "5", None, None]


def test_a_header_that_contradicts_its_argument_is_refused_by_the_guard() -> None:
    raw = modern(1, "tools/call", {"name": "act", "arguments": {"x": 5}})
    given = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "act", "Mcp-Param-Ex": "6"}

    async def use(client: Client, server: Web) -> object:
        reply = await client.send(raw, given)
        calls = [head for head in server.heads if head.get("mcp-method") == "tools/call"]
        return reply.status, parse_object(reply.body or b"")["error"]["code"], calls

    assert drive(CASES["json"][0], use) == (400, -32020, [])


def test_a_request_of_a_client_that_disconnects_is_cancelled() -> None:
    async def use(client: Client, server: Web) -> object:
        running = asyncio.create_task(client.act())
        async with asyncio.timeout(10):
            while not any(head.get("mcp-method") == "tools/call" for head in server.heads):
                await asyncio.sleep(0.01)
            running.cancel()
            await server.gone.wait()
        return True

    assert drive(None, use) is True


OPENED = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "web", "version": "1"}}


@asynccontextmanager
async def forgetful(sessions: list[str]) -> AsyncIterator[str]:
    """A legacy server over HTTP that forgets its first session at the first call; gives its URL."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        fields = dict(line.lower().split(": ", 1) for line in head.splitlines()[1:] if ": " in line)
        raw = await reader.readexactly(int(fields.get("content-length", "0")))
        writer.write(_legacy_reply(head, fields, parse_object(raw) if raw else {}))
        writer.close()

    def _legacy_reply(head: str, fields: dict[str, str], body: dict[str, object]) -> bytes:
        if not head.startswith("POST"):
            return answer(b"", "405 Method Not Allowed")
        if body.get("method") == "initialize":
            sessions.append(f"s{len(sessions)}")
            return answer(result(body["id"], OPENED), more=f"Mcp-Session-Id: {sessions[-1]}\r\n")
        if "id" not in body:
            return answer(b"", "202 Accepted")
        if body["method"] == "tools/list":
            return answer(result(body["id"], {"tools": [TOOL]}))
        if fields.get("mcp-session-id") != "s1":
            return answer(b"", "404 Not Found")
        return answer(result(body["id"], FINE))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
    finally:
        server.close()


def test_a_session_that_the_upstream_forgot_is_opened_again() -> None:
    sessions: list[str] = []

    async def run() -> list[object]:
        async with forgetful(sessions) as url, guarded(UpstreamTarget(url=url), RelayOptions(idle_seconds=20)) as client:
            await client.open_session()
            return [outcome(await client.act("legacy", number)) for number in range(2)]

    assert asyncio.run(run()) == ["UPSTREAM_GONE", {"y": 1}]
    assert sessions == ["s0", "s1"]


@asynccontextmanager
async def regretful() -> AsyncIterator[str]:
    """A legacy server that drops a kept connection on which it accepted a notification as soon as it is used again."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted = False
        while head := await _next_head(reader):
            fields = dict(line.lower().split(": ", 1) for line in head.splitlines()[1:] if ": " in line)
            raw = await reader.readexactly(int(fields.get("content-length", "0")))
            if accepted:
                break
            writer.write(_kept_reply(head, parse_object(raw) if raw else {}))
            accepted = "id" not in (parse_object(raw) if raw else {"id": 0})
            if fields.get("connection") == "close":
                break
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
    finally:
        server.close()


async def _next_head(reader: asyncio.StreamReader) -> str:
    try:
        return (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except (asyncio.IncompleteReadError, ConnectionError):
        return ""


def _kept_reply(head: str, body: dict[str, object]) -> bytes:
    results = {"initialize": OPENED, "tools/list": {"tools": [TOOL]}, "tools/call": FINE}
    if not head.startswith("POST"):
        whole = answer(b"", "405 Method Not Allowed")
    elif "id" not in body:
        whole = answer(b"", "202 Accepted")
    else:
        whole = answer(result(body["id"], results[str(body["method"])]))
    return whole.replace(b"Connection: close\r\n", b"")


def test_a_connection_that_carried_a_notification_is_not_reused() -> None:
    async def run() -> list[object]:
        async with regretful() as url, guarded(UpstreamTarget(url=url), RelayOptions(idle_seconds=20)) as client:
            await client.open_session()
            answers = []
            for number in range(10):
                await client.send(b'{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}')
                answers.append(outcome(await client.act("legacy", number)))
            return answers

    assert asyncio.run(run()) == [{"y": 1}] * 10
