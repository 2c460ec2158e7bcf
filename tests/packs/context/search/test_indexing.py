"""Indexing a cache: the same bytes with and without an earlier index."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.packs.context.caches import MOMENT, edit_json, make_cache, only_document_file, write_sources

from strictwire.packs.context.build import Order, build
from strictwire.packs.context.rules import Unusable
from strictwire.packs.context.search.index_file import DamagedIndex, SearchIndex
from strictwire.packs.context.search.indexing import index_cache, main, open_index, write_index

WORDS = st.sampled_from(["ant", "bee", "cat", "# Dog\n\n", "eel fly", "\n\n## Gnu\n"])
TREES = st.dictionaries(st.sampled_from("abcdef"), st.lists(WORDS, max_size=6).map(" ".join), max_size=6)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(TREES, TREES)
def test_an_incremental_index_has_the_bytes_of_a_full_one(
    tmp_path_factory: pytest.TempPathFactory, before: dict[str, str], after: dict[str, str]
) -> None:
    folder = tmp_path_factory.mktemp("indexing")
    old = make_cache(folder, {f"{name}.md": f"{name} {text}" for name, text in before.items()}, "old")
    new = make_cache(folder, {f"{name}.md": f"{name} {text}" for name, text in after.items()}, "new")
    earlier = SearchIndex(memoryview(index_cache(old)))

    assert index_cache(new, earlier) == index_cache(new)


def test_a_broken_cache_is_not_indexed(tmp_path: Path) -> None:
    cache = make_cache(tmp_path, {"a.md": "alpha"})
    edit_json(only_document_file(cache), content="x")

    with pytest.raises(Unusable) as caught:
        index_cache(cache)

    assert caught.value.rule.id == "CONTENT_HASH_MATCHES"


def test_the_program_writes_the_file_or_names_the_rule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cache = make_cache(tmp_path, {"a.md": "alpha"})
    file = tmp_path / "state" / "one.idx"

    assert [main(cache, file), main(cache, file)] == [0, 0]
    assert file.read_bytes() == index_cache(cache)
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["one.idx"]
    assert (main(tmp_path / "absent", file), capsys.readouterr().out) == (1, "MANIFEST_EXISTS")


def test_a_mapped_file_that_is_replaced_stays_readable(tmp_path: Path) -> None:
    cache = make_cache(tmp_path, {"a.md": "alpha"})
    write_index(tmp_path / "one.idx", index_cache(cache))
    index = open_index(tmp_path / "one.idx")
    sources = write_sources(tmp_path / "more", {"b.md": "beta"})
    build(Order(sources=sources, output=tmp_path / "other"), now=lambda: MOMENT)
    write_index(tmp_path / "one.idx", index_cache(tmp_path / "other"))

    assert index.document(0).id == "a.md"
    assert open_index(tmp_path / "one.idx").document(0).id == "b.md"


def test_a_pipe_in_the_place_of_an_index_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "one.idx")
    with pytest.raises((OSError, DamagedIndex)):
        open_index(tmp_path / "one.idx")
