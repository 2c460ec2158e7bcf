"""Search: order, provenance, several caches, broken ones, and how it heals."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.packs.context.caches import MOMENT, edit_json, make_cache, only_document_file, write_sources
from tests.packs.context.search.planted import items, plant

from strictwire.canon.json import render
from strictwire.packs.context.build import Order, build
from strictwire.packs.context.extract import KINDS
from strictwire.packs.context.rules import Unusable
from strictwire.packs.context.search.index_store import IndexStore
from strictwire.packs.context.search.searcher import Search, Searcher
from strictwire.packs.context.search.token_counters import ByteCounter, VocabularyCounter, open_token_counter

GUIDE = "# Guide\n\nWelcome.\n\n## Install\n\nRun the installer.\n\n## Configure\n\nEdit the settings file.\n"


@pytest.fixture
def searcher(tmp_path: Path) -> Iterator[Searcher]:
    store = IndexStore(tmp_path / "state", wait_seconds=60)
    yield Searcher(ByteCounter(), store)
    store.close()


def caches(tmp_path: Path, **contents: dict[str, str | bytes]) -> dict[str, Path]:
    return {name: make_cache(tmp_path / "root", each, name) for name, each in contents.items()}


def search(searcher: Searcher, found: dict[str, Path], query: str, budget: int = 4000, limit: int = 20) -> dict[str, Any]:
    structured = searcher.search(Search(query=query, budget=budget, limit=limit), found).structured
    assert isinstance(structured, dict)
    return structured


def places(answer: dict[str, Any]) -> list[tuple[str, str, int]]:
    return [(each["cache"], each["id"], each["lines"]["first"]) for each in answer["passages"]]


def test_a_passage_carries_its_location_and_provenance(tmp_path: Path, searcher: Searcher) -> None:
    answer = search(searcher, caches(tmp_path, docs={"Guide.md": GUIDE, "other.md": "nothing"}), "configuring settings")

    assert answer == {
        "passages": [
            {
                "cache": "docs",
                "id": "guide.md",
                "lines": {"first": 9, "last": 11},
                "headings": ["Guide", "Configure"],
                "score": answer["passages"][0]["score"],
                "version": "sha256:" + hashlib.sha256(GUIDE.encode()).hexdigest(),
                "text": "## Configure\n\nEdit the settings file.",
                "source": "Guide.md",
            }
        ],
        "selection": {
            "budget": 4000,
            "tokensUsed": answer["selection"]["tokensUsed"],
            "tokenizer": "bytes/4",
            "cachesSearched": 1,
            "hasMore": False,
        },
    }


def test_only_matching_passages_are_selected(tmp_path: Path, searcher: Searcher) -> None:
    assert search(searcher, caches(tmp_path, docs={"a.md": "alpha"}), "absent")["passages"] == []


def test_passages_far_below_the_best_are_left_out(tmp_path: Path, searcher: Searcher) -> None:
    texts = {"best.md": "install the python server", **{f"{number}.md": f"the page {number}" for number in range(9)}}
    found = caches(tmp_path, docs=texts)

    assert places(search(searcher, found, "install python server page")) == [("docs", "best.md", 1)]


def test_ties_are_ordered_by_cache_id_and_line(tmp_path: Path, searcher: Searcher) -> None:
    found = caches(tmp_path, b={"x.md": "ant 1"}, a={"x.md": "ant 2", "w.md": "ant 3"})
    ids = [(cache, name) for cache, name, _ in places(search(searcher, found, "ant"))]

    assert ids == [("a", "w.md"), ("a", "x.md"), ("b", "x.md")]


def test_caches_are_searched_as_one_collection_in_any_order(tmp_path: Path, searcher: Searcher) -> None:
    found = caches(tmp_path, one={"a.md": "ant bee"}, two={"b.md": "bee cat", "c.md": "cat"})
    turned = dict(reversed(found.items()))

    assert render(search(searcher, found, "bee cat")) == render(search(searcher, turned, "bee cat"))
    assert {cache for cache, _, _ in places(search(searcher, found, "bee"))} == {"one", "two"}


def test_the_same_text_in_two_caches_is_selected_once(tmp_path: Path, searcher: Searcher) -> None:
    found = caches(tmp_path, one={"a.md": "ant bee"}, two={"a.md": "ant bee"})

    assert places(search(searcher, found, "ant")) == [("one", "a.md", 1)]


def test_words_that_stand_together_rank_first(tmp_path: Path, searcher: Searcher) -> None:
    found = caches(tmp_path, docs={"a.md": "reset your old user name or password", "b.md": "how to reset password for you"})

    assert places(search(searcher, found, "reset password"))[0] == ("docs", "b.md", 1)


def test_code_is_found_by_parts_of_identifiers(tmp_path: Path, searcher: Searcher) -> None:
    sources = write_sources(
        tmp_path / "sources",
        {"net.py": "import os\n\n\ndef parseHttpHeader(x):\n    return x\n\n\ndef other():\n    pass\n"},
    )
    build(Order(sources=sources, output=tmp_path / "code", kinds=frozenset(KINDS) - {"pdf"}), now=lambda: MOMENT)
    (passage,) = search(searcher, {"code": tmp_path / "code"}, "parsing headers")["passages"]

    assert (passage["headings"], passage["kind"], passage["lines"]["first"]) == (["parseHttpHeader"], "code", 4)


@pytest.mark.slow
def test_500_caches_are_all_searched_and_a_broken_one_is_named(tmp_path: Path, searcher: Searcher) -> None:
    first = make_cache(tmp_path / "root", {"a.md": "common needle zero"}, "c000")
    found = {"c000": first}
    for number in range(1, 500):
        found[f"c{number:03}"] = tmp_path / "root" / f"c{number:03}"
        shutil.copytree(first, found[f"c{number:03}"])
    last = make_cache(tmp_path / "last", {"z.md": "needle of the last cache"}, "c499")
    shutil.rmtree(found["c499"])
    shutil.move(last, found["c499"])
    (found["c123"] / "manifest.json").write_text("{}")
    answer = search(searcher, found, "needle last")

    assert places(answer) == [("c499", "z.md", 1)]
    assert answer["selection"]["cachesSearched"] == 499
    assert answer["selection"]["skipped"] == [{"cache": "c123", "code": "CACHE_INVALID"}]


def test_a_search_of_broken_caches_only_is_refused(tmp_path: Path, searcher: Searcher) -> None:
    with pytest.raises(Unusable):
        search(searcher, {"absent": tmp_path / "absent"}, "ant")


def test_a_document_damaged_after_indexing_makes_its_cache_broken(tmp_path: Path, searcher: Searcher) -> None:
    found = caches(tmp_path, good={"a.md": "ant one"}, bad={"b.md": "ant two"})
    before = places(search(searcher, found, "ant"))
    edit_json(only_document_file(found["bad"]), content="ant evil")
    answer = search(Searcher(ByteCounter(), searcher._store), found, "ant")

    assert len(before) == 2
    assert places(answer) == [("good", "a.md", 1)]
    assert answer["selection"]["skipped"] == [{"cache": "bad", "code": "CACHE_INVALID"}]


def test_postings_damaged_on_disk_are_made_again_in_the_same_call(tmp_path: Path) -> None:
    found = caches(tmp_path, docs={"a.md": "ant one", "b.md": "ant two"})
    answers = []
    for _ in range(2):
        store = IndexStore(tmp_path / "state", wait_seconds=60)
        answers.append(search(Searcher(ByteCounter(), store), found, "ant"))
        store.close()
        (file,) = (tmp_path / "state").iterdir()
        raw = bytearray(file.read_bytes())
        raw[-8] ^= 1
        file.write_bytes(raw)

    assert answers[0] == answers[1]
    assert len(answers[0]["passages"]) == 2


def test_a_cache_that_takes_too_long_to_index_is_named(tmp_path: Path) -> None:
    store = IndexStore(tmp_path / "state", wait_seconds=0.0)
    store._workers.shutdown(wait=True)
    found = caches(tmp_path, docs={"a.md": "ant"})
    store._workers = _Stuck()  # type: ignore[assignment]
    answer = search(Searcher(ByteCounter(), store), found, "ant")

    assert answer["selection"]["indexing"] == [{"cache": "docs"}]
    assert answer["passages"] == []


class _Stuck:
    """A worker pool that never starts anything."""

    def submit(self, *_arguments: object) -> object:
        from concurrent.futures import Future

        return Future()


def test_the_exact_counter_counts_with_its_vocabulary() -> None:
    assert open_token_counter().name == "o200k_base"
    assert [VocabularyCounter().count(text) for text in ("", "hello world", "日本語", "<|endoftext|>")] == [0, 2, 2, 7]
    assert ByteCounter().count("日本語") == 3


@pytest.mark.parametrize("section", ["numbers", "kinds", "firsts", "passage_ends", "posting_ends", "ids", "versions"])
def test_a_planted_index_with_valid_checksums_is_made_again(tmp_path: Path, section: str) -> None:
    found = caches(tmp_path, docs={"guide.md": GUIDE})

    def answer() -> dict[str, Any]:
        store = IndexStore(tmp_path / "state", wait_seconds=60)
        try:
            return search(Searcher(ByteCounter(), store), found, "installer settings welcome")
        finally:
            store.close()

    expected = answer()
    (file,) = (tmp_path / "state").iterdir()
    good = file.read_bytes()
    for at in range(min(items(good)[section], 8)):
        file.write_bytes(plant(good, section, at, 255))
        assert answer() == expected
