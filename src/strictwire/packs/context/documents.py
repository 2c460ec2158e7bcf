"""Converts source files to document files. Runs in worker processes, so it takes and returns plain values.

Not here: which files to convert, and whether their documents fit into one cache (`build`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from strictwire.packs.context.extract import KIND_OF, WrongFormat, extract
from strictwire.packs.context.ingest import NotBuilt, Source, Stamp, stamp_of
from strictwire.packs.context.layout import MAX_DOCUMENT_BYTES, Document, file_of, render_document, version_of
from strictwire.packs.context.words import document_id

_SOURCE: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC

_BATCH_BYTES: Final = 1 << 20
"""Bytes of sources that are read before their documents are written."""


class WrittenDocument(NamedTuple):
    """A document file that was written: id, version, stamp of the source when it was read, stamp of the document file."""

    id: str
    version: str
    source: Stamp
    file: tuple[int, int, int]


Row: TypeAlias = tuple[str, str, Stamp, tuple[int, int, int]]
"""The fields of a WrittenDocument. Worker processes return one per document, and plain tuples unpickle several times
faster."""


class _Text(NamedTuple):
    """A source file that was read."""

    source: Source
    seen: Stamp
    raw: bytes


class _Rendered(NamedTuple):
    """A document file that is ready to be written."""

    id: str
    version: str
    raw: bytes


def make_documents(sources: Sequence[Source], cache: str) -> list[Row]:
    """Read, check, hash and write each source. Raises NotBuilt: IO_ERROR, INTERNAL; OSError if the cache cannot be written.

    A batch is read, then rendered, then written: repeating one step keeps its code and data in the CPU caches.
    """
    rows: list[Row] = []
    for texts in _read_batches(sources):
        documents = [_render(text) for text in texts]
        rows += [
            (document.id, document.version, text.seen, _write(f"{cache}/{file_of(document.version)}", document.raw))
            for text, document in zip(texts, documents, strict=True)
        ]
    return rows


def _read_batches(sources: Iterable[Source]) -> Iterator[list[_Text]]:
    texts: list[_Text] = []
    size = 0
    for source in sources:
        texts.append(_read(source))
        size += len(texts[-1].raw)
        if size > _BATCH_BYTES:
            yield texts
            texts, size = [], 0
    yield texts


def _render(text: _Text) -> _Rendered:
    relative = text.source.relative
    kind = KIND_OF[relative.rpartition(".")[2]]
    try:
        content = extract(kind, text.raw)
    except WrongFormat as exc:
        raise NotBuilt("INTERNAL", f"a file is {exc}", relative) from exc
    name, version = document_id(relative), version_of(content.encode())
    raw = render_document(Document(name, version, relative, content, {} if kind == "markdown" else {"kind": kind}))
    if len(raw) > MAX_DOCUMENT_BYTES:
        # JSON escapes can make it longer than its source. No reader would accept it.
        raise NotBuilt("IO_ERROR", f"a document is larger than {MAX_DOCUMENT_BYTES} bytes", relative)
    return _Rendered(name, version, raw)


def _read(source: Source) -> _Text:
    """Read the content, and the stamp before it: if the file changes in between, a later stamp differs."""
    try:
        handle = os.open(source.path, _SOURCE)
        try:
            seen = stamp_of(os.fstat(handle))
            return _Text(source, seen, _read_whole(handle, seen[1], source.relative))
        finally:
            os.close(handle)
    except OSError as exc:
        raise NotBuilt("IO_ERROR", "a file cannot be read", source.relative) from exc


def _read_whole(handle: int, size: int, relative: str) -> bytes:
    if size > MAX_DOCUMENT_BYTES:
        raise NotBuilt("IO_ERROR", f"a file is larger than {MAX_DOCUMENT_BYTES} bytes", relative)
    raw = os.read(handle, size + 1)
    if len(raw) == size:
        return raw
    while part := os.read(handle, 1 << 20):
        raw += part
        if len(raw) > MAX_DOCUMENT_BYTES:
            raise NotBuilt("IO_ERROR", "a file grows while it is read", relative)
    return raw


def _write(path: str, raw: bytes) -> tuple[int, int, int]:
    handle = _create(path)
    try:
        written = os.write(handle, raw)
        while written < len(raw):
            written += os.write(handle, memoryview(raw)[written:])
        return document_stamp(os.fstat(handle))
    finally:
        os.close(handle)


def _create(path: str) -> int:
    """Create a new file. An existing one may be a hard link into a published cache, so it is never written to."""
    while True:
        try:
            return os.open(path, _NEW, 0o666)
        except FileExistsError:
            with suppress(FileNotFoundError):
                Path(path).unlink()


def document_stamp(status: os.stat_result) -> tuple[int, int, int]:
    """Return what identifies an unchanged document file. Creating a hard link changes the ctime, so it is left out."""
    return status.st_ino, status.st_size, status.st_mtime_ns
