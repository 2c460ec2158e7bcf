"""Path lookup beneath a root: our lookup agrees with the kernel's on every tree, and no race leads outside."""

from __future__ import annotations

import errno
import os
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.packs.kit.conftest import INSIDE, OUTSIDE

from strictwire.fault.failure import Refused
from strictwire.packs.kit import openat2, segmentwise
from strictwire.packs.kit.jail import Jail, best_resolution
from strictwire.packs.kit.path import parse_path
from strictwire.packs.kit.root import FOLDER, READ, STAT, TRAVERSE, Links, Resolution

names = st.sampled_from(["a", "b", "c"])
folders = st.lists(names, max_size=2).map("/".join)
places = st.lists(names, min_size=1, max_size=4).map("/".join)
targets = st.lists(st.sampled_from(["a", "b", "c", ".", "..", ""]), min_size=1, max_size=4).map("/".join).filter(bool)
trees = st.lists(st.tuples(folders, names, st.one_of(st.none(), st.just(b"file"), targets)), min_size=1, max_size=10)


def grow(root: Path, tree: list[tuple[str, str, bytes | str | None]]) -> None:
    """Create each entry of the tree; skip an entry that conflicts with an earlier one."""
    for folder, name, content in tree:
        place = root / folder
        try:
            place.mkdir(parents=True, exist_ok=True)
            if content is None:
                (place / name).mkdir()
            elif isinstance(content, bytes):
                (place / name).touch(exist_ok=False)
            else:
                (place / name).symlink_to(content)
        except OSError:
            continue


def outcome(open_beneath: Callable[..., int], root: int, text: str, flags: int, links: Links) -> object:
    try:
        handle = open_beneath(root, parse_path(text), flags, links)
    except OSError as exc:
        return errno.errorcode[exc.errno or 0]
    found = os.fstat(handle)
    os.close(handle)
    return found.st_dev, found.st_ino


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(tree=trees, asked=st.lists(places, min_size=1, max_size=8), folder=st.sampled_from(["", "/"]))
def test_segmentwise_lookup_and_openat2_agree_on_every_tree(
    tree: list[tuple[str, str, bytes | str | None]], asked: list[str], folder: str
) -> None:
    with tempfile.TemporaryDirectory() as base:
        workspace = Path(base) / "a"
        workspace.mkdir()
        grow(workspace, tree)
        root = os.open(workspace, TRAVERSE)
        questions = [(text + folder, flags, links) for text in asked for flags in (READ, STAT, FOLDER) for links in Links]
        ours = [outcome(segmentwise.open_beneath, root, *question) for question in questions]
        theirs = [outcome(openat2.open_beneath, root, *question) for question in questions]
        os.close(root)

    assert dict(zip(questions, ours, strict=True)) == dict(zip(questions, theirs, strict=True))


def test_this_kernel_has_openat2_and_it_is_used() -> None:
    assert openat2.is_available()
    assert best_resolution() is Resolution.KERNEL


def test_an_unknown_machine_uses_segmentwise_lookup(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "alpha")
    openat2.is_available.cache_clear()
    try:
        assert best_resolution() is Resolution.SEGMENTWISE
    finally:
        openat2.is_available.cache_clear()


def test_a_kernel_that_forbids_openat2_uses_segmentwise_lookup(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some containers answer EPERM or ENOSYS. A system call number that no kernel has fails in the same way."""
    monkeypatch.setattr(openat2, "_NUMBER", 100_000)
    openat2.is_available.cache_clear()
    try:
        assert best_resolution() is Resolution.SEGMENTWISE
    finally:
        openat2.is_available.cache_clear()


def test_a_system_without_folder_descriptors_looks_up_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "supports_dir_fd", set())

    assert best_resolution() is Resolution.BY_NAME


def test_links_are_followed_as_often_as_the_kernel_does(root: Path) -> None:
    (root / "l0").symlink_to("top.txt")
    for number in range(1, 42):
        (root / f"l{number}").symlink_to(f"l{number - 1}")
    for resolution in (Resolution.KERNEL, Resolution.SEGMENTWISE):
        with Jail(root, resolution) as jail:
            assert jail.read("l39", limit=99) == INSIDE
            with pytest.raises(Refused) as caught:
                jail.read("l40", limit=99)
            assert caught.value.failure.code == "FILE_READ_FAILED"


def test_a_swap_between_resolving_and_opening_by_name_is_noticed(
    root: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_open = os.open

    def swap_then_open(path: bytes, flags: int) -> int:
        (root / "docs").rename(root / "parked")
        (root / "docs").symlink_to(outside)
        handle = real_open(path, flags)
        (root / "docs").unlink()
        (root / "parked").rename(root / "docs")
        return handle

    with Jail(root, Resolution.BY_NAME) as jail:
        monkeypatch.setattr(os, "open", swap_then_open)
        with pytest.raises(Refused) as caught:
            jail.read("docs/note.txt", limit=99)

    assert caught.value.failure.code == "OUTSIDE_WORKSPACE"


class Attacker:
    """Swaps a folder for a link to the outside folder and back, in a loop without pauses, until it is stopped."""

    def __init__(self, root: Path, outside: Path) -> None:
        self._docs, self._parked, self._link = root / "docs", root / "parked", root / "link"
        self._link.symlink_to(outside)
        self._stop = Event()
        self._thread = Thread(target=self._swap, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(timeout=10)

    def _swap(self) -> None:
        while not self._stop.is_set():
            self._docs.rename(self._parked)
            self._link.rename(self._docs)
            self._docs.rename(self._link)
            self._parked.rename(self._docs)


TRIES = 12_000
"""Lookups during the attack. They take about two seconds."""

RACED = frozenset({"OUTSIDE_WORKSPACE", "PATH_NOT_FOUND", "FILE_NOT_FOUND", "FILE_WRITE_FAILED"})
"""Codes that a caller may get while a folder on its path is being swapped."""


@pytest.mark.slow
@pytest.mark.parametrize("resolution", [Resolution.KERNEL, Resolution.SEGMENTWISE])
def test_no_byte_outside_is_read_while_a_folder_is_swapped_for_a_link(
    root: Path, outside: Path, resolution: Resolution
) -> None:
    seen: Counter[str] = Counter()
    with Jail(root, resolution) as jail, Attacker(root, outside):
        for _ in range(TRIES):
            try:
                seen[jail.read("docs/note.txt", limit=99).decode()] += 1
            except Refused as exc:
                seen[exc.failure.code] += 1

    assert set(seen) <= {INSIDE.decode(), *RACED}
    assert seen[INSIDE.decode()] > 0, seen
    assert seen["OUTSIDE_WORKSPACE"] > 0, f"the attack never hit: {seen}"


@pytest.mark.slow
@pytest.mark.parametrize("resolution", [Resolution.KERNEL, Resolution.SEGMENTWISE])
def test_no_byte_outside_is_written_while_a_folder_is_swapped_for_a_link(
    root: Path, outside: Path, resolution: Resolution, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _handle: None)
    seen: Counter[str] = Counter()
    with Jail(root, resolution) as jail, Attacker(root, outside):
        for _ in range(TRIES):
            try:
                jail.write("docs/new.txt", INSIDE)
                seen["written"] += 1
            except Refused as exc:
                seen[exc.failure.code] += 1

    assert {path.name: path.read_bytes() for path in outside.iterdir()} == {"note.txt": OUTSIDE}
    assert set(seen) <= {"written", *RACED}
    assert seen["written"] > 0, seen
    assert seen["OUTSIDE_WORKSPACE"] > 0, f"the attack never hit: {seen}"
    assert not list(root.rglob(".strictwire-*"))
