"""`server.asgi()`: a server as an ASGI application, under the same rules as our own HTTP server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from strictwire.server.compose import open_runtime
from strictwire.server.selfcheck import check_lock
from strictwire.server.served import Served
from strictwire.settings.read import read_settings
from strictwire.transport.http.asgi import AsgiApp
from strictwire.transport.http.rules import Site


def make_asgi(server: Served, *, path: str, config: Path | None) -> AsgiApp:
    """The application. The ASGI server chooses the address; hosts and tokens are those of the settings.

    Raises SettingsRefused; ValueError: the path does not begin with a slash.
    """
    if not path.startswith("/"):
        raise ValueError(f"path {path!r}: a path begins with a slash, such as '/mcp'")
    settings = read_settings(file=config)

    @asynccontextmanager
    async def open_site() -> AsyncIterator[Site]:
        async with open_runtime(server, settings) as runtime:
            if settings.server.lock is not None:
                check_lock(runtime.core.registry, settings.server.lock)
            yield runtime.site(path)

    return AsgiApp(open_site)
