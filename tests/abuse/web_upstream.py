"""A hostile upstream over HTTP, in threads of this process: honest until a tool is called, then it sends its script."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from tests.abuse.bad_upstream import GOOD, OPENINGS, STAMP, TOOL

SECONDS = 10.0
"""The longest that a script may block."""


def respond(body: bytes, status: str = "200 OK", more: str = "") -> bytes:
    """A well-formed HTTP response."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n{more}"
    return f"{head}Connection: close\r\n\r\n".encode() + body


def message(request_id: object, result: object) -> bytes:
    """A JSON-RPC response."""
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "result": result}).encode()


class WebUpstream:
    """Listens on a free port. `script` are the pieces sent for a call, with the id of the request in the place of %i."""

    def __init__(self) -> None:
        self.script: Iterable[bytes] | None = None
        upstream = self

        class Handler(socketserver.StreamRequestHandler):
            timeout = SECONDS

            def handle(self) -> None:
                with suppress(OSError, ValueError):
                    upstream._handle(self)

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/mcp"

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(SECONDS)

    def _handle(self, handler: socketserver.StreamRequestHandler) -> None:
        request = _read(handler)
        for piece in self._pieces(request):
            handler.wfile.write(piece.replace(b"%i", json.dumps(request.get("id")).encode()))
            handler.wfile.flush()

    def _pieces(self, request: dict[str, Any]) -> Iterable[bytes]:
        method, request_id = request.get("method"), request.get("id")
        if request_id is None:
            return [respond(b"", "202 Accepted")]
        if method == "tools/call" and self.script is not None:
            return self.script
        results = {**OPENINGS, "tools/list": {"tools": [TOOL], **STAMP}, "tools/call": GOOD}
        return [respond(message(request_id, results.get(str(method), {})))]


def _read(handler: socketserver.StreamRequestHandler) -> dict[str, Any]:
    """The JSON body of a request."""
    length = 0
    while (line := handler.rfile.readline(65536)).strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return json.loads(handler.rfile.read(length) or b"{}")  # type: ignore[no-any-return]
