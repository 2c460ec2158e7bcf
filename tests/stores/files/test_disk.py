"""The real disk and the crash disk do the same, until the power fails."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from strictwire.stores.files.crash_disk import CrashDisk
from strictwire.stores.files.disk import Disk, FileInfo, FolderDisk, ReadingDisk, replace_file


@pytest.fixture(params=["real", "crash"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Disk:
    return FolderDisk(tmp_path) if request.param == "real" else CrashDisk()


def test_what_is_written_is_read(disk: Disk):
    file = disk.open("a", create=True)
    file.write(0, b"hello")
    file.write(7, b"there")
    file.truncate(10)
    file.sync()

    assert file.read(0, 99) == b"hello\x00\x00the"
    assert (disk.stat("a"), file.size()) == (FileInfo(file.ident, 10), 10)
    file.close()


def test_names_come_and_go(disk: Disk):
    for name in ("a", "b"):
        disk.open(name, create=True).close()
    disk.rename("a", "c")
    disk.remove("b")
    disk.sync()

    assert (disk.names(), disk.stat("a")) == (["c"], None)
    with pytest.raises(FileNotFoundError):
        disk.open("a")


def test_a_whole_file_takes_the_place_of_another(disk: Disk):
    replace_file(disk, "a", b"long text")
    replace_file(disk, "a", b"short")
    file = disk.open("a")

    assert (file.read(0, 99), disk.names()) == (b"short", ["a"])
    file.close()


def test_a_reader_cannot_create_or_write(tmp_path: Path):
    (tmp_path / "a").write_bytes(b"x")
    disk = ReadingDisk(tmp_path)
    file = disk.open("a")
    with pytest.raises(OSError):
        file.write(0, b"y")
    with pytest.raises(PermissionError):
        disk.open("b", create=True)
    file.close()


def test_a_link_in_place_of_a_file_is_not_written_through(tmp_path: Path):
    (tmp_path / "victim").write_bytes(b"x")
    (tmp_path / "link").symlink_to(tmp_path / "victim")
    with pytest.raises(OSError) as refused:
        FolderDisk(tmp_path).open("link")

    assert refused.value.errno == errno.ELOOP
