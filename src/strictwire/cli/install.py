"""`strictwire install CLIENT`: run every server of a client behind the guard, and back again."""

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

EXAMPLES: Final = """examples:
  strictwire install cursor --dry-run           what would change, and nothing else
  strictwire install claude-desktop             every server behind the guard; the file before is kept beside it
  strictwire install claude-desktop --uninstall
  strictwire install vscode --file .vscode/mcp.json
"""

BACKUP: Final = ".before-strictwire"


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument("client", choices=sorted(CLIENTS), metavar="CLIENT", help=", ".join(CLIENTS))
    parser.add_argument("--guard", action="store_true", help="put the guard in front of every server (default)")
    parser.add_argument("--uninstall", action="store_true", help="take the guard away again")
    parser.add_argument("--dry-run", action="store_true", help="show what would change")
    parser.add_argument("--file", type=Path, help="the configuration, where it is not in the usual place")


def run(arguments: argparse.Namespace) -> int:
    """Change the configuration. 1 if it cannot be read or changed safely."""
    path = _path(arguments)
    client, toml = CLIENTS[arguments.client], path.suffix == ".toml"
    try:
        raw = path.read_bytes()
        done = uninstall(raw, client, toml=toml) if arguments.uninstall else install(raw, client, _command(), toml=toml)
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


def _command() -> list[str]:
    """This very strictwire, with its path: clients start servers with a search path of their own. Raises ConfigRefused."""
    found = shutil.which("strictwire", path=str(Path(sys.executable).parent)) or shutil.which("strictwire")
    if found is None:
        raise ConfigRefused("the program strictwire is not found beside this Python nor on the search path")
    return [found]


def _replace(path: Path, text: bytes) -> None:
    """Whole or not at all, with the rights of the old file, which is kept once: configurations hold secrets."""
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
        print(f"{name}: left as it is ({reason})")
    if done.changed and not arguments.dry_run:
        print(f"Restart the client. The file before is {path.name}{BACKUP}.")
