"""`strictwire install CLIENT`: adds a server to an MCP client, or puts the servers of a client behind the guard."""

from __future__ import annotations

import argparse
import difflib
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

from strictwire.cli.target import TargetRefused, load_server, serve_command
from strictwire.gateway.install.add import add_server
from strictwire.gateway.install.config import Rewritten, install, uninstall
from strictwire.gateway.install.remove import remove_server
from strictwire.settings.read import SettingsRefused, read_settings
from strictwire.sources.client_config import CLIENTS, ClientFile, ConfigRefused

EXAMPLES: Final = """examples:
  strictwire install cursor my_module:server    add your own strictwire.Server
  strictwire install cursor my_module:server --uninstall    remove it again
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
    parser.add_argument("server", nargs="?", metavar="MODULE:NAME", help="your own strictwire.Server, to add it")
    parser.add_argument("--name", help="name of your server in the client (default: the name of the server)")
    parser.add_argument("--guard", action="store_true", help="put the guard in front of every server (default)")
    parser.add_argument("--uninstall", action="store_true", help="remove your server, or the guard, again")
    parser.add_argument("--dry-run", action="store_true", help="show the changes, write nothing")
    parser.add_argument("--file", type=Path, help="configuration file, if it is not in the client's default place")
    parser.add_argument("--config", type=Path, help="settings file for the guard (default: the user's own, if there is one)")


def run(arguments: argparse.Namespace) -> int:
    """Change the configuration. Returns 1 if it cannot be read or changed safely."""
    path = _path(arguments)
    client, toml = CLIENTS[arguments.client], path.suffix == ".toml"
    try:
        raw = path.read_bytes() if path.exists() or not arguments.server else b""
        if arguments.server and arguments.uninstall:
            done = remove_server(raw, client, arguments.server, arguments.name, toml=toml)
        elif arguments.server:
            done = _add(arguments, raw, client, toml=toml)
        elif arguments.uninstall:
            done = uninstall(raw, client, toml=toml)
        else:
            done = install(raw, client, _command(), toml=toml, options=_options(arguments.config))
        if done.changed and not arguments.dry_run:
            _replace(path, done.text)
    except OSError as exc:
        print(f"strictwire install: {path}: {exc.strerror}; name the file with --file", file=sys.stderr)
        return 1
    except TargetRefused as exc:
        print(f"strictwire install: {exc}", file=sys.stderr)
        return exc.exit_code
    except ConfigRefused as exc:
        print(f"strictwire install: {path}: {exc}", file=sys.stderr)
        return 1
    _report(path, raw, done, arguments)
    return 0


def _add(arguments: argparse.Namespace, raw: bytes, client: ClientFile, *, toml: bool) -> Rewritten:
    """Add the user's own server. It is imported first: a client shows little of a server that does not start."""
    server = load_server(arguments.server)
    # A client starts servers in a folder of its own, so the folder of the module is in the environment.
    env = {"PYTHONPATH": str(Path.cwd())}
    return add_server(raw, client, arguments.name or server.identity.name, serve_command(arguments.server), env, toml=toml)


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
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
    backup = path.with_name(path.name + BACKUP)
    if path.exists() and not backup.exists():
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
        kept = path.with_name(path.name + BACKUP).exists()
        print("Restart the client." + (f" The original file is kept as {path.name}{BACKUP}." if kept else ""))
