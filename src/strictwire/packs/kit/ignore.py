"""Which files a list or a search leaves out: `.gitignore`, `.ignore` and folders that no search wants.

Rules work as in git: each file speaks for its folder and everything below, the deepest one with an opinion decides, and
nothing below an ignored folder comes back. Files above the roots are not read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Final, TypeAlias

import re2
from pathspec import GitIgnoreSpec

IGNORE_FILES: Final = (".gitignore", ".ignore")
"""Read in this order; the later wins."""

EXCLUDE: Final = ".git/info/exclude"
"""Rules of one clone that are not committed. They count for its root, before the others."""

NEVER: Final = frozenset({".git", ".hg", ".svn", ".jj", ".cache", "node_modules", "__pycache__"})
"""Folders that are never entered: version control, caches (clangd keeps its index in one) and installed code."""

VENV: Final = "pyvenv.cfg"
"""A folder with this file is a Python environment and is not entered."""

MAX_RULES: Final = 1 << 20
"""Bytes of one ignore file that are read; real ones have a few kilobytes."""

MAX_COUNTED: Final = 1 << 17
"""Bytes of an ignore file that count, up to the last whole line: they take up to 6 s to compile."""

MAX_LINES: Final = 5_000
"""Lines of one ignore file that count. RE2 needs seconds to compile as many; real files have far fewer."""

MAX_PATTERN: Final = 512
"""Longest pattern in characters. Compiling one of a megabyte takes more than a minute."""

_NOT_COMPILED: Final = (ValueError, re.error, re2.error)
"""What pathspec and its backends raise for patterns that cannot be compiled."""

ReadLines: TypeAlias = Callable[[str], list[str]]
"""Reads the lines of an ignore file at a path; none if it cannot be read."""


def read_lines(path: str) -> list[str]:
    """Read an ignore file by its path on the disk. Links are not followed."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return []
    with os.fdopen(handle, "rb") as file:
        return split_rules(file.read(MAX_RULES))


def split_rules(raw: bytes) -> list[str]:
    """Split the content of an ignore file into lines, without those beyond the limits."""
    if len(raw) > MAX_COUNTED:  # half a pattern could match anything
        raw = raw[:MAX_COUNTED].rpartition(b"\n")[0]
    lines = raw.decode("utf-8", "replace").splitlines()
    return [line for line in lines[:MAX_LINES] if len(line) <= MAX_PATTERN]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules that apply in one folder."""

    levels: tuple[tuple[str, GitIgnoreSpec], ...] = ()
    """Folder, with a slash at its end, and its rules; the deepest last."""

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        """Whether a file or folder below is left out."""
        if is_folder and path.rpartition("/")[2] in NEVER:
            return True
        for folder, spec in reversed(self.levels):
            verdict = spec.check_file(path[len(folder) :] + "/" * is_folder).include
            if verdict is not None:
                return verdict
        return False

    def enter(self, folder: str, names: Container[str], read: ReadLines = read_lines) -> Rules:
        """The rules inside a folder, given the names in it."""
        lines = [line for name in IGNORE_FILES if name in names for line in read(f"{folder}/{name}")]
        if ".git" in names:
            lines = [*read(f"{folder}/{EXCLUDE}"), *lines]
        return Rules(levels=(*self.levels, *((folder + "/", spec) for spec in _compile(lines)))) if lines else self


def is_environment(names: Container[str]) -> bool:
    """Whether a folder with these names is a Python environment."""
    return VENV in names


def _compile(lines: list[str]) -> list[GitIgnoreSpec]:
    """Compile rules, in the order of the file. One line that is no pattern must not turn off the others."""
    try:
        return [GitIgnoreSpec.from_lines(lines)]
    except _NOT_COMPILED:
        return _compile_in_parts([line for line in lines if is_pattern(line)])


def _compile_in_parts(lines: list[str]) -> list[GitIgnoreSpec]:
    """Split patterns that are too many for one automaton. The last one that matches still decides."""
    try:
        return [GitIgnoreSpec.from_lines(lines)] if lines else []
    except _NOT_COMPILED:
        middle = len(lines) // 2
        return [*_compile_in_parts(lines[:middle]), *_compile_in_parts(lines[middle:])] if middle else []


def is_pattern(line: str) -> bool:
    """Return whether a line of an ignore file can be used."""
    try:
        GitIgnoreSpec.from_lines([line])
    except _NOT_COMPILED:
        return False
    return len(line) <= MAX_PATTERN


NO_RULES: Final = Rules()
