"""Hybrid search over real caches, indexes and models: synonyms, stored embeddings, updates and damage."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.packs.context.caches import make_cache
from tests.packs.context.search.semantic.models import table, write_model

from strictwire.canon.json import render
from strictwire.packs.context.search.dense import SemanticSettings
from strictwire.packs.context.search.index_file import SearchIndex
from strictwire.packs.context.search.index_store import IndexStore
from strictwire.packs.context.search.searcher import Search, Searcher
from strictwire.packs.context.search.semantic import vector_store
from strictwire.packs.context.search.semantic.model import EmbeddingModel, Vector
from strictwire.packs.context.search.semantic.ranker import SemanticRanker
from strictwire.packs.context.search.semantic.vector_store import VectorStore
from strictwire.packs.context.search.token_counters import ByteCounter

PAGES: dict[str, str | bytes] = {
    "garage.md": "repair of an automobile",
    "health.md": "the physician visits",
    "baker.md": "a fresh loaf",
    "trap.md": "car park fees",
}


class CountingModel(EmbeddingModel):
    """A real model that remembers which texts it has embedded."""

    def __init__(self, settings: SemanticSettings) -> None:
        self.texts: list[str] = []
        super().__init__(settings)
        self.texts.clear()

    def embed(self, text: str) -> Vector:
        self.texts.append(text)
        return super().embed(text)


@contextmanager
def hybrid(state: Path | None, folder: Path, wait_seconds: float = 60) -> Iterator[tuple[Searcher, CountingModel]]:
    model = CountingModel(SemanticSettings(folder=folder))
    indexes = IndexStore(state, wait_seconds=60)
    dense = SemanticRanker(model, VectorStore(state, model, wait_seconds=wait_seconds))
    try:
        yield Searcher(ByteCounter(), indexes, dense), model
    finally:
        indexes.close()
        dense.close()


def search(searcher: Searcher, caches: dict[str, Path], query: str) -> dict[str, Any]:
    structured = searcher.search(Search(query=query, budget=4000), caches).structured
    assert isinstance(structured, dict)
    return structured


def ids(answer: dict[str, Any]) -> list[str]:
    return [each["id"] for each in answer["passages"]]


@pytest.fixture
def caches(tmp_path: Path) -> dict[str, Path]:
    return {"docs": make_cache(tmp_path / "root", PAGES, "docs")}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_model(tmp_path / "model")


def vectors_in(state: Path) -> Path:
    (file,) = state.glob("*.vec")
    return file


def test_a_synonym_is_found_that_the_words_do_not_find(tmp_path: Path, caches: dict[str, Path], folder: Path) -> None:
    lexical = IndexStore(None, wait_seconds=60)
    assert ids(search(Searcher(ByteCounter(), lexical), caches, "doctor")) == []
    lexical.close()

    with hybrid(tmp_path / "state", folder) as (searcher, _):
        answer = search(searcher, caches, "doctor")
        both = search(searcher, caches, "car")

    assert ids(answer) == ["health.md"]
    assert "lexicalOnly" not in answer["selection"]
    assert [(each["id"], each["score"]) for each in both["passages"]] == [("trap.md", 1.9839), ("garage.md", 1.0)]


def test_stored_embeddings_are_used_after_a_restart(tmp_path: Path, caches: dict[str, Path], folder: Path) -> None:
    with hybrid(tmp_path / "state", folder) as (searcher, _):
        first = search(searcher, caches, "doctor")
    with hybrid(tmp_path / "state", folder) as (searcher, model):
        second = search(searcher, caches, "doctor")

    assert model.texts == ["doctor"]
    assert render(first) == render(second)


def test_only_changed_passages_are_embedded_again(tmp_path: Path, folder: Path) -> None:
    make_cache(tmp_path / "one", PAGES, "docs").rename(tmp_path / "docs")
    caches = {"docs": tmp_path / "docs"}
    with hybrid(tmp_path / "state", folder) as (searcher, model):
        search(searcher, caches, "doctor")
        model.texts.clear()
        (tmp_path / "docs").rename(tmp_path / "old")
        make_cache(tmp_path / "two", {**PAGES, "baker.md": "a new vehicle"}, "docs").rename(tmp_path / "docs")
        answer = search(searcher, caches, "automobile")
        updated = vectors_in(tmp_path / "state").read_bytes()
    assert model.texts == ["baker.md\na new vehicle", "automobile"]
    assert ids(answer)[0] == "garage.md"
    assert "baker.md" in ids(answer)

    with hybrid(tmp_path / "fresh", folder) as (searcher, _):
        search(searcher, caches, "automobile")
    assert vectors_in(tmp_path / "fresh").read_bytes() == updated


def test_another_model_embeds_everything_again(tmp_path: Path, caches: dict[str, Path], folder: Path) -> None:
    with hybrid(tmp_path / "state", folder) as (searcher, _):
        search(searcher, caches, "doctor")
    write_model(folder, rows=table() * 2)
    with hybrid(tmp_path / "state", folder) as (searcher, model):
        assert ids(search(searcher, caches, "doctor")) == ["health.md"]

    assert len(model.texts) == len(PAGES) + 1


@pytest.mark.parametrize("damage", ["truncated", "empty", "header", "row"])
def test_damaged_embeddings_are_computed_again(tmp_path: Path, caches: dict[str, Path], folder: Path, damage: str) -> None:
    with hybrid(tmp_path / "state", folder) as (searcher, _):
        first = search(searcher, caches, "doctor")
    file = vectors_in(tmp_path / "state")
    whole = file.read_bytes()
    flip = {"header": 20, "row": 1030}.get(damage)
    if flip is None:
        file.write_bytes(b"" if damage == "empty" else whole[:-1])
    else:
        file.write_bytes(whole[:flip] + bytes([whole[flip] ^ 1]) + whole[flip + 1 :])
    with hybrid(tmp_path / "state", folder) as (searcher, model):
        second = search(searcher, caches, "doctor")

    assert len(model.texts) == len(PAGES) + 1
    assert render(first) == render(second)
    assert file.read_bytes() == whole


def test_until_embeddings_are_ready_words_decide_and_the_answer_says_so(
    tmp_path: Path, caches: dict[str, Path], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_go_on = threading.Event()
    real = vector_store._passage_texts

    def held(*arguments: Any) -> Iterator[str]:
        assert may_go_on.wait(60)
        return real(*arguments)

    monkeypatch.setattr(vector_store, "_passage_texts", held)
    with hybrid(tmp_path / "state", folder, wait_seconds=0) as (searcher, _):
        answer = search(searcher, caches, "car")
        may_go_on.set()

    assert ids(answer) == ["trap.md"]
    assert answer["selection"]["lexicalOnly"] == [{"cache": "docs", "reason": "EMBEDDING"}]
    assert answer["selection"]["lexicalOnlyTotal"] == 1


def test_a_cache_with_too_many_passages_is_ranked_by_words(
    tmp_path: Path, caches: dict[str, Path], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_store, "MAX_PASSAGES", len(PAGES) - 1)
    with hybrid(tmp_path / "state", folder) as (searcher, model):
        answer = search(searcher, caches, "car")

    assert ids(answer) == ["trap.md"]
    assert answer["selection"]["lexicalOnly"] == [{"cache": "docs", "reason": "TOO_LARGE"}]
    assert model.texts == ["car"]


def test_a_passage_on_which_the_model_fails_leaves_the_ranking_by_words(
    tmp_path: Path, caches: dict[str, Path], folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = table()
    rows[-1] = np.nan
    write_model(folder, rows=rows)
    with hybrid(tmp_path / "state", folder) as (searcher, _):
        answers = [search(searcher, caches, "car") for _ in range(2)]

    assert [ids(each) for each in answers] == [["trap.md"], ["trap.md"]]
    assert answers[0]["selection"]["lexicalOnly"] == [{"cache": "docs", "reason": "FAILED"}]
    assert list((tmp_path / "state").glob("*.vec*")) == []
    reason = "the model failed on a passage (its output is not a finite number)"
    assert caplog.messages == [f"cache docs is ranked by words alone: {reason}"]


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        ("folder", "embeddings cannot be stored (File exists)"),
        ("document", "the cache breaks the rule DOCUMENT_EXISTS"),
    ],
)
def test_the_log_says_why_embeddings_cannot_be_made(
    tmp_path: Path, caches: dict[str, Path], folder: Path, caplog: pytest.LogCaptureFixture, problem: str, said: str
) -> None:
    indexes = IndexStore(None, wait_seconds=60)
    index = indexes.open_all(caches.values())[caches["docs"]]
    assert isinstance(index, SearchIndex)
    if problem == "folder":
        (tmp_path / "state").write_bytes(b"")
    else:
        next((caches["docs"] / "documents").iterdir()).unlink()
    store = VectorStore(tmp_path / "state", EmbeddingModel(SemanticSettings(folder=folder)), wait_seconds=60)
    state = store.open_all({caches["docs"]: index})
    store.close()
    indexes.close()

    assert state == {caches["docs"]: "FAILED"}
    assert caplog.messages == [f"cache docs is ranked by words alone: {said}"]


def test_without_a_state_folder_nothing_is_kept(caches: dict[str, Path], folder: Path) -> None:
    with hybrid(None, folder) as (searcher, _):
        assert ids(search(searcher, caches, "doctor")) == ["health.md"]


def test_nothing_is_written_into_a_cache(tmp_path: Path, caches: dict[str, Path], folder: Path) -> None:
    before = sorted(caches["docs"].rglob("*"))
    with hybrid(tmp_path / "state", folder) as (searcher, _):
        search(searcher, caches, "doctor")

    assert sorted(caches["docs"].rglob("*")) == before


def test_work_that_a_stop_interrupts_is_continued(tmp_path: Path, caches: dict[str, Path], folder: Path) -> None:
    state = tmp_path / "state"
    index_store = IndexStore(state, wait_seconds=60)
    index = index_store.open_all(caches.values())[caches["docs"]]
    assert isinstance(index, SearchIndex)
    stopped: list[VectorStore] = []

    class StoppingModel(CountingModel):
        def embed(self, text: str) -> Vector:
            if stopped:
                stopped[0]._stopping.set()
            return super().embed(text)

    store = VectorStore(state, StoppingModel(SemanticSettings(folder=folder)), wait_seconds=60)
    stopped.append(store)
    assert store.open_all({caches["docs"]: index}) == {caches["docs"]: "EMBEDDING"}
    store.close()
    index_store.close()

    with hybrid(state, folder) as (searcher, model):
        assert ids(search(searcher, caches, "doctor")) == ["health.md"]
    assert len(model.texts) == len(PAGES) - 1 + 1


def test_a_cache_that_is_replaced_while_it_is_embedded_is_not_given_up(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_go_on = threading.Event()
    real = vector_store._passage_texts

    def held(*arguments: Any) -> Iterator[str]:
        assert may_go_on.wait(60)
        return real(*arguments)

    monkeypatch.setattr(vector_store, "_passage_texts", held)
    docs = tmp_path / "docs"
    make_cache(tmp_path / "one", PAGES, "docs").rename(docs)
    with hybrid(tmp_path / "state", folder, wait_seconds=0) as (searcher, _):
        search(searcher, {"docs": docs}, "doctor")
        docs.rename(tmp_path / "old")
        make_cache(tmp_path / "two", {"new.md": "a physician"}, "docs").rename(docs)
        search(searcher, {"docs": docs}, "doctor")
        store = searcher._dense._store  # type: ignore[union-attr]
        may_go_on.set()
        store._wait_seconds = 60
        reported = search(searcher, {"docs": docs}, "doctor")
        answer = search(searcher, {"docs": docs}, "doctor")

    assert reported["selection"]["lexicalOnly"] == [{"cache": "docs", "reason": "EMBEDDING"}]
    assert ids(answer) == ["new.md"]
