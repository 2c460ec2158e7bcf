"""One source file made into one document file. Runs in worker processes: takes and returns plain values.

Not here: which files, and whether their documents may stand in one cache together (`build`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from strictwire.packs.context.extract import KIND_OF, NotText, extract
from strictwire.packs.context.ingest import NotBuilt, Source
from strictwire.packs.context.layout import MAX_DOCUMENT_BYTES, Document, file_of, render_document, version_of
from strictwire.packs.context.words import document_id

_SOURCE: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


class Made(NamedTuple):
    """A document that was written: its id, its version, and the inode, size and time of its file.

    A tuple, because one comes from another process for every document.
    """

    id: str
    version: str
    file: tuple[int, int, int]


def make_documents(sources: Sequence[Source], cache: str) -> list[Made]:
    """Read, check, hash and write each. Raises NotBuilt: IO_ERROR, INTERNAL; OSError for the cache's own side."""
    return [_make(source, cache) for source in sources]


def _make(source: Source, cache: str) -> Made:
    kind = KIND_OF[source.relative.rpartition(".")[2]]
    try:
        content = extract(kind, _read(source))
    except NotText as exc:
        raise NotBuilt("INTERNAL", f"a file is {exc}", source.relative) from exc
    version = version_of(content.encode())
    document = Document(
        id=document_id(source.relative),
        version=version,
        source=source.relative,
        content=content,
        metadata={} if kind == "markdown" else {"kind": kind},
    )
    raw = render_document(document)
    if len(raw) > MAX_DOCUMENT_BYTES:
        # Escapes make it longer than its source: no reader would take it.
        raise NotBuilt("IO_ERROR", f"a document is larger than {MAX_DOCUMENT_BYTES} bytes", source.relative)
    return Made(document.id, version, _write(f"{cache}/{file_of(version)}", raw))


def _read(source: Source) -> bytes:
    try:
        handle = os.open(source.path, _SOURCE)
        try:
            raw = os.read(handle, source.size + 1)
            while part := os.read(handle, 1 << 20) if len(raw) != source.size else b"":
                raw += part
                if len(raw) > MAX_DOCUMENT_BYTES:
                    raise NotBuilt("IO_ERROR", "a file grows while it is read", source.relative)
        finally:
            os.close(handle)
    except OSError as exc:
        raise NotBuilt("IO_ERROR", "a file cannot be read", source.relative) from exc
    return raw


def _write(path: str, raw: bytes) -> tuple[int, int, int]:
    handle = _create(path)
    try:
        left = memoryview(raw)
        while left:
            left = left[os.write(handle, left) :]
        return file_stamp(os.fstat(handle))
    finally:
        os.close(handle)


def _create(path: str) -> int:
    """A file of its own. One that is there may be a link into a standing cache: it is never written to."""
    while True:
        try:
            return os.open(path, _NEW, 0o666)
        except FileExistsError:
            with suppress(FileNotFoundError):
                Path(path).unlink()


def file_stamp(status: os.stat_result) -> tuple[int, int, int]:
    """What tells an untouched document file. A link changes the other time, so that one is left out."""
    return status.st_ino, status.st_size, status.st_mtime_ns
