"""Follows one warm call through strictwire and counts the Python functions, files and changes of file on its way.

Everything is real: the server in this process with its audit trail on disk (mode `batched`), the client on a thread of its
own at the other end of a pipe or a socket, the guard's upstream in a process of its own. `--trace KIND` lists the functions.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TypeAlias

import strictwire
from strictwire import Server
from strictwire.contract.safety import Safety
from strictwire.gateway.links.connector import UpstreamTarget
from strictwire.pipeline.call import Caller
from strictwire.pipeline.write_batch import WriteBatch
from strictwire.profiles.endpoint import Endpoint
from strictwire.server.compose import open_runtime
from strictwire.settings.model import AuditSettings, Settings
from strictwire.transport.stdio import StdioServer

SOURCE: Final = str(Path(strictwire.__file__).parent) + os.sep
WARM: Final = 50
"""Calls before the one that is followed: caches are filled, and the first write of a log is over."""

SCHEMA: Final = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
    "additionalProperties": False,
}
RESULT: Final = {
    "type": "object",
    "properties": {"sum": {"type": "integer"}},
    "required": ["sum"],
    "additionalProperties": False,
}

Step: TypeAlias = tuple[str, str]
"""File below the package, and function."""

Ask: TypeAlias = Callable[[bytes], bytes]
"""One request, one answer; blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """The way of one call."""

    steps: tuple[Step, ...]

    @property
    def row(self) -> tuple[int, int, int]:
        """Function calls, files, changes from one file to another."""
        files = [file for file, _ in self.steps]
        return len(files), len(set(files)), sum(one != other for one, other in pairwise(files))


def make_server() -> Server:
    """One tool that adds, under a contract for both sides."""
    server = Server("walk", version="1.0.0")

    @server.tool(description="Adds.", input_schema=SCHEMA, output_schema=RESULT, safety=Safety.READ_ONLY)
    async def add(arguments: dict[str, Any]) -> dict[str, Any]:
        return {"sum": arguments["a"] + arguments["b"]}

    return server


def call(number: int, arguments: Mapping[str, object]) -> bytes:
    """A tools/call of 2025-11-25, in an open session."""
    params = {"name": "add", "arguments": arguments}
    return _compact({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})


def _compact(message: object) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode()


OPENING: Final = _compact(
    {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "walk", "version": "1"}},
    }
)
INITIALIZED: Final = _compact({"jsonrpc": "2.0", "method": "notifications/initialized"})


async def follow(ask: Ask, arguments: Mapping[str, object]) -> Walk:
    """Warm up, then count what the event loop's thread calls between one request and its answer."""
    for number in range(1, WARM + 1):
        await asyncio.to_thread(ask, call(number, arguments))
    steps: list[Step] = []

    def note(frame: Any, event: str, _argument: object) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(SOURCE):
            steps.append((file[len(SOURCE) :], getattr(frame.f_code, "co_qualname", frame.f_code.co_name)))

    sys.setprofile(note)
    try:
        await asyncio.to_thread(ask, call(WARM + 1, arguments))
    finally:
        sys.setprofile(None)
    return Walk(steps=tuple(steps))


@asynccontextmanager
async def over_stdio(endpoint: Endpoint, batch: WriteBatch) -> AsyncIterator[Ask]:
    """The endpoint behind a StdioServer on two pipes, with a session open."""
    given, source = os.pipe()
    sink, taken = os.pipe()
    serving = asyncio.create_task(StdioServer(endpoint, batch, caller=Caller(), max_line=1 << 22).run(given, taken))
    with os.fdopen(sink, "rb") as answers:

        def ask(request: bytes) -> bytes:
            os.write(source, request + b"\n")
            return answers.readline()

        await asyncio.to_thread(ask, OPENING)
        os.write(source, INITIALIZED + b"\n")
        yield ask
        os.close(source)
        await serving


@asynccontextmanager
async def over_http(endpoint: Endpoint, _batch: WriteBatch) -> AsyncIterator[Ask]:
    """The endpoint behind an HttpServer, and one connection to it, with a session open."""
    from strictwire.transport.http.gatekeeper import Gatekeeper
    from strictwire.transport.http.rules import Site
    from strictwire.transport.http.server import HttpServer

    server = HttpServer(Site(endpoints={"/mcp": endpoint}, gatekeeper=Gatekeeper(), max_body=1 << 22))
    port = await server.start("127.0.0.1", 0)
    connection = await asyncio.to_thread(socket.create_connection, ("127.0.0.1", port))
    session = ""

    def send(body: bytes) -> tuple[str, bytes]:
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
            f"Accept: application/json, text/event-stream\r\n{session}Content-Length: {len(body)}\r\n\r\n"
        )
        connection.sendall(head.encode() + body)
        received = b""
        while b"\r\n\r\n" not in received:
            received += connection.recv(65536)
        fields, _, rest = received.partition(b"\r\n\r\n")
        length = next(int(line[15:]) for line in fields.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        while len(rest) < length:
            rest += connection.recv(65536)
        return fields.decode(), rest

    opened, _ = await asyncio.to_thread(send, OPENING)
    named = next(line for line in opened.split("\r\n") if line.lower().startswith("mcp-session-id:"))
    session = f"{named}\r\nMCP-Protocol-Version: 2025-11-25\r\n"
    yield lambda request: send(request)[1]
    await asyncio.to_thread(connection.close)
    await server.stop()


def _settings(folder: str) -> Settings:
    return Settings(audit=AuditSettings(mode="batched", folder=f"{folder}/audit", key=f"{folder}/audit.key"))


@asynccontextmanager
async def own(over: Callable[..., Any]) -> AsyncIterator[Ask]:
    """A server of ours."""
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        runtime = await stack.enter_async_context(open_runtime(make_server(), _settings(folder)))
        yield await stack.enter_async_context(over(runtime.endpoint("mcp"), runtime.batch))


@asynccontextmanager
async def guarded() -> AsyncIterator[Ask]:
    """The guard in front of the same server in another process."""
    from strictwire.server.guard import Guarding, open_guard
    from strictwire.server.guarded import Guarded

    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        file = Path(folder) / "upstream.py"
        await asyncio.to_thread(file.write_text, "from benchmarks.walk import make_server; make_server().run(['--stdio'])")
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "STRICTWIRE_AUDIT_MODE": "off"}
        target = replace(UpstreamTarget(command=(sys.executable, str(file))), env=environment)
        guarding = Guarding(upstreams=(Guarded(target=target),))
        endpoint = await stack.enter_async_context(open_guard(guarding, _settings(folder)))
        yield await stack.enter_async_context(over_stdio(endpoint, endpoint.backend.journal.batch))


GOOD: Final = {"a": 1, "b": 2}
WAYS: Final[Mapping[str, tuple[str, Callable[[], Any], Mapping[str, object]]]] = {
    "stdio": ("plain call over stdio", lambda: own(over_stdio), GOOD),
    "http": ("plain call over HTTP", lambda: own(over_http), GOOD),
    "refused": ("refused call over stdio", lambda: own(over_stdio), {"a": "1", "c": 2}),
    "guard": ("guard call to a stdio upstream", guarded, GOOD),
}
"""Kind to: how it is called in the table, what is asked, and the arguments."""

WANTED: Final[Mapping[str, tuple[int, int]]] = {"stdio": (60, 16), "guard": (110, 24)}
"""Function calls and files, at the most."""


async def walk(kind: str) -> Walk:
    """The way of one kind of call."""
    _, opened, arguments = WAYS[kind]
    async with opened() as ask:
        return await follow(ask, arguments)


def main() -> int:
    """Print the table. Exit code 100: a way is longer than wanted."""
    parser = argparse.ArgumentParser(prog="walk", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trace", choices=WAYS, help="list every function of one way")
    trace = parser.parse_args().trace
    print("| call | function calls | files | file switches | wanted |")
    print("|---|---|---|---|---|")
    exceeded = False
    for kind, (title, _, _) in WAYS.items():
        found = asyncio.run(walk(kind))
        calls, files, switches = found.row
        most = WANTED.get(kind)
        exceeded = exceeded or (most is not None and (calls > most[0] or files > most[1]))
        wanted = "" if most is None else f"{most[0]} in {most[1]} files"
        print(f"| {title} | {calls} | {files} | {switches} | {wanted} |", flush=True)
        if kind == trace:
            print("\n".join(f"    {file} {function}" for file, function in found.steps))
    return 100 if exceeded else 0


if __name__ == "__main__":
    sys.exit(main())
