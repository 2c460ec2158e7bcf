"""Passing an open HTTP connection to another process of the same listener, with what was already read from it.

The system hands a new connection to any process; a legacy session lives in the one that opened it. Its id begins with the
number of that process, and whoever gets a request that names it passes the whole connection on.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, TypeAlias

from strictwire.profiles.endpoint import Headers
from strictwire.profiles.mcp.era import SESSION_HEADER

SEPARATOR: Final = "."
"""Between the number of a process and the rest of a session's id, where it never occurs."""

Pass: TypeAlias = Callable[[int, bytes], bool]
"""Pass on a connection, given its descriptor and the bytes that its new owner has to read first; False: it stays."""

Elsewhere: TypeAlias = Callable[[Headers], Pass | None]
"""Where a request belongs; None if it is at home."""


class Door:
    """The way into one process. Made before the processes part; each keeps its own inside, and all the outsides."""

    def __init__(self) -> None:
        self._inside, self._outside = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._inside.setblocking(False)
        self._outside.setblocking(False)

    def fileno(self) -> int:
        """What to wait for."""
        return self._inside.fileno()

    def pass_in(self, connection: int, raw: bytes) -> bool:
        """Give a connection away; False if the other process is gone or has too many of them waiting."""
        # The bytes travel as a file of memory: a message holds less than a request may.
        memory = os.memfd_create("strictwire-request")
        try:
            os.write(memory, raw)
            socket.send_fds(self._outside, [b"c"], [connection, memory])
        except OSError:
            return False
        finally:
            os.close(memory)
        return True

    def take(self) -> tuple[socket.socket, bytes] | None:
        """A connection that was passed in; None if there is none."""
        with suppress(BlockingIOError):
            _, descriptors, _, _ = socket.recv_fds(self._inside, 1, 2)
            connection, memory = descriptors
            with os.fdopen(memory, "rb") as file:
                file.seek(0)
                return socket.socket(fileno=connection), file.read()
        return None


def elsewhere_of(doors: Sequence[Door], own: int) -> Elsewhere:
    """Where the requests of one listener belong, as process number `own` sees it."""

    def find(headers: Headers) -> Pass | None:
        number, separator, _ = (headers.get(SESSION_HEADER) or "").partition(SEPARATOR)
        if not separator or not number.isdecimal() or not number.isascii():
            return None
        home = int(number)
        return doors[home].pass_in if home != own and home < len(doors) else None

    return find
