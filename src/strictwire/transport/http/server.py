"""Our own HTTP server: a listener on an address, alone or one of several worker processes."""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import socket
from dataclasses import replace
from functools import partial
from typing import Final

from strictwire.transport.http import limits as http_limits
from strictwire.transport.http.connection import HttpConnection
from strictwire.transport.http.handoff import FindOwner, SocketHandoff
from strictwire.transport.http.limits import HttpLimits
from strictwire.transport.http.pool import ConnectionPool
from strictwire.transport.http.rules import Site

BACKLOG: Final = 1024
"""Connections that the system keeps until they are accepted."""

MAX_ACCEPTED_AT_ONCE: Final = 64
"""Connections accepted in one turn of the event loop. A turn takes up to 20 ms when one principal keeps the server busy
(`FairStart`), so a client behind a burst of 2,000 connections waits 0.7 s; with 8 at once it waited 5 s."""

log = logging.getLogger("strictwire.http")


class HttpServer:
    """Serves a site until it is stopped."""

    def __init__(self, site: Site, limits: HttpLimits | None = None, *, find_owner: FindOwner | None = None) -> None:
        self._pool = ConnectionPool(site, _fit_open_files(limits or http_limits.DEFAULT_LIMITS), find_owner)
        self._connect = partial(HttpConnection, self._pool)
        self._server: asyncio.Server | None = None
        self._adopting: set[asyncio.Task[None]] = set()

    async def start(self, host: str, port: int) -> int:
        """Listen; returns the port, which the system chooses for 0. Raises OSError: cannot listen there."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._connect, host, port, backlog=_accepted_at_once())
        _set_backlog(self._server)
        return int(self._server.sockets[0].getsockname()[1])

    async def start_worker(self, listening: socket.socket, handoff: SocketHandoff) -> None:
        """Accept from a socket whose address other workers share, and take the connections that they hand off."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._connect, sock=listening, backlog=_accepted_at_once())
        _set_backlog(self._server)
        loop.add_reader(handoff.fileno(), self._receive, handoff)

    def _receive(self, handoff: SocketHandoff) -> None:
        received = handoff.receive()
        if received is not None:
            task = asyncio.get_running_loop().create_task(self._adopt(*received))
            self._adopting.add(task)
            task.add_done_callback(self._adopting.discard)

    async def _adopt(self, connection: socket.socket, received: bytes) -> None:
        _, protocol = await asyncio.get_running_loop().connect_accepted_socket(self._connect, connection)
        protocol.data_received(received)

    async def stop(self) -> None:
        """Stop listening, let running calls finish, close every connection."""
        if self._server is None:
            return
        self._server.close()
        await self._pool.dispatcher.close(self._pool.limits.stop_seconds)
        for connection in tuple(self._pool.connections):
            connection.close()


def _set_backlog(server: asyncio.Server) -> None:
    for each in server.sockets:
        with socket.socket(fileno=os.dup(each.fileno())) as listening:
            listening.listen(BACKLOG)


def _accepted_at_once() -> int:
    """Connections to accept in one turn, for which asyncio takes the backlog.

    Each is counted, or refused and closed, some turns later. More than a small part of the limit of open files would reach
    that limit in a burst, where asyncio logs each failure to accept.
    """
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MAX_ACCEPTED_AT_ONCE if files < 0 else min(MAX_ACCEPTED_AT_ONCE, max(1, files // 32))


def _fit_open_files(limits: HttpLimits) -> HttpLimits:
    """Keep connections below the process's limit of open files.

    A quarter of that is left for the audit trail, handlers, upstreams, and connections that are not yet counted.
    """
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0] * 3 // 4
    if allowed < 0 or limits.max_connections + limits.max_unproven <= allowed:  # negative: no limit
        return limits
    unproven = min(limits.max_unproven, allowed // 8)
    log.warning("the limit of open files allows %d connections, not %d", allowed - unproven, limits.max_connections)
    return replace(limits, max_connections=allowed - unproven, max_unproven=unproven)
