"""Finding lines without reading a file from its start."""

from __future__ import annotations

import pytest

from strictwire.audit.chain import GENESIS, seal_batch
from strictwire.stores.files import search
from strictwire.stores.files.crash_disk import CrashDisk
from strictwire.stores.files.disk import OpenFile
from strictwire.stores.files.search import find_line, lines_back
from tests.stores.trails import body


def _file(data: bytes) -> OpenFile:
    file = CrashDisk().open("x", create=True)
    file.write(0, data)
    return file


@pytest.mark.parametrize("block", [1, 3, 1 << 18])
@pytest.mark.parametrize("data", [b"", b"a\nbc\n\ndef\n", b"a\nbc\n\ndef\nunfinished", b"unfinished"])
def test_complete_lines_are_read_from_the_end_whatever_the_block(data: bytes, block: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(search, "_BLOCK", block)
    expected = data.split(b"\n")[:-1]

    assert list(lines_back(_file(data), len(data))) == expected[::-1]


@pytest.mark.parametrize("peek", [100, 4096])
def test_every_record_is_found_and_what_is_not_there_is_the_end(peek: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(search, "_PEEK", peek)
    # Lines of very different lengths, so that no binary search is lucky.
    bodies = [body("x" * (number % 7 * 900)) for number in range(40)]
    lines = seal_batch(bodies, first=5, head=GENESIS).lines
    starts = [0, *(place + 1 for place, byte in enumerate(lines) if byte == ord("\n"))]
    file = _file(lines)

    assert [find_line(file, seq) for seq in range(5, 45)] == starts[:-1]
    assert [find_line(file, seq) for seq in (0, 45, 99)] == [0, len(lines), len(lines)]
