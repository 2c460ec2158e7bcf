"""A cache is loaded once per generation, and every change is noticed on the next call."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.packs.context.caches import edit_json, make_cache, only_document_file, snapshot

from strictwire.packs.context import library as library_module
from strictwire.packs.context.library import Generation, Library
from strictwire.packs.context.rules import Unusable
from strictwire.packs.context.watch import CacheWatch
from strictwire.packs.kit.watch import Watch


@pytest.fixture(params=[True, False], ids=["kernel", "compared"])
def library(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Library]:
    library = Library(str(tmp_path), CacheWatch(Watch(kernel=request.param)))
    yield library
    library.close()


def code_of(library: Library) -> str:
    with pytest.raises(Unusable) as caught:
        library.open("cache")
    return caught.value.failure.code


@pytest.mark.v0("1.10.17")
def test_an_unchanged_cache_is_loaded_once(library: Library, tmp_path: Path) -> None:
    cache = make_cache(tmp_path, {"a.md": "alpha"})
    before = snapshot(cache)
    first = library.open("cache")

    assert library.open("cache") is first
    assert snapshot(cache) == before


@pytest.mark.parametrize(
    "change",
    [
        lambda cache: only_document_file(cache).unlink(),
        lambda cache: edit_json(only_document_file(cache), content="other"),
        lambda cache: (cache / "documents" / "orphan").write_text(""),
        lambda cache: (cache / "manifest.json").unlink(),
        lambda cache: edit_json(cache / "index.json", x="y"),
        lambda cache: shutil.rmtree(cache / "documents"),
    ],
)
def test_a_cache_corrupted_after_loading_is_refused_until_it_is_repaired(
    library: Library, tmp_path: Path, change: Callable[[Path], object]
) -> None:
    cache = make_cache(tmp_path, {"a.md": "alpha"})
    good = tmp_path / ".good"
    shutil.copytree(cache, good)
    library.open("cache")
    change(cache)

    assert code_of(library) == "CACHE_INVALID"

    shutil.rmtree(cache)
    good.rename(cache)

    assert len(library.open("cache").index) == 1


def test_a_cache_replaced_under_its_name_is_the_new_one(library: Library, tmp_path: Path) -> None:
    make_cache(tmp_path, {"a.md": "alpha"})
    make_cache(tmp_path, {"a.md": "alpha", "b.md": "beta"}, "next")
    old = library.open("cache")
    (tmp_path / "cache").rename(tmp_path / "old")
    (tmp_path / "next").rename(tmp_path / "cache")

    assert (len(old.index), len(library.open("cache").index)) == (1, 2)


def test_a_cache_replaced_by_renaming_its_parent_is_the_new_one(library: Library, tmp_path: Path) -> None:
    for folder, contents in (("team", {"a.md": "alpha"}), ("next", {"a.md": "x", "b.md": "beta"})):
        (tmp_path / folder).mkdir()
        make_cache(tmp_path / folder, contents)
    library.open("team/cache")
    (tmp_path / "team").rename(tmp_path / "old")
    (tmp_path / "next").rename(tmp_path / "team")

    assert len(library.open("team/cache").index) == 2


def test_a_link_that_is_changed_to_another_cache_is_followed(library: Library, tmp_path: Path) -> None:
    make_cache(tmp_path, {"a.md": "alpha"}, "one")
    make_cache(tmp_path, {"a.md": "alpha", "b.md": "beta"}, "two")
    (tmp_path / "cache").symlink_to("one")
    library.open("cache")
    (tmp_path / "cache").unlink()
    (tmp_path / "cache").symlink_to("two")

    assert len(library.open("cache").index) == 2


def test_a_deleted_root_is_a_missing_cache(library: Library, tmp_path: Path) -> None:
    make_cache(tmp_path, {"a.md": "alpha"})
    library.open("cache")
    shutil.rmtree(tmp_path)

    assert code_of(library) == "CACHE_MISSING"

    tmp_path.mkdir()


def test_a_cache_replaced_while_it_is_read_is_read_again(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_cache(tmp_path, {"a.md": "alpha"})
    make_cache(tmp_path, {"a.md": "alpha", "b.md": "beta"}, "next")
    load = library_module.load_generation

    def load_then_replace(path: Path) -> Generation:
        generation = load(path)
        if (tmp_path / "next").exists():
            (tmp_path / "cache").rename(tmp_path / "old")
            (tmp_path / "next").rename(tmp_path / "cache")
        return generation

    monkeypatch.setattr(library_module, "load_generation", load_then_replace)

    assert len(library.open("cache").index) == 2


def test_a_cache_that_keeps_changing_is_served_as_last_read(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = make_cache(tmp_path, {"a.md": "alpha"})
    load, loads = library_module.load_generation, []

    def load_then_touch(path: Path) -> Generation:
        generation = load(path)
        loads.append(path)
        (cache / f"note-{len(loads)}").write_text("")
        return generation

    monkeypatch.setattr(library_module, "load_generation", load_then_touch)

    assert len(library.open("cache").index) == 1
    assert len(loads) == 4


def test_the_least_recently_used_cache_is_dropped(tmp_path: Path) -> None:
    library = Library(str(tmp_path), capacity=1)
    make_cache(tmp_path, {"a.md": "alpha"}, "one")
    make_cache(tmp_path, {"a.md": "alpha"}, "two")
    first = library.open("one")
    library.open("two")

    assert library.open("one") is not first

    library.close()


def test_many_threads_share_one_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library(str(tmp_path))
    make_cache(tmp_path, {"a.md": "alpha"})
    load, loads = library_module.load_generation, []
    monkeypatch.setattr(library_module, "load_generation", lambda path: (loads.append(path), load(path))[1])
    seen: list[Generation] = []
    threads = [threading.Thread(target=lambda: seen.append(library.open("cache"))) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)

    assert (len(loads), len(seen), len(set(map(id, seen)))) == (1, 16, 1)

    library.close()
