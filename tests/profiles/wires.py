"""Real transports around one endpoint, and the fixture tools that are called through them.

Every answer that comes back over a wire is validated against the published schema of its profile, whatever the test asks.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import jsonschema_rs

from strictwire.canon.json import parse, parse_object
from strictwire.contract.handler import Answer, Ask, CallContext, Handler
from strictwire.contract.safety import Safety
from strictwire.contract.tool import Caps, ToolContract
from strictwire.fault.failure import Refused, fail
from strictwire.pipeline.call import Caller
from strictwire.pipeline.catalog import Catalog, Offers
from strictwire.pipeline.clock import Clock, deterministic_clock
from strictwire.pipeline.perform import Pipeline
from strictwire.pipeline.record import Journal
from strictwire.pipeline.run import HandlerRunner
from strictwire.pipeline.write_batch import WriteBatch
from strictwire.profiles.endpoint import Endpoint
from strictwire.stores.memory.recorder import MemoryRecorder, NoRecorder
from strictwire.transport.http.gatekeeper import Gatekeeper
from strictwire.transport.http.rules import Site
from strictwire.transport.http.server import HttpServer
from strictwire.transport.stdio import StdioServer

SCHEMAS = Path(__file__).parents[2] / "schemas" / "envelopes"
PATIENCE = 20.0
"""Seconds after which a wait is a failure of the test."""

TRANSPORTS = ("stdio", "http")


@cache
def validator(name: str) -> Any:
    """A published schema, compiled."""
    schema = parse_object((SCHEMAS / f"{name}.json").read_bytes())
    return jsonschema_rs.Draft202012Validator(schema, validate_formats=True, offline=True)


@dataclass(frozen=True)
class Got:
    """What came back."""

    body: bytes
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def value(self) -> Any:
        return parse(self.body)


class Wire(Protocol):
    async def ask(self, raw: bytes) -> Got: ...


class StdioWire:
    """The client's end of two pipes."""

    def __init__(self, write_end: int, reader: asyncio.StreamReader, schema: str) -> None:
        self._write_end, self._reader, self._schema = write_end, reader, schema

    async def send(self, raw: bytes) -> None:
        await asyncio.to_thread(_write_all, self._write_end, raw + b"\n")

    async def receive(self) -> Got:
        line = await asyncio.wait_for(self._reader.readline(), PATIENCE)
        got = Got(line.removesuffix(b"\n"))
        validator(self._schema).validate(got.value)
        return got

    async def ask(self, raw: bytes) -> Got:
        await self.send(raw)
        return await self.receive()


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


class HttpWire:
    """One connection to a path, and more where a test asks for them."""

    def __init__(self, port: int, path: str, schema: str) -> None:
        self._port, self._path, self._schema = port, path, schema
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    def another(self) -> HttpWire:
        return HttpWire(self._port, self._path, self._schema)

    async def ask(self, raw: bytes) -> Got:
        got = await self.send("POST", raw, **{"content-type": "application/json"})
        validator(self._schema).validate(got.value)
        return got

    async def send(self, verb: str, raw: bytes, **headers: str) -> Got:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        lines = [f"{verb} {self._path} HTTP/1.1", f"host: 127.0.0.1:{self._port}", f"content-length: {len(raw)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + raw)
        return await asyncio.wait_for(self._read(reader), PATIENCE)

    async def _read(self, reader: asyncio.StreamReader) -> Got:
        status, *fields = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        told = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in fields if line)}
        body = await reader.readexactly(int(told.get("content-length", "0")))
        return Got(body, int(status.split()[1]), told)

    async def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            await self._streams[1].wait_closed()


@asynccontextmanager
async def over_stdio(
    endpoint: Endpoint, schema: str, *, caller: Caller | None = None, max_line: int = 1 << 22
) -> AsyncIterator[StdioWire]:
    """The endpoint behind a StdioServer on two pipes."""
    server_in, client_out = os.pipe()
    client_in, server_out = os.pipe()
    server = StdioServer(endpoint, WriteBatch(NoRecorder()), caller=caller or Caller(), max_line=max_line)
    running = asyncio.create_task(server.run(server_in, server_out))
    reader = asyncio.StreamReader(limit=1 << 24)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(client_in, "rb", buffering=0)
    )
    try:
        yield StdioWire(client_out, reader, schema)
    finally:
        os.close(client_out)
        await asyncio.wait_for(running, PATIENCE)
        transport.close()


@asynccontextmanager
async def over_http(
    endpoint: Endpoint, schema: str, *, caller: Caller | None = None, max_body: int = 1 << 22, path: str = "/rpc"
) -> AsyncIterator[HttpWire]:
    """The endpoint behind an HttpServer on a port of the loopback."""
    gatekeeper = Gatekeeper(anonymous=caller or Caller())
    server = HttpServer(Site(endpoints={path: endpoint}, gatekeeper=gatekeeper, max_body=max_body))
    wire = HttpWire(await server.start("127.0.0.1", 0), path, schema)
    try:
        yield wire
    finally:
        await wire.close()
        await server.stop()


Opener = Callable[[Endpoint, str], Any]
OVER: Mapping[str, Any] = {"stdio": over_stdio, "http": over_http}


# The fixture tools.


def schema_of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


TEXT = {"type": "string", "maxLength": 1000}


@dataclass
class Tools:
    """Handlers, with the gate that holds `wait` until the test lets go."""

    released: asyncio.Event = field(default_factory=asyncio.Event)
    waiting: asyncio.Event = field(default_factory=asyncio.Event)
    runs: list[str] = field(default_factory=list)

    async def echo(self, arguments: dict[str, Any], _context: CallContext) -> Any:
        self.runs.append("echo")
        return arguments

    async def refuse(self, arguments: dict[str, Any], _context: CallContext) -> Any:
        raise Refused(fail(arguments["code"], details=arguments.get("details", {})))

    async def crash(self, _arguments: dict[str, Any], _context: CallContext) -> Any:
        raise RuntimeError("secret /etc/shadow in the message")

    async def wait(self, _arguments: dict[str, Any], _context: CallContext) -> Any:
        self.waiting.set()
        await self.released.wait()
        return {"text": "released"}

    async def never(self, _arguments: dict[str, Any], _context: CallContext) -> Any:
        await asyncio.get_running_loop().create_future()

    async def lie(self, _arguments: dict[str, Any], _context: CallContext) -> Any:
        return {"text": 1}

    async def bloat(self, _arguments: dict[str, Any], _context: CallContext) -> Any:
        return {"text": "x" * 500}

    async def note(self, arguments: dict[str, Any], context: CallContext) -> Any:
        context.progress(0.5)
        context.log("info", "unheard")
        context.close_stream()
        for note in arguments["notes"]:
            context.diagnose(note)
        return {"text": "noted"}

    async def ask(self, _arguments: dict[str, Any], context: CallContext) -> Any:
        return await context.ask({"q": Ask(method="sampling/createMessage", params={})})

    async def loose(self, arguments: dict[str, Any], _context: CallContext) -> Any:
        return {"text": "words", "list": [1, 2], "nothing": None, "items": Answer(structured=[3])}[arguments["kind"]]


def offer(tools: Tools) -> Offers:
    """Every fixture tool under a contract."""
    code = schema_of(code=TEXT)
    code["properties"]["details"] = {"type": "object"}
    notes = schema_of(notes={"type": "array", "items": TEXT, "maxItems": 100})
    answer = schema_of(text=TEXT)
    pairs: list[tuple[ToolContract, Handler]] = [
        (_contract("fixture.echo", schema_of(text=TEXT), answer, title="Echo", notes="Says it again."), tools.echo),
        (_contract("fixture.refuse", code, answer), tools.refuse),
        (_contract("fixture.crash", schema_of(), answer), tools.crash),
        (_contract("fixture.wait", schema_of(), answer), tools.wait),
        (_contract("fixture.never", schema_of(), answer, caps=Caps(timeout_ms=20)), tools.never),
        (_contract("fixture.lie", schema_of(), answer), tools.lie),
        (_contract("fixture.bloat", schema_of(), answer, caps=Caps(response_bytes=100)), tools.bloat),
        (_contract("fixture.note", notes, answer, category="notes"), tools.note),
        (_contract("fixture.ask", schema_of(), answer), tools.ask),
        (_contract("fixture.loose", schema_of(kind=TEXT), None), tools.loose),
        (_contract("fixture.pro", schema_of(text=TEXT), answer, tier="pro", category="deluxe"), tools.echo),
        (_contract("fixture.array", schema_of(), {"type": "array", "items": {}}), tools.echo),
        (_contract("fixture.sampling", schema_of(), answer, capabilities=frozenset({"sampling"})), tools.ask),
    ]
    return Offers().with_tools(pairs)


def _contract(name: str, given: dict[str, Any], answered: dict[str, Any] | None, **more: Any) -> ToolContract:
    about: dict[str, Any] = {"description": f"Fixture {name}.", "category": "fixtures", "safety": Safety.READ_ONLY, **more}
    return ToolContract(name=name, input_schema=given, output_schema=answered, **about)


@dataclass
class Bench:
    """A pipeline over the fixture tools, and what it recorded."""

    catalog: Catalog
    pipeline: Pipeline
    recorder: MemoryRecorder
    tools: Tools


@asynccontextmanager
async def open_bench(clock: Clock | None = None) -> AsyncIterator[Bench]:
    async with AsyncExitStack() as stack:
        tools, recorder = Tools(), MemoryRecorder()
        executor = stack.enter_context(ThreadPoolExecutor(2))
        journal = Journal(recorder=recorder, batch=WriteBatch(recorder), clock=clock or deterministic_clock())
        yield Bench(Catalog(offer(tools)), Pipeline(journal, HandlerRunner(executor)), recorder, tools)


def run(test: Callable[[], Awaitable[None]]) -> None:
    """Run a test that talks over a wire, within its time."""

    async def bounded() -> None:
        await asyncio.wait_for(test(), 3 * PATIENCE)

    asyncio.run(bounded())
