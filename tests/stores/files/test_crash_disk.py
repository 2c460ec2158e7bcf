"""The disk of the crash tests: what a reboot finds, a full disk, a deleted folder."""

from __future__ import annotations

import errno

import pytest

from strictwire.stores.files.crash_disk import CrashDisk, PowerCut, Survival


@pytest.mark.parametrize(
    ("survival", "expected"),
    [
        (Survival.NOTHING, b"kept"),
        (Survival.EVERYTHING, b"kept12345678"),
        (Survival.PART, b"kept1234"),
        (Survival.HOLE, b"kept\x00\x00\x00\x005678"),
        (Survival.UNCUT, b"kept12345678"),
    ],
)
def test_what_was_not_synced_is_as_the_crash_left_it(survival: Survival, expected: bytes):
    disk = CrashDisk()
    file = disk.open("a", create=True)
    disk.sync()
    file.write(0, b"kept")
    file.sync()
    file.write(4, b"12345678")
    disk.reboot(survival)

    assert disk.open("a").read(0, 99) == expected


@pytest.mark.parametrize(
    ("survival", "expected"),
    [
        (Survival.NOTHING, b"12345678"),
        (Survival.EVERYTHING, b"1abcdef8"),
        (Survival.PART, b"1abc5678"),
        (Survival.HOLE, b"1234def8"),
        (Survival.UNCUT, b"1abcdef8"),
    ],
)
def test_bytes_that_were_overwritten_and_not_synced_are_as_the_crash_left_them(survival: Survival, expected: bytes):
    disk = CrashDisk()
    file = disk.open("a", create=True)
    disk.sync()
    file.write(0, b"12345678")
    file.sync()
    file.write(1, b"abcdef")
    disk.reboot(survival)

    assert disk.open("a").read(0, 99) == expected


@pytest.mark.parametrize(
    ("survival", "expected"),
    [
        (Survival.NOTHING, b"12345678"),
        (Survival.EVERYTHING, b"123ab"),
        (Survival.PART, b"123a5678"),
        (Survival.HOLE, b"1234b678"),
        (Survival.UNCUT, b"123ab678"),
    ],
)
def test_a_truncation_that_was_not_synced_is_as_the_crash_left_it(survival: Survival, expected: bytes):
    disk = CrashDisk()
    file = disk.open("a", create=True)
    disk.sync()
    file.write(0, b"12345678")
    file.sync()
    file.truncate(3)
    file.write(3, b"ab")
    disk.reboot(survival)

    assert disk.open("a").read(0, 99) == expected


def test_a_name_that_was_not_synced_is_gone_and_a_truncation_undone():
    disk = CrashDisk()
    disk.open("a", create=True).write(0, b"text")
    disk.open("a").sync()
    disk.sync()
    disk.open("a").truncate(1)
    disk.open("b", create=True)
    disk.rename("a", "c")
    disk.reboot(Survival.NOTHING)

    assert (disk.names(), disk.open("a").read(0, 9)) == (["a"], b"text")


def test_after_the_power_failed_nothing_works_until_it_is_back():
    disk = CrashDisk()
    disk.power.cut_after = 1
    file = disk.open("a", create=True)
    for _ in range(2):
        with pytest.raises(PowerCut):
            file.write(0, b"x")
    disk.reboot(Survival.EVERYTHING)
    file.write(0, b"x")

    assert file.read(0, 9) == b"x"


def test_a_full_disk_takes_what_fits():
    disk = CrashDisk()
    disk.room = 3
    file = disk.open("a", create=True)
    with pytest.raises(OSError) as refused:
        file.write(0, b"12345")

    assert (refused.value.errno, file.read(0, 9)) == (errno.ENOSPC, b"123")


def test_a_folder_that_is_gone_has_nothing():
    disk = CrashDisk()
    disk.gone = True

    assert disk.stat("a") is None
    for use in (disk.names, disk.sync, lambda: disk.open("a", create=True)):
        with pytest.raises(FileNotFoundError):
            use()
