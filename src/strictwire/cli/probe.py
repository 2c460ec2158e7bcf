"""`strictwire probe`: tests any MCP server with raw bytes."""

from __future__ import annotations

import argparse
import asyncio
import shlex
import sys
from pathlib import Path
from typing import Final

from strictwire.canon.json import JsonObject, NotStrict, parse_object, render
from strictwire.client.errors import CannotReach
from strictwire.fault.escape import for_json_line, for_terminal_lines
from strictwire.probe import ProbeOptions, ProbeProgress, ProbeReport, render_json, render_table, run_with

EXAMPLES: Final = """examples:
  strictwire probe --stdio 'python my_server.py'
  strictwire probe --http http://127.0.0.1:8808/mcp
  strictwire probe --stdio 'npx -y some-server' --http http://127.0.0.1:3000/mcp    also compares the two transports
  strictwire probe --http URL --tool 'search={"query":"x"}' --format json

exit codes: 0 no findings, 100 findings, 1 could not run, 2 wrong usage
"""

FINDINGS: Final = 100


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--stdio", metavar="COMMAND", type=shlex.split, help="start a server with this command and test it over stdio"
    )
    parser.add_argument("--http", metavar="URL", help="test the server at this URL")
    parser.add_argument(
        "--tool",
        action="append",
        default=[],
        metavar="NAME=JSON",
        type=_tool_arguments,
        help="arguments for calls to this tool; may be repeated",
    )
    parser.add_argument(
        "--call-all", action="store_true", help="also call tools that are not marked read-only; they may change data"
    )
    parser.add_argument("--only", action="append", metavar="PROBE", help="run only this probe; may be repeated")
    parser.add_argument(
        "--header",
        action="append",
        default=[],
        metavar="NAME:VALUE",
        type=_header,
        help="HTTP request header; may be repeated",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: %(default)s")
    parser.add_argument("--output", type=Path, help="write the report to this file instead of standard output")


def run(arguments: argparse.Namespace) -> int:
    """Run the probes, print the report, and return 100 if there are findings."""
    if not arguments.stdio and not arguments.http:
        print("strictwire probe: no server given; use --stdio COMMAND, --http URL, or both", file=sys.stderr)
        return 2
    options = ProbeOptions(
        stdio=arguments.stdio,
        http=arguments.http,
        tools=dict(arguments.tool),
        call_all=arguments.call_all,
        only=frozenset(arguments.only) if arguments.only else None,
        headers=dict(arguments.header),
    )
    try:
        report = asyncio.run(run_with(options, _show_progress if sys.stderr.isatty() else _no_progress))
    except ValueError as exc:
        print(f"strictwire probe: {exc}", file=sys.stderr)
        return 2
    except CannotReach as exc:
        print(f"strictwire probe: {exc}", file=sys.stderr)
        return 1
    _write(report, arguments)
    return FINDINGS if report.findings or report.differences else 0


def _write(report: ProbeReport, arguments: argparse.Namespace) -> None:
    is_json = arguments.format == "json"
    text = for_json_line(render(render_json(report)).decode()) if is_json else for_terminal_lines(render_table(report))
    if arguments.output is None:
        print(text)
    else:
        arguments.output.write_text(text + "\n", encoding="utf-8")


def _tool_arguments(text: str) -> tuple[str, JsonObject]:
    name, _, raw = text.partition("=")
    try:
        return name, parse_object(raw.encode())
    except NotStrict as exc:
        raise argparse.ArgumentTypeError(f"{text!r}: expected NAME=JSON with a JSON object; {exc}") from exc


def _header(text: str) -> tuple[str, str]:
    name, separator, value = text.partition(":")
    if not separator or not name.strip():
        raise argparse.ArgumentTypeError(f"{text!r}: expected NAME:VALUE")
    return name.strip(), value.strip()


def _show_progress(progress: ProbeProgress) -> None:
    print(f"\r\x1b[K{progress.variant} {progress.done + 1}/{progress.total} {progress.probe}", end="", file=sys.stderr)


def _no_progress(_progress: ProbeProgress) -> None:
    """Used if stderr is not a terminal."""
