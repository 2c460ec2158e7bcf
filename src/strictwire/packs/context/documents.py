"""Converts source files to document files. Runs in worker processes, so it takes and returns plain values.

Not here: which files to convert, and whether their documents fit into one cache (`build`).
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias, TypeVar

from strictwire.packs.context.conversion import Converter
from strictwire.packs.context.encodings import NotText, UnknownEncoding, to_utf8
from strictwire.packs.context.extract import VERBATIM, kind_of
from strictwire.packs.context.formats import WrongFormat
from strictwire.packs.context.ingest import Source, Stamp, root_of, stamp_of
from strictwire.packs.context.layout import MAX_DOCUMENT_BYTES, Document, file_of, render_document, version_of
from strictwire.packs.context.skips import FileRefused, Skip
from strictwire.packs.context.survey import V0, SourceRules
from strictwire.packs.context.words import document_id
from strictwire.packs.kit import openat2, segmentwise
from strictwire.packs.kit.path import JailPath
from strictwire.packs.kit.root import TRAVERSE, Links

_SOURCE: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC

_BATCH_BYTES: Final = 1 << 20
"""Bytes of sources that are read before their documents are written."""


_DECODED: Final = VERBATIM | {"html"}
"""Kinds whose files are text, in any encoding."""

_Given = TypeVar("_Given")
_Done = TypeVar("_Done")


class WrittenDocument(NamedTuple):
    """A document file that was written: id, version, stamp of the source when it was read, stamp of the document file, and
    the encoding that the source was converted from, if it was not UTF-8."""

    id: str
    version: str
    source: Stamp
    file: tuple[int, int, int]
    encoding: str = ""


Row: TypeAlias = tuple[str, str, Stamp, tuple[int, int, int], str]
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
    encoding: str


_Reads: TypeAlias = Callable[[Source, SourceRules], _Text]
_Renders: TypeAlias = Callable[[_Text, SourceRules], _Rendered]


def make_documents(sources: Sequence[Source], cache: str, rules: SourceRules = V0) -> list[Row | Skip]:
    """Read, check, hash and write each source. Strict rules raise FileRefused for the first source that cannot be a
    document; the others return a Skip in its place. Raises OSError if the cache cannot be written.

    A batch is read, then rendered, then written: repeating one step keeps its code and data in the CPU caches.
    """
    with Converter() as converter, _opener(sources, rules) as opener:
        reads, renders = partial(_read, opener=opener), partial(_render, convert=converter.extract)
        return _make_documents(sources, cache, rules, reads, renders)


def _make_documents(
    sources: Sequence[Source], cache: str, rules: SourceRules, reads: _Reads, renders: _Renders
) -> list[Row | Skip]:
    rows: list[Row | Skip] = []
    for texts in _read_batches(sources, rules, reads):
        rendered = [text if isinstance(text, Skip) else _or_skip(renders, text, rules) for text in texts]
        for text, document in zip(texts, rendered, strict=True):
            if isinstance(document, Skip) or isinstance(text, Skip):
                rows.append(document if isinstance(document, Skip) else text)  # type: ignore[arg-type]
                continue
            stamp = _write(f"{cache}/{file_of(document.version)}", document.raw)
            rows.append((document.id, document.version, text.seen, stamp, document.encoding))
    return rows


def _or_skip(step: Callable[[_Given, SourceRules], _Done], given: _Given, rules: SourceRules) -> _Done | Skip:
    """Run a step for one file. Raises FileRefused if the rules are strict."""
    try:
        return step(given, rules)
    except FileRefused as refused:
        if rules.strict:
            raise
        return refused.skip


def _read_batches(sources: Iterable[Source], rules: SourceRules, reads: _Reads) -> Iterator[list[_Text | Skip]]:
    texts: list[_Text | Skip] = []
    size = 0
    for source in sources:
        text = _or_skip(reads, source, rules)
        texts.append(text)
        size += len(text.raw) if isinstance(text, _Text) else 0
        if size > _BATCH_BYTES:
            yield texts
            texts, size = [], 0
    yield texts


def _render(text: _Text, rules: SourceRules, convert: Callable[[str, bytes], str]) -> _Rendered:
    relative = text.source.relative
    kind = kind_of(relative.rpartition("/")[2]) or "text"
    raw, encoding = text.raw, ""
    if not rules.strict and kind in _DECODED:
        raw, encoding = _decode(text)
    try:
        content = convert(kind, raw)
    except WrongFormat as exc:
        raise FileRefused("INTERNAL", f"a file is {exc}", relative, exc.reason) from exc
    if kind == "pdf" and not content and not rules.strict:
        raise FileRefused("INTERNAL", "a file has no text", relative, "no-text")
    name, version = document_id(relative), version_of(content.encode())
    metadata = {key: value for key, value in (("encoding", encoding), ("kind", kind)) if value and value != "markdown"}
    document = render_document(Document(name, version, relative, content, metadata))
    if len(document) > MAX_DOCUMENT_BYTES:
        # JSON escapes can make it longer than its source. No reader would accept it.
        raise FileRefused("IO_ERROR", f"a document is larger than {MAX_DOCUMENT_BYTES} bytes", relative, "oversized")
    return _Rendered(name, version, document, encoding)


def _decode(text: _Text) -> tuple[bytes, str]:
    """Return the source as UTF-8, and its encoding if that was another one. Raises FileRefused."""
    try:
        return to_utf8(text.raw)
    except NotText as exc:
        raise FileRefused("INTERNAL", "a file is not text", text.source.relative, "binary") from exc
    except UnknownEncoding as exc:
        raise FileRefused("INTERNAL", "a file is not UTF-8", text.source.relative, "encoding") from exc


@contextmanager
def _opener(sources: Sequence[Source], rules: SourceRules) -> Iterator[Callable[[Source], int]]:
    """Yield what opens a source. v0 follows any link. Other builds stay beneath the root, also if a folder of the path is
    replaced by a link after the walk: a downloaded tree must not be able to add other files of this machine."""
    if rules.strict or not sources:
        yield lambda source: os.open(source.path, _SOURCE)
        return
    beneath = openat2.open_beneath if openat2.is_available() else segmentwise.open_beneath
    root = os.open(root_of(sources[0]), TRAVERSE)
    try:
        yield lambda source: beneath(root, JailPath(segments=tuple(source.relative.split("/"))), _SOURCE, Links.INSIDE)
    finally:
        os.close(root)


def _read(source: Source, rules: SourceRules, opener: Callable[[Source], int]) -> _Text:
    """Read the content, and the stamp before it: if the file changes in between, a later stamp differs."""
    try:
        handle = opener(source)
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):  # it has been replaced since the walk
                raise FileRefused("IO_ERROR", "a file is not a regular file", source.relative, "unreadable")
            seen = stamp_of(status)
            return _Text(source, seen, _read_whole(handle, seen[1], source.relative, rules.max_bytes))
        finally:
            os.close(handle)
    except OSError as exc:
        reason = "outside" if exc.errno == errno.EXDEV else "unreadable"
        raise FileRefused("IO_ERROR", "a file cannot be read", source.relative, reason) from exc


def _read_whole(handle: int, size: int, relative: str, limit: int) -> bytes:
    if size > limit:
        raise FileRefused("IO_ERROR", f"a file is larger than {limit} bytes", relative, "oversized")
    raw = os.read(handle, size + 1)
    if len(raw) == size:
        return raw
    while part := os.read(handle, 1 << 20):
        raw += part
        if len(raw) > limit:
            raise FileRefused("IO_ERROR", "a file grows while it is read", relative, "oversized")
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
