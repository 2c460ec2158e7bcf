"""`strictwire guard`: the contract in front of any MCP server."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Final

from strictwire.gateway.policy import ToolPolicy
from strictwire.gateway.terms import Mode, Terms
from strictwire.gateway.upstream import Target
from strictwire.server.guard import Guarding, run_guard
from strictwire.server.run import parse_address

EXAMPLES: Final = """examples:
  strictwire guard -- npx -y some-mcp-server                on standard input and output
  strictwire guard --http 127.0.0.1:8808 -- some-server     the same server over HTTP
  strictwire guard --upstream-http https://host/mcp         a remote server
  strictwire guard --deny 'delete_*' -- some-server         without some of its tools
  strictwire guard --mode warn -- some-server               relay what breaks the contract, and say so
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument("command", nargs="*", metavar="COMMAND", help="the server to start, after --")
    parser.add_argument("--upstream-http", metavar="URL", help="a server at a URL instead of a command")
    parser.add_argument("--upstream-token-env", metavar="NAME", help="variable that holds the bearer token for the URL")
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--stdio", action="store_true", help="serve standard input and output (default)")
    way.add_argument("--http", metavar="HOST:PORT", help="serve HTTP, such as 127.0.0.1:8808")
    parser.add_argument("--name", default="upstream", help="what the server is called in logs")
    parser.add_argument("--mode", choices=[mode.value for mode in Mode], default=Mode.ENFORCE.value)
    parser.add_argument("--timeout", type=float, metavar="SECONDS", default=60.0, help="silence before a call is given up")
    parser.add_argument(
        "--allow", action="append", default=[], metavar="PATTERN", help="only tools like this; may be repeated"
    )
    parser.add_argument("--deny", action="append", default=[], metavar="PATTERN", help="no tools like this; may be repeated")
    parser.add_argument("--no-mask", action="store_true", help="show error texts of the server as they are")
    parser.add_argument(
        "--lock", type=Path, help="lock file of `strictwire pin`: a tool that differs is neither shown nor called"
    )
    parser.add_argument("--trust-on-first-use", action="store_true", help="write the lock file if it is not there yet")
    parser.add_argument("--config", type=Path, help="settings file (default: strictwire.toml, if there is one)")


def run(arguments: argparse.Namespace) -> int:
    """Guard until stopped."""
    try:
        guarding = Guarding(
            target=_target(arguments),
            terms=_terms(arguments),
            policy=ToolPolicy(allow=arguments.allow, deny=arguments.deny),
            lock=_lock(arguments),
            trust_on_first_use=arguments.trust_on_first_use,
            http=_address(arguments),
            announce=_announce,
        )
    except ValueError as exc:
        print(f"strictwire guard: {exc}", file=sys.stderr)
        return 2
    return run_guard(guarding, file=arguments.config)


def _target(arguments: argparse.Namespace) -> Target:
    if bool(arguments.command) == bool(arguments.upstream_http):
        raise ValueError("name one server: a command after --, or --upstream-http URL")
    return Target(
        name=arguments.name,
        command=tuple(arguments.command),
        url=arguments.upstream_http,
        headers=_headers(arguments.upstream_token_env),
    )


def _lock(arguments: argparse.Namespace) -> Path | None:
    found: Path | None = arguments.lock
    if arguments.trust_on_first_use and found is None:
        raise ValueError("--trust-on-first-use needs --lock FILE to say where the pins are kept")
    return found


def _headers(variable: str | None) -> dict[str, str]:
    if variable is None:
        return {}
    token = os.environ.get(variable)
    if not token:
        raise ValueError(f"--upstream-token-env: the variable {variable} is not set")
    return {"Authorization": f"Bearer {token}"}


def _terms(arguments: argparse.Namespace) -> Terms:
    if not 0 < arguments.timeout <= 86_400:
        raise ValueError("--timeout: expected seconds, more than 0 and at most a day")
    seconds: float = arguments.timeout
    return Terms(
        mode=Mode(arguments.mode),
        silence_seconds=seconds,
        total_seconds=max(Terms().total_seconds, seconds),
        mask=not arguments.no_mask,
    )


def _address(arguments: argparse.Namespace) -> tuple[str, int] | None:
    return None if arguments.http is None else parse_address(arguments.http)


def _announce(url: str) -> None:
    print(f"strictwire guards on {url}", file=sys.stderr)
