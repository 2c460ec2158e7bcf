"""Parallel cold load: several processes each read, verify and index a part of the documents.

All parts read through the directory descriptor that the load holds open, so they see one generation. If no process can be
started, this process loads everything itself; the result is the same. Run as a module, this file is the loader process.
"""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import IO, Any, Final

from strictwire.packs.context.index import IndexBuilder
from strictwire.packs.context.layout import ManifestEntry, file_of
from strictwire.packs.context.load import EntryTable, read_document
from strictwire.packs.context.rules import Unusable

MIN_DOCUMENTS: Final = 20_000
"""Documents from which on other processes are used. Starting an interpreter takes about a fifth of a second."""

MAX_PARTS: Final = 4
"""More processes reading one disk do not make it faster."""

_UNUSABLE: Final = "unusable"
_END: Final = "end"


def load_documents(documents: int, entries: EntryTable, builder: IndexBuilder, *, parts: int | None = None) -> None:
    """Read all documents into a builder, alone or with loader processes.

    Raises Unusable for the first invalid document, or READABLE if a loader process dies before it has finished.
    """
    count = len(entries)
    size = -(-count // (parts or _parts(count))) or 1
    loaders = [_Loader(documents, entries, first, min(first + size, count)) for first in range(size, count, size)]
    try:
        _read(documents, entries.part(0, min(size, count)), builder)
        for loader in loaders:
            loader.finish(builder)
    finally:
        for loader in loaders:
            loader.end()


def _parts(count: int) -> int:
    return min(os.cpu_count() or 1, MAX_PARTS) if count >= MIN_DOCUMENTS else 1


def _read(documents: int, entries: Iterable[ManifestEntry], builder: IndexBuilder) -> None:
    for entry in entries:
        builder.add(read_document(documents, entry))


class _Loader:
    """One part, read by another process."""

    def __init__(self, documents: int, entries: EntryTable, first: int, last: int) -> None:
        self._part = (documents, entries, first, last)
        self._process: subprocess.Popen[bytes] | None = None
        # -P: with -m alone, Python would import modules of the working directory first.
        command = [sys.executable, "-P", "-m", __name__, str(documents), str(first)]
        with suppress(OSError):
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, pass_fds=[documents]
            )
            if self._process.stdin is not None:
                with self._process.stdin as pipe:
                    marshal.dump([(entry.id, entry.version) for entry in entries.part(first, last)], pipe)

    def finish(self, builder: IndexBuilder) -> None:
        """Merge the part as it arrives. If the process sends nothing, read the part here. Raises Unusable."""
        message = self._next()
        if message is None:
            documents, entries, first, last = self._part
            return _read(documents, entries.part(first, last), builder)
        while message[0] != _END:
            kind, value = message
            if kind == _UNUSABLE:
                raise Unusable(*value)
            builder.merge(kind, value)
            message = self._next() or (_UNUSABLE, ("READABLE",))
        return None

    def end(self) -> None:
        """Kill the process and close its pipe."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            if self._process.stdout is not None:
                self._process.stdout.close()

    def _next(self) -> tuple[str, Any] | None:
        """Return the next message, or None if the process has ended without one."""
        if self._process is None or self._process.stdout is None:
            return None
        try:
            # Safe to unmarshal: this file also wrote the other end of the pipe.
            message: tuple[str, Any] = marshal.load(self._process.stdout)  # noqa: S302
        except (EOFError, ValueError, TypeError):
            return None
        return message


def read_part(documents: int, first: int, pipe: IO[bytes]) -> Iterator[tuple[str, Any]]:
    """Yield the answer of a loader process to the entries on its stdin: its part of the index in chunks, or a violation."""
    pairs = marshal.load(pipe)  # noqa: S302 - see above
    builder = IndexBuilder(first=first)
    try:
        _read(documents, [ManifestEntry(name, version, file_of(version)) for name, version in pairs], builder)
    except Unusable as violation:
        yield _UNUSABLE, (violation.rule.id, violation.subject)
        return
    yield from builder.chunks()
    yield _END, None


if __name__ == "__main__":
    for chunk in read_part(int(sys.argv[1]), int(sys.argv[2]), sys.stdin.buffer):
        marshal.dump(chunk, sys.stdout.buffer)
