"""Scores over several indexes, and that pruning does not change the best passages."""

from __future__ import annotations

import random

import pytest
from tests.packs.context.search.test_index_file import IDENTITY

from strictwire.packs.context.search import ranking as ranking_module
from strictwire.packs.context.search.impacts import SCALE
from strictwire.packs.context.search.index_file import IndexedDocument, IndexWriter, SearchIndex
from strictwire.packs.context.search.ranking import DamagedCache, Match, rank, score_passages, term_weights


def make(*passages: dict[str, int]) -> bytes:
    """One document with these passages."""
    writer = IndexWriter()
    writer.add_document(
        IndexedDocument("a.md", "a.md", "markdown", "sha256:" + "1" * 64), [(n, n + 1) for n in range(len(passages))]
    )
    for number, terms in enumerate(passages):
        for term, impact in terms.items():
            writer.add_posting(term, number, impact)
    return writer.render(IDENTITY)


def index(*passages: dict[str, int]) -> SearchIndex:
    return SearchIndex(memoryview(make(*passages)))


def test_the_score_is_the_weighted_sum_of_impacts() -> None:
    one = index({"ant": SCALE}, {"ant": SCALE, "bee": SCALE // 3}, {"cat": 1})

    assert score_passages({"ant": 2.0, "bee": 3.0, "dog": 9.0}, one, 10) == {0: 2.0, 1: 3.0}


def test_indexes_are_one_collection_and_ties_are_ordered_by_cache_and_passage() -> None:
    indexes = {"b": index({"ant": SCALE}, {"ant": SCALE}), "a": index({"bee": SCALE}, {"ant": SCALE})}
    weights = term_weights(["ant", "ant", "bee"], indexes.values())

    assert weights["bee"] > weights["ant"] / 2
    assert rank({"ant": 1.0}, indexes, 2) == [Match("a", 1, 1.0), Match("b", 0, 1.0)]


@pytest.mark.parametrize("seed", range(5))
def test_pruning_keeps_the_best_passages(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    dice = random.Random(seed)
    made = index(
        *({term: dice.randrange(1, SCALE) for term in ("rare", "some", "often", "all") if dice.random() < share}
          for share in (dice.random() for _ in range(400)))
    )  # fmt: skip
    weights = term_weights(["rare", "some", "often", "all"], [made]) | {"rare": 9.0}
    expected = rank(weights, {"x": made}, 5)
    monkeypatch.setattr(ranking_module, "_PRUNE_FROM", 0)
    actual = rank(weights, {"x": made}, 5)

    assert [each.passage for each in actual] == [each.passage for each in expected]
    assert [each.score for each in actual] == pytest.approx([each.score for each in expected])


def test_damaged_postings_name_their_cache() -> None:
    raw = bytearray(make({"ant": 5}))
    raw[-8] ^= 1

    with pytest.raises(DamagedCache) as caught:
        rank({"ant": 1.0}, {"docs": SearchIndex(memoryview(bytes(raw)))}, 5)

    assert caught.value.name == "docs"
