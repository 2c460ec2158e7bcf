"""The index notices every change, survives restarts, and is never trusted when it is damaged."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.packs.unity.writer import save_files
from tests.packs.unity.writer_random import random_project

from strictwire.packs.unity.project.project import Project
from strictwire.packs.unity.references import graph as graph_module
from strictwire.packs.unity.references.graph import Graph, Unread, scan_project
from strictwire.packs.unity.references.index import ProjectIndex
from strictwire.packs.unity.references.scan import scan_file

LATER = 10**18 * 9
"""A time at which every file has settled."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return random_project(4).save(tmp_path / "Game")


@pytest.fixture
def scanned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Paths of the files that are really scanned."""
    seen: list[str] = []

    def scan(path: str, raw: bytes) -> object:
        seen.append(path)
        return scan_file(path, raw)

    monkeypatch.setattr(graph_module, "scan_file", scan)
    return seen


def opened(root: Path, folder: Path | None = None, **more: Callable[[], bool]) -> ProjectIndex:
    return ProjectIndex(root, folder=folder, now_ns=lambda: LATER, **more)


def test_an_unchanged_project_is_not_read_again(root: Path, scanned: list[str]) -> None:
    index = opened(root)
    first = index.graph()
    count = len(scanned)

    assert count > 20
    assert index.graph() is first
    assert len(scanned) == count


def test_only_what_changed_is_read_again(root: Path, scanned: list[str]) -> None:
    index = opened(root)
    index.graph()
    scanned.clear()
    save_files(root, {"Assets/Materials/M0.mat": (root / "Assets/Materials/M1.mat").read_bytes(), "Assets/new.txt": b"x"})
    (root / "Assets/Textures/T1.png").unlink()
    graph = index.graph()

    assert sorted(scanned) == ["Assets/Materials/M0.mat", "Assets/new.txt"]
    assert "Assets/Textures/T1.png" not in graph.project.assets
    assert same(graph, fresh(root))


def test_a_watcher_that_saw_nothing_saves_the_walk(root: Path) -> None:
    answers = iter([False, True])
    index = opened(root, has_changed=lambda: next(answers))
    first = index.project()
    save_files(root, {"Assets/new.txt": b"x"})

    assert index.project() is first
    assert "Assets/new.txt" in index.project().assets


def test_a_restart_reads_nothing_again(root: Path, tmp_path: Path, scanned: list[str]) -> None:
    first = opened(root, tmp_path / "state").graph()
    scanned.clear()
    again = opened(root, tmp_path / "state").graph()

    assert scanned == []
    assert same(first, again)


def index_file(folder: Path) -> Path:
    (found,) = folder.glob("*.index")
    return found


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "other", "version"])
def test_a_damaged_index_is_rebuilt(root: Path, tmp_path: Path, scanned: list[str], damage: str) -> None:
    folder = tmp_path / "state"
    first = opened(root, folder).graph()
    file = index_file(folder)
    raw = file.read_bytes()
    broken = {
        "flip": raw[:-9] + bytes([raw[-9] ^ 1]) + raw[-8:],
        "cut": raw[: len(raw) // 2],
        "empty": b"",
        "other": b"something else",
        "version": raw[:23] + bytes(32) + raw[55:],
    }
    file.write_bytes(broken[damage])
    scanned.clear()
    again = opened(root, folder).graph()

    assert len(scanned) > 20
    assert same(first, again)
    assert file.read_bytes() == raw


def test_the_project_is_never_written_to(root: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}

    with pytest.raises(ValueError, match="must not be kept inside the project"):
        ProjectIndex(root, folder=root / "Library")
    opened(root).graph()
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(root: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")

    assert len(opened(root, tmp_path / "file" / "state").graph().scans) > 20


def test_a_file_that_changed_just_now_is_read_again(root: Path, scanned: list[str]) -> None:
    """Two changes within one tick of the clock have the same time stamp."""
    oldest = min(path.stat().st_ctime_ns for path in root.rglob("*"))
    index = ProjectIndex(root, now_ns=lambda: oldest)
    index.graph()
    count = len(scanned)
    index.graph()

    assert len(scanned) == 2 * count


def test_a_scan_that_is_stopped_is_partial_and_goes_on_from_there(root: Path) -> None:
    index = opened(root)
    left = iter(range(10))
    first = index.graph(stop=lambda: next(left, None) is None)
    second = index.graph()

    assert (first.is_partial, len(first.scans)) == (True, 10)
    assert not second.is_partial
    assert same(second, fresh(root))


def test_a_file_that_keeps_changing_is_reported_and_not_judged(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changing = root / "Assets/Materials/M0.mat"
    gone = root / "Assets/Materials/M1.mat"
    index = opened(root)
    project = index.project()
    gone.unlink()
    read = graph_module._read_all
    inode = changing.stat().st_ino

    def read_and_change(handle: int, size: int) -> bytes:
        raw = read(handle, size)
        if os.fstat(handle).st_ino == inode:
            changing.write_bytes(raw + b"\n")
        return raw

    monkeypatch.setattr(graph_module, "_read_all", read_and_change)
    graph = scan_project(project)

    assert dict(graph.unread) == {"Assets/Materials/M0.mat": Unread.CHANGING, "Assets/Materials/M1.mat": Unread.GONE}


def test_progress_is_told(root: Path) -> None:
    seen: list[tuple[int, int]] = []
    opened(root).graph(progress=lambda done, total: seen.append((done, total)))

    assert seen[-1][0] == seen[-1][1] == len(seen)


def fresh(root: Path) -> Graph:
    return ProjectIndex(root, now_ns=time.time_ns).graph()


def same(first: Graph, second: Graph) -> bool:
    def facts(graph: Graph) -> tuple[object, ...]:
        project: Project = graph.project
        scans = {path: each.scan for path, each in graph.scans.items()}
        return scans, graph.users, graph.users_by_path, graph.unread, set(project.assets), project.by_guid

    return facts(first) == facts(second)
