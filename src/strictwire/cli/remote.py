"""What `call` and `inspect` share: a session with any server, and its failures on the terminal."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from strictwire.cli.target import TargetRefused, open_target

if TYPE_CHECKING:
    from strictwire.client import Session


def add_session(parser: argparse.ArgumentParser) -> None:
    """Add the options of a session."""
    parser.add_argument("target", metavar="TARGET", help="the server, see below")
    parser.add_argument("--header", action="append", default=[], metavar="NAME:VALUE", help="HTTP header; may be repeated")
    parser.add_argument("--timeout", type=float, default=60.0, metavar="SECONDS", help="per request (default: %(default)s)")


def run_session(verb: str, arguments: argparse.Namespace, use: Callable[[Session], Awaitable[int]]) -> int:
    """Open a session, use it and close it. Returns the exit code: 1 if the server cannot be reached, 2 for wrong usage."""
    from strictwire.client import ClientError

    try:
        return asyncio.run(_run(arguments, use))
    except TargetRefused as exc:
        print(f"strictwire {verb}: {exc}", file=sys.stderr)
        return exc.exit_code
    except ClientError as exc:
        print(f"strictwire {verb}: {exc}", file=sys.stderr)
        return 1


async def _run(arguments: argparse.Namespace, use: Callable[[Session], Awaitable[int]]) -> int:
    from strictwire.client import SessionOptions
    from strictwire.client.channel import Callbacks

    headers = dict(_header(each) for each in arguments.header)
    options = SessionOptions(
        callbacks=Callbacks(on_stderr=_copy_stderr),
        seconds=arguments.timeout,
        detect_seconds=30.0,
        headers=headers,
        # Of a server of ours, only what went wrong is of interest here.
        env={"STRICTWIRE_LOG_LEVEL": "warning", **os.environ},
    )
    async with await open_target(arguments.target, options) as session:
        return await use(session)


def _copy_stderr(chunk: bytes) -> None:
    """Show what the server logs: the traceback of a handler is there, never on the wire."""
    sys.stderr.write(chunk.decode(errors="replace"))


def _header(text: str) -> tuple[str, str]:
    name, separator, value = text.partition(":")
    if not separator or not name.strip():
        raise TargetRefused(f"--header {text!r}: expected NAME:VALUE")
    return name.strip(), value.strip()
