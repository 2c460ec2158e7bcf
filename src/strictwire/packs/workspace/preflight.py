"""Verification commands of a plan: a program and its arguments, no shell, bounded in time and output.

Only programs that the settings name are started, whatever a plan says. They run in the workspace with an environment of
their own and no input. They are bounded, not confined: they have the rights of the server and its network.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Final

from strictwire.canon.json import JsonObject
from strictwire.packs.kit.text import cut_characters
from strictwire.packs.workspace.plans.model import Command
from strictwire.packs.workspace.refusal import refuse

SECONDS: Final = 120.0
"""For all commands of one change: a test suite that every change must pass has to be faster. The tool's own time limit
lies above, so that a change is verified or undone before its caller is told."""

MAX_OUTPUT: Final = 64 * 1024 * 1024
"""Bytes a command may write to its output or to any one file; the system ends it beyond that."""

_TOLD: Final = 2000
"""Characters of output that a failure carries, from its end."""

_PATH: Final = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Preflight:
    """Runs commands."""

    programs: frozenset[str]
    """What may be started."""
    path: str = _PATH
    """Where programs are looked for."""
    seconds: float = SECONDS
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
            command,
            cwd=folder,
            env={"PATH": self.path, "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _wait(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    """The exit code; None if it took too long. Either way all it has started is ended with it."""
    try:
        _limit(process.pid)
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _limit(pid: int) -> None:
    """Where the system can limit another process. One that has ended already needs none."""
    if sys.platform == "linux":
        import resource

        with suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (MAX_OUTPUT, MAX_OUTPUT))
            resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))


def _tail(output: IO[bytes]) -> str:
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - 4 * _TOLD))
    return cut_characters(output.read().decode("utf-8", "replace")[-_TOLD:], _TOLD).text
