"""`strictwire dev`: serves the user's own server over HTTP, and starts it again when a file changes."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from strictwire.cli.target import TargetRefused, is_module

EXAMPLES: Final = """examples:
  strictwire dev my_module:server                        serve on http://127.0.0.1:8808/mcp, reload on change
  strictwire dev my_module:server --http 127.0.0.1:9000
  strictwire dev my_module:server --watch templates      also watch another folder

Handlers log their tracebacks to stderr, and a warning if a coroutine function blocks the event loop. If the module cannot
be imported, its traceback is shown, and the next change starts it again. Clients of MCP 2026-07-28 notice nothing; older
ones open a new session.
"""

WATCHED: Final = (".py", ".toml", ".json")
"""Endings of files whose change restarts the server."""

POLL_SECONDS: Final = 0.3
"""Time between two looks at the files: shorter than a person notices, and little work for a few thousand files."""

MAX_FILES: Final = 20_000
"""Files that are looked at. A larger folder is a mistake, such as the home folder."""

_DEFAULTS: Final = {"STRICTWIRE_LOG_SLOW_HANDLER_MS": "100"}
"""Settings that differ from those of `serve`, unless the environment has them: warn about handlers that block the loop."""

_SKIPPED: Final = frozenset({"__pycache__", "node_modules", "site-packages"})


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("server", metavar="MODULE:NAME", help="your own strictwire.Server")
    parser.add_argument("--http", metavar="HOST:PORT", help="listen here (default: server.host and server.port)")
    parser.add_argument(
        "--watch", action="append", default=[], type=Path, metavar="FOLDER", help="also watch this folder; may be repeated"
    )
    parser.add_argument("--config", type=Path, help="settings file (default: strictwire.toml, if there is one)")


def run(arguments: argparse.Namespace) -> int:
    """Serve until Ctrl-C."""
    if not is_module(arguments.server):
        print(f"strictwire dev: {arguments.server!r}: expected MODULE:NAME of a strictwire.Server", file=sys.stderr)
        return 2
    command = [sys.executable, "-m", "strictwire.cli.main", "serve", arguments.server]
    command += ["--http", arguments.http] if arguments.http else []
    command += ["--config", str(arguments.config)] if arguments.config else []
    # A supervisor stops us with SIGTERM; the server must end with us.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        return _serve(command, [Path(), *arguments.watch])
    except TargetRefused as exc:
        print(f"strictwire dev: {exc}", file=sys.stderr)
        return exc.exit_code
    except KeyboardInterrupt:
        return 0


def _serve(command: list[str], folders: list[Path]) -> int:
    while True:
        before = snapshot(folders)
        process = subprocess.Popen(command, env={**_DEFAULTS, **os.environ, "PYTHONUNBUFFERED": "1"})
        try:
            changed = _wait_for_change(folders, before, process)
        finally:
            _stop(process)
        print(f"strictwire dev: {changed} changed, restarting", file=sys.stderr, flush=True)


def _wait_for_change(folders: list[Path], before: Mapping[Path, int], process: subprocess.Popen[bytes]) -> Path:
    """Wait until a file changes. The server may end before that: its traceback is on the screen."""
    has_ended = False
    while True:
        if not has_ended and process.poll() is not None:
            has_ended = True
            print("strictwire dev: the server ended; waiting for a change", file=sys.stderr, flush=True)
        time.sleep(POLL_SECONDS)
        now = snapshot(folders)
        if now != before:
            return min(path for path in before.keys() | now.keys() if before.get(path) != now.get(path))


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ask the server to end, and kill it if it does not."""
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def snapshot(folders: list[Path]) -> dict[Path, int]:
    """The watched files below folders, and when each was changed. Raises TargetRefused: there are too many."""
    found: dict[Path, int] = {}
    for path in _files(folders):
        try:
            found[path] = path.stat().st_mtime_ns
        except OSError:
            continue  # it was removed since it was listed
        if len(found) > MAX_FILES:
            raise TargetRefused(f"more than {MAX_FILES} files to watch; run the command in the folder of your project")
    return found


def _files(folders: list[Path]) -> Iterator[Path]:
    for folder in folders:
        for parent, names, files in os.walk(folder):
            # A virtual environment has a pyvenv.cfg; hidden folders belong to tools.
            names[:] = [
                name
                for name in names
                if not name.startswith(".") and name not in _SKIPPED and not Path(parent, name, "pyvenv.cfg").exists()
            ]
            yield from (Path(parent, name) for name in files if name.endswith(WATCHED))
