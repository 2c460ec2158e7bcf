"""Locks of callers: they outlive the server, and no other root gets around them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.packs.workspace.harness import report
from tests.packs.workspace.server_process import ServerProcess

from strictwire.packs.workspace.lock_files import Lock, LockFiles, Owner
from strictwire.packs.workspace.state_files import StateDamaged

LOCK = Lock(code="OUTSIDE_WORKSPACE", tool="read_file", session_id="s", at="2026-01-01T00:00:00Z")
OWNER = Owner(principal="ada", role="WINDSURF", root="/w/a", identity=(1, 2))


def owner_of(folder: Path) -> Owner:
    found = folder.resolve().stat()
    return replace(OWNER, root=str(folder.resolve()), identity=(found.st_dev, found.st_ino))


def test_a_lock_survives_a_restart_until_a_report_is_written(tmp_path: Path) -> None:
    with ServerProcess(tmp_path) as process:
        session = process.begin("WINDSURF")
        failed = process.call("write_file", session_id=session, path="../x", content="x")
        assert failed is not None
        assert failed["structuredContent"]["error_code"] == "PATH_TRAVERSAL_BLOCKED"
    with ServerProcess(tmp_path) as process:
        begun = process.call("begin_session", workspace_root=str(process.root), role="WINDSURF")
        assert begun is not None
        lock = begun["structuredContent"]["lock"]
        again = begun["structuredContent"]["session_id"]
        text = report(session, "PATH_TRAVERSAL_BLOCKED")
        written = process.call("write_file", session_id=again, path="docs/reports/1.md", content=text)
        status = process.call("session_status", session_id=again)

    assert (lock["session_id"], lock["code"], lock["tool"]) == (session, "PATH_TRAVERSAL_BLOCKED", "write_file")
    assert written is not None
    assert not written.get("isError")
    assert status is not None
    assert status["structuredContent"]["locked"] is False


@pytest.mark.parametrize(("root", "is_locked"), [("a", True), ("a/src", True), (".", True), ("ab", False)])
def test_a_lock_covers_every_root_that_overlaps_with_its_folder(tmp_path: Path, root: str, is_locked: bool) -> None:
    locks = LockFiles(tmp_path / "state")
    for name in ("a/src", "ab"):
        (tmp_path / "work" / name).mkdir(parents=True)
    locks.add(owner_of(tmp_path / "work/a"), LOCK)
    other = owner_of(tmp_path / "work" / root)

    assert locks.maybe_find(other) == (LOCK if is_locked else None)
    assert locks.maybe_find(replace(other, role="ANTIGRAVITY")) is None
    assert locks.maybe_find(replace(other, principal="bob")) is None
    locks.remove(other)
    assert (locks.maybe_find(owner_of(tmp_path / "work/a")) is None) == is_locked


def test_a_lock_follows_its_folder_and_not_its_path(tmp_path: Path) -> None:
    locks = LockFiles(tmp_path / "state")
    folder = tmp_path / "a"
    folder.mkdir()
    locks.add(owner_of(folder), LOCK)
    renumbered = replace(owner_of(folder), identity=(0, folder.stat().st_ino))
    assert locks.maybe_find(renumbered) == LOCK
    folder.rename(tmp_path / "b")
    folder.mkdir()

    assert locks.maybe_find(owner_of(tmp_path / "b")) == LOCK
    assert locks.maybe_find(owner_of(folder)) is None


def test_the_first_lock_stays_and_other_processes_see_it(tmp_path: Path) -> None:
    LockFiles(tmp_path).add(OWNER, LOCK)
    LockFiles(tmp_path).add(OWNER, replace(LOCK, code="INVARIANT_VIOLATION"))

    assert LockFiles(tmp_path).maybe_find(OWNER) == LOCK
    assert LockFiles(tmp_path).in_folder("/w/a") == [(OWNER, LOCK)]
    assert LockFiles(tmp_path).in_folder("/w") == []


@pytest.mark.parametrize("raw", [b"", b"{}", b'{"owner": {"identity": 5}, "lock": {}}', b"[1]"])
def test_a_damaged_lock_is_not_taken_for_no_lock(tmp_path: Path, raw: bytes) -> None:
    locks = LockFiles(tmp_path)
    locks.add(OWNER, LOCK)
    next(tmp_path.rglob("*.json")).write_bytes(raw)

    with pytest.raises(StateDamaged, match="is damaged; read it, then remove it"):
        locks.maybe_find(OWNER)
    with pytest.raises(StateDamaged):
        locks.check()
