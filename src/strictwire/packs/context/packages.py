"""Downloads packages by name with the clients of their registries (pip, npm), as archives. Their code is never executed.

pip is asked for wheels only: for a source distribution it would run the build of the package. The documentation of a
package that ships it only in its source distribution can be added from the downloaded archive.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

TIMEOUT_SECONDS: Final = 600.0
"""Time limit of a download."""

_PYPI: Final = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]{0,99})(?:==(?P<version>[A-Za-z0-9][A-Za-z0-9.!+_-]{0,63}))?")
_NPM: Final = re.compile(
    r"(?P<name>(?:@[a-z0-9][a-z0-9._-]{0,99}/)?[a-z0-9][a-z0-9._-]{0,99})(?:@(?P<version>[A-Za-z0-9][A-Za-z0-9.+_-]{0,63}))?"
)
_WHEEL_VERSION: Final = re.compile(r"^[^-]+-([^-]+)-")
_NPM_VERSION: Final = re.compile(r"-(\d[^/]*)\.tgz$")


class NotDownloaded(Exception):
    """The package was not downloaded; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Package:
    """A package by name, and by version if one was given. `registry` is `pypi` or `npm`."""

    registry: str
    name: str
    version: str

    @property
    def wanted(self) -> str:
        """The package as its client spells it."""
        return f"{self.name}{_SPELLING[self.registry]}{self.version}" if self.version else self.name


_SPELLING: Final[Mapping[str, str]] = MappingProxyType({"pypi": "==", "npm": "@"})
_PATTERNS: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType({"pypi": _PYPI, "npm": _NPM})
_VERSIONS: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType({"pypi": _WHEEL_VERSION, "npm": _NPM_VERSION})


def maybe_package(source: str) -> Package | None:
    """Return the package that `pypi:NAME[==VERSION]` or `npm:NAME[@VERSION]` names; None if it is a path.

    Raises NotDownloaded: the prefix is one of the two, but the rest is not a package.
    """
    registry, colon, rest = source.partition(":")
    if not colon or registry not in _PATTERNS:
        return None
    found = _PATTERNS[registry].fullmatch(rest)
    if found is None:
        raise NotDownloaded(f"{source!r} is not a package; write {registry}:NAME{_SPELLING[registry]}VERSION")
    return Package(registry, found["name"], found["version"] or "")


def download(package: Package, folder: Path) -> tuple[Path, str]:
    """Download a package into an empty folder. Returns the archive and the version. Raises NotDownloaded."""
    _run(_COMMANDS[package.registry](package, folder), folder)
    archives = [path for path in folder.iterdir() if path.is_file()]
    if len(archives) != 1:
        raise NotDownloaded(f"{package.wanted}: the client downloaded {len(archives)} archives instead of one")
    found = _VERSIONS[package.registry].search(archives[0].name)
    return archives[0], package.version or (found[1] if found else "")


def _pip(package: Package, folder: Path) -> list[str]:
    options = ["--quiet", "--disable-pip-version-check", "--no-input", "--no-deps", "--only-binary", ":all:"]
    return [sys.executable, "-m", "pip", "download", *options, "--dest", str(folder), "--", package.wanted]


def _npm(package: Package, folder: Path) -> list[str]:
    program = shutil.which("npm")
    if program is None:
        raise NotDownloaded("npm is not installed; install Node.js, or download the package and add its folder")
    return [program, "pack", "--ignore-scripts", "--silent", "--pack-destination", str(folder), "--", package.wanted]


_COMMANDS: Final[Mapping[str, Callable[[Package, Path], list[str]]]] = MappingProxyType({"pypi": _pip, "npm": _npm})


def _run(command: list[str], folder: Path) -> None:
    try:
        ended = subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as exc:
        raise NotDownloaded(f"the download failed: {type(exc).__name__}") from exc
    if ended.returncode != 0:
        last = ended.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["no message"]
        raise NotDownloaded(f"the download failed: {last[0][:300]}; if there is only a source distribution, add its archive")
