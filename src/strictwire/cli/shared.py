"""Options and output that several verbs share: sources, settings, reports, progress.

Other rooms are imported inside functions, so that `--help` starts fast.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from strictwire.cli.target import TargetRefused, is_module, load_server
from strictwire.fault.escape import for_terminal

if TYPE_CHECKING:
    from strictwire.check.subject import ToolSet
    from strictwire.sources.specifier import LiveOptions
    from strictwire.sources.verbs.result import Output, VerbResult

FORMATS: Final = ("text", "json", "sarif", "junit", "github", "markdown")

SOURCES: Final = """sources:
  schemas              a folder of schema files (the default)
  tools.json           a saved tools/list response
  strictwire.lock      a lock file
  git:main             the same folder at a commit
  my_module:server     the tools of your own strictwire.Server
  --stdio 'CMD ...'    a server that strictwire starts with this command
  --http URL           a running server; see --header and --token-env
  -                    a saved tools/list response from standard input
"""

USAGE: Final = 2
"""Exit code for wrong usage, which includes invalid settings."""


def add_source(parser: argparse.ArgumentParser) -> None:
    """Add the options that select a source of contracts."""
    parser.add_argument("source", nargs="?", metavar="SOURCE", help="source of the contracts, see below (default: schemas)")
    live = parser.add_mutually_exclusive_group()
    live.add_argument("--stdio", metavar="COMMAND", help="start a server with this command and read its tools")
    live.add_argument("--http", metavar="URL", help="read the tools of the running server at this URL")
    parser.add_argument(
        "--header",
        action="append",
        default=[],
        metavar="NAME:VALUE",
        type=_header,
        help="HTTP request header; may be repeated",
    )
    parser.add_argument("--token-env", metavar="NAME", help="environment variable with a bearer token for --http")
    parser.add_argument(
        "--timeout", type=float, default=60.0, metavar="SECONDS", help="time limit to start a server (default: %(default)g)"
    )


def _header(text: str) -> tuple[str, str]:
    name, separator, value = text.partition(":")
    if not separator or not name.strip():
        raise argparse.ArgumentTypeError("expected NAME:VALUE")
    return name.strip(), value.strip()


def live_of(arguments: argparse.Namespace) -> LiveOptions:
    """How to reach a running server. An unset `--token-env` variable is an empty token, which the server refuses."""
    from strictwire.sources.specifier import LiveOptions

    headers = dict(arguments.header)
    if arguments.token_env:
        headers["Authorization"] = f"Bearer {os.environ.get(arguments.token_env, '')}"
    return LiveOptions(headers=headers, timeout=arguments.timeout)


def add_report(parser: argparse.ArgumentParser) -> None:
    """Add the options of a report."""
    parser.add_argument("--format", choices=FORMATS, default="text", help="report format (default: %(default)s)")
    add_config(parser)


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Add the options that select rules and known findings."""
    parser.add_argument("--statistics", action="store_true", help="count the findings of each rule instead of listing them")
    parser.add_argument("--select", metavar="RULES", type=_names, help="run only these rules, separated by commas")
    parser.add_argument("--ignore", metavar="RULES", type=_names, help="do not run these rules, separated by commas")
    parser.add_argument("--baseline", metavar="FILE", help="known findings, which do not fail the check")
    parser.add_argument("--write-baseline", metavar="FILE", help="write all findings to this file and succeed")


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def output_of(arguments: argparse.Namespace) -> Output:
    """How to report."""
    from strictwire.sources.verbs.result import Output

    output_format = "statistics" if arguments.statistics else format_of(arguments)
    return Output(output_format=output_format, baseline=arguments.baseline, write_baseline=arguments.write_baseline)


def policy_table(arguments: argparse.Namespace, section: str, *options: str) -> Mapping[str, Any]:
    """A section of the settings, with the command line's `--select`, `--ignore` and `options` in place of its keys."""
    table = dict(read_table(arguments, section))
    given = {name: getattr(arguments, name) for name in ("select", "ignore", *options)}
    return table | {name: value for name, value in given.items() if value}


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
