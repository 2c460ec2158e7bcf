"""Finding the program of an engine on this machine, and asking it for its version. Nothing is ever downloaded."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from strictwire.packs.code.engines.process import Launch, passed_on, start
from strictwire.packs.code.engines.spec import EngineSpec

UNKNOWN: Final = "unknown"
"""The version of an engine that does not tell it."""

_VERSION: Final = re.compile(r"\d+(?:\.\d+)+[0-9A-Za-z.+-]*")
_SECONDS: Final = 15.0
"""For a program to print its version. basedpyright needs 0.4 s; on a busy machine that is several."""

_MAX_OUTPUT: Final = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """An engine that can be started."""

    spec: EngineSpec
    command: tuple[str, ...]
    """With the absolute path of the program."""
    version: str


class Programs:
    """Finds engines; each program is asked once for as long as its file stays the same.

    `variables` are the server's environment variables: PATH is where programs are looked for.
    """

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._path = _search_path(variables.get("PATH", os.defpath))
        self._variables = passed_on(variables)
        self._known: dict[tuple[str, int], str] = {}

    async def find(self, spec: EngineSpec) -> Installed | None:
        """The engine as it is installed; None if it is not, or is too old."""
        program = self.maybe_program(spec)
        if program is None:
            return None
        version = await self._version(spec, program)
        major = version.partition(".")[0]
        if spec.min_major and not (major.isdigit() and int(major) >= spec.min_major):
            return None
        return Installed(spec=spec, command=(program, *spec.command[1:]), version=version)

    def maybe_program(self, spec: EngineSpec) -> str | None:
        """The absolute path of an engine's program: the binary behind a launcher, if there is one."""
        found = self._maybe_path(spec.command[0])
        if found is None:
            return None
        folder = Path(found).resolve().parent
        natives = (each for pattern in spec.natives for each in _glob(folder, pattern) if os.access(each, os.X_OK))
        return next((str(each.resolve()) for each in natives), found)

    def _maybe_path(self, program: str) -> str | None:
        found = shutil.which(program, path=self._path)
        return str(Path(found).absolute()) if found else None

    async def _version(self, spec: EngineSpec, program: str) -> str:
        command: tuple[str, ...] = (program, "--version")
        if spec.version:
            command = (self._maybe_path(spec.version[0]) or spec.version[0], *spec.version[1:])
        key = (" ".join(command), _changed_at(program))
        if key not in self._known:
            self._known[key] = await _read_version(Launch(command=command, folder=Path("/"), variables=self._variables))
        return self._known[key]


def _search_path(path: str) -> str:
    """PATH and the interpreter's folder: an environment that is not activated is not on PATH.

    Relative entries are left out, because they depend on where the server was started.
    """
    folders = [each for each in path.split(os.pathsep) if Path(each).is_absolute()]
    return os.pathsep.join([*folders, str(Path(sys.executable).parent)])


def _changed_at(program: str) -> int:
    try:
        return Path(program).stat().st_mtime_ns
    except OSError:
        return 0


def _glob(folder: Path, pattern: str) -> list[Path]:
    while pattern.startswith("../"):
        folder, pattern = folder.parent, pattern[3:]
    return sorted(folder.glob(pattern))


class _Output:
    """Collects what a program prints. See process.Owner."""

    def __init__(self) -> None:
        self.text = b""
        self.done = asyncio.Event()

    def on_output(self, data: bytes) -> None:
        self.text = (self.text + data)[:_MAX_OUTPUT]

    def on_output_end(self) -> None:
        pass

    def on_line(self, _line: str) -> None:
        pass

    def on_exit(self, _code: int) -> None:
        self.done.set()


async def _read_version(launch: Launch) -> str:
    output = _Output()
    try:
        process = await start(launch, output)
    except OSError:
        return UNKNOWN
    try:
        async with asyncio.timeout(_SECONDS):
            await output.done.wait()
    except TimeoutError:
        return UNKNOWN
    finally:
        await process.end()
    found = _VERSION.search(output.text.decode("utf-8", "replace"))
    return found[0] if found else UNKNOWN
