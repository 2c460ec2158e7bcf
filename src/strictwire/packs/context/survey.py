"""Finds the files that a build takes, by rules: v0's, or those for any tree (`.gitignore`, patterns, known file names).

Not here: what is in the files (`documents`).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from strictwire.packs.context.extract import KIND_OF, kind_of
from strictwire.packs.context.ingest import MAX_FILES, NotBuilt, Source, walk
from strictwire.packs.context.layout import MAX_DOCUMENT_BYTES
from strictwire.packs.context.skips import Skip
from strictwire.packs.context.words import extension_of

if TYPE_CHECKING:
    from strictwire.packs.kit.ignore import Rules

MAX_DEPTH: Final = 200
"""Deepest folder that is entered; the path of a deeper one is longer than the system accepts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRules:
    """Which files a build takes, and what it does with a file that cannot become a document."""

    strict: bool = True
    """True: v0's rules; the first file that cannot be taken ends the build. False: it is skipped and reported."""
    gitignore: bool = False
    include: tuple[str, ...] = ()
    """Patterns in the syntax of .gitignore. If there are any, only files that match one are taken."""
    exclude: tuple[str, ...] = ()
    """Patterns of files and folders that are left out."""
    max_bytes: int = MAX_DOCUMENT_BYTES

    @property
    def needs_patterns(self) -> bool:
        """Whether `pathspec` is needed."""
        return self.gitignore or bool(self.include or self.exclude)


V0: Final = SourceRules()
"""The rules of Context Resolve v0."""


@dataclass(frozen=True, slots=True)
class Survey:
    """The files of a tree: those to take, and why others are not taken."""

    found: list[Source] = field(default_factory=list)
    skipped: list[Skip] = field(default_factory=list)
    other: Counter[str] = field(default_factory=Counter)
    ignored: list[str] = field(default_factory=list)


def survey(sources: Path, kinds: frozenset[str], rules: SourceRules) -> Survey:
    """Walk the tree. Raises NotBuilt: IO_ERROR, INTERNAL.

    Strict rules refuse a folder that cannot be read and a path that is not UTF-8; the others skip it.
    """
    if not sources.is_dir():
        raise NotBuilt("IO_ERROR", "the sources are not a directory", str(sources))
    if rules.needs_patterns and find_spec("pathspec") is None:
        raise NotBuilt("IO_ERROR", "ignore rules need an extra; install it with: pip install 'strictwire[context]'")
    made = _walk_strictly(sources, kinds, rules) if rules.strict else _Walk(sources, kinds, rules).run()
    if len(made.found) > MAX_FILES:
        raise NotBuilt("IO_ERROR", f"there are more than {MAX_FILES} files", str(sources))
    return made


def _walk_strictly(sources: Path, kinds: frozenset[str], rules: SourceRules) -> Survey:
    extensions = {extension for extension, kind in KIND_OF.items() if kind in kinds}
    files = walk(os.fsencode(sources), lambda name: extension_of(name) in extensions)
    found = list(islice(files, MAX_FILES + 1))
    if not rules.needs_patterns:
        return Survey(found)
    leaves_out = _patterns(rules)
    taken = [source for source in found if not leaves_out(source.relative, False)]
    return Survey(taken, ignored=[source.relative for source in found if leaves_out(source.relative, False)])


def _patterns(rules: SourceRules) -> Callable[[str, bool], bool]:
    """Return a function from a relative path, and whether it is a folder, to whether the options leave it out."""
    from pathspec import GitIgnoreSpec

    include, exclude = GitIgnoreSpec.from_lines(rules.include), GitIgnoreSpec.from_lines(rules.exclude)

    def leaves_out(relative: str, is_folder: bool) -> bool:
        path = relative + "/" * is_folder
        if rules.exclude and exclude.match_file(path):
            return True
        return bool(rules.include) and not is_folder and not include.match_file(path)

    return leaves_out


class _Walk:
    """One lenient walk: depth first, each folder sorted by name. Links to folders are not followed."""

    def __init__(self, sources: Path, kinds: frozenset[str], rules: SourceRules) -> None:
        self._root = os.fsdecode(sources)
        self._kinds = kinds
        self._rules = rules
        self._leaves_out = _patterns(rules) if rules.include or rules.exclude else lambda _path, _is_folder: False
        self._made = Survey()

    def run(self) -> Survey:
        ignore = None
        if self._rules.gitignore:
            from strictwire.packs.kit.ignore import NO_RULES

            ignore = NO_RULES
        self._enter(self._root, "", ignore, 0)
        return self._made

    def _enter(self, folder: str, prefix: str, ignore: Rules | None, depth: int) -> None:
        try:
            with os.scandir(folder) as listed:
                entries = sorted(listed, key=lambda entry: os.fsencode(entry.name))
        except OSError:
            self._made.skipped.append(Skip(_plain(prefix or "."), "unreadable"))
            return
        if ignore is not None:
            ignore = ignore.enter(folder, {entry.name for entry in entries})
        for entry in entries:
            self._take(entry, prefix + entry.name, ignore, depth)

    def _take(self, entry: os.DirEntry[str], relative: str, ignore: Rules | None, depth: int) -> None:
        is_folder = entry.is_dir(follow_symlinks=False)
        if not is_folder and not _is_file(entry):
            return
        if self._leaves_out(relative, is_folder) or (ignore is not None and ignore.ignores(entry.path, is_folder=is_folder)):
            self._made.ignored.append(_plain(relative))
        elif not _is_utf8(relative):
            self._made.skipped.append(Skip(_plain(relative), "path"))
        elif is_folder:
            if depth < MAX_DEPTH:
                self._enter(entry.path, relative + "/", ignore, depth + 1)
            else:
                self._made.skipped.append(Skip(relative, "too-deep", f"more than {MAX_DEPTH} folders"))
        elif kind_of(entry.name) in self._kinds:
            self._made.found.append(Source(os.fsencode(entry.path), relative))
        else:
            self._made.other[extension_of(entry.name).lower()] += 1


def _is_file(entry: os.DirEntry[Any]) -> bool:
    try:
        return bool(entry.is_file())
    except OSError:
        return False


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _plain(path: str) -> str:
    """Replace bytes that are not UTF-8, for the report."""
    return os.fsencode(path).decode(errors="replace")
