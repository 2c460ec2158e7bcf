"""`strictwire code`: finds definitions, references, symbols, diagnostics and text of a project on the command line."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from strictwire.cli import shared

if TYPE_CHECKING:
    from strictwire.packs.code.open import CodeOptions
    from strictwire.packs.code.verbs import Order, Result

EXAMPLES: Final = """examples:
  strictwire code def Class.method              where it is defined
  strictwire code refs src/app.py:12:5          every use of the symbol at that position
  strictwire code refs Class.method --unconfirmed --json
  strictwire code symbols Widget                symbols by part of their name
  strictwire code symbols src/app.py            symbols of a file
  strictwire code outline src --budget 4096     the most used symbols, as a map
  strictwire code diagnostics                   errors and warnings of the project
  strictwire code search 'TODO|FIXME' --regex
  strictwire code engines                       installed language servers and their versions

Lines and columns count from 1, in --json from 0. Settings are those of [packs.code] in strictwire.toml.
exit codes: 0 success, 100 diagnostics found, 1 could not run, 2 wrong usage
"""

_VERBS: Final[Mapping[str, str]] = {
    "def": "where a symbol is defined",
    "refs": "where a symbol is used",
    "symbols": "symbols of a file, or of the project by part of their name",
    "outline": "a map of the project: the most used symbols of each file",
    "diagnostics": "errors and warnings of a file or of the project",
    "search": "a text or a regular expression in the files of the project",
    "engines": "language servers, their versions and their state",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands and their options."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="COMMAND", parser_class=type(parser))
    made = {name: _verb(verbs, name, summary) for name, summary in _VERBS.items()}
    for name in ("def", "refs"):
        made[name].add_argument("subject", metavar="PLACE", help="FILE:LINE:COLUMN, or a name such as Class.method")
    made["refs"].add_argument("--declaration", action="store_true", help="include the declaration")
    made["refs"].add_argument("--unconfirmed", action="store_true", help="include mentions that no engine confirmed")
    made["symbols"].add_argument("subject", metavar="FILE|NAME", help="a file, or part of a name")
    made["outline"].add_argument("subject", nargs="?", metavar="PATH", help="a folder or file (default: all roots)")
    made["outline"].add_argument("--budget", type=_budget, metavar="BYTES", help="size of the map (default: 8192)")
    made["diagnostics"].add_argument("subject", nargs="?", metavar="FILE", help="one file (default: all)")
    made["search"].add_argument("subject", metavar="PATTERN")
    made["search"].add_argument("--regex", action="store_true", help="PATTERN is an RE2 regular expression")
    made["search"].add_argument("--ignore-case", action="store_true")
    made["search"].add_argument("--word", action="store_true", help="whole words only")
    made["search"].add_argument("--glob", metavar="GLOB", help="files to search, as in .gitignore: 'src/**/*.py'")


def _budget(text: str) -> int:
    """A number of bytes above 0."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("expected at least 1 byte")
    return value


def _verb(verbs: Any, name: str, summary: str) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = verbs.add_parser(
        name, help=summary, description=summary[0].upper() + summary[1:] + ".", allow_abbrev=False
    )
    made.add_argument(
        "--root",
        action="append",
        type=Path,
        metavar="DIR",
        help="project folder, repeatable (default: from the settings)",
    )
    made.add_argument("--json", action="store_true", help="print the whole result as JSON")
    if name != "engines":
        made.add_argument(
            "--wait",
            type=float,
            default=60.0,
            metavar="SECONDS",
            help="longest wait for indexing (default: 60)",
        )
    shared.add_config(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand and print its result."""
    try:
        return _run_verb(arguments)
    except ImportError as exc:
        print(f"strictwire code: {exc.name} is not installed: pip install 'strictwire[code]'", file=sys.stderr)
        return 1


def _run_verb(arguments: argparse.Namespace) -> int:
    from strictwire.fault.dialects.terminal import exit_code, render_text
    from strictwire.fault.failure import Facts, Refused
    from strictwire.packs.code.limits import split_settings
    from strictwire.packs.code.open import read_options
    from strictwire.settings.read import SettingsRefused

    try:
        table = _table(arguments)
        # A command that ends with its answer starts no engine that it does not need.
        options = replace(read_options(split_settings(table)[1], os.environ), warm=False)
    except (SettingsRefused, ValueError) as exc:
        print(f"strictwire code: {exc}", file=sys.stderr)
        return shared.USAGE
    try:
        if arguments.verb == "engines":
            return _write_engines(options, as_json=arguments.json)
        return _write(asyncio.run(_run(arguments, table, options)))
    except Refused as exc:
        print(render_text(exc.failure, Facts()), file=sys.stderr)
        return exit_code(exc.failure)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # A reader such as `head` has seen enough. Python would fail once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _table(arguments: argparse.Namespace) -> dict[str, Any]:
    """The settings `[packs.code]`, with the roots of the command line. The drop-in form is for servers alone."""
    from strictwire.settings.read import read_settings

    table = dict(read_settings(file=arguments.config).packs.get("code", {}))
    table.pop("drop_in", None)
    if arguments.root:
        table["roots"] = [str(root.absolute()) for root in arguments.root]
    return table


async def _run(arguments: argparse.Namespace, table: Mapping[str, Any], options: CodeOptions) -> Result:
    from strictwire.packs.code.limits import split_settings
    from strictwire.packs.code.open import open_codebase
    from strictwire.packs.code.service import Service
    from strictwire.packs.code.terminal import ANSI, PLAIN, Page
    from strictwire.packs.code.verbs import run_verb

    ink = ANSI if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else PLAIN
    async with open_codebase(options) as code:
        service = Service(code, split_settings(table)[0], clock=time.monotonic)
        try:
            return await run_verb(service, _order(arguments), Page(ink, Path.cwd()), _show_progress)
        finally:
            await service.close()


def _order(arguments: argparse.Namespace) -> Order:
    from strictwire.packs.code.verbs import Order

    options = {
        "includeDeclaration": "declaration",
        "includeUnconfirmed": "unconfirmed",
        "regex": "regex",
        "ignoreCase": "ignore_case",
        "wholeWord": "word",
        "glob": "glob",
        "budget": "budget",
    }
    values = {name: getattr(arguments, option, None) for name, option in options.items()}
    given = {name: value for name, value in values.items() if value is not None and value is not False}
    return Order(
        verb=arguments.verb,
        subject=arguments.subject,
        arguments=given,
        json=arguments.json,
        wait_seconds=arguments.wait,
    )


def _write(result: Result) -> int:
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    if result.output:
        print(result.output, flush=True)
    print(result.status, file=sys.stderr)
    return result.exit_code


def _write_engines(options: CodeOptions, *, as_json: bool) -> int:
    from strictwire.packs.code.engine_report import run_engines

    print(asyncio.run(run_engines(options, json=as_json)))
    return 0


def _show_progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
