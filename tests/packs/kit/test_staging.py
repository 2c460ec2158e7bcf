"""Writes in the jail: atomic, never through a link, with the failure code of the cause."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.packs.kit.conftest import INSIDE, OUTSIDE

from strictwire.fault.failure import Refused
from strictwire.packs.kit.jail import Jail
from strictwire.packs.kit.staging import Existing


def verdict(act: Callable[[], object]) -> tuple[str, object]:
    with pytest.raises(Refused) as caught:
        act()
    return caught.value.failure.code, caught.value.failure.details.get("reason")


def tree(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() and not path.is_symlink() else None
        for path in sorted(folder.rglob("*"))
    }


def test_a_file_is_made_and_replaced_and_nothing_else_remains(jail: Jail, root: Path) -> None:
    before = tree(root)
    jail.write("docs/new.txt", b"one")
    jail.write("docs/new.txt", b"two")
    jail.write("top.txt", b"")

    assert tree(root) == {**before, "docs/new.txt": b"two", "top.txt": b""}


def test_a_replaced_file_keeps_its_mode_and_a_new_one_obeys_the_umask(jail: Jail, root: Path) -> None:
    (root / "top.txt").chmod(0o751)
    umask = os.umask(0o027)
    try:
        jail.write("top.txt", b"x")
        jail.write("new.txt", b"x")
    finally:
        os.umask(umask)

    assert (root / "top.txt").stat().st_mode & 0o7777 == 0o751
    assert (root / "new.txt").stat().st_mode & 0o7777 == 0o640


@pytest.mark.clause("S12")
def test_a_write_that_may_only_create_meets_an_existing_file(jail: Jail, root: Path) -> None:
    before = tree(root)

    assert verdict(lambda: jail.write("top.txt", b"x", Existing.REFUSE)) == ("FILE_ALREADY_EXISTS", None)
    assert verdict(lambda: jail.write("docs", b"x", Existing.REFUSE)) == ("FILE_ALREADY_EXISTS", None)
    assert tree(root) == before


def test_a_file_that_appears_between_staging_and_commit_is_not_overwritten_by_a_create(jail: Jail, root: Path) -> None:
    with jail.stage("new.txt", b"ours", Existing.REFUSE) as staged:
        (root / "new.txt").write_bytes(b"theirs")

        assert verdict(staged.commit) == ("FILE_ALREADY_EXISTS", None)
    assert (root / "new.txt").read_bytes() == b"theirs"
    assert list(root.glob(".strictwire-*")) == []


def test_create_only_makes_a_new_file(jail: Jail, root: Path) -> None:
    jail.write("new.txt", b"x", Existing.REFUSE)

    assert (root / "new.txt").read_bytes() == b"x"
    assert (root / "new.txt").stat().st_nlink == 1


def test_a_staged_file_that_is_not_committed_leaves_no_trace(jail: Jail, root: Path) -> None:
    before = tree(root)
    with jail.stage("top.txt", b"x"):
        assert len(tree(root)) == len(before) + 1

    assert tree(root) == before


def test_a_second_commit_is_a_programming_error(jail: Jail) -> None:
    with jail.stage("new.txt", b"x") as staged:
        staged.commit()
        staged.discard()

        with pytest.raises(RuntimeError):
            staged.commit()


@pytest.mark.clause("S12")
def test_each_refusal_to_write_has_its_own_code_and_changes_nothing(jail: Jail, root: Path) -> None:
    os.mkfifo(root / "fifo")
    before = tree(root)

    assert verdict(lambda: jail.write("", b"x")) == ("INVALID_PATH", "empty")
    assert verdict(lambda: jail.write("../outside/x", b"x")) == ("PATH_TRAVERSAL_BLOCKED", None)
    assert verdict(lambda: jail.write("/tmp/x", b"x")) == ("OUTSIDE_WORKSPACE", "absolute")
    assert verdict(lambda: jail.write("none/x", b"x")) == ("PATH_NOT_FOUND", None)
    assert verdict(lambda: jail.write("top.txt/x", b"x")) == ("PATH_NOT_FOUND", None)
    assert verdict(lambda: jail.write("docs", b"x")) == ("FILE_WRITE_FAILED", "folder")
    assert verdict(lambda: jail.write("docs/", b"x")) == ("FILE_WRITE_FAILED", "folder")
    assert verdict(lambda: jail.write(".", b"x")) == ("FILE_WRITE_FAILED", "folder")
    assert verdict(lambda: jail.write("fifo", b"x")) == ("FILE_WRITE_FAILED", "device")
    assert tree(root) == before


@pytest.mark.clause("S12")
@pytest.mark.parametrize(
    ("target", "path", "expected"),
    [
        ("../outside/note.txt", "link", ("OUTSIDE_WORKSPACE", "link")),
        ("../outside", "link/note.txt", ("OUTSIDE_WORKSPACE", "link")),
        ("../outside", "link/new.txt", ("OUTSIDE_WORKSPACE", "link")),
        ("/nowhere", "link", ("OUTSIDE_WORKSPACE", "link")),
        ("docs", "link/note.txt", ("FILE_WRITE_FAILED", "link")),
        ("top.txt", "link", ("FILE_WRITE_FAILED", "link")),
        ("none", "link", ("FILE_WRITE_FAILED", "link")),
    ],
)
def test_nothing_is_written_through_a_link(
    jail: Jail, root: Path, target: str, path: str, expected: tuple[str, str]
) -> None:
    (root / "link").symlink_to(target)
    before = tree(root.parent)

    assert verdict(lambda: jail.write(path, b"x")) == expected
    assert tree(root.parent) == before


def test_a_hard_link_to_a_file_outside_is_replaced_and_not_written_through(jail: Jail, root: Path, outside: Path) -> None:
    os.link(outside / "note.txt", root / "shared.txt")

    jail.write("shared.txt", INSIDE)

    assert (root / "shared.txt").read_bytes() == INSIDE
    assert (outside / "note.txt").read_bytes() == OUTSIDE


def test_a_full_disk_is_a_failure_to_write_and_leaves_the_old_bytes(root: Path) -> None:
    """A limit on the file size (RLIMIT_FSIZE) simulates a full disk: the write fails halfway."""
    import resource
    import signal

    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Jail(root) as jail:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
        try:
            found = verdict(lambda: jail.write("top.txt", b"x" * 5000))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            signal.signal(signal.SIGXFSZ, handler)

    assert found == ("FILE_WRITE_FAILED", "full")
    assert tree(root) == {"docs": None, "docs/deep": None, "docs/note.txt": INSIDE, "top.txt": INSIDE}
