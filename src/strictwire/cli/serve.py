"""`strictwire serve`: serves the user's own server, or the packs that ship with strictwire."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

import strictwire
from strictwire.cli.target import TargetRefused, load_server
from strictwire.server.author import Server
from strictwire.server.compose import PATHS
from strictwire.server.run import Serving, parse_address, report_start_failure, run_server

EXAMPLES: Final = """examples:
  strictwire serve                              serve the packs of strictwire.toml on http://127.0.0.1:8808/mcp
  strictwire serve --stdio --pack basics        serve one pack over stdio
  strictwire serve my_module:server --stdio     serve your own strictwire.Server
  strictwire serve --http 127.0.0.1:0           listen on any free port
  strictwire serve --workers 4                  run four processes on one address
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("server", nargs="?", metavar="MODULE:NAME", help="your own strictwire.Server instead of the packs")
    transport = parser.add_mutually_exclusive_group()
    transport.add_argument("--stdio", action="store_true", help="serve over standard input and output")
    transport.add_argument("--http", metavar="HOST:PORT", help="listen here (default: server.host and server.port)")
    parser.add_argument("--workers", type=int, metavar="N", help="number of HTTP processes (default: server.workers)")
    parser.add_argument("--pack", action="append", metavar="NAME", help="serve this pack; may be repeated")
    parser.add_argument(
        "--profile", choices=sorted(PATHS), default="mcp", help="protocol profile on stdio (default: %(default)s)"
    )
    parser.add_argument("--deterministic", action="store_true", help="use fixed times and ids, so that output is repeatable")
    parser.add_argument(
        "--exact-v0", action="store_true", help="with --pack context: serve Context Resolve v0 on stdio, byte for byte"
    )
    parser.add_argument("--config", type=Path, help="settings file (default: strictwire.toml, if there is one)")


def run(arguments: argparse.Namespace) -> int:
    """Serve until stopped."""
    try:
        _check_exact(arguments)
        http = _address(arguments)
        server = load_server(arguments.server) if arguments.server else Server("strictwire", version=strictwire.__version__)
    except ValueError as exc:
        print(f"strictwire serve: {exc}", file=sys.stderr)
        return 2
    except TargetRefused as exc:
        if exc.exit_code == 1:
            report_start_failure("BOOTSTRAP_FAILURE", str(exc))
        else:
            print(f"strictwire serve: {exc}", file=sys.stderr)
        return exc.exit_code
    serving = Serving(
        http=http,
        stdio=arguments.stdio or arguments.exact_v0,
        exact_v0=arguments.exact_v0,
        profile=arguments.profile,
        deterministic=arguments.deterministic,
        workers=arguments.workers,
        announce=_announce,
    )
    if arguments.exact_v0:
        return run_server(server, file=arguments.config, serving=serving, packs=())
    packs = tuple(arguments.pack) if arguments.pack else (() if arguments.server else None)
    return run_server(server, file=arguments.config, serving=serving, packs=packs)


def _check_exact(arguments: argparse.Namespace) -> None:
    """Refuse options that the frozen surface of v0 does not have. Raises ValueError."""
    given = {
        "--http": arguments.http,
        "--profile": arguments.profile != "mcp",
        "--workers": arguments.workers,
        "a server of your own": arguments.server,
    }
    refused = [name for name, value in given.items() if value]
    if arguments.exact_v0 and refused:
        raise ValueError(f"--exact-v0 serves Context Resolve v0 over stdio only; remove {' and '.join(refused)}")


def _address(arguments: argparse.Namespace) -> tuple[str, int] | None:
    return parse_address(arguments.http) if arguments.http else None


def _announce(url: str, needs_token: bool) -> None:
    body = (
        '{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{'
        '"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}'
    )
    print(f"strictwire serves {url}", file=sys.stderr)
    print("Try it, with your token in TOKEN:" if needs_token else "Try it:", file=sys.stderr)
    token = ' -H "Authorization: Bearer $TOKEN"' if needs_token else ""
    print(
        f"  curl -s {url}{token} -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \\\n"
        f"    -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: server/discover' \\\n    -d '{body}'",
        file=sys.stderr,
        flush=True,
    )
