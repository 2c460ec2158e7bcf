"""What the governance verbs share: how a source is named, where settings come from, how an outcome is written.

Imports of the rooms behind them wait until a verb runs: help texts must come at once.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from strictwire.sources.verbs.result import VerbResult

FORMATS: Final = ("text", "json", "sarif", "junit", "github", "markdown")

SOURCES: Final = """sources:
  schemas              a folder of schema files (the default)
  tools.json           a saved tools/list answer
  strictwire.lock      a lock file
  git:main             the same folder at a commit
  --stdio 'CMD ...'    a server that is started
  --http URL           a running server
"""

USAGE: Final = 2


def add_source(parser: argparse.ArgumentParser) -> None:
    """The options that name a source."""
    parser.add_argument("source", nargs="?", metavar="SOURCE", help="where the contracts are (default: schemas)")
    live = parser.add_mutually_exclusive_group()
    live.add_argument("--stdio", metavar="COMMAND", help="take the tools of a server that is started so")
    live.add_argument("--http", metavar="URL", help="take the tools of a running server")


def add_report(parser: argparse.ArgumentParser) -> None:
    """The options of a report."""
    parser.add_argument("--format", choices=FORMATS, default="text")
    add_config(parser)


def add_config(parser: argparse.ArgumentParser) -> None:
    """The settings file."""
    parser.add_argument("--config", type=Path, help="settings file (default: strictwire.toml, if there is one)")


def source_of(arguments: argparse.Namespace) -> str:
    """The source as `sources.place` names it."""
    if arguments.stdio:
        return f"stdio:{arguments.stdio}"
    return str(arguments.http or arguments.source or "schemas")


def format_of(arguments: argparse.Namespace) -> str:
    """The format; text for a person at a terminal has colours."""
    return "colour" if arguments.format == "text" and sys.stdout.isatty() else str(arguments.format)


def write_outcome(verb: str, outcome: VerbResult) -> int:
    """Print what a verb gave and return its exit code."""
    if outcome.error:
        print(f"strictwire {verb}: {outcome.error}", file=sys.stderr)
    if outcome.text:
        print(outcome.text, end="" if outcome.text.endswith("\n") else "\n")
    return outcome.exit_code


def read_table(arguments: argparse.Namespace, name: str) -> Mapping[str, Any]:
    """A table of the settings. Raises SettingsRefused."""
    from strictwire.settings.read import read_settings

    table: Mapping[str, Any] = getattr(read_settings(file=arguments.config), name)
    return table


def run_judging(verb: str, judge: Callable[[], VerbResult]) -> int:
    """Run a verb that reads settings first; settings that cannot be used are wrong usage."""
    from strictwire.check.policy import PolicyRefused
    from strictwire.settings.read import SettingsRefused

    try:
        return write_outcome(verb, judge())
    except (SettingsRefused, PolicyRefused) as exc:
        print(f"strictwire {verb}: {exc}", file=sys.stderr)
        return USAGE


def show_progress(done: int, total: int) -> None:
    """A counter on the terminal, none in a file or a pipe."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{done}/{total}", end="" if done < total else "\r\x1b[K", file=sys.stderr, flush=True)
