"""An HTTP server of a test, with one handler for all requests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from aiohttp import web

from strictwire.canon import json

T = TypeVar("T")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def served(handler: Handler, act: Callable[[str], Awaitable[T]]) -> T:
    """Start the server, run `act` with its URL, and stop it."""

    async def main() -> T:
        app = web.Application()
        app.router.add_route("*", "/mcp", handler)
        runner = web.AppRunner(app, handle_signals=False, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        try:
            async with asyncio.timeout(30):
                return await act(f"http://127.0.0.1:{port}/mcp")
        finally:
            await runner.cleanup()

    return asyncio.run(main())


def answer(request: dict[str, Any], result: dict[str, Any], **headers: str) -> web.Response:
    """A response with a result."""
    return web.json_response({"jsonrpc": "2.0", "id": request["id"], "result": result}, headers=headers)


async def stream(request: web.Request) -> web.StreamResponse:
    """The start of an event stream."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    return response


async def write(response: web.StreamResponse, message: dict[str, Any], event_id: str | None = None) -> None:
    """Send one event."""
    prefix = f"id: {event_id}\n".encode() if event_id is not None else b""
    await response.write(prefix + b"data: " + json.render(message) + b"\n\n")
