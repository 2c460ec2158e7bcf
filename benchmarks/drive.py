"""The load generator: a closed loop over pipes or sockets, in one process, with a fixed number of requests in flight.

Uses file descriptors and `poll`, without an event loop or HTTP library, so that it costs less than any server under test.
Every result contains how busy the load generator was: near 1.0 it would be the bottleneck.
"""

from __future__ import annotations

import os
import select
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from benchmarks import messages
from benchmarks.messages import CallStream, RequestStream, Revision, WrongResponse
from benchmarks.process import Running

STALL_SECONDS: Final = 30.0
"""A server that sends nothing for this long counts as stalled."""

_BUFFER: Final = bytearray(256 * 1024)
_VIEW: Final = memoryview(_BUFFER)
"""A shared read buffer: allocating one of this size for every read would cost more than the read."""


class Stalled(Exception):
    """The server sent nothing for too long, or closed the connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """The load of one run, which ends at the time limit or the number of calls, whichever comes first."""

    in_flight: int
    seconds: float
    calls: int = 10_000_000


@dataclass(slots=True, kw_only=True)
class Measurement:
    """The result of one run."""

    calls: int = 0
    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    client_cpu: float = 0.0
    server_cpu: float = 0.0

    @property
    def rate(self) -> float:
        """Calls per second."""
        return self.calls / self.seconds

    @property
    def p50(self) -> float:
        """Median latency in seconds."""
        return sorted(self.latencies)[len(self.latencies) // 2]

    @property
    def client_busy(self) -> float:
        """Share of the time that the load generator used the CPU."""
        return self.client_cpu / self.seconds

    @property
    def cpu_a_call(self) -> float:
        """CPU seconds of the server per call."""
        return self.server_cpu / self.calls


class _Clock:
    """Measures the wall time of a run and the CPU time of both sides."""

    def __init__(self, running: Running) -> None:
        self._running = running
        self._server, self._client = running.cpu_seconds(), time.process_time()
        self.started = time.perf_counter()

    def finish(self, latencies: list[float]) -> Measurement:
        """The result."""
        ended = time.perf_counter()
        return Measurement(
            calls=len(latencies),
            seconds=ended - self.started,
            latencies=latencies,
            client_cpu=time.process_time() - self._client,
            server_cpu=self._running.cpu_seconds() - self._server,
        )


class Pipes:
    """The client of a stdio server."""

    def __init__(self, running: Running, revision: Revision, *, stall_seconds: float = STALL_SECONDS) -> None:
        self.running, self._stall_seconds = running, stall_seconds
        self._source, self._sink = running.pipes
        os.set_blocking(self._source, False)
        os.set_blocking(self._sink, False)
        self._rest = b""
        if revision is Revision.LEGACY:
            self.exchange(messages.initialize())
            self._write(messages.INITIALIZED + b"\n")

    def exchange(self, line: bytes) -> bytes:
        """Send one request and return its response."""
        unsent = self._write(line + b"\n")
        lines: list[bytes] = []
        while unsent or not lines:
            self._wait(bool(unsent))
            unsent = self._write(unsent)
            lines = self._read()
        return lines[0]

    def drive(self, stream: RequestStream, load: Load) -> Measurement:
        """Keep `in_flight` requests running until the end of the load; every response is checked."""
        clock = _Clock(self.running)
        waiting: dict[int, float] = {}
        latencies: list[float] = []
        deadline, remaining = clock.started + load.seconds, load.calls
        unsent, remaining = self._ask(stream, waiting, min(load.in_flight, remaining), remaining)
        while waiting:
            unsent = self._write(unsent)
            if unsent or not (lines := self._read()):
                self._wait(bool(unsent))
                lines = self._read()
            now = time.perf_counter()
            for line in lines:
                sent = waiting.pop(stream.check(line), None)
                if sent is None:
                    raise WrongResponse(f"a second response, or a response without a request: {line[:200]!r}")
                latencies.append(now - sent)
            if lines and now < deadline and remaining:
                more, remaining = self._ask(stream, waiting, min(len(lines), remaining), remaining)
                unsent += more
        return clock.finish(latencies)

    def _ask(self, stream: RequestStream, waiting: dict[int, float], count: int, remaining: int) -> tuple[bytes, int]:
        requests = [stream.next_request() for _ in range(count)]
        now = time.perf_counter()
        for number, _ in requests:
            waiting[number] = now
        return b"".join([body + b"\n" for _, body in requests]), remaining - count

    def _write(self, data: bytes) -> bytes:
        """Write as much as possible without blocking. Returns the rest."""
        while data:
            try:
                data = data[os.write(self._sink, data) :]
            except BlockingIOError:
                break
        return data

    def _read(self) -> list[bytes]:
        """The complete lines that are available without blocking."""
        try:
            size = os.readv(self._source, [_BUFFER])
        except BlockingIOError:
            return []
        if not size:
            raise Stalled(f"the server closed its output: {self.running.stderr_tail()}")
        *lines, self._rest = (self._rest + _VIEW[:size]).split(b"\n")
        return lines

    def _wait(self, writing: bool) -> None:
        poll = select.poll()
        poll.register(self._source, select.POLLIN)
        if writing:
            poll.register(self._sink, select.POLLOUT)
        if not poll.poll(self._stall_seconds * 1000):
            raise Stalled(f"no response for {self._stall_seconds} s: {self.running.stderr_tail()}")


class _Heads:
    """Parses response headers, with a cache: most responses have the same ones."""

    def __init__(self) -> None:
        self._known: dict[bytes, tuple[int, int]] = {}

    def read(self, head: bytes) -> tuple[int, int]:
        """Status and content length; the length is -1 for a chunked body."""
        found = self._known.get(head)
        if found is None:
            found = self._known[head] = _read_head(head)
            if len(self._known) > 1000:
                self._known.clear()
        return found


def read_fields(head: bytes) -> dict[str, str]:
    """The header fields, with lower-case names."""
    pairs = (line.partition(":") for line in head.decode("latin-1").split("\r\n")[1:])
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def _read_head(head: bytes) -> tuple[int, int]:
    fields = read_fields(head)
    chunked = fields.get("transfer-encoding", "").lower() == "chunked"
    return int(head.split(b" ", 2)[1]), -1 if chunked else int(fields.get("content-length", 0))


def read_chunked(data: bytes) -> bytes | None:
    """The body of a chunked response, or None while it is incomplete."""
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
    """The last message of an event stream; other bodies unchanged."""
    if body.startswith(b"{"):
        return body
    lines = [line[5:].strip() for line in body.replace(b"\r\n", b"\n").split(b"\n") if line.startswith(b"data:")]
    return lines[-1] if lines else body


_HEADS: Final = _Heads()


class Connection:
    """A keep-alive connection with at most one request in flight."""

    def __init__(self, port: int, path: str, revision: Revision) -> None:
        self.port, self.path, self.revision = port, path, revision
        self.socket = _open_socket(port)
        self.fields: dict[str, str] = {"MCP-Protocol-Version": str(revision)}
        self.sent = 0.0
        self.number = 0
        self._buffer = b""
        self._heads: dict[tuple[int, str], bytes] = {}
        if revision is Revision.LEGACY:
            self._open_session()

    def _open_session(self) -> None:
        status, head, _ = self.exchange(messages.initialize(), {})
        session = read_fields(head).get("mcp-session-id")
        if status != 200:
            raise Stalled(f"initialize returned HTTP {status}")
        if session:
            self.fields["Mcp-Session-Id"] = session
        self.exchange(messages.INITIALIZED, self.fields)

    def exchange(self, body: bytes, fields: Mapping[str, str]) -> tuple[int, bytes, bytes]:
        """Send one request and return the status, headers and body of its response."""
        self.socket.sendall(messages.http_head(port=self.port, path=self.path, length=len(body), fields=fields) + body)
        while (found := self.receive()) is None:
            pass
        return found

    def send(self, number: int, body: bytes, tool: str) -> None:
        """Send a call."""
        key = (len(body), tool)
        head = self._heads.get(key)
        if head is None:
            modern = {"Mcp-Method": "tools/call", "Mcp-Name": tool} if self.revision is Revision.MODERN else {}
            head = messages.http_head(port=self.port, path=self.path, length=len(body), fields=self.fields | modern)
            self._heads[key] = head
        self.number, self.sent = number, time.perf_counter()
        self.socket.sendall(head + body)

    def receive(self) -> tuple[int, bytes, bytes] | None:
        """Read available bytes. Returns the status, headers and body once the response is complete, else None."""
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

    def reconnect(self) -> None:
        """Open a new connection for the same session, because servers close idle connections after some seconds."""
        self.socket.close()
        self.socket = _open_socket(self.port)
        self._buffer = b""

    def close(self) -> None:
        """Close the connection."""
        self.socket.close()


def _open_socket(port: int) -> socket.socket:
    opened = socket.create_connection(("127.0.0.1", port), timeout=STALL_SECONDS)
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return opened


def drive_all(channel: Pipes | Sockets, stream: RequestStream, load: Load) -> Measurement:
    """Like `drive`, but raise Stalled if the time limit ends the run before all calls are made."""
    measured = channel.drive(stream, load)
    if measured.calls < load.calls:
        raise Stalled(f"only {measured.calls:,} of {load.calls:,} calls in {load.seconds:.0f} s")
    return measured


class Sockets:
    """Many clients of an HTTP server, each with its own connection and, in the legacy era, its own session."""

    def __init__(self, running: Running, revision: Revision, *, path: str = "/mcp") -> None:
        self._running, self._revision, self._path = running, revision, path
        self._connections: list[Connection] = []

    def drive(self, stream: RequestStream, load: Load) -> Measurement:
        """Keep one request running on each of `in_flight` connections; every response is checked."""
        connections = self._connect(load.in_flight)
        poll = select.epoll()
        by_descriptor = {connection.socket.fileno(): connection for connection in connections}
        for descriptor in by_descriptor:
            poll.register(descriptor, select.EPOLLIN)
        tools = _tools(stream)
        clock = _Clock(self._running)
        deadline, remaining, busy = clock.started + load.seconds, load.calls, 0
        latencies: list[float] = []
        for connection in connections[: load.calls]:
            _ask(connection, stream, tools)
            remaining, busy = remaining - 1, busy + 1
        while busy:
            events = poll.poll(STALL_SECONDS)
            if not events:
                raise Stalled(f"no response for {STALL_SECONDS} s: {self._running.stderr_tail()}")
            for descriptor, _ in events:
                connection = by_descriptor[descriptor]
                found = connection.receive()
                if found is None:
                    continue
                now = time.perf_counter()
                _check(stream, connection, found[2])
                latencies.append(now - connection.sent)
                if now < deadline and remaining:
                    _ask(connection, stream, tools)
                    remaining -= 1
                else:
                    busy -= 1
        poll.close()
        return clock.finish(latencies)

    def close(self) -> None:
        """Close the connection."""
        for connection in self._connections:
            connection.close()

    def _connect(self, count: int) -> Sequence[Connection]:
        for connection in self._connections[:count]:
            connection.reconnect()
        while len(self._connections) < count:
            self._connections.append(Connection(self._running.port, self._path, self._revision))
        for connection in self._connections[:count]:
            connection.socket.settimeout(None)  # with a timeout, Python calls poll before each read and write
        return self._connections[:count]


def _tools(stream: RequestStream) -> list[str]:
    return [call.tool for call in stream.expected_calls] if isinstance(stream, CallStream) else ["add"]


def _ask(connection: Connection, stream: RequestStream, tools: Sequence[str]) -> None:
    number, body = stream.next_request()
    connection.send(number, body, tools[number % len(tools)])


def _check(stream: RequestStream, connection: Connection, body: bytes) -> None:
    number = stream.check(read_event(body))
    if isinstance(stream, CallStream) and number != connection.number:
        raise WrongResponse(f"the connection of request {connection.number} got the response to {number}")
