"""Finding records in files that may move while they are read."""

from __future__ import annotations

import pytest

from strictwire.stores.files import layout
from strictwire.stores.files.crash_disk import CrashDisk
from strictwire.stores.files.layout import (
    ACTIVE,
    CHECKPOINTS,
    Segment,
    last_note,
    list_segments,
    open_segment,
    read_first,
    read_last_note,
    read_lines,
    read_notes,
    read_records,
    write_note,
)
from strictwire.stores.files.search import open_listed
from tests.stores.trails import KEY, Machine, body


def _file(data: bytes) -> object:
    file = CrashDisk().open("x", create=True)
    file.write(0, data)
    return file


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"a\nb\n", [b"a\n", b"b\n"]),
        (b"a\nb", [b"a\n", b"b"]),
        (b"a\r\nb\rc\n", [b"a\r\n", b"b\rc\n"]),
        (b"\n\n", [b"\n", b"\n"]),
    ],
)
@pytest.mark.parametrize("block", [1, 3, 1 << 20])
def test_lines_are_cut_at_line_feeds_alone_whatever_the_block(
    data: bytes, lines: list[bytes], block: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(layout, "BLOCK", block)

    assert list(read_lines(_file(data))) == lines


def test_a_line_without_end_is_handed_over_in_pieces(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(layout, "BLOCK", 8)
    monkeypatch.setattr(layout, "MAX_LINE_BYTES", 16)
    pieces = list(read_lines(_file(b"x" * 100)))

    assert max(map(len, pieces)) <= 33
    assert sum(piece.count(b"x") for piece in pieces) == 100


def test_a_reader_goes_on_when_the_file_it_reads_becomes_an_older_one():
    machine = Machine()
    log = machine.log()
    log.append([body("a"), body("b")])
    seen = []
    for line in read_records(machine.disk, 0):
        seen.append(line)
        if len(seen) == 1:
            with log.exclusively() as tail:
                log.rotate(tail)
            log.append([body("c")])

    assert [b'"%s"' % name in line for name, line in zip((b"a", b"b", b"c"), seen, strict=True)] == [True] * 3


def test_the_active_name_stands_for_another_file_after_a_rotation():
    machine = Machine()
    log = machine.log()
    log.append([body("a")])
    (listed,) = list_segments(machine.disk)
    with log.exclusively() as state:
        log.rotate(state)
    log.append([body("b")])
    moved = open_listed(machine.disk, listed)

    assert open_segment(machine.disk, listed) is None
    assert moved is not None
    assert moved.read(0, 9) == b'{"seq":0,'
    assert open_listed(machine.disk, Segment(ACTIVE, 7)) is None


def test_records_are_read_from_any_number_on():
    machine = Machine(rotate_bytes=1_000)
    log = machine.log()
    for number in range(9):
        log.append([body(f"call {number}")])

    for first in range(10):
        assert len(list(read_records(machine.disk, first))) == 9 - first


def test_a_note_takes_the_place_of_one_that_a_crash_cut_short():
    disk, first, second = CrashDisk(), KEY.sign(size=1, root=bytes(32)).note, KEY.sign(size=2, root=bytes(32)).note
    file = disk.open(CHECKPOINTS, create=True)
    write_note(file, first)
    disk.open(CHECKPOINTS).write(len(first), b"test.local/log\n" + b"x" * 500)
    write_note(file, second)

    assert list(read_notes(disk)) == [first, second]
    assert (read_last_note(disk), last_note(file)) == (second, (second, len(first + second)))


def test_a_folder_without_records():
    disk = CrashDisk()

    assert (list_segments(disk), read_first(disk, "audit-log.jsonl"), list(read_records(disk, 0))) == ([], None, [])
