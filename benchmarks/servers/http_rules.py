"""The two tools behind one set of HTTP rules, under different HTTP servers: `http_rules.py SERVER --http HOST:PORT`.

SERVER is one of `ours`, `uvicorn`, `granian`, each with `-uvloop` for that event loop. Endpoint, rules and settings are the
same; only the server that reads HTTP differs. HTTP_LIMITS (JSON) sets limits by the names of `HttpLimits`; each server gets
those that it has a setting for.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from benchmarks.servers.ours import make_server
from strictwire.server.compose import PATHS, open_runtime
from strictwire.server.run import tune_garbage_collector
from strictwire.settings.read import read_settings
from strictwire.transport.http.asgi import AsgiApp
from strictwire.transport.http.limits import HttpLimits
from strictwire.transport.http.rules import Site
from strictwire.transport.http.server import HttpServer

LIMITS: Final = HttpLimits(**json.loads(os.environ.get("HTTP_LIMITS", "{}")))


@asynccontextmanager
async def open_site() -> AsyncIterator[Site]:
    """What is served."""
    settings = read_settings(file=None)
    async with open_runtime(make_server(), settings) as runtime:
        tune_garbage_collector()
        yield Site(
            endpoints={PATHS["mcp"]: runtime.endpoint("mcp")},
            gatekeeper=runtime.gatekeeper(),
            max_body=settings.server.max_request_bytes,
        )


app = AsgiApp(open_site, LIMITS)


async def _serve_ours(host: str, port: int) -> None:
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    async with open_site() as site:
        server = HttpServer(site, LIMITS)
        await server.start(host, port)
        await stopped.wait()
        await server.stop()


def _run_ours(host: str, port: int, *, uvloop: bool) -> None:
    if not uvloop:
        asyncio.run(_serve_ours(host, port))
        return
    import uvloop as uvloop_package

    uvloop_package.run(_serve_ours(host, port))


def _run_uvicorn(host: str, port: int, *, uvloop: bool) -> None:
    import uvicorn

    uvicorn.run(
        app,
        host=host,
        port=port,
        http="httptools",
        loop="uvloop" if uvloop else "asyncio",
        access_log=False,
        log_level="error",
        server_header=False,
        date_header=False,
        timeout_keep_alive=int(LIMITS.idle_seconds),
        limit_concurrency=LIMITS.max_connections,
        timeout_graceful_shutdown=1,
    )


def _run_granian(host: str, port: int, *, uvloop: bool) -> None:
    from granian import Granian
    from granian.constants import HTTPModes, Interfaces, Loops
    from granian.http import HTTP1Settings

    Granian(
        "benchmarks.servers.http_rules:app",
        address=host,
        port=port,
        interface=Interfaces.ASGI,
        loop=Loops.uvloop if uvloop else Loops.asyncio,
        http=HTTPModes.http1,
        backpressure=LIMITS.max_connections,
        http1_settings=HTTP1Settings(
            header_read_timeout=int(LIMITS.read_seconds * 1000), max_buffer_size=max(8192, LIMITS.max_head)
        ),
        log_enabled=False,
        websockets=False,
        workers_kill_timeout=1,
    ).serve()


RUN: Final[dict[str, Any]] = {"ours": _run_ours, "uvicorn": _run_uvicorn, "granian": _run_granian}

if __name__ == "__main__":
    name, _, loop = sys.argv[1].partition("-")
    where, _, number = sys.argv[3].rpartition(":")
    RUN[name](where, int(number), uvloop=loop == "uvloop")
