"""Connection hand-off between the worker processes of one listener.

The system gives a new connection to any worker, but a legacy session lives in the worker that opened it, and a task in the
worker that runs it. Their ids begin with the number of that worker. A worker that reads a request of another's session or
task passes the whole connection on: its descriptor, and the bytes that were already read from it.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, TypeAlias

from strictwire.profiles.endpoint import Headers
from strictwire.wire.names import SESSION_HEADER

SEPARATOR: Final = "."
"""Between the number of a worker and the rest of a session id or task id."""

_SESSION_ID: Final = re.compile(rf"([0-9]{{1,4}}){re.escape(SEPARATOR)}.*", re.ASCII | re.DOTALL)
"""At most 4 digits: ids come from clients, and `int` refuses numbers of more than 4,300 digits with an exception."""


class SocketHandoff:
    """The way for connections into one worker: a socket pair, made before the workers are forked.

    Every worker can send to every other; only its own worker receives.
    """

    def __init__(self) -> None:
        self._receiver, self._sender = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._receiver.setblocking(False)
        self._sender.setblocking(False)

    def fileno(self) -> int:
        """The descriptor that becomes readable when a connection arrives."""
        return self._receiver.fileno()

    def send(self, connection: int, received: bytes) -> bool:
        """Pass on a connection and what was read from it; False if the worker is gone or has too many waiting."""
        # As a memory file, because a datagram holds less than a request may.
        memory = os.memfd_create("strictwire-request")
        try:
            with os.fdopen(memory, "wb", closefd=False) as file:
                file.write(received)
            socket.send_fds(self._sender, [b"c"], [connection, memory])
        except OSError:
            return False
        finally:
            os.close(memory)
        return True

    def receive(self) -> tuple[socket.socket, bytes] | None:
        """A connection that another worker passed on, and what was read from it; None if there is none."""
        with suppress(BlockingIOError):
            _, descriptors, _, _ = socket.recv_fds(self._receiver, 1, 2)
            connection, memory = descriptors
            with os.fdopen(memory, "rb") as file:
                file.seek(0)
                return socket.socket(fileno=connection), file.read()
        return None


FindOwner: TypeAlias = Callable[[Headers], SocketHandoff | None]
"""The worker that a request belongs to; None if it is this one."""


def owner_finder(workers: Sequence[SocketHandoff], own: int) -> FindOwner:
    """A function that finds the worker with the session or the task of a request, as seen by worker number `own`."""

    def find(headers: Headers) -> SocketHandoff | None:
        named = _SESSION_ID.fullmatch(headers.get(SESSION_HEADER) or _task_id(headers))
        owner = own if named is None else int(named[1])
        return workers[owner] if owner != own and owner < len(workers) else None

    return find


def _task_id(headers: Headers) -> str:
    """The task that a request of 2026-07-28 is about; empty if it is about none."""
    is_about_task = (headers.get("mcp-method") or "").startswith("tasks/")
    return (headers.get("mcp-name") or "") if is_about_task else ""
