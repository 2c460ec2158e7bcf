"""What is written through is there, in the way of the module in C as in that of its twin: a write and a sync."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strictwire.native import speed
from strictwire.stores.trail.disk import FolderDisk

SECTOR = 4096
"""Of the disks that have the largest."""
SECTORS = 200


@pytest.fixture
def fd(tmp_path: Path) -> Iterator[int]:
    """A file with all of its blocks, on a disk that can be written past the memory of the system."""
    found = os.open(tmp_path / "a", os.O_RDWR | os.O_CREAT)
    os.pwrite(found, bytes(SECTORS * SECTOR), 0)
    try:
        os.close(os.open(tmp_path / "a", os.O_RDWR | getattr(os, "O_DIRECT", 0)))
    except OSError:
        pytest.skip("the disk of the tests cannot be written so")
    yield found
    os.close(found)


def _open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


pytestmark = pytest.mark.skipif(not hasattr(os, "O_DIRECT"), reason="the system has no such writes")


def test_every_write_is_read_whether_it_was_waited_for_awake_or_asleep(fd: int) -> None:
    through = speed.Through(fd)
    for number in range(SECTORS):
        data = bytes([number]) * SECTOR
        through.write(number * SECTOR, data)

        assert os.pread(fd, SECTOR, number * SECTOR) == data
    through.close()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.integers(0, SECTORS - 1), st.integers(0, 3), st.integers(0, 255)), max_size=12))
def test_it_leaves_what_writes_and_syncs_leave(fd: int, tmp_path: Path, writes: list[tuple[int, int, int]]) -> None:
    size = (SECTORS + 3) * SECTOR
    os.pwrite(fd, bytes(size), 0)
    (tmp_path / "b").write_bytes(bytes(size))
    plain = FolderDisk(tmp_path).open("b")
    through = speed.Through(fd)
    for place, count, letter in writes:
        data = bytes([letter]) * (count * SECTOR)
        through.write(place * SECTOR, data)
        plain.write(place * SECTOR, data)
        plain.sync()
    through.close()

    assert os.pread(fd, size, 0) == plain.read(0, size)
    plain.close()


def test_more_than_its_buffer_holds_is_written_in_pieces(fd: int) -> None:
    data = os.urandom(SECTORS * SECTOR)
    through = speed.Through(fd)
    through.write(0, data)
    through.close()

    assert os.pread(fd, len(data), 0) == data


def test_what_is_no_whole_sector_is_refused_and_nothing_is_changed(fd: int) -> None:
    through = speed.Through(fd)
    for offset, data in ((0, b"x" * 100), (7, b"x" * SECTOR), (-SECTOR, b"x" * SECTOR)):
        with pytest.raises(OSError) as refused:
            through.write(offset, data)

        assert refused.value.errno == errno.EINVAL
    through.write(0, b"y" * SECTOR)
    through.close()

    assert os.pread(fd, 2 * SECTOR, 0) == b"y" * SECTOR + bytes(SECTOR)


def test_after_its_end_it_writes_nothing_and_holds_no_file(fd: int) -> None:
    before = _open_files()
    through = speed.Through(fd)
    through.close()
    through.close()
    with pytest.raises(OSError) as refused:
        through.write(0, b"x" * SECTOR)
    kept = speed.Through(fd)
    del kept

    assert refused.value.errno == errno.EBADF
    assert _open_files() == before


def test_one_that_is_forgotten_gives_its_file_back(fd: int) -> None:
    before = _open_files()
    for _ in range(10):
        speed.Through(fd).write(0, b"x" * SECTOR)

    assert _open_files() == before


def test_what_is_no_file_on_a_disk_is_refused(fd: int) -> None:
    pipe = os.pipe()
    for other in (*pipe, 1 << 20, -1):
        with pytest.raises(OSError):
            speed.Through(other)
    for each in pipe:
        os.close(each)
    for wrong in ((), ("a",), (fd, fd)):
        with pytest.raises(TypeError):
            speed.Through(*wrong)  # type: ignore[arg-type, call-arg]
    with pytest.raises(TypeError):
        speed.Through(fd).write(b"x", 0)  # type: ignore[arg-type]


def test_of_two_threads_one_is_refused_and_nothing_is_mixed(fd: int) -> None:
    through = speed.Through(fd)
    refused = []

    def write(half: int) -> None:
        for number in range(half, SECTORS, 2):
            data = bytes([number]) * SECTOR
            while True:
                try:
                    through.write(number * SECTOR, data)
                    break
                except OSError as exc:
                    refused.append(exc.errno)

    threads = [threading.Thread(target=write, args=(half,)) for half in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    through.close()

    assert set(refused) <= {errno.EBUSY}
    assert os.pread(fd, SECTORS * SECTOR, 0) == b"".join(bytes([number]) * SECTOR for number in range(SECTORS))
