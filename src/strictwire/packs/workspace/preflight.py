"""Verification commands of a plan: a program and its arguments, no shell, bounded in time, output and memory, and confined.

Only programs that the settings name are started, whatever a plan says. They run in the workspace with an environment of
their own and no input, started by `confine`: what they change outside the workspace, whom they reach over the network and
whom they leave behind is up to the kernel, not to them. Where a measure is not there, docs/WORKSPACE.md says what remains.
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
from strictwire.packs.workspace.guarded import GUARDED_FOLDERS
from strictwire.packs.workspace.plans.model import Command
from strictwire.packs.workspace.refusal import refuse

SECONDS: Final = 120.0
"""For all commands of one change: a test suite that every change must pass has to be faster. The tool's own time limit
lies above, so that a change is verified or undone before its caller is told."""

MAX_OUTPUT: Final = 64 * 1024 * 1024
"""Bytes a command may write to its output or to any one file; the system ends it beyond that."""

MAX_MEMORY: Final = 4 * 1024**3
"""Bytes of data that one process may hold: compilers need a few hundred megabytes, a machine should survive a leak."""

LIMITS: Final[Mapping[str, int]] = MappingProxyType({"CORE": 0, "FSIZE": MAX_OUTPUT, "DATA": MAX_MEMORY, "NOFILE": 4096})
"""Resource to what a command gets of it."""

_TOLD: Final = 2000
"""Characters of output that a failure carries, from its end."""

_PATH: Final = "/usr/local/bin:/usr/bin:/bin"

_CONFINE: Final = Path(__file__).with_name("confine.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Preflight:
    """Runs commands."""

    programs: frozenset[str]
    """What may be started."""
    hidden: tuple[str, ...] = ()
    """Folders that a command must not even read: keys, logs."""
    path: str = _PATH
    """Where programs are looked for."""
    seconds: float = SECONDS
    limits: Mapping[str, int] = field(default_factory=lambda: LIMITS)
    clock: Callable[[], float] = time.monotonic

    def check(self, commands: tuple[Command, ...], *, folder: str) -> list[JsonObject]:
        """Run them in order; what was run. Raises Refused: PREFLIGHT_FAILED with the first that does not succeed."""
        until = self.clock() + self.seconds
        try:
            return [self._run(command, folder, until) for command in commands]
        except OSError as exc:
            raise refuse("PREFLIGHT_FAILED", "A verification command could not be started", "not_started") from exc

    def _run(self, command: Command, folder: str, until: float) -> JsonObject:
        program = shutil.which(command[0], path=self.path) if command[0] in self.programs else None
        if program is None:
            text = f"The program {command[0]!r} may not be started here, or is not installed"
            raise refuse("PREFLIGHT_FAILED", text, "not_allowed", command=list(command))
        with tempfile.TemporaryDirectory(prefix="strictwire-") as home, tempfile.TemporaryFile() as output:
            process = self._start((program, *command[1:]), folder=folder, home=home, output=output)
            exit_code = _wait(process, max(0.0, until - self.clock()))
            if exit_code == 0:
                return {"command": list(command), "exit_code": 0}
            told = _tail(output)
        reason = "timeout" if exit_code is None else "exit_code"
        text = f"The verification command {command[0]!r} did not succeed; the file was restored"
        raise refuse("PREFLIGHT_FAILED", text, reason, command=list(command), exit_code=exit_code, output=told)

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
        """What stands before a command. Other systems than Linux have none of the measures."""
        if sys.platform != "linux":
            return []
        frozen = [str(Path(folder, *segments)) for segments in GUARDED_FOLDERS]
        order: JsonObject = {
            "writable": [folder, home],
            "hidden": list(self.hidden),
            "frozen": [*frozen, str(Path(folder, ".git"))],
            "limits": dict(self.limits),
        }
        # Isolated: nothing of the workspace is imported, though it is the working folder.
        return [sys.executable, "-I", "-S", str(_CONFINE), render(order).decode()]


def _wait(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    """The exit code; None if it took too long. Either way all it has started is ended with it."""
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
    output.seek(max(0, size - 4 * _TOLD))
    return cut_characters(output.read().decode("utf-8", "replace")[-_TOLD:], _TOLD).text
