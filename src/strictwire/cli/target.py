"""Servers on the command line: `MODULE:NAME`, a Python file, a command, or a URL."""

from __future__ import annotations

import difflib
import importlib
import re
import shlex
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from strictwire.server.author import Server

TARGETS: Final = """targets:
  my_module:server            a strictwire.Server of a module
  server.py                   a Python file that serves over stdio
  'npx -y some-server'        a command that serves over stdio
  http://127.0.0.1:8808/mcp   a running server
"""

_MODULE: Final = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:([A-Za-z_]\w*)?")


class TargetRefused(Exception):
    """There is no server at the target. The message says what to do. `exit_code` tells usage from a broken module."""

    def __init__(self, text: str, exit_code: int = 2) -> None:
        super().__init__(text)
        self.exit_code = exit_code


def is_module(text: str) -> bool:
    """Whether a target is `MODULE:NAME` and not a file of that name."""
    return _MODULE.fullmatch(text) is not None and not Path(text).exists()


def load_server(path: str) -> Server:
    """Import the Server at MODULE:NAME. Raises TargetRefused. An error inside the module is printed with its traceback."""
    from strictwire.server.author import Server

    module_name, _, name = path.partition(":")
    if not module_name:
        raise TargetRefused(f"{path!r}: expected MODULE:NAME of a strictwire.Server")
    sys.path.insert(0, "")
    try:
        module = importlib.import_module(module_name)
    except Exception as exc:
        raise _import_failure(path, module_name, exc) from exc
    wanted = name or "server"
    if not hasattr(module, wanted):
        servers = [each for each, value in vars(module).items() if isinstance(value, Server)]
        near = difflib.get_close_matches(wanted, servers, n=1) or servers
        hint = f"did you mean {module_name}:{near[0]}?" if near else f"add `{wanted} = Server(...)` to it"
        raise TargetRefused(f"{path!r}: the module has no {wanted!r}; {hint}")
    found = getattr(module, wanted)
    if not isinstance(found, Server):
        raise TargetRefused(f"{path!r} is a {type(found).__name__}, not a strictwire.Server")
    return found


def _import_failure(path: str, module: str, exc: Exception) -> TargetRefused:
    missing = exc.name if isinstance(exc, ModuleNotFoundError) else None
    if missing is not None and f"{module}.".startswith(f"{missing}."):
        if path.partition(":")[0].endswith(".py"):
            return TargetRefused(
                f"{path!r}: expected MODULE:NAME, not a file; write {path.replace('.py', '', 1).replace('/', '.')}"
            )
        return TargetRefused(f"{path!r}: there is no module {missing!r} here; run the command in the folder that holds it")
    print_traceback(exc)
    if missing is not None:
        return TargetRefused(f"{path!r} imports {missing!r}, which is not installed; run: pip install {missing}", 1)
    return TargetRefused(f"importing {path!r} raised {type(exc).__name__}: {exc}", 1)


def print_traceback(exc: BaseException) -> None:
    """Print a traceback without the frames of the import system and of this command."""
    frames = [
        frame
        for frame in traceback.extract_tb(exc.__traceback__)
        if "importlib" not in frame.filename and Path(frame.filename).parent != Path(__file__).parent
    ]
    lines = ["Traceback (most recent call last):\n", *traceback.format_list(frames), *traceback.format_exception_only(exc)]
    sys.stderr.write("".join(lines))


def serve_command(target: str) -> list[str]:
    """The command that serves a module, a file or a command over stdio. Raises TargetRefused."""
    if is_module(target):
        return [sys.executable, "-m", "strictwire.cli.main", "serve", target, "--stdio"]
    if target.endswith(".py") and Path(target).is_file():
        return [sys.executable, target]
    try:
        command = shlex.split(target)
    except ValueError as exc:
        raise TargetRefused(f"{target!r}: the command has an unclosed quote") from exc
    if not command:
        raise TargetRefused("the target is empty; see `targets` in --help")
    return command


def is_url(target: str) -> bool:
    """Whether a target is a running server."""
    return target.startswith(("http://", "https://"))
