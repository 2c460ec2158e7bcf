"""Reports on caches: list, inspect (two variants) and verify.

v0 froze both variants of inspect. The tool's reads the manifest leniently and adds up the files beside it; the command's
checks everything and adds up the documents.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from strictwire.canon.json import JsonObject, Limits, NotStrict, parse_object
from strictwire.packs.context.files import list_names, open_directory
from strictwire.packs.context.layout import DOCUMENTS, MANIFEST, MAX_MANIFEST_BYTES, Manifest
from strictwire.packs.context.load import (
    find_index_violations,
    find_manifest_violations,
    find_orphans,
    read_document,
    read_manifest,
    read_manifest_bytes,
)
from strictwire.packs.context.paths import require_directory
from strictwire.packs.context.rules import Unusable

MAX_VIOLATIONS: Final = 1000
"""Most violations in one report."""

_U64: Final = range(1 << 64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """The result of an inspection, with its members in the order of the output."""

    cache_version: str
    document_count: int
    total_bytes: int
    valid: bool


def list_caches(root: str) -> JsonObject:
    """List the real directories directly below the root, and whether each has a manifest file. Parses no JSON.

    Raises Unusable: CACHE_EXISTS if the root is not a directory, READABLE.
    """
    try:
        with os.scandir(os.fsencode(root)) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except (OSError, ValueError):
        raise Unusable("CACHE_EXISTS") from None
    return {
        "caches": [
            {"path": name.decode(errors="replace"), "has_manifest": _has_manifest(os.fsencode(root), name)} for name in names
        ]
    }


def inspect_leniently(path: Path) -> Inspection:
    """Inspect as the tool does: a broken manifest gives `valid: false`, not an error. Raises Unusable: READABLE."""
    with open_directory(path, rule="CACHE_EXISTS") as cache:
        members = _lenient_manifest(cache)
        version, count = members.get("cache_version"), members.get("document_count")
        known_version, known_count = isinstance(version, str), type(count) is int and count in _U64
        size = _size_of_files(cache) if known_version and known_count else None
    return Inspection(
        cache_version=version if isinstance(version, str) else "",
        document_count=count if isinstance(count, int) and known_count else 0,
        total_bytes=size or 0,
        valid=size is not None,
    )


def inspect_fully(path: Path) -> Inspection:
    """Inspect as the command line does. Raises Unusable: CACHE_EXISTS, MANIFEST_*, READABLE."""
    with open_directory(require_directory(path), rule="CACHE_EXISTS") as cache:
        manifest = read_manifest(cache)
        with _documents(cache) as within:
            size = sum(_size(entry.file, within) for entry in manifest.documents)
        return Inspection(
            cache_version=manifest.cache_version,
            document_count=manifest.document_count,
            total_bytes=size,
            valid=next(_violations(cache, manifest), None) is None,
        )


def find_violations(path: Path) -> list[Unusable]:
    """Return every rule that the cache breaks, in the order of the checks, at most MAX_VIOLATIONS."""
    try:
        with open_directory(require_directory(path), rule="CACHE_EXISTS") as cache:
            return list(islice(_violations(cache, read_manifest(cache)), MAX_VIOLATIONS))
    except Unusable as violation:
        return [violation]


def _violations(cache: int, manifest: Manifest) -> Iterator[Unusable]:
    yield from find_manifest_violations(manifest)
    try:
        yield from find_index_violations(cache, manifest)
    except Unusable as violation:
        yield violation
    with _documents(cache) as within:
        if within is None:
            yield from (Unusable("DOCUMENT_EXISTS", entry.id) for entry in manifest.documents)
            return
        yield from find_orphans(within, manifest)
        for entry in manifest.documents:
            try:
                read_document(within, entry)
            except Unusable as violation:
                yield violation


@contextmanager
def _documents(cache: int) -> Iterator[int | None]:
    """Yield the descriptor of the documents directory, or None if there is none. Raises Unusable: READABLE."""
    with ExitStack() as stack:
        within: int | None = None
        try:
            within = stack.enter_context(open_directory(DOCUMENTS, within=cache, rule="DOCUMENT_EXISTS"))
        except Unusable as violation:
            if violation.rule.id == "READABLE":
                raise
        yield within


def _lenient_manifest(cache: int) -> JsonObject:
    try:
        return parse_object(read_manifest_bytes(cache), Limits(size=MAX_MANIFEST_BYTES, values=MAX_MANIFEST_BYTES))
    except NotStrict:
        return {}
    except Unusable as violation:
        if violation.rule.id == "READABLE":
            raise
        return {}


def _size_of_files(cache: int) -> int | None:
    """Return the total size of the regular files directly in the cache; None if a status cannot be read."""
    try:
        statuses = [os.stat(name, dir_fd=cache, follow_symlinks=False) for name in list_names(cache)]
    except (OSError, Unusable):
        return None
    return sum(status.st_size for status in statuses if stat.S_ISREG(status.st_mode))


def _size(file: str, within: int | None) -> int:
    folder, _, name = file.rpartition("/")
    if within is None or folder != DOCUMENTS:
        return 0
    with suppress(OSError, ValueError):
        status = os.stat(name, dir_fd=within, follow_symlinks=False)
        return status.st_size if stat.S_ISREG(status.st_mode) else 0
    return 0


def _has_manifest(root: bytes, name: bytes) -> bool:
    try:
        return stat.S_ISREG(os.lstat(b"%b/%b/%b" % (root, name, os.fsencode(MANIFEST))).st_mode)
    except OSError as exc:
        if exc.errno in (errno.ENOENT, errno.ENOTDIR):
            return False
        raise Unusable("READABLE") from exc
