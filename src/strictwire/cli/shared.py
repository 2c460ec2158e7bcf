"""Options and output that several verbs share: sources, settings, reports, progress.

Other rooms are imported inside functions, so that `--help` starts fast.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from strictwire.cli.target import TargetRefused, is_module, load_server
from strictwire.fault.escape import for_terminal

if TYPE_CHECKING:
    from strictwire.check.subject import ToolSet
    from strictwire.sources.verbs.result import VerbResult

FORMATS: Final = ("text", "json", "sarif", "junit", "github", "markdown")

SOURCES: Final = """sources:
  schemas              a folder of schema files (the default)
  tools.json           a saved tools/list response
  strictwire.lock      a lock file
  git:main             the same folder at a commit
  my_module:server     the tools of your own strictwire.Server
  --stdio 'CMD ...'    a server that strictwire starts with this command
  --http URL           a running server
"""

USAGE: Final = 2
"""Exit code for wrong usage, which includes invalid settings."""


def add_source(parser: argparse.ArgumentParser) -> None:
    """Add the options that select a source of contracts."""
    parser.add_argument("source", nargs="?", metavar="SOURCE", help="source of the contracts, see below (default: schemas)")
    live = parser.add_mutually_exclusive_group()
    live.add_argument("--stdio", metavar="COMMAND", help="start a server with this command and read its tools")
    live.add_argument("--http", metavar="URL", help="read the tools of the running server at this URL")


def add_report(parser: argparse.ArgumentParser) -> None:
    """Add the options of a report."""
    parser.add_argument("--format", choices=FORMATS, default="text", help="report format (default: %(default)s)")
    add_config(parser)


def add_config(parser: argparse.ArgumentParser) -> None:
    """Add the option for the settings file."""
    parser.add_argument("--config", type=Path, help="settings file (default: strictwire.toml, if there is one)")


def source_of(verb: str, arguments: argparse.Namespace) -> str | ToolSet:
    """The source specifier, which `sources.specifier` reads, or the tools of a module. Exits if it cannot be imported."""
    if arguments.stdio:
        return f"stdio:{arguments.stdio}"
    source = str(arguments.http or arguments.source or "schemas")
    return _tools_of_module(verb, source) if is_module(source) else source


def _tools_of_module(verb: str, path: str) -> ToolSet:
    from strictwire.sources.entries import tools_of

    try:
        server = load_server(path)
    except TargetRefused as exc:
        print(f"strictwire {verb}: {exc}", file=sys.stderr)
        sys.exit(exc.exit_code)
    return tools_of(server.catalog.offers.registry.tools.values(), path)


def format_of(arguments: argparse.Namespace) -> str:
    """The report format: `colour` instead of `text` on a terminal."""
    return "colour" if arguments.format == "text" and sys.stdout.isatty() else str(arguments.format)


def print_result(verb: str, result: VerbResult) -> int:
    """Print the result of a verb and return its exit code."""
    if result.error:
        print(f"strictwire {verb}: {for_terminal(result.error)}", file=sys.stderr)
    if result.text:
        print(result.text, end="" if result.text.endswith("\n") else "\n")
    return result.exit_code


def read_table(arguments: argparse.Namespace, name: str) -> Mapping[str, Any]:
    """One table of the settings. Raises SettingsRefused."""
    from strictwire.settings.read import read_settings

    table: Mapping[str, Any] = getattr(read_settings(file=arguments.config), name)
    return table


def run_with_settings(verb: str, run: Callable[[], VerbResult]) -> int:
    """Run a verb that reads settings, and print its result. Invalid settings are wrong usage."""
    from strictwire.check.policy import PolicyRefused
    from strictwire.settings.read import SettingsRefused

    try:
        return print_result(verb, run())
    except (SettingsRefused, PolicyRefused) as exc:
        print(f"strictwire {verb}: {exc}", file=sys.stderr)
        return USAGE


def show_progress(done: int, total: int) -> None:
    """Show a counter on stderr if it is a terminal."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{done}/{total}", end="" if done < total else "\r\x1b[K", file=sys.stderr, flush=True)
