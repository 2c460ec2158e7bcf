"""HTTP servers: headers and tokens reach every request, and a server that ends is a finding, not a list of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from http import HTTPStatus

from strictwire.client import Era
from strictwire.probe import ProbeOptions, ProbeReport, run_with
from strictwire.probe.harm import Harm
from strictwire.probe.record import Status

LEGACY = frozenset({Era.LEGACY})
INFO = {"name": "tiny", "version": "1"}
OPENING = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": INFO}


class TinyServer:
    """A legacy HTTP server in this process that can refuse tokens, and stop at a method."""

    def __init__(self, *, token: str = "", stops_at: str = "") -> None:
        self.tokens: set[str] = set()
        self._token = token
        self._stops_at = stops_at
        self._server: asyncio.Server | None = None

    async def run(self, use: Callable[[str], ProbeOptions]) -> ProbeReport:
        """Serve on a free port and probe it."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        try:
            return await run_with(use(f"http://127.0.0.1:{port}/mcp"))
        finally:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head.split("\r\n")[1:])}
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            self.tokens.add(headers.get("authorization", ""))
            status, answer = self._respond(headers, body)
            if status is not None:
                lines = f"HTTP/1.1 {status.value} X\r\nContent-Type: application/json\r\nContent-Length: {len(answer)}\r\n"
                writer.write(f"{lines}Connection: close\r\n\r\n".encode() + answer)
                await writer.drain()
        finally:
            writer.close()

    def _respond(self, headers: dict[str, str], body: bytes) -> tuple[HTTPStatus | None, bytes]:
        if headers.get("authorization", "") != self._token:
            return HTTPStatus.UNAUTHORIZED, b"{}"
        try:
            message = json.loads(body)
        except ValueError:
            return HTTPStatus.BAD_REQUEST, b"{}"
        method = message.get("method")
        if method == self._stops_at and self._server:
            self._server.close()
            return None, b""
        results = {"initialize": OPENING, "ping": {}, "tools/list": {"tools": []}}
        if "id" not in message:
            return HTTPStatus.ACCEPTED, b""
        known = {"result": results[method]} if method in results else {"error": {"code": -32601, "message": "no"}}
        return HTTPStatus.OK, json.dumps({"jsonrpc": "2.0", "id": message["id"], **known}).encode()


def test_headers_reach_every_request() -> None:
    server = TinyServer(token="Bearer abc")
    headers = {"Authorization": "Bearer abc"}
    only = frozenset({"METHOD_UNKNOWN", "JSON_TRUNCATED", "SESSION_ON_REFUSAL", "CURSOR_BOGUS"})
    report = asyncio.run(server.run(lambda url: ProbeOptions(http=url, headers=headers, eras=LEGACY, only=only, budget=600)))

    assert server.tokens == {"Bearer abc"}
    assert {result.probe: result.status for result in report.results}["METHOD_UNKNOWN"] is Status.PASS


def test_an_http_server_that_ends_is_one_crash_with_the_request_and_the_rest_is_not_run() -> None:
    server = TinyServer(token="Bearer abc", stops_at="strictwire/no-such-method")
    headers = {"Authorization": "Bearer abc"}
    only = frozenset({"METHOD_UNKNOWN", "TOOL_UNKNOWN", "PROMPT_UNKNOWN", "CURSOR_BOGUS"})
    report = asyncio.run(server.run(lambda url: ProbeOptions(http=url, headers=headers, eras=LEGACY, only=only, budget=600)))
    (crash,) = report.findings

    assert (crash.probe, crash.harm) == ("METHOD_UNKNOWN", Harm.CRASH)
    assert crash.fatal is not None
    assert b"strictwire/no-such-method" in crash.fatal.sent
    assert b"Authorization: [redacted]\r\n" in crash.fatal.sent
    assert {(each.probe, each.status, each.got) for each in report.results[1:]} == {
        (name, Status.NOT_RUN, "the server can no longer be reached since METHOD_UNKNOWN")
        for name in ("TOOL_UNKNOWN", "PROMPT_UNKNOWN", "CURSOR_BOGUS")
    }
