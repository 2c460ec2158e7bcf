"""Hostile HTTP clients against any server of the fixture: each case says what the server did wrong, or nothing.

The limits of the server are short, so that a client that is waited for can be told from one that is not. A case waits far
longer than any of them.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final, TypeAlias

from tests.transport.http.smuggling import shapes

from benchmarks import messages
from benchmarks.drive import read_fields
from benchmarks.fixture import ExpectedCall, document
from benchmarks.messages import Revision, render_call
from benchmarks.peers import Contender
from benchmarks.process import Running, family

LIMITS: Final = json.dumps(
    {
        "read_seconds": 1,
        "idle_seconds": 2,
        "write_seconds": 1,
        "linger_seconds": 0.5,
        "sweep_seconds": 0.1,
        "max_connections": 64,
    }
)
"""For `HTTP_LIMITS`."""

PATIENCE: Final = 8.0
"""Seconds after which a client that should have been disconnected counts as waited for."""

MEGABYTE: Final = 1024 * 1024
MAX_GROWTH: Final = 32 * MEGABYTE
"""Resident memory that 64 MB of hostile bytes may cost."""

Case: TypeAlias = Callable[[Running], str | None]


def find_breaches(contender: Contender) -> dict[str, str]:
    """What a server does wrong, by case. Each case gets a fresh process."""
    found = {}
    for name, case in CASES.items():
        with contender.serve(http=True) as running:
            problem = case(running)
            if problem is None and not _is_served(running):
                problem = "others are not served afterwards"
        if problem is not None:
            found[name] = problem
    return found


@contextmanager
def _dial(running: Running, *, buffer: int = 0) -> Iterator[socket.socket]:
    with socket.socket() as client:
        client.settimeout(PATIENCE)
        if buffer:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        client.connect(("127.0.0.1", running.port))
        yield client


def _post(running: Running, call: ExpectedCall, fields: Mapping[str, str] = {}) -> bytes:
    before, after = render_call(call, Revision.MODERN)
    body = before + b"1" + after
    named = {"MCP-Protocol-Version": Revision.MODERN, "Mcp-Method": "tools/call", "Mcp-Name": call.tool}
    return messages.http_head(port=running.port, path="/mcp", length=len(body), fields={**named, **fields}) + body


ADD: Final = ExpectedCall("add", {"a": 1, "b": 2}, None)


def _is_served(running: Running) -> bool:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with suppress(OSError), _dial(running) as client:
            client.sendall(_post(running, ADD))
            if client.recv(65536).startswith(b"HTTP/1.1 200"):
                return True
        time.sleep(0.05)
    return False


def _read_to_end(client: socket.socket, deadline: float | None = None) -> bytes | None:
    """All that comes until the server closes the connection; None if it does not."""
    parts = []
    try:
        client.settimeout(PATIENCE if deadline is None else max(0.01, deadline - time.monotonic()))
        while part := client.recv(65536):
            parts.append(part)
    except TimeoutError:
        return None
    except ConnectionResetError:
        pass
    return b"".join(parts)


def _memory(running: Running) -> int:
    return sum(int(_status(pid, "VmHWM")) * 1024 for pid in family(running.process.pid))


def _status(pid: int, name: str) -> str:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith(name))


def _sockets(running: Running) -> int:
    """Connections that the server's processes hold open."""
    port = f":{running.port:04X}"
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(fields[1].endswith(port) and fields[3] != "0A" and fields[9] != "0" for fields in lines)  # 0A: listens


def _all_released(running: Running) -> str | None:
    deadline = time.monotonic() + PATIENCE
    while _sockets(running):
        if time.monotonic() > deadline:
            return f"{_sockets(running)} connections stay open"
        time.sleep(0.05)
    return None


def _malformed_and_gone(running: Running) -> str | None:
    for _ in range(200):
        with suppress(OSError), _dial(running) as client:
            client.sendall(b"\x00\r\n\r\n")
    return _all_released(running)


def _is_waited_for(running: Running, raw: bytes) -> str | None:
    with _dial(running) as client:
        client.sendall(raw)
        return None if _read_to_end(client) is not None else f"waits more than {PATIENCE:g} s"


def _never_connects(running: Running) -> str | None:
    return _is_waited_for(running, b"")


def _slow_head(running: Running) -> str | None:
    return _is_waited_for(running, b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nConte")


def _slow_body(running: Running) -> str | None:
    return _is_waited_for(running, _post(running, ADD)[:-5])


def _slow_chunk(running: Running) -> str | None:
    head = _post(running, ADD).partition(b"\r\n\r\n")[0]
    fields = b"\r\n".join(line for line in head.split(b"\r\n") if not line.lower().startswith(b"content-length"))
    return _is_waited_for(running, fields + b"\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe")


def _pipelined_partial(running: Running) -> str | None:
    return _is_waited_for(running, _post(running, ADD) + b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nConte")


def _endless(running: Running, beginning: bytes) -> str | None:
    before = _memory(running)
    with ExitStack() as stack:
        clients = [stack.enter_context(_dial(running)) for _ in range(8)]
        for client in clients:
            with suppress(OSError):
                client.sendall(beginning + b"x" * (8 * MEGABYTE))
        deadline = time.monotonic() + PATIENCE
        answers = [_read_to_end(client, deadline) for client in clients]
    grown = _memory(running) - before
    if grown > MAX_GROWTH:
        return f"{grown // MEGABYTE} MB more memory"
    return None if None not in answers else f"waits more than {PATIENCE:g} s"


def _endless_field(running: Running) -> str | None:
    return _endless(running, b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ")


def _endless_trailer(running: Running) -> str | None:
    return _endless(running, b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ")


def _smuggling(running: Running) -> str | None:
    marker = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    wrong = []
    for name, raw, statuses in shapes():
        with _dial(running) as client:
            client.sendall(raw + marker)
            received = _read_to_end(client)
        found = tuple(int(part[:3]) for part in (received or b"").split(b"HTTP/1.1 ")[1:] if part[:3].isdigit())
        # A refusal may have any status, or none, and the marker may be answered after it. The odd request is not served, and
        # nothing inside it is.
        if received is None or (statuses == (400,) and (found[:1] in ((200,), (404,)) or len(found) > 2)):
            wrong.append(name)
    return f"{len(wrong)} accepted, such as {wrong[0]}" if wrong else None


def _never_reads(running: Running) -> str | None:
    large = ExpectedCall("echo", {"document": document(1, rows=4000)}, None)
    with _dial(running, buffer=4096) as client:
        with suppress(OSError):
            client.sendall(_post(running, large) * 4)  # together more than the buffers of the system hold
        client.recv(16)
        deadline = time.monotonic() + PATIENCE
        while _sockets(running):
            if time.monotonic() > deadline:
                return "keeps the connection and the answer"
            time.sleep(0.05)
    return None


def _too_many(running: Running) -> str | None:
    held = [socket.create_connection(("127.0.0.1", running.port), PATIENCE) for _ in range(64)]
    try:
        with _dial(running) as client:
            client.sendall(_post(running, ADD))
            received = client.recv(65536)
            if not received.startswith(b"HTTP/1.1 503"):
                return "no 503"
            return None if "retry-after" in read_fields(received.partition(b"\r\n\r\n")[0]) else "503 without Retry-After"
    except OSError as exc:
        return f"no answer ({type(exc).__name__})"
    finally:
        for each in held:
            each.close()


CASES: Final[Mapping[str, Case]] = {
    "malformed request, then gone, 200 times": _malformed_and_gone,
    "connects and says nothing": _never_connects,
    "slow head": _slow_head,
    "slow body": _slow_body,
    "slow chunk": _slow_chunk,
    "pipelined partial request": _pipelined_partial,
    "endless header field": _endless_field,
    "endless trailer": _endless_trailer,
    "request smuggling": _smuggling,
    "never reads its answer": _never_reads,
    "too many connections": _too_many,
}
