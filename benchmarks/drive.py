"""The load: closed loops over pipes and sockets, in one process, with a fixed number of requests in flight.

Plain descriptors and `poll`, no event loop and no HTTP library, so that the load costs less than any server under test. How
busy the load itself was is part of every result: near 1.0 it would have been the bottleneck.
"""

from __future__ import annotations

import os
import select
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from benchmarks import talk
from benchmarks.process import Running
from benchmarks.talk import Speaker, Talk, Wire, WrongAnswer

PATIENCE: Final = 30.0
"""Seconds without any answer after which a server counts as stalled."""

_BUFFER: Final = bytearray(256 * 1024)
_VIEW: Final = memoryview(_BUFFER)
"""One place to read into: a fresh buffer of this size for every read would cost more than the read."""


class Stalled(Exception):
    """No answer came for too long, or the server hung up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """How much to ask. It ends with whichever bound comes first."""

    in_flight: int
    seconds: float
    calls: int = 10_000_000


@dataclass(slots=True, kw_only=True)
class Measured:
    """One run."""

    calls: int = 0
    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    client_cpu: float = 0.0
    server_cpu: float = 0.0

    @property
    def rate(self) -> float:
        """Calls a second."""
        return self.calls / self.seconds

    @property
    def p50(self) -> float:
        """Median latency in seconds."""
        return sorted(self.latencies)[len(self.latencies) // 2]

    @property
    def client_busy(self) -> float:
        """Share of the time that the load spent working."""
        return self.client_cpu / self.seconds

    @property
    def cpu_a_call(self) -> float:
        """CPU seconds of the server for one call."""
        return self.server_cpu / self.calls


class _Clock:
    """Measures one run: wall time and the CPU time of both sides."""

    def __init__(self, running: Running) -> None:
        self._running = running
        self._server, self._client = running.cpu_seconds(), time.process_time()
        self.started = time.perf_counter()

    def finish(self, latencies: list[float]) -> Measured:
        """The result."""
        ended = time.perf_counter()
        return Measured(
            calls=len(latencies),
            seconds=ended - self.started,
            latencies=latencies,
            client_cpu=time.process_time() - self._client,
            server_cpu=self._running.cpu_seconds() - self._server,
        )


class Pipes:
    """A stdio server as its client sees it."""

    def __init__(self, running: Running, wire: Wire, *, patience: float = PATIENCE) -> None:
        self.running, self._patience = running, patience
        self._source, self._sink = running.pipes
        os.set_blocking(self._source, False)
        os.set_blocking(self._sink, False)
        self._rest = b""
        if wire is Wire.LEGACY:
            self.exchange(talk.initialize())
            self._write(talk.INITIALIZED + b"\n")

    def exchange(self, line: bytes) -> bytes:
        """One request, one answer."""
        unsent = self._write(line + b"\n")
        lines: list[bytes] = []
        while unsent or not lines:
            self._wait(bool(unsent))
            unsent = self._write(unsent)
            lines = self._read()
        return lines[0]

    def drive(self, speaker: Speaker, load: Load) -> Measured:
        """Keep `in_flight` requests under way until the bound is reached; every answer is judged."""
        clock = _Clock(self.running)
        waiting: dict[int, float] = {}
        latencies: list[float] = []
        deadline, left = clock.started + load.seconds, load.calls
        unsent, left = self._ask(speaker, waiting, min(load.in_flight, left), left)
        while waiting:
            unsent = self._write(unsent)
            if unsent or not (lines := self._read()):
                self._wait(bool(unsent))
                lines = self._read()
            now = time.perf_counter()
            for line in lines:
                sent = waiting.pop(speaker.judge(line), None)
                if sent is None:
                    raise WrongAnswer(f"answered twice or never asked: {line[:200]!r}")
                latencies.append(now - sent)
            if lines and now < deadline and left:
                more, left = self._ask(speaker, waiting, min(len(lines), left), left)
                unsent += more
        return clock.finish(latencies)

    def _ask(self, speaker: Speaker, waiting: dict[int, float], count: int, left: int) -> tuple[bytes, int]:
        asked = [speaker.ask() for _ in range(count)]
        now = time.perf_counter()
        for number, _ in asked:
            waiting[number] = now
        return b"".join([body + b"\n" for _, body in asked]), left - count

    def _write(self, data: bytes) -> bytes:
        """Write what fits now; the rest is returned."""
        while data:
            try:
                data = data[os.write(self._sink, data) :]
            except BlockingIOError:
                break
        return data

    def _read(self) -> list[bytes]:
        """Whole lines that are there now."""
        try:
            size = os.readv(self._source, [_BUFFER])
        except BlockingIOError:
            return []
        if not size:
            raise Stalled(f"the server closed its output: {self.running.complaint()}")
        *lines, self._rest = (self._rest + _VIEW[:size]).split(b"\n")
        return lines

    def _wait(self, writing: bool) -> None:
        poll = select.poll()
        poll.register(self._source, select.POLLIN)
        if writing:
            poll.register(self._sink, select.POLLOUT)
        if not poll.poll(self._patience * 1000):
            raise Stalled(f"no answer for {self._patience} s: {self.running.complaint()}")


class _Heads:
    """Reads heads of responses; most repeat, so they are remembered."""

    def __init__(self) -> None:
        self._known: dict[bytes, tuple[int, int]] = {}

    def read(self, head: bytes) -> tuple[int, int]:
        """Status and length; -1 for a chunked body."""
        found = self._known.get(head)
        if found is None:
            found = self._known[head] = _read_head(head)
            if len(self._known) > 1000:
                self._known.clear()
        return found


def read_fields(head: bytes) -> dict[str, str]:
    """The header fields, names in lower case."""
    pairs = (line.partition(":") for line in head.decode("latin-1").split("\r\n")[1:])
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def _read_head(head: bytes) -> tuple[int, int]:
    fields = read_fields(head)
    chunked = fields.get("transfer-encoding", "").lower() == "chunked"
    return int(head.split(b" ", 2)[1]), -1 if chunked else int(fields.get("content-length", 0))


def read_chunked(data: bytes) -> bytes | None:
    """The body of a chunked response, or None while it is not whole."""
    parts: list[bytes] = []
    at = 0
    while True:
        end = data.find(b"\r\n", at)
        if end < 0:
            return None
        size = int(data[at:end].partition(b";")[0], 16)
        at = end + 2 + size + 2
        if len(data) < at:
            return None
        if size == 0:
            return b"".join(parts)
        parts.append(data[end + 2 : end + 2 + size])


def read_event(body: bytes) -> bytes:
    """The last message of an event stream; other bodies as they are."""
    if body.startswith(b"{"):
        return body
    lines = [line[5:].strip() for line in body.replace(b"\r\n", b"\n").split(b"\n") if line.startswith(b"data:")]
    return lines[-1] if lines else body


_HEADS: Final = _Heads()


class Connection:
    """One keep-alive connection with at most one request under way."""

    def __init__(self, port: int, path: str, wire: Wire) -> None:
        self.port, self.path, self.wire = port, path, wire
        self.socket = _dial(port)
        self.fields: dict[str, str] = {"MCP-Protocol-Version": str(wire)}
        self.sent = 0.0
        self.number = 0
        self._buffer = b""
        self._heads: dict[tuple[int, str], bytes] = {}
        if wire is Wire.LEGACY:
            self._open_session()

    def _open_session(self) -> None:
        status, head, _ = self.exchange(talk.initialize(), {})
        session = read_fields(head).get("mcp-session-id")
        if status != 200:
            raise Stalled(f"initialize was answered with {status}")
        if session:
            self.fields["Mcp-Session-Id"] = session
        self.exchange(talk.INITIALIZED, self.fields)

    def exchange(self, body: bytes, fields: Mapping[str, str]) -> tuple[int, bytes, bytes]:
        """One request and its response: status, head and body."""
        self.socket.sendall(talk.http_head(port=self.port, path=self.path, length=len(body), fields=fields) + body)
        while (found := self.receive()) is None:
            pass
        return found

    def send(self, number: int, body: bytes, tool: str) -> None:
        """Send a call."""
        key = (len(body), tool)
        head = self._heads.get(key)
        if head is None:
            modern = {"Mcp-Method": "tools/call", "Mcp-Name": tool} if self.wire is Wire.MODERN else {}
            head = talk.http_head(port=self.port, path=self.path, length=len(body), fields=self.fields | modern)
            self._heads[key] = head
        self.number, self.sent = number, time.perf_counter()
        self.socket.sendall(head + body)

    def receive(self) -> tuple[int, bytes, bytes] | None:
        """Read what is there: status, head and body of the response once it is whole."""
        size = self.socket.recv_into(_VIEW)
        if not size:
            raise Stalled("the server closed the connection")
        data = self._buffer + _VIEW[:size]
        end = data.find(b"\r\n\r\n")
        if end >= 0:
            head = data[:end]
            status, length = _HEADS.read(head)
            start = end + 4
            body = read_chunked(data[start:]) if length < 0 else data[start:] if len(data) - start >= length else None
            if body is not None:
                self._buffer = b""
                return status, head, body
        self._buffer = data
        return None

    def redial(self) -> None:
        """A new connection for the same session: servers close connections that were idle for some seconds."""
        self.socket.close()
        self.socket = _dial(self.port)
        self._buffer = b""

    def close(self) -> None:
        """Hang up."""
        self.socket.close()


def _dial(port: int) -> socket.socket:
    dialled = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    dialled.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return dialled


def drive_all(channel: Pipes | Sockets, speaker: Speaker, load: Load) -> Measured:
    """Every call of the load, not only those that fit its time. Raises Stalled."""
    measured = channel.drive(speaker, load)
    if measured.calls < load.calls:
        raise Stalled(f"only {measured.calls:,} of {load.calls:,} calls in {load.seconds:.0f} s")
    return measured


class Sockets:
    """An HTTP server as so many clients see it, each with a connection and, in the legacy era, a session of its own."""

    def __init__(self, running: Running, wire: Wire, *, path: str = "/mcp") -> None:
        self._running, self._wire, self._path = running, wire, path
        self._connections: list[Connection] = []

    def drive(self, speaker: Speaker, load: Load) -> Measured:
        """Keep one request under way on each of `in_flight` connections; every answer is judged."""
        connections = self._connect(load.in_flight)
        poll = select.epoll()
        by_descriptor = {connection.socket.fileno(): connection for connection in connections}
        for descriptor in by_descriptor:
            poll.register(descriptor, select.EPOLLIN)
        tools = _tools(speaker)
        clock = _Clock(self._running)
        deadline, left, busy = clock.started + load.seconds, load.calls, 0
        latencies: list[float] = []
        for connection in connections[: load.calls]:
            _ask(connection, speaker, tools)
            left, busy = left - 1, busy + 1
        while busy:
            events = poll.poll(PATIENCE)
            if not events:
                raise Stalled(f"no answer for {PATIENCE} s: {self._running.complaint()}")
            for descriptor, _ in events:
                connection = by_descriptor[descriptor]
                found = connection.receive()
                if found is None:
                    continue
                now = time.perf_counter()
                _check(speaker, connection, found[2])
                latencies.append(now - connection.sent)
                if now < deadline and left:
                    _ask(connection, speaker, tools)
                    left -= 1
                else:
                    busy -= 1
        poll.close()
        return clock.finish(latencies)

    def close(self) -> None:
        """Hang up."""
        for connection in self._connections:
            connection.close()

    def _connect(self, count: int) -> Sequence[Connection]:
        for connection in self._connections[:count]:
            connection.redial()
        while len(self._connections) < count:
            self._connections.append(Connection(self._running.port, self._path, self._wire))
        for connection in self._connections[:count]:
            connection.socket.settimeout(None)  # with a timeout, each read and write would be preceded by a poll
        return self._connections[:count]


def _tools(speaker: Speaker) -> list[str]:
    return [question.tool for question in speaker.questions] if isinstance(speaker, Talk) else ["add"]


def _ask(connection: Connection, speaker: Speaker, tools: Sequence[str]) -> None:
    number, body = speaker.ask()
    connection.send(number, body, tools[number % len(tools)])


def _check(speaker: Speaker, connection: Connection, body: bytes) -> None:
    number = speaker.judge(read_event(body))
    if isinstance(speaker, Talk) and number != connection.number:
        raise WrongAnswer(f"the answer to {number} came to whoever asked {connection.number}")
