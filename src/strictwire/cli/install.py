"""`strictwire install CLIENT`: changes the configuration of an MCP client so that its servers run behind the guard."""

from __future__ import annotations

import argparse
import difflib
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

from strictwire.gateway.install.config import CLIENTS, ConfigRefused, Rewritten, install, uninstall
from strictwire.settings.read import SettingsRefused, read_settings

EXAMPLES: Final = """examples:
  strictwire install cursor --dry-run           show the changes, write nothing
  strictwire install claude-desktop             put every server behind the guard; a backup is kept beside the file
  strictwire install claude-desktop --uninstall
  strictwire install vscode --file .vscode/mcp.json
  strictwire install cursor --config ~/mcp/strictwire.toml    guard with the policy of this file, by its absolute path
"""

BACKUP: Final = ".before-strictwire"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("client", choices=sorted(CLIENTS), metavar="CLIENT", help=", ".join(CLIENTS))
    parser.add_argument("--guard", action="store_true", help="put the guard in front of every server (default)")
    parser.add_argument("--uninstall", action="store_true", help="remove the guard again")
    parser.add_argument("--dry-run", action="store_true", help="show the changes, write nothing")
    parser.add_argument("--file", type=Path, help="configuration file, if it is not in the client's default place")
    parser.add_argument("--config", type=Path, help="settings file for the guard (default: the user's own, if there is one)")


def run(arguments: argparse.Namespace) -> int:
    """Change the configuration. Returns 1 if it cannot be read or changed safely."""
    path = _path(arguments)
    client, toml = CLIENTS[arguments.client], path.suffix == ".toml"
    try:
        raw = path.read_bytes()
        if arguments.uninstall:
            done = uninstall(raw, client, toml=toml)
        else:
            done = install(raw, client, _command(), toml=toml, options=_options(arguments.config))
        if done.changed and not arguments.dry_run:
            _replace(path, done.text)
    except OSError as exc:
        print(f"strictwire install: {path}: {exc.strerror}; name the file with --file", file=sys.stderr)
        return 1
    except ConfigRefused as exc:
        print(f"strictwire install: {path}: {exc}", file=sys.stderr)
        return 1
    _report(path, raw, done, arguments)
    return 0


def _path(arguments: argparse.Namespace) -> Path:
    usual = CLIENTS[arguments.client].paths
    found: Path = arguments.file or Path(usual.get(sys.platform, usual["linux"])).expanduser()
    return found.resolve()


def _options(config: Path | None) -> list[str]:
    """The settings file by its absolute path: a client starts the guard in a working folder of its choice.

    Raises ConfigRefused: the file is invalid, so that the guard would not start.
    """
    if config is None:
        return []
    path = config.expanduser().absolute()
    try:
        read_settings(file=path)
    except SettingsRefused as exc:
        raise ConfigRefused(f"--config: {exc}") from exc
    return ["--config", str(path)]


def _command() -> list[str]:
    """The absolute path of this strictwire: clients start servers with a PATH of their own. Raises ConfigRefused."""
    found = shutil.which("strictwire", path=str(Path(sys.executable).parent)) or shutil.which("strictwire")
    if found is None:
        raise ConfigRefused("the program `strictwire` was not found, neither beside this Python nor in PATH")
    return [found]


def _replace(path: Path, text: bytes) -> None:
    """Replace the file atomically and keep its permissions, because configurations contain secrets.

    The first call keeps a backup of the original; later calls do not overwrite it.
    """
    mode = path.stat().st_mode & 0o777
    backup = path.with_name(path.name + BACKUP)
    if not backup.exists():
        shutil.copy2(path, backup)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(descriptor, "wb") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    Path(temporary).chmod(mode)
    Path(temporary).replace(path)


def _report(path: Path, raw: bytes, done: Rewritten, arguments: argparse.Namespace) -> None:
    if arguments.dry_run:
        before, after = raw.decode().splitlines(), done.text.decode().splitlines()
        print("\n".join(difflib.unified_diff(before, after, str(path), str(path), lineterm="")))
    verb = "would be changed" if arguments.dry_run else "changed"
    for name in done.changed:
        print(f"{name}: {verb}")
    for name, reason in done.left.items():
        print(f"{name}: not changed ({reason})")
    if done.changed and not arguments.dry_run:
        print(f"Restart the client. The original file is kept as {path.name}{BACKUP}.")
