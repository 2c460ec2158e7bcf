"""Reads the tools of a running MCP server with `tools/list`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from strictwire.check.subject import SourceLocation, ToolSet
from strictwire.client import ClientError, RemoteError, Session, SessionOptions, open_http, open_stdio
from strictwire.sources.entries import read_entries
from strictwire.sources.refused import SourceRefused

SECONDS: Final = 120.0
"""Time limit for the start of the server and all pages of its list."""


async def read_stdio(command: Sequence[str], options: SessionOptions | None = None) -> ToolSet:
    """Start a server, list its tools and stop it. Raises SourceRefused."""
    label = " ".join(command)
    return await _read(label, lambda: open_stdio(command, options))


async def read_http(url: str, options: SessionOptions | None = None) -> ToolSet:
    """List the tools of a server at a URL. Raises SourceRefused."""
    return await _read(url, lambda: open_http(url, options))


async def _read(label: str, open_session: Callable[[], Awaitable[Session]]) -> ToolSet:
    try:
        async with asyncio.timeout(SECONDS):
            session = await open_session()
            async with session:
                return as_tool_set(await session.list_tools(), label)
    except TimeoutError as exc:
        raise SourceRefused(label, f"the server did not list its tools within {SECONDS:g} s") from exc
    except ClientError as exc:
        raise SourceRefused(label, str(exc)) from exc


def as_tool_set(listed: Sequence[object] | RemoteError, label: str) -> ToolSet:
    """The tools of a `tools/list` response. Raises SourceRefused if the response is an error."""
    if isinstance(listed, RemoteError):
        raise SourceRefused(label, f"the server answered tools/list with error {listed.code}")
    subjects, read_problems = read_entries(list(listed), SourceLocation(label, "/tools"))  # type: ignore[arg-type]  # entries are JSON
    return ToolSet(label=label, subjects=subjects, read_problems=read_problems)
