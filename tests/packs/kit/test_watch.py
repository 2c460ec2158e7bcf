"""The file watch: kernel events and comparison report the same changes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from strictwire.packs.kit import watch as watch_module
from strictwire.packs.kit.inotify import OVERFLOW, Event, Inotify
from strictwire.packs.kit.watch import Change, ChangeKind, Drained, Watch, identity

WRITTEN, APPEARED, VANISHED = ChangeKind.WRITTEN, ChangeKind.APPEARED, ChangeKind.VANISHED


@pytest.fixture(params=[True, False], ids=["kernel", "compared"])
def watch(request: pytest.FixtureRequest) -> Iterator[Watch]:
    watch = Watch(kernel=request.param)
    yield watch
    watch.close()


def found(watch: Watch) -> set[tuple[str, ChangeKind, bool]]:
    """Name, kind and whether it is a folder; a write is one change or several, so repetitions are dropped."""
    return {(change.path.name, change.kind, change.is_folder) for change in watch.drain().changes}


def test_nothing_changed_is_an_empty_drain(watch: Watch, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    watch.add(tmp_path)

    assert watch.drain() == Drained(changes=())


def test_a_write_is_seen_by_the_drain_that_follows_it_every_time(watch: Watch, tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("")
    watch.add(tmp_path)
    seen = 0
    for number in range(200):
        file.write_text("x" * number)
        os.utime(file, ns=(number, number))  # comparing needs another time than the last one
        seen += ("a", WRITTEN, False) in found(watch)

    assert seen == 200


def test_created_deleted_and_renamed_names_are_told_apart(watch: Watch, tmp_path: Path) -> None:
    (tmp_path / "old").write_text("1")
    (tmp_path / "gone").write_text("1")
    watch.add(tmp_path)
    (tmp_path / "new").mkdir()
    (tmp_path / "gone").unlink()
    (tmp_path / "old").rename(tmp_path / "renamed")

    assert found(watch) == {
        ("new", APPEARED, True),
        ("gone", VANISHED, False),
        ("old", VANISHED, False),
        ("renamed", APPEARED, False),
    }


def test_subfolders_are_not_watched_until_they_are_added(watch: Watch, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    watch.add(tmp_path)
    (inner / "a").write_text("1")
    before = found(watch)
    watch.add(inner)
    (inner / "b").write_text("1")

    assert (before, ("b", APPEARED, False) in found(watch)) == (set(), True)


def test_a_folder_that_is_deleted_reports_itself(watch: Watch, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    watch.add(folder)
    folder.rmdir()

    assert Change(folder=folder, name="", kind=VANISHED, is_folder=True) in watch.drain().changes


def test_a_folder_that_is_replaced_vanishes_and_appears(watch: Watch, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "next").mkdir()
    watch.add(tmp_path)
    (tmp_path / "folder").rmdir()
    (tmp_path / "next").rename(tmp_path / "folder")
    seen = [(change.name, change.kind) for change in watch.drain().changes if change.name == "folder"]

    assert seen == [("folder", VANISHED), ("folder", APPEARED)]


def test_a_moved_folder_answers_under_its_new_name_once_it_is_added_again(watch: Watch, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    watch.add(tmp_path / "one")
    (tmp_path / "one").rename(tmp_path / "two")
    watch.drain()
    watch.add(tmp_path / "two")
    (tmp_path / "two" / "a").write_text("1")
    paths = {change.path for change in watch.drain().changes}

    assert paths == {tmp_path / "two" / "a"}


def test_a_removed_folder_and_those_below_it_are_silent(watch: Watch, tmp_path: Path) -> None:
    inner, beside = tmp_path / "a" / "inner", tmp_path / "ab"
    for folder in (tmp_path / "a", inner, beside):
        folder.mkdir()
        watch.add(folder)
    watch.remove(tmp_path / "a")
    for folder in (tmp_path / "a", inner, beside):
        (folder / "file").write_text("1")
    folders = {change.folder for change in watch.drain().changes}

    assert folders == {beside}


def test_a_folder_that_is_not_there_cannot_be_added(watch: Watch, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        watch.add(tmp_path / "absent")


def test_waiting_returns_as_soon_as_something_changed_and_not_before(watch: Watch, tmp_path: Path) -> None:
    watch.add(tmp_path)
    quiet = watch.wait(0.01)
    (tmp_path / "a").write_text("1")

    assert (quiet, watch.wait(10 if watch.fileno() is not None else 0.01)) == (False, True)
    assert ("a", APPEARED, False) in found(watch)


def test_a_folder_without_a_kernel_watch_left_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_self: Inotify, _folder: Path) -> int:
        raise OSError(28, "no watch left")

    watch = Watch()
    (tmp_path / "folder").mkdir()
    watch.add(tmp_path)
    monkeypatch.setattr(Inotify, "add", refuse)
    watch.add(tmp_path / "folder")
    (tmp_path / "folder" / "a").write_text("1")
    (tmp_path / "b").write_text("1")

    assert watch.wait(0.01)
    assert {name for name, kind, _ in found(watch) if kind is APPEARED} == {"a", "b"}

    watch.close()


def test_a_system_without_a_kernel_queue_compares(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch_module, "Inotify", _no_queue)
    watch = Watch()
    watch.add(tmp_path)
    (tmp_path / "a").write_text("1")

    assert (watch.fileno(), found(watch)) == (None, {("a", APPEARED, False)})


def test_lost_events_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch()
    watch.add(tmp_path)
    monkeypatch.setattr(Inotify, "drain", lambda _self: iter([Event(-1, OVERFLOW, "")]))

    assert watch.drain() == Drained(changes=(), overflow=True)

    watch.close()


def test_a_real_overflow_of_the_kernel_queue_is_reported(tmp_path: Path) -> None:
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    watch = Watch()
    watch.add(tmp_path)
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("")
    for _ in range(limit // 4 + 1):  # a rename there and back is four events, and no two neighbours are merged
        one.rename(two)
        two.rename(one)

    assert watch.drain().overflow

    watch.close()


def test_the_identity_of_a_folder_shows_a_replacement_further_up(tmp_path: Path) -> None:
    (tmp_path / "team" / "folder").mkdir(parents=True)
    (tmp_path / "next" / "folder").mkdir(parents=True)
    before = identity(tmp_path / "team" / "folder")
    (tmp_path / "team").rename(tmp_path / "old")
    (tmp_path / "next").rename(tmp_path / "team")

    assert identity(tmp_path / "team" / "folder") != before


def _no_queue() -> Inotify:
    raise AttributeError("inotify_init1")
