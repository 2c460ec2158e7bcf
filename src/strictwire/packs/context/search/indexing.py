"""Makes the search index of a cache: verifies and splits its documents, and reuses what an earlier index knows of them.

Run as a module, this file is the process that indexes a large cache: `indexing CACHE FILE`. It exits with 0, or prints the
rule that the cache breaks and exits with 1.
"""

from __future__ import annotations

import mmap
import os
import secrets
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from strictwire.packs.context.layout import MANIFEST, Document, ManifestEntry
from strictwire.packs.context.load import open_cache, read_document
from strictwire.packs.context.rules import Unusable
from strictwire.packs.context.search.impacts import find_impacts, passage_fields
from strictwire.packs.context.search.index_file import (
    DamagedIndex,
    IndexedDocument,
    IndexIdentity,
    IndexWriter,
    SearchIndex,
    Stamp,
)
from strictwire.packs.context.search.passages import split_passages, title_of

_MAX_ATTEMPTS: Final = 4
"""Most reads of a cache that is replaced while it is read."""


def manifest_stamp(cache: Path) -> Stamp:
    """Return what identifies the current state of a cache. Raises Unusable: MANIFEST_EXISTS."""
    try:
        status = (cache / MANIFEST).lstat()
    except (OSError, ValueError):
        raise Unusable("MANIFEST_EXISTS", MANIFEST) from None
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def index_cache(cache: Path, earlier: SearchIndex | None = None) -> bytes:
    """Return the index of a cache as bytes. Documents that the earlier index has are verified but not split again.

    The result does not depend on the earlier index. Raises Unusable for the first rule that the cache breaks.
    """
    for attempt in range(1, _MAX_ATTEMPTS + 1):
        stamp = manifest_stamp(cache)
        try:
            made = _index_once(cache, stamp, earlier)
        except Unusable:
            if attempt == _MAX_ATTEMPTS or stamp == _maybe_stamp(cache):
                raise
            continue
        if attempt == _MAX_ATTEMPTS or stamp == _maybe_stamp(cache):
            return made
    raise AssertionError("the last attempt returns or raises")


def open_index(file: Path) -> SearchIndex:
    """Map an index file into memory. Raises OSError, DamagedIndex."""
    # O_NONBLOCK: opening a FIFO must not wait for a writer.
    handle = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    try:
        mapped = mmap.mmap(handle, 0, access=mmap.ACCESS_READ)
    except ValueError as exc:  # an empty file cannot be mapped
        raise DamagedIndex from exc
    finally:
        os.close(handle)
    return SearchIndex(memoryview(mapped))


def write_index(file: Path, raw: bytes) -> None:
    """Write an index file in one step, readable only by its owner. Raises OSError."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    staging = file.with_name(f"{file.name}.{secrets.token_hex(6)}.tmp")
    try:
        with os.fdopen(os.open(staging, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as handle:
            handle.write(raw)
        staging.replace(file)
    finally:
        staging.unlink(missing_ok=True)


def _maybe_stamp(cache: Path) -> Stamp | None:
    try:
        return manifest_stamp(cache)
    except Unusable:
        return None


def _index_once(cache: Path, stamp: Stamp, earlier: SearchIndex | None) -> bytes:
    writer, moved = IndexWriter(), dict[int, int]()
    with open_cache(cache) as (documents, entries):
        known = _known_documents(earlier)
        for document in _read_all(documents, entries.part(0, len(entries))):
            summary = IndexedDocument(
                document.id, document.source, str(document.metadata.get("kind", "markdown")), document.version
            )
            number = known.get(summary)
            if number is None or earlier is None:
                _add_new(writer, summary, document.content)
            else:
                moved |= _add_known(writer, summary, earlier, number)
        identity = IndexIdentity(cache_version=entries.cache_version, stamp=stamp)
    if earlier is not None and moved:
        _copy_postings(writer, earlier, moved)
    return writer.render(identity)


def _read_all(documents: int, entries: Iterator[ManifestEntry]) -> Iterator[Document]:
    return (read_document(documents, entry) for entry in entries)


def _known_documents(earlier: SearchIndex | None) -> Mapping[IndexedDocument, int]:
    if earlier is None:
        return {}
    return {earlier.document(number): number for number in range(earlier.documents)}


def _add_new(writer: IndexWriter, summary: IndexedDocument, content: str) -> None:
    passages = split_passages(content, summary.kind)
    lines = content.split("\n")
    title = f"{title_of(summary.source, passages, summary.kind, lines)} {summary.source}"
    first = writer.passages
    writer.add_document(summary, [(passage.first, passage.last) for passage in passages])
    for number, passage in enumerate(passages, first):
        for term, impact in find_impacts(passage_fields(title, passage, lines, summary.kind)).items():
            writer.add_posting(term, number, impact)


def _add_known(writer: IndexWriter, summary: IndexedDocument, earlier: SearchIndex, number: int) -> dict[int, int]:
    """Add a document of the earlier index. Returns its passages there and here."""
    old = earlier.passages_of(number)
    first = writer.passages
    writer.add_document(summary, [earlier.lines(passage) for passage in old])
    return dict(zip(old, range(first, first + len(old)), strict=True))


def _copy_postings(writer: IndexWriter, earlier: SearchIndex, moved: Mapping[int, int]) -> None:
    """Copy the postings of the passages that are still there. Raises DamagedIndex."""
    for number in range(earlier.terms):
        term = earlier.term(number)
        for passage, impact in zip(*earlier.postings(number), strict=True):
            if passage in moved:
                writer.add_posting(term, moved[passage], impact)


def main(cache: Path, file: Path) -> int:
    """Index a cache into a file, with the file as the earlier index. Returns the exit code."""
    earlier = None
    with suppress(OSError, DamagedIndex):
        earlier = open_index(file)
    try:
        try:
            raw = index_cache(cache, earlier)
        except DamagedIndex:
            raw = index_cache(cache)
    except Unusable as violation:
        sys.stdout.write(violation.rule.id)
        return 1
    write_index(file, raw)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
