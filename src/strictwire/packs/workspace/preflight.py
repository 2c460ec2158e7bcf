"""Runs the verification commands of a plan: no shell, limits on time, output and memory, and confined by the kernel.

Only programs that the settings list are started, whatever a plan says. They run in the workspace with a minimal environment
and no input, started through `confine`: the kernel restricts which files they change, which hosts they reach, and which
processes survive them. docs/WORKSPACE.md describes what remains possible where a kernel feature is missing.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import IO, Final

from strictwire.canon.json import JsonObject, render
from strictwire.packs.kit.text import cut_characters
from strictwire.packs.workspace.plans.model import Command
from strictwire.packs.workspace.protected_paths import PROTECTED_FOLDERS
from strictwire.packs.workspace.refusal import refuse

SECONDS: Final = 120.0
"""Time limit for all commands of one change. The tool's own time limit is higher, so that a change is verified or undone
before the client gets its answer."""

MAX_OUTPUT: Final = 64 * 1024 * 1024
"""Most bytes a command may write to its output or to any one file; the kernel ends it beyond that."""

MAX_MEMORY: Final = 4 * 1024**3
"""Memory limit of one process (RLIMIT_DATA). Compilers need a few hundred megabytes; a leak must not exhaust the machine."""

LIMITS: Final[Mapping[str, int]] = MappingProxyType({"CORE": 0, "FSIZE": MAX_OUTPUT, "DATA": MAX_MEMORY, "NOFILE": 4096})
"""Resource limits of a command, by name."""

_MAX_SHOWN: Final = 2000
"""Characters of output in a failure, from the end of the output."""

_PATH: Final = "/usr/local/bin:/usr/bin:/bin"

_CONFINE: Final = Path(__file__).with_name("confine.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Preflight:
    """Runs verification commands."""

    programs: frozenset[str]
    """Names of programs that may be started."""
    hidden: tuple[str, ...] = ()
    """Folders that a command must not even read: keys and logs."""
    path: str = _PATH
    """Search path for programs."""
    seconds: float = SECONDS
    limits: Mapping[str, int] = field(default_factory=lambda: LIMITS)
    clock: Callable[[], float] = time.monotonic

    def check(self, commands: tuple[Command, ...], *, folder: str) -> list[JsonObject]:
        """Run the commands in order and report each. Raises Refused: PREFLIGHT_FAILED for the first that fails."""
        until = self.clock() + self.seconds
        try:
            return [self._run(command, folder, until) for command in commands]
        except OSError as exc:
            raise refuse("PREFLIGHT_FAILED", "A verification command could not be started", "not_started") from exc

    def _run(self, command: Command, folder: str, until: float) -> JsonObject:
        program = shutil.which(command[0], path=self.path) if command[0] in self.programs else None
        if program is None:
            text = f"The program {command[0]!r} is not in the setting `commands`, or is not installed"
            raise refuse("PREFLIGHT_FAILED", text, "not_allowed", command=list(command))
        with tempfile.TemporaryDirectory(prefix="strictwire-") as home, tempfile.TemporaryFile() as output:
            process = self._start((program, *command[1:]), folder=folder, home=home, output=output)
            exit_code = _wait(process, max(0.0, until - self.clock()))
            if exit_code == 0:
                return {"command": list(command), "exit_code": 0}
            shown = _tail(output)
        reason = "timeout" if exit_code is None else "exit_code"
        text = f"The verification command {command[0]!r} failed; the change was undone"
        raise refuse("PREFLIGHT_FAILED", text, reason, command=list(command), exit_code=exit_code, output=shown)

    def _start(self, command: Command, *, folder: str, home: str, output: IO[bytes]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*self._confined(folder, home), *command],
            cwd=folder,
            env={"PATH": self.path, "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def _confined(self, folder: str, home: str) -> list[str]:
        """Return the arguments that start a command through `confine`. Only Linux supports this."""
        if sys.platform != "linux":
            return []
        frozen = [str(Path(folder, *segments)) for segments in PROTECTED_FOLDERS]
        order: JsonObject = {
            "writable": [folder, home],
            "hidden": list(self.hidden),
            "frozen": [*frozen, str(Path(folder, ".git"))],
            "limits": dict(self.limits),
        }
        # -I -S: nothing is imported from the workspace, although it is the working directory.
        return [sys.executable, "-I", "-S", str(_CONFINE), render(order).decode()]


def _wait(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    """Return the exit code; None if the time limit was exceeded. In both cases its whole process group is killed."""
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _tail(output: IO[bytes]) -> str:
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - 4 * _MAX_SHOWN))
    return cut_characters(output.read().decode("utf-8", "replace")[-_MAX_SHOWN:], _MAX_SHOWN).text
