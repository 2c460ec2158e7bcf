"""One source file made into one document file. Runs in worker processes: takes and returns plain values.

Not here: which files, and whether their documents may stand in one cache together (`build`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from strictwire.packs.context.extract import KIND_OF, NotText, extract
from strictwire.packs.context.ingest import NotBuilt, Source, Stamp, stamp_of
from strictwire.packs.context.layout import MAX_DOCUMENT_BYTES, Document, file_of, render_document, version_of
from strictwire.packs.context.words import document_id

_SOURCE: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC

_A_TURN: Final = 1 << 20
"""Bytes of sources that are read before their documents are written."""


class Made(NamedTuple):
    """A document that was written: its id, its version, its source as it was read, and the stamp of its own file."""

    id: str
    version: str
    source: Stamp
    file: tuple[int, int, int]


Row: TypeAlias = tuple[str, str, Stamp, tuple[int, int, int]]
"""The fields of a Made. One comes from another process for every document, and a plain tuple comes several times faster."""


class _Text(NamedTuple):
    """A source that was read."""

    source: Source
    seen: Stamp
    raw: bytes


class _Rendered(NamedTuple):
    """A document that is to be written."""

    id: str
    version: str
    raw: bytes


def make_documents(sources: Sequence[Source], cache: str) -> list[Row]:
    """Read, check, hash and write each. Raises NotBuilt: IO_ERROR, INTERNAL; OSError for the cache's own side.

    Some are read, then rendered, then written: a step that is repeated finds the processor's caches filled.
    """
    rows: list[Row] = []
    for texts in _read_in_turns(sources):
        documents = [_render(text) for text in texts]
        rows += [
            (document.id, document.version, text.seen, _write(f"{cache}/{file_of(document.version)}", document.raw))
            for text, document in zip(texts, documents, strict=True)
        ]
    return rows


def _read_in_turns(sources: Iterable[Source]) -> Iterator[list[_Text]]:
    texts: list[_Text] = []
    size = 0
    for source in sources:
        texts.append(_read(source))
        size += len(texts[-1].raw)
        if size > _A_TURN:
            yield texts
            texts, size = [], 0
    yield texts


def _render(text: _Text) -> _Rendered:
    relative = text.source.relative
    kind = KIND_OF[relative.rpartition(".")[2]]
    try:
        content = extract(kind, text.raw)
    except NotText as exc:
        raise NotBuilt("INTERNAL", f"a file is {exc}", relative) from exc
    name, version = document_id(relative), version_of(content.encode())
    raw = render_document(Document(name, version, relative, content, {} if kind == "markdown" else {"kind": kind}))
    if len(raw) > MAX_DOCUMENT_BYTES:
        # Escapes make it longer than its source: no reader would take it.
        raise NotBuilt("IO_ERROR", f"a document is larger than {MAX_DOCUMENT_BYTES} bytes", relative)
    return _Rendered(name, version, raw)


def _read(source: Source) -> _Text:
    """The content, and the stamp from before it was read: a change in between shows as another stamp later."""
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
