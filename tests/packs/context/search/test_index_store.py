"""The store of indexes: kept across restarts, rebuilt when damaged or outdated, and never in the way of an answer."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.packs.context.caches import MOMENT, make_cache, snapshot, write_sources

from strictwire.packs.context.build import Order, build
from strictwire.packs.context.rules import Unusable
from strictwire.packs.context.search import index_store as store_module
from strictwire.packs.context.search.index_file import SearchIndex
from strictwire.packs.context.search.index_store import IndexStore, Pending, State


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return make_cache(tmp_path / "root", {"a.md": "alpha", "b.md": "beta"})


def opened(cache: Path, folder: Path | None, wait: float = 60.0) -> State:
    store = IndexStore(folder, wait_seconds=wait)
    try:
        return store.open_all([cache])[cache]
    finally:
        store.close()


def ids(state: State) -> list[str]:
    assert isinstance(state, SearchIndex)
    return [state.document(number).id for number in range(state.documents)]


@pytest.mark.parametrize("has_folder", [True, False])
def test_an_absent_index_is_made_and_nothing_is_written_into_the_cache(
    cache: Path, tmp_path: Path, has_folder: bool
) -> None:
    before = snapshot(cache)

    assert ids(opened(cache, tmp_path / "state" if has_folder else None)) == ["a.md", "b.md"]
    assert snapshot(cache) == before
    assert (tmp_path / "state").exists() is has_folder


def test_a_stored_index_is_used_after_a_restart(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(cache, tmp_path / "state")
    monkeypatch.setattr(store_module.indexing, "index_cache", lambda *_arguments: pytest.fail("indexed again"))

    assert ids(opened(cache, tmp_path / "state", wait=0.0)) == ["a.md", "b.md"]


@pytest.mark.parametrize("damage", [b"", b"nonsense", None])
def test_a_damaged_file_is_replaced(cache: Path, tmp_path: Path, damage: bytes | None) -> None:
    opened(cache, tmp_path / "state")
    (file,) = (tmp_path / "state").iterdir()
    good = file.read_bytes()
    file.write_bytes(good[:200] if damage is None else damage)

    assert ids(opened(cache, tmp_path / "state")) == ["a.md", "b.md"]
    assert file.read_bytes() == good


def test_a_replaced_cache_is_indexed_again(cache: Path, tmp_path: Path) -> None:
    store = IndexStore(tmp_path / "state", wait_seconds=60)
    first = store.open_all([cache])[cache]
    sources = write_sources(tmp_path / "sources", {"a.md": "alpha", "c.md": "gamma"})
    build(Order(sources=sources, output=cache, force=True), now=lambda: MOMENT)
    second = store.open_all([cache])[cache]
    store.close()

    assert (ids(first), ids(second)) == (["a.md", "b.md"], ["a.md", "c.md"])


def test_a_broken_and_an_absent_cache_are_reported_and_work_once_repaired(cache: Path, tmp_path: Path) -> None:
    store = IndexStore(tmp_path / "state", wait_seconds=60)
    shutil.move(cache / "documents", tmp_path / "documents")
    states = store.open_all([cache, tmp_path / "absent"])
    shutil.move(tmp_path / "documents", cache / "documents")
    repaired = store.open_all([cache])[cache]
    store.close()

    assert [state.rule.id for state in states.values() if isinstance(state, Unusable)] == [
        "DOCUMENT_EXISTS",
        "MANIFEST_EXISTS",
    ]
    assert ids(repaired) == ["a.md", "b.md"]


def test_a_caller_does_not_wait_longer_than_its_deadline(cache: Path, tmp_path: Path) -> None:
    store = IndexStore(tmp_path / "state", wait_seconds=0.0)
    states = [store.open_all([cache])[cache]]
    while isinstance(states[-1], Pending):
        states.append(store.open_all([cache])[cache])
    store.close()

    assert ids(states[-1]) == ["a.md", "b.md"]


def test_a_large_cache_is_indexed_by_another_process(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "LARGE_MANIFEST", 1)
    monkeypatch.setattr(store_module.indexing, "index_cache", lambda *_arguments: pytest.fail("indexed here"))

    assert ids(opened(cache, tmp_path / "state")) == ["a.md", "b.md"]

    shutil.rmtree(cache / "documents")
    (tmp_path / "state").joinpath(next((tmp_path / "state").iterdir()).name).unlink()
    state = opened(cache, tmp_path / "state")

    assert isinstance(state, Unusable)
    assert state.rule.id == "DOCUMENT_EXISTS"


def test_a_folder_that_cannot_be_written_keeps_the_index_in_memory(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    assert ids(opened(cache, tmp_path / "file" / "state")) == ["a.md", "b.md"]
