"""A cold load shared with other processes of this machine: each reads, verifies and indexes its part of the documents.

The parts read through the directory that the load holds open, so they all see one generation. Where no process can be
started the load is done alone: the result is the same. Run as a module, this file is the other process.
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
from strictwire.packs.context.layout import Entry, file_of
from strictwire.packs.context.load import Roster, read_document
from strictwire.packs.context.rules import Unusable

WORTH_IT: Final = 20_000
"""Documents from which on the start of an interpreter, a fifth of a second, is soon earned back."""

MOST_PARTS: Final = 4
"""More readers of one disk do not make it faster."""

_UNUSABLE: Final = "unusable"
_END: Final = "end"


def load_documents(documents: int, roster: Roster, builder: IndexBuilder, *, parts: int | None = None) -> None:
    """Read the documents of a roster into a builder, alone or with helpers.

    Raises Unusable for the first document that is not whole, or READABLE for a helper that died half way.
    """
    count = len(roster)
    size = -(-count // (parts or _parts(count))) or 1
    helpers = [_Helper(documents, roster, first, min(first + size, count)) for first in range(size, count, size)]
    try:
        _read(documents, roster.part(0, min(size, count)), builder)
        for helper in helpers:
            helper.finish(builder)
    finally:
        for helper in helpers:
            helper.end()


def _parts(count: int) -> int:
    return min(os.cpu_count() or 1, MOST_PARTS) if count >= WORTH_IT else 1


def _read(documents: int, entries: Iterable[Entry], builder: IndexBuilder) -> None:
    for entry in entries:
        builder.add(read_document(documents, entry))


class _Helper:
    """One part that another process reads."""

    def __init__(self, documents: int, roster: Roster, first: int, last: int) -> None:
        self._alone = (documents, roster, first, last)
        self._process: subprocess.Popen[bytes] | None = None
        command = [sys.executable, "-m", __name__, str(documents), str(first)]
        with suppress(OSError):
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, pass_fds=[documents]
            )
            if self._process.stdin is not None:
                with self._process.stdin as pipe:
                    marshal.dump([(entry.id, entry.version) for entry in roster.part(first, last)], pipe)

    def finish(self, builder: IndexBuilder) -> None:
        """Take the part over as it comes; if nothing comes, read it here. Raises Unusable."""
        message = self._next()
        if message is None:
            documents, roster, first, last = self._alone
            return _read(documents, roster.part(first, last), builder)
        while message[0] != _END:
            kind, value = message
            if kind == _UNUSABLE:
                raise Unusable(*value)
            builder.take(kind, value)
            message = self._next() or (_UNUSABLE, ("READABLE",))
        return None

    def end(self) -> None:
        """Leave nothing open or running."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            if self._process.stdout is not None:
                self._process.stdout.close()

    def _next(self) -> tuple[str, Any] | None:
        """The next message, or None where the other process has ended without one."""
        if self._process is None or self._process.stdout is None:
            return None
        try:
            # Both ends of the pipe are this file: what is read here is what it wrote.
            message: tuple[str, Any] = marshal.load(self._process.stdout)  # noqa: S302
        except (EOFError, ValueError, TypeError):
            return None
        return message


def read_part(documents: int, first: int, pipe: IO[bytes]) -> Iterator[tuple[str, Any]]:
    """What the other process answers to the entries that come in: its part of the index in pieces, or a violation."""
    pairs = marshal.load(pipe)  # noqa: S302 - see above
    builder = IndexBuilder(first=first)
    try:
        _read(documents, [Entry(name, version, file_of(version)) for name, version in pairs], builder)
    except Unusable as violation:
        yield _UNUSABLE, (violation.rule.id, violation.subject)
        return
    yield from builder.pieces()
    yield _END, None


if __name__ == "__main__":
    for piece in read_part(int(sys.argv[1]), int(sys.argv[2]), sys.stdin.buffer):
        marshal.dump(piece, sys.stdout.buffer)
