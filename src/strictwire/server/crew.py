"""Several processes that serve one address: `server.workers`.

The first process opens the address and makes what all must share, then parts into workers and looks after them: one that
dies is replaced, one that cannot start ends all. Each worker is a whole server with an audit trail of its own
(`worker-N` in the folder of the trail), so that none waits for another. Sessions stay with the worker that opened them
(`transport.http.handoff`).
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
"""Deaths within a minute after which a worker is not replaced again: it would only die once more."""

_STOPS: Final = (signal.SIGTERM, signal.SIGINT)

log = logging.getLogger("strictwire.crew")


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one worker is given."""

    number: int
    listening: tuple[socket.socket, ...]
    """One for each worker, all on one address: the system spreads connections over them, and none is lost while a dead
    worker is replaced."""
    seal_key: bytes
    """Questions that one worker asked may be answered to another."""
    handoffs: tuple[SocketHandoff, ...]
    lifeline: tuple[int, int]
    """Two ends of a pipe that only the first process keeps open: when it dies, by whatever, the others read the end."""

    def hold_lifeline(self) -> int:
        """In a worker, once: what becomes readable when the first process is gone."""
        os.close(self.lifeline[1])
        return self.lifeline[0]


def open_share(host: str, port: int, count: int) -> Share:
    """What the workers share, for the first of them. Raises OSError: cannot listen there."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    if port:
        # Sockets that share a port would join those of another server without a word; a plain one finds that out.
        socket.create_server((host, port), family=family).close()
    first = socket.create_server((host, port), family=family, backlog=1024, reuse_port=True)
    address = first.getsockname()
    others = (socket.create_server(address, family=family, backlog=1024, reuse_port=True) for _ in range(count - 1))
    return Share(
        number=0,
        listening=(first, *others),
        seal_key=secrets.token_bytes(32),
        handoffs=tuple(SocketHandoff() for _ in range(count)),
        lifeline=os.pipe(),
    )


class Crew:
    """Workers, and the process that looks after them."""

    def __init__(self, count: int, work: Callable[[int], int], *, now: Callable[[], float] = time.monotonic) -> None:
        self._count = count
        self._work = work
        self._now = now
        self._numbers: dict[int, int] = {}
        self._deaths: deque[float] = deque(maxlen=MAX_DEATHS)
        self._stopping = False

    def run(self) -> int:
        """Return when every worker has ended, with the exit code of the whole: 0, or 1 if one could not go on."""
        for signum in _STOPS:
            signal.signal(signum, self._stop)
        for number in range(self._count):
            self._start(number)
        worst = 0
        while self._numbers:
            pid, status = os.wait()
            code = os.waitstatus_to_exitcode(status)
            number = self._numbers.pop(pid)
            if self._stopping:
                worst = max(worst, int(code > 0))
            elif code == 0 or code == 1 or not self._may_replace():
                worst = int(code != 0)
                self._stop()
            else:
                log.error("worker %d ended with %d; another takes its place", number, code)
                self._start(number)
        return worst

    def _start(self, number: int) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        # Held back until both sides are ready for them: a worker that is not yet known, or still has the handlers of the
        # first process, would never end.
        signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
        pid = os.fork()
        if pid:
            self._numbers[pid] = number
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
            if self._stopping:
                os.kill(pid, signal.SIGTERM)
            return
        code = 1
        try:
            for signum in _STOPS:
                signal.signal(signum, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
            code = self._work(number)
        finally:
            sys.stderr.flush()
            os._exit(code)

    def _may_replace(self) -> bool:
        self._deaths.append(self._now())
        return len(self._deaths) < MAX_DEATHS or self._deaths[-1] - self._deaths[0] > 60

    def _stop(self, *_signal: object) -> None:
        self._stopping = True
        for pid in self._numbers:
            os.kill(pid, signal.SIGTERM)
