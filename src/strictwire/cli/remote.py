"""What `call` and `inspect` share: a client of any server, and its failures on the terminal."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final, Literal

from strictwire.cli.target import TargetRefused, is_module, is_url, serve_command
from strictwire.fault.escape import for_terminal

if TYPE_CHECKING:
    from strictwire.client.errors import ClientError
    from strictwire.server.client.client import Client

MAX_NAMES: Final = 200
"""Characters of the names that a server sends, in a message."""


def add_session(parser: argparse.ArgumentParser) -> None:
    """Add the options of a session."""
    parser.add_argument("target", metavar="TARGET", help="the server, see below")
    parser.add_argument("--header", action="append", default=[], metavar="NAME:VALUE", help="HTTP header; may be repeated")
    parser.add_argument("--timeout", type=float, default=60.0, metavar="SECONDS", help="per request (default: %(default)s)")


def run_client(verb: str, arguments: argparse.Namespace, use: Callable[[Client], Awaitable[int]]) -> int:
    """Connect to the server, use it and leave it. Returns the exit code: 1 if the server failed, 2 for wrong usage."""
    from strictwire.client.errors import ClientError

    try:
        return asyncio.run(_run(arguments, use))
    except TargetRefused as exc:
        print(f"strictwire {verb}: {exc}", file=sys.stderr)
        return exc.exit_code
    except ClientError as exc:
        print(f"strictwire {verb}: {for_terminal(str(exc))}{for_terminal(_missing(exc))}", file=sys.stderr)
        return 1


def _missing(error: ClientError) -> str:
    """Which capabilities the server needs of the client, and where a client has them; empty for another failure."""
    if error.failure.code != "MISSING_CAPABILITY":
        return ""
    required = error.failure.details.get("requiredCapabilities")
    names = ", ".join(required) if isinstance(required, dict) else ""
    return (
        f" ({names[:MAX_NAMES]}); this command cannot answer questions of a server: use an MCP client that can, or "
        "strictwire.Client with on_elicit, on_sample or roots"
    )


async def _run(arguments: argparse.Namespace, use: Callable[[Client], Awaitable[int]]) -> int:
    from strictwire.server.client.client import Client
    from strictwire.server.client.targets import Http, Stdio

    headers = dict(_header(each) for each in arguments.header)
    target = (
        Http(arguments.target, headers=headers)
        if is_url(arguments.target)
        # The user's own command, so it gets the user's environment. Of a server of ours, only errors are of interest.
        else Stdio(serve_command(arguments.target), env={"STRICTWIRE_LOG_LEVEL": "warning", **os.environ})
    )
    # A module is served by strictwire, which needs no detection: one that does not start would be started twice.
    era: Literal["modern"] | None = "modern" if is_module(arguments.target) else None
    async with Client(target, timeout=arguments.timeout, era=era, on_stderr=_copy_stderr, validate=False) as client:
        return await use(client)


def _copy_stderr(chunk: bytes) -> None:
    """Show what the server logs: the traceback of a handler is there, never on the wire."""
    sys.stderr.write(chunk.decode(errors="replace"))


def _header(text: str) -> tuple[str, str]:
    name, separator, value = text.partition(":")
    if not separator or not name.strip():
        raise TargetRefused(f"--header {text!r}: expected NAME:VALUE")
    return name.strip(), value.strip()
