"""Reads the tools of a running MCP server with `tools/list`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from strictwire.check.subject import SourceLocation, ToolSet
from strictwire.client import ClientError, RemoteError, Session, SessionOptions, open_http, open_stdio
from strictwire.client.errors import CannotReach, NotUnderstood, ServerGone, TimedOut
from strictwire.fault.redact import redact_text
from strictwire.sources.entries import read_entries
from strictwire.sources.label import command_label, url_label
from strictwire.sources.refused import SourceRefused

WHOLE: Final = 4
"""The start and all pages of a list may take this many times the time limit of one response: a handshake has up to three
requests, and a server that pages forever must not run forever."""

MAX_STDERR_LINES: Final = 12
"""Lines of a failed server's stderr that the user sees: enough for the end of a traceback."""


async def read_stdio(command: Sequence[str], options: SessionOptions | None = None) -> ToolSet:
    """Start a server, list its tools and stop it. Raises SourceRefused."""
    options = options or SessionOptions()
    return await _read(command_label(command), lambda: open_stdio(command, options), time_limit(options))


async def read_http(url: str, options: SessionOptions | None = None) -> ToolSet:
    """List the tools of a server at a URL. Raises SourceRefused."""
    options = options or SessionOptions()
    return await _read(url_label(url), lambda: open_http(url, options), time_limit(options))


def time_limit(options: SessionOptions) -> float:
    """Seconds for the start of a server and its whole list."""
    return WHOLE * max(options.seconds, options.detect_seconds)


async def _read(label: str, open_session: Callable[[], Awaitable[Session]], seconds: float) -> ToolSet:
    try:
        async with asyncio.timeout(seconds):
            session = await open_session()
            async with session:
                return as_tool_set(await session.list_tools(), label)
    except TimeoutError as exc:
        raise SourceRefused(label, f"the server did not list its tools within {seconds:g} s; see --timeout") from exc
    except ServerGone as exc:
        raise SourceRefused(label, f"{exc}{_last_lines(exc.stderr)}") from exc
    except NotUnderstood as exc:
        raise SourceRefused(label, _REFUSALS.get(exc.status or 0, str(exc))) from exc
    except TimedOut as exc:
        raise SourceRefused(label, f"{exc}; a server that starts slowly needs a longer --timeout") from exc
    except CannotReach as exc:
        raise SourceRefused(label, f"cannot reach the server: {exc.reason}") from exc
    except ClientError as exc:
        raise SourceRefused(label, str(exc)) from exc


_REFUSALS: Final[Mapping[int, str]] = MappingProxyType(
    {
        401: "the server requires authorization (HTTP 401); give a token with --token-env NAME or --token-file FILE, "
        "get one with --oauth-client-id ID, or send another header with --header NAME:VALUE",
        403: "the server refuses access (HTTP 403); check the token and its scopes",
        404: "there is no MCP endpoint at this URL (HTTP 404)",
    }
)
"""What HTTP statuses mean to the user."""


def _last_lines(stderr: bytes) -> str:
    """What the server wrote to stderr before it ended, without secrets."""
    lines = redact_text(stderr.decode("utf-8", "replace")).strip().splitlines()[-MAX_STDERR_LINES:]
    return (
        "".join(f"\n  | {line}" for line in ["stderr of the server:", *lines]) if lines else "; it wrote nothing to stderr"
    )


def as_tool_set(listed: Sequence[object] | RemoteError, label: str) -> ToolSet:
    """The tools of a `tools/list` response. Raises SourceRefused if the response is an error."""
    if isinstance(listed, RemoteError):
        raise SourceRefused(label, f"the server answered tools/list with error {listed.code}")
    subjects, read_problems = read_entries(list(listed), SourceLocation(label, "/tools"))  # type: ignore[arg-type]  # entries are JSON
    return ToolSet(label=label, subjects=subjects, read_problems=read_problems)
