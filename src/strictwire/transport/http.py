"""Streamable HTTP: a listener, alone or beside those of other processes."""

from __future__ import annotations

import asyncio
import socket
from typing import Final

from strictwire.transport.handover import Door
from strictwire.transport.http_connection import HttpConnection, Listener, Site

STOP_SECONDS: Final = 5.0
"""How long running calls have when the server is told to stop."""


class HttpServer:
    """A listener."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._listener = Listener(site)
        self._connections = self._listener.connections
        self._server: asyncio.Server | None = None
        self._adopting: set[asyncio.Task[None]] = set()

    async def start(self, host: str, port: int) -> int:
        """Listen; returns the port, which the system chooses for 0. Raises OSError: cannot listen there."""
        self._server = await asyncio.get_running_loop().create_server(self._connect, host, port, backlog=1024)
        return int(self._server.sockets[0].getsockname()[1])

    async def start_on(self, listening: socket.socket, door: Door) -> None:
        """Take connections from a socket that other processes listen on too, and those that they pass on."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._connect, sock=listening)
        loop.add_reader(door.fileno(), self._take_in, door)

    def _connect(self) -> HttpConnection:
        return HttpConnection(self._site, self._listener)

    def _take_in(self, door: Door) -> None:
        taken = door.take()
        if taken is not None:
            task = asyncio.get_running_loop().create_task(self._adopt(*taken))
            self._adopting.add(task)
            task.add_done_callback(self._adopting.discard)

    async def _adopt(self, connection: socket.socket, raw: bytes) -> None:
        _, protocol = await asyncio.get_running_loop().connect_accepted_socket(self._connect, connection)
        asyncio.get_running_loop().call_soon(protocol.data_received, raw)

    async def stop(self) -> None:
        """Stop listening, let running calls end, close every connection."""
        if self._server is None:
            return
        self._server.close()
        for endpoint in self._site.endpoints.values():
            endpoint.end_input()
        running = [answered for connection in self._connections if (answered := connection.answered()) is not None]
        if running:
            await asyncio.wait(running, timeout=STOP_SECONDS)
        for endpoint in self._site.endpoints.values():
            await endpoint.close()
        await asyncio.sleep(0)
        self._site.batch.flush()
        self._listener.send_all()
        for connection in tuple(self._connections):
            connection.drop()
