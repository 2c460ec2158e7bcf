"""Verification commands of a plan: a program and its arguments, no shell, bounded in time and output.

Only programs that the settings name are started, whatever a plan says. They run in the workspace with an environment of
their own and no input. They are bounded, not confined: they have the rights of the server and its network.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Final

from strictwire.canon.json import JsonObject
from strictwire.packs.kit.text import cut_characters
from strictwire.packs.workspace.plans.model import Command
from strictwire.packs.workspace.refusal import refuse

SECONDS: Final = 60.0
"""For one command: a test suite that a change must pass each time has to be faster."""

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

    def check(self, commands: tuple[Command, ...], *, folder: str) -> list[JsonObject]:
        """Run them in order; what was run. Raises Refused: PREFLIGHT_FAILED with the first that does not succeed."""
        return [self._run(command, folder) for command in commands]

    def _run(self, command: Command, folder: str) -> JsonObject:
        program = shutil.which(command[0], path=self.path) if command[0] in self.programs else None
        if program is None:
            text = f"The program {command[0]!r} may not be started here, or is not installed"
            raise refuse("PREFLIGHT_FAILED", text, "not_allowed", command=list(command))
        with tempfile.TemporaryDirectory(prefix="strictwire-") as home, tempfile.TemporaryFile() as output:
            exit_code = self._start((program, *command[1:]), folder=folder, home=home, output=output)
            if exit_code == 0:
                return {"command": list(command), "exit_code": 0}
            told = _tail(output)
        reason = "timeout" if exit_code is None else "exit_code"
        text = f"The verification command {command[0]!r} did not succeed; the file was restored"
        raise refuse("PREFLIGHT_FAILED", text, reason, command=list(command), exit_code=exit_code, output=told)

    def _start(self, command: Command, *, folder: str, home: str, output: IO[bytes]) -> int | None:
        """The exit code; None if it took too long and was ended with all it had started."""
        limited = ("/bin/sh", "-c", "ulimit -c 0; ulimit -f \"$1\"; shift; exec \"$@\"", "limits", str(MAX_OUTPUT // 512))
        process = subprocess.Popen(
            (*limited, *command),
            cwd=folder,
            env={"PATH": self.path, "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            return process.wait(self.seconds)
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
