"""The two tools on asyncio and msgspec only: no checks, records or limits.

`bare.py --stdio`, or `bare.py [--twice] --http HOST:PORT`; `--twice` starts two processes on one address. Not for real use:
it measures the minimum cost of reading and writing messages in Python on this machine.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from typing import Any

import msgspec

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode
_OPENED = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "bare", "version": "1"}}


def _respond(raw: bytes) -> bytes | None:
    message: dict[str, Any] = _decode(raw)
    if "id" not in message:
        return None
    if message["method"] != "tools/call":
        return _encode({"jsonrpc": "2.0", "id": message["id"], "result": _OPENED})
    arguments = message["params"]["arguments"]
    value = arguments["document"] if message["params"]["name"] == "echo" else {"sum": arguments["a"] + arguments["b"]}
    text = {"type": "text", "text": _encode(value).decode()}
    return _encode({"jsonrpc": "2.0", "id": message["id"], "result": {"content": [text], "structuredContent": value}})


class _Connection(asyncio.Protocol):
    def __init__(self) -> None:
        self._rest = b""
        self._transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        head, _, body = (self._rest + data).partition(b"\r\n\r\n")
        if len(body) < int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0]):
            self._rest += data
            return
        self._rest = b""
        response = _respond(body)
        status = b"202 Accepted" if response is None else b"200 OK"
        response = response or b""
        head = b"HTTP/1.1 %b\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (status, len(response))
        self._transport.write(head + response)


class _Lines(asyncio.Protocol):
    def __init__(self, out: asyncio.WriteTransport, ended: asyncio.Event) -> None:
        self._out, self._ended = out, ended
        self._rest = b""

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        responses = [response for line in lines if (response := _respond(line)) is not None]
        if responses:
            self._out.write(b"\n".join([*responses, b""]))

    def connection_lost(self, _exc: Exception | None) -> None:
        self._ended.set()


async def _serve_stdio() -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    out, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(1, "wb", buffering=0))
    await loop.connect_read_pipe(lambda: _Lines(out, ended), os.fdopen(0, "rb", buffering=0))
    await ended.wait()


async def _serve_http(host: str, port: int) -> None:
    server = await asyncio.get_running_loop().create_server(_Connection, host, port, reuse_port=True)
    await server.serve_forever()


def _fork() -> None:
    """Fork. The child exits when the parent ends, for whatever reason."""
    read_end, write_end = os.pipe()
    if os.fork() == 0:
        os.close(write_end)
        threading.Thread(target=lambda: (os.read(read_end, 1), os._exit(0)), daemon=True).start()


if __name__ == "__main__":
    if sys.argv[1] == "--stdio":
        asyncio.run(_serve_stdio())
    else:
        where, _, number = sys.argv[-1].rpartition(":")
        if sys.argv[1] == "--twice":
            _fork()
        asyncio.run(_serve_http(where, int(number)))
