"""`strictwire probe`: tests any MCP server with raw bytes."""

from __future__ import annotations

import argparse
import asyncio
import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from strictwire.cli.shared import FORMATS, add_authorization, credentials_of, headers_of
from strictwire.cli.target import TARGETS, TargetRefused, is_url, serve_command

if TYPE_CHECKING:
    from strictwire.canon.json import JsonObject
    from strictwire.probe import ProbeOptions, ProbeProgress, ProbeReport
    from strictwire.probe.compare import Comparison
    from strictwire.probe.harm import Harm

EXAMPLES: Final = f"""{TARGETS}
examples:
  strictwire probe my_module:server
  strictwire probe 'npx -y some-server' --html report.html
  strictwire probe --stdio 'some-server' --http http://127.0.0.1:3000/mcp    also compares the two transports
  strictwire probe URL --token-env TOKEN --tool 'search={{"query":"x"}}' --format json
  strictwire probe 'some-server' --save probe.json                          keep the findings of this version ...
  strictwire probe 'some-server' --against probe.json                       ... and fail only for new ones

Only tools that are declared read-only are called; --call-anything calls all of them.

exit codes: 0 no findings, or no new ones with --against; 100 findings; 1 could not run; 2 wrong usage
"""

FINDINGS: Final = 100


class _Refused(Exception):
    """A file cannot be read or written. The message says which and why."""

    def __init__(self, text: str, exit_code: int) -> None:
        super().__init__(text)
        self.exit_code = exit_code


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    _add_server(parser)
    _add_calls(parser)
    _add_limits(parser)
    _add_reports(parser)


def _add_server(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", nargs="?", metavar="TARGET", help="the server, see below")
    parser.add_argument(
        "--stdio", metavar="COMMAND", type=shlex.split, help="start a server with this command and test it over stdio"
    )
    parser.add_argument("--http", metavar="URL", help="test the server at this URL; together with --stdio, compare both")
    add_authorization(parser)


def _add_calls(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tool",
        action="append",
        default=[],
        metavar="NAME=JSON",
        type=_tool_arguments,
        help="arguments for calls of this tool; may be repeated",
    )
    parser.add_argument(
        "--call-anything", action="store_true", help="also call tools that are not declared read-only; they may change data"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of generated arguments (default: 0)")


def _add_limits(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", action="append", metavar="PROBE", help="run only this probe; may be repeated")
    parser.add_argument(
        "--budget",
        type=_seconds,
        default=25.0,
        metavar="SECONDS",
        help="time for the whole run; what does not fit is reported as not run (default: %(default)g)",
    )
    parser.add_argument(
        "--timeout",
        type=_seconds,
        default=20.0,
        metavar="SECONDS",
        help="time limit to start the server, within the budget (default: %(default)g)",
    )


def _add_reports(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=FORMATS, default="text", help="report format (default: %(default)s)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the report to this file")
    parser.add_argument("--html", type=Path, metavar="FILE", help="also write the report as a web page")
    parser.add_argument("--save", type=Path, metavar="FILE", help="save the findings for a later --against")
    parser.add_argument("--against", type=Path, metavar="FILE", help="compare with saved findings; only new ones fail")


def run(arguments: argparse.Namespace) -> int:
    """Run the probes, print the report, and return 100 if there are findings."""
    from strictwire.client.errors import CannotReach
    from strictwire.fault.escape import for_terminal_lines

    try:
        options = _options(arguments)
        saved = _maybe_saved(arguments.against)
        report = _run(options)
        return _report(report, saved, arguments)
    except (TargetRefused, _Refused) as exc:
        return _fail(str(exc), exc.exit_code)
    except ValueError as exc:
        return _fail(str(exc), 2)
    except CannotReach as exc:
        return _fail(for_terminal_lines(str(exc)), 1)


def _fail(text: str, exit_code: int) -> int:
    print(f"strictwire probe: {text}", file=sys.stderr)
    return exit_code


def _options(arguments: argparse.Namespace) -> ProbeOptions:
    from strictwire.probe import ProbeOptions

    command, url = arguments.stdio, arguments.http
    if arguments.target and (command or url):
        raise _Refused(f"give the server once: {arguments.target!r}, or --stdio and --http", 2)
    if arguments.target and is_url(arguments.target):
        url = arguments.target
    elif arguments.target:
        command = serve_command(arguments.target)
    if not command and not url:
        raise _Refused("no server given; name a TARGET, or use --stdio COMMAND, --http URL, or both", 2)
    return ProbeOptions(
        stdio=command,
        http=url,
        tools=dict(arguments.tool),
        call_anything=arguments.call_anything,
        only=frozenset(arguments.only) if arguments.only else None,
        headers=_headers(url, arguments),
        seed=arguments.seed,
        budget=arguments.budget,
        start_seconds=arguments.timeout,
    )


def _headers(url: str | None, arguments: argparse.Namespace) -> dict[str, str]:
    """The headers of every HTTP request, with a token of the OAuth client if one is given."""
    from strictwire.sources.oauth import fetch_token
    from strictwire.sources.refused import SourceRefused

    headers = headers_of("probe", arguments)
    credentials = credentials_of("probe", arguments)
    if credentials is None or not url:
        return headers
    try:
        token = fetch_token(url, credentials, seconds=arguments.timeout)
    except SourceRefused as exc:
        raise _Refused(str(exc), 1) from exc
    return headers | {"Authorization": f"Bearer {token}"}


def _run(options: ProbeOptions) -> ProbeReport:
    from strictwire.probe import run_with

    if not sys.stderr.isatty():
        return asyncio.run(run_with(options))
    try:
        return asyncio.run(run_with(options, _show_progress))
    finally:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _maybe_saved(path: Path | None) -> Mapping[str, Harm] | None:
    from strictwire.probe.compare import SAVED_LIMITS, NotSaved, parse_saved
    from strictwire.sources.refused import SourceRefused
    from strictwire.sources.whole_file import read_whole

    if path is None:
        return None
    try:
        return parse_saved(read_whole(path, SAVED_LIMITS.size))
    except SourceRefused as exc:
        raise _Refused(f"--against {exc}", 2) from exc
    except NotSaved as exc:
        raise _Refused(f"--against {path}: {exc}", 2) from exc


def _report(report: ProbeReport, saved: Mapping[str, Harm] | None, arguments: argparse.Namespace) -> int:
    """Write everything that was asked for. Returns the exit code."""
    import strictwire
    from strictwire.canon.json import render
    from strictwire.probe import render_json
    from strictwire.probe.compare import compare
    from strictwire.probe.html import render_html

    comparison = None if saved is None else compare(report, saved)
    text = _FORMATTERS.get(arguments.format, _shared_format)(report, comparison, arguments.format)
    _write(arguments.html, lambda: render_html(report, comparison, strictwire.__version__))
    _write(arguments.save, lambda: render(render_json(report)).decode() + "\n")
    if arguments.output is None:
        print(text)
    else:
        _write(arguments.output, lambda: text + "\n")
    if comparison is not None:
        return FINDINGS if comparison.new else 0
    return 0 if report.is_clean else FINDINGS


def _text_format(report: ProbeReport, comparison: Comparison | None, _name: str) -> str:
    from strictwire.fault.escape import for_terminal_lines
    from strictwire.probe import render_text

    return for_terminal_lines(render_text(report, comparison))


def _json_format(report: ProbeReport, comparison: Comparison | None, _name: str) -> str:
    from strictwire.canon.json import render
    from strictwire.fault.escape import for_json_line
    from strictwire.probe import render_json

    return for_json_line(render(render_json(report, comparison)).decode())


def _shared_format(report: ProbeReport, comparison: Comparison | None, name: str) -> str:
    import strictwire
    from strictwire.check.render import FORMATS as SHARED
    from strictwire.probe.check_report import as_check_report

    return SHARED[name](as_check_report(report, comparison, strictwire.__version__)).rstrip("\n")


_FORMATTERS: Final = {"text": _text_format, "json": _json_format}


def _write(path: Path | None, make: Callable[[], str]) -> None:
    from strictwire.sources.refused import SourceRefused
    from strictwire.sources.whole_file import write_whole

    if path is None:
        return
    try:
        write_whole(path, make().encode())
    except SourceRefused as exc:
        raise _Refused(str(exc), 1) from exc


def _tool_arguments(text: str) -> tuple[str, JsonObject]:
    from strictwire.canon.json import NotStrict, parse_object

    name, _, raw = text.partition("=")
    try:
        return name, parse_object(raw.encode())
    except NotStrict as exc:
        raise argparse.ArgumentTypeError(f"{text!r}: expected NAME=JSON with a JSON object; {exc}") from exc


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError as exc:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number of seconds") from exc
    if not 1 <= seconds <= 3600:
        raise argparse.ArgumentTypeError(f"{text}: expected 1 to 3600 seconds")
    return seconds


def _show_progress(progress: ProbeProgress) -> None:
    """One line on the terminal: which check, how many, time left."""
    left = f"{progress.seconds_left:.0f} s left"
    shown = f"{progress.done + 1}/{progress.total} {progress.variant} {progress.probe}, {left}"
    print(f"\r\x1b[K{shown}", end="", file=sys.stderr, flush=True)
