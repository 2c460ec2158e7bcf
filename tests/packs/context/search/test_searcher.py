"""Search: order, budget, provenance, several caches."""

from __future__ import annotations

import gc
import hashlib
from pathlib import Path

from tests.packs.context.caches import MOMENT, make_cache, write_sources

from strictwire.canon.json import JsonObject, render
from strictwire.packs.context.build import Order, build
from strictwire.packs.context.extract import KINDS
from strictwire.packs.context.library import Generation, load_generation
from strictwire.packs.context.search.searcher import Search, Searcher
from strictwire.packs.context.search.token_counters import ByteCounter, VocabularyCounter, open_token_counter

GUIDE = "# Guide\n\nWelcome.\n\n## Install\n\nRun the installer.\n\n## Configure\n\nEdit the settings file.\n"


def caches(tmp_path: Path, **contents: dict[str, str | bytes]) -> dict[str, Generation]:
    return {name: load_generation(make_cache(tmp_path, each, name)) for name, each in contents.items()}


def search(found: dict[str, Generation], query: str, budget: int = 1000, limit: int = 20) -> JsonObject:
    return Searcher(ByteCounter()).search(Search(query=query, budget=budget, limit=limit), found)


def places(answer: JsonObject) -> list[tuple[str, str, int]]:
    return [(each["cache"], each["id"], each["range"]["start"]["line"]) for each in answer["passages"]]


def test_a_passage_carries_its_location_and_provenance(tmp_path: Path) -> None:
    found = caches(tmp_path, docs={"Guide.md": GUIDE, "other.md": "nothing"})
    answer = search(found, "configuring settings")
    text = "## Configure\n\nEdit the settings file."

    assert answer["passages"] == [
        {
            "cache": "docs",
            "id": "guide.md",
            "version": "sha256:" + hashlib.sha256(GUIDE.encode()).hexdigest(),
            "source": "Guide.md",
            "kind": "markdown",
            "verbatim": True,
            "headings": ["Guide", "Configure"],
            "range": {"start": {"line": 8, "character": 0}, "end": {"line": 11, "character": 0}},
            "hash": "sha256:" + hashlib.sha256(text.encode()).hexdigest(),
            "text": text,
            "score": answer["passages"][0]["score"],
            "tokens": -(-len(text) // 4),
        }
    ]
    assert GUIDE.split("\n")[8:11] == text.split("\n")
    assert answer["selection"] == {
        "query": "configuring settings",
        "caches": [{"name": "docs", "version": found["docs"].cache_version}],
        "budget": 1000,
        "tokenizer": "bytes/4",
        "tokensUsed": answer["passages"][0]["tokens"],
        "passagesMatched": 1,
        "passagesSelected": 1,
    }


def test_only_matching_passages_are_selected(tmp_path: Path) -> None:
    assert search(caches(tmp_path, docs={"a.md": "alpha"}), "absent")["passages"] == []


def test_a_passage_that_does_not_fit_is_skipped_and_the_limit_holds(tmp_path: Path) -> None:
    found = caches(tmp_path, docs={"a.md": "ant " * 40, "b.md": "ant one", "c.md": "ant two", "d.md": "ant three"})

    assert [each["id"] for each in search(found, "ant", budget=4)["passages"]] == ["b.md", "c.md"]
    assert len(search(found, "ant", limit=1)["passages"]) == 1


def test_ties_are_ordered_by_cache_id_and_line(tmp_path: Path) -> None:
    found = caches(tmp_path, b={"x.md": "ant 1"}, a={"x.md": "ant 2", "w.md": "ant 3"})
    ids = [(cache, name) for cache, name, _ in places(search(found, "ant"))]

    assert ids == [("a", "w.md"), ("a", "x.md"), ("b", "x.md")]


def test_caches_are_searched_as_one_collection_in_any_order(tmp_path: Path) -> None:
    found = caches(tmp_path, one={"a.md": "ant bee"}, two={"b.md": "bee cat", "c.md": "cat"})
    turned = dict(reversed(found.items()))

    assert render(search(found, "bee cat")) == render(search(turned, "bee cat"))
    assert {cache for cache, _, _ in places(search(found, "bee"))} == {"one", "two"}


def test_the_same_text_in_two_caches_is_selected_once(tmp_path: Path) -> None:
    found = caches(tmp_path, one={"a.md": "ant bee"}, two={"a.md": "ant bee"})

    assert places(search(found, "ant")) == [("one", "a.md", 0)]


def test_code_is_found_by_parts_of_identifiers(tmp_path: Path) -> None:
    sources = write_sources(
        tmp_path / "sources",
        {"net.py": "import os\n\n\ndef parseHttpHeader(x):\n    return x\n\n\ndef other():\n    pass\n"},
    )
    build(Order(sources=sources, output=tmp_path / "code", kinds=frozenset(KINDS) - {"pdf"}), now=lambda: MOMENT)
    (passage,) = search({"code": load_generation(tmp_path / "code")}, "parsing headers")["passages"]

    assert (passage["headings"], passage["kind"], passage["range"]["start"]["line"]) == (["parseHttpHeader"], "code", 3)


def test_passages_are_dropped_with_their_generation(tmp_path: Path) -> None:
    found = caches(tmp_path, docs={"a.md": "ant"})
    searcher = Searcher(ByteCounter())
    searcher.search(Search(query="ant", budget=9), found)

    assert len(searcher._passages) == 1

    found.clear()
    gc.collect()

    assert len(searcher._passages) == 0


def test_the_exact_counter_counts_with_its_vocabulary() -> None:
    assert open_token_counter().name == "o200k_base"
    assert [VocabularyCounter().count(text) for text in ("", "hello world", "日本語", "<|endoftext|>")] == [0, 2, 2, 7]
    assert ByteCounter().count("日本語") == 3
