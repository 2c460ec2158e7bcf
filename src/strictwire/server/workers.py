"""Worker processes that serve one address together (`server.workers`).

The first process is the supervisor. It opens the listening sockets and everything else that the workers inherit, forks the
workers and waits for them. It replaces a worker that dies; if a worker cannot start, it stops all of them. Each worker is a
complete server with its own audit trail (`worker-N` in the audit folder), so that workers never wait for each other. A
session stays in the worker that opened it (`transport.http.handoff`).
"""

from __future__ import annotations

import logging
import os
import secrets
import signal
import socket
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from strictwire.transport.http.handoff import SocketHandoff

MAX_DEATHS: Final = 5
"""Deaths of workers within `DEATHS_SECONDS` after which the supervisor gives up: a new worker would only die again."""

DEATHS_SECONDS: Final = 60.0

_BACKLOG: Final = 1024
"""Connections that wait to be accepted on one socket, so that a burst of clients is not refused."""

_STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)

log = logging.getLogger("strictwire.workers")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerInheritance:
    """What a worker inherits from the supervisor."""

    number: int
    """The number of this worker, from 0."""
    listeners: tuple[socket.socket, ...]
    """One listening socket per worker, all on one address. The kernel distributes connections over them. The supervisor
    keeps them open, so that no waiting connection is lost while a dead worker is replaced."""
    seal_key: bytes
    """Seals `requestState` in all workers: the client may send its answers to another worker than the one that asked."""
    handoffs: tuple[SocketHandoff, ...]
    """One per worker: the others pass it the connections of its sessions."""
    lifeline: tuple[int, int]
    """The read end and the write end of a pipe. Only the supervisor keeps the write end open, so the read end reports the
    end of file as soon as the supervisor is dead, even after SIGKILL."""

    def hold_lifeline(self) -> int:
        """Call once in each worker. Returns a descriptor that becomes readable when the supervisor is dead."""
        os.close(self.lifeline[1])
        return self.lifeline[0]


def open_inheritance(host: str, port: int, count: int) -> WorkerInheritance:
    """Open everything that `count` workers inherit. Raises OSError: cannot listen on the address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    if port:
        # With SO_REUSEPORT the sockets would silently join those of another server on the port. A socket without it fails.
        socket.create_server((host, port), family=family).close()
    first = socket.create_server((host, port), family=family, backlog=_BACKLOG, reuse_port=True)
    address = first.getsockname()
    others = (socket.create_server(address, family=family, backlog=_BACKLOG, reuse_port=True) for _ in range(count - 1))
    return WorkerInheritance(
        number=0,
        listeners=(first, *others),
        seal_key=secrets.token_bytes(32),
        handoffs=tuple(SocketHandoff() for _ in range(count)),
        lifeline=os.pipe(),
    )


class Supervisor:
    """Forks the workers, waits for them, and replaces those that die. `work(number)` runs in the worker."""

    def __init__(self, count: int, work: Callable[[int], int], *, now: Callable[[], float] = time.monotonic) -> None:
        self._count = count
        self._work = work
        self._now = now
        self._numbers: dict[int, int] = {}  # numbers of running workers by process id
        self._deaths: deque[float] = deque(maxlen=MAX_DEATHS)
        self._stopping = False

    def run(self) -> int:
        """Run until all workers have exited. Returns the exit code: 0, or 1 if a worker failed.

        A worker that exits with 0 or 1 has decided so (it was stopped, or cannot start): then all stop. Any other code is a
        crash.
        """
        for signum in _STOP_SIGNALS:
            signal.signal(signum, self._stop)
        for number in range(self._count):
            self._start(number)
        exit_code = 0
        while self._numbers:
            pid, status = os.wait()
            code = os.waitstatus_to_exitcode(status)
            number = self._numbers.pop(pid)
            if self._stopping:
                exit_code = max(exit_code, int(code > 0))
            elif code == 0 or code == 1 or not self._may_replace():
                exit_code = int(code != 0)
                self._stop()
            else:
                log.error("worker %d died with exit code %d; starting a replacement", number, code)
                self._start(number)
        return exit_code

    def _start(self, number: int) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        # Block the stop signals across the fork. Otherwise a signal could arrive before the supervisor knows the pid, or
        # while the worker still has the signal handlers of the supervisor: that worker would never stop.
        signal.pthread_sigmask(signal.SIG_BLOCK, _STOP_SIGNALS)
        pid = os.fork()
        if pid:
            self._numbers[pid] = number
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP_SIGNALS)
            if self._stopping:
                os.kill(pid, signal.SIGTERM)
            return
        code = 1
        try:
            for signum in _STOP_SIGNALS:
                signal.signal(signum, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP_SIGNALS)
            code = self._work(number)
        finally:
            sys.stderr.flush()
            os._exit(code)  # never return into the stack of the supervisor

    def _may_replace(self) -> bool:
        self._deaths.append(self._now())
        return len(self._deaths) < MAX_DEATHS or self._deaths[-1] - self._deaths[0] > DEATHS_SECONDS

    def _stop(self, *_signal: object) -> None:
        self._stopping = True
        for pid in self._numbers:
            os.kill(pid, signal.SIGTERM)
