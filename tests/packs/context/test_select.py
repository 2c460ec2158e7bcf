"""Score, order and budget, compared with a slow literal model (rules 1.6 to 1.8)."""

from __future__ import annotations

from array import array
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.packs.context import model

from strictwire.canon.json import parse_object, render
from strictwire.packs.context.index import BudgetTree, Index, IndexBuilder
from strictwire.packs.context.layout import Document, version_of
from strictwire.packs.context.render import render_selection, selection_object
from strictwire.packs.context.select import select

WORDS = st.sampled_from(["a", "b", "B", "c.", "ß", "日本", "x\x1cy"])
CONTENTS = st.lists(WORDS, max_size=12).map(" ".join)
DOCUMENTS = st.dictionaries(st.text("abé/", min_size=1, max_size=4), CONTENTS, max_size=8)


def index_of(documents: dict[str, str]) -> Index:
    builder = IndexBuilder()
    for name, content in sorted(documents.items()):
        builder.add(Document(id=name, version=version_of(content.encode()), source=name, content=content))
    return builder.finish()


def answer(documents: dict[str, str], query: str, budget: int) -> str:
    index = index_of(documents)
    return render_selection(index, select(index, query, budget)).decode()


def expected(documents: dict[str, str], query: str, budget: int) -> str:
    versions = {name: version_of(content.encode()) for name, content in documents.items()}
    return model.resolve(documents, versions, query, budget)


@pytest.mark.slow
@pytest.mark.v0("1.6.1", "1.6.2", "1.6.3", "1.7.1", "1.7.2", "1.7.3", "1.8.1")
@settings(max_examples=400)
@given(DOCUMENTS, st.lists(WORDS, max_size=4).map(" ".join), st.integers(min_value=0, max_value=30))
def test_every_answer_equals_the_models_byte_for_byte(documents: dict[str, str], query: str, budget: int) -> None:
    assert answer(documents, query, budget) == expected(documents, query, budget)


@given(DOCUMENTS, st.lists(WORDS, max_size=4).map(" ".join), st.integers(min_value=0, max_value=30))
def test_the_answer_as_a_value_is_the_same(documents: dict[str, str], query: str, budget: int) -> None:
    index = index_of(documents)
    selection = select(index, query, budget)

    assert render(selection_object(index, selection)) == render_selection(index, selection)
    assert selection_object(index, selection) == parse_object(render_selection(index, selection))


CROWDS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0, 1, 2, 5, 9, 40, 90])), min_size=33, max_size=140).map(
    lambda shapes: {
        f"{number:03}": " ".join(["q"] * matches + ["w"] * others) for number, (matches, others) in enumerate(shapes)
    }
)
"""Many documents with few distinct contents: many equal scores, and documents that do not fit where later ones do."""


@pytest.mark.slow
@pytest.mark.v0("1.6.3", "1.7.2", "1.7.3")
@settings(max_examples=60)
@given(CROWDS, st.sampled_from(["q", "q w", "w", "absent", ""]), st.integers(min_value=0, max_value=400))
def test_ties_and_misfits_among_many_documents_match_the_model(documents: dict[str, str], query: str, budget: int) -> None:
    """More documents that do not fit than `select` tries one by one: the result must not depend on its optimisations."""
    assert answer(documents, query, budget) == expected(documents, query, budget)


NEAR_ONE = st.lists(st.tuples(st.integers(4090, 9000), st.integers(0, 3)), min_size=2, max_size=12)
"""Number of words, and how many do not match: fractions so close that some round to the same binary32."""


@pytest.mark.v0("1.6.2", "1.6.3")
@settings(max_examples=60)
@given(NEAR_ONE, st.integers(min_value=0, max_value=40))
def test_scores_are_compared_in_binary32_precision(shapes: list[tuple[int, int]], budget: int) -> None:
    plain = index_of({f"{number:02}": "x" * (number % 5) for number in range(len(shapes))})
    matches = [words - others for words, others in shapes]
    index = Index(
        store=plain.store,
        tokens=plain.tokens,
        words=array("I", [words for words, _ in shapes]),
        postings={"q": array("I", [number for number, count in enumerate(matches) for _ in range(count)])},
        fit=plain.fit,
        longest=max(words for words, _ in shapes),
        sources={},
        metadata={},
    )
    scores = [model.binary32(Fraction(count, words)) for count, (words, _) in zip(matches, shapes, strict=True)]
    wanted, left = [], budget
    for number in sorted(range(len(shapes)), key=lambda number: (-scores[number], number)):
        if plain.tokens[number] <= left:
            wanted.append((number, scores[number], matches[number]))
            left -= plain.tokens[number]

    assert [(pick.number, pick.score, pick.matches) for pick in select(index, "q", budget).picks] == wanted


@pytest.mark.v0("1.6.3")
def test_scores_that_differ_as_fractions_and_tie_in_binary32_are_ordered_by_id() -> None:
    """4999/5000 is less than 5000/5001, but both round to the same binary32."""
    index = index_of({"a": "q " * 4999 + "w", "b": "q " * 5000 + "w"})
    picks = select(index, "q", 100_000).picks

    assert picks[0].score == picks[1].score
    assert [pick.number for pick in picks] == [0, 1]


@pytest.mark.v0("1.6.2")
def test_counts_above_two_to_the_24_are_rounded_before_the_division() -> None:
    index = index_of({"a": "q"})
    big = Index(
        store=index.store,
        tokens=index.tokens,
        words=array("I", [(1 << 24) + 1]),
        postings=index.postings,
        fit=index.fit,
        longest=(1 << 24) + 1,
        sources={},
        metadata={},
    )

    assert select(big, "q", 10).picks[0].score == 1 / (1 << 24)


@pytest.mark.v0("1.12.8", "1.6.1")
def test_a_word_repeated_in_the_query_counts_once_and_is_echoed_twice() -> None:
    """Rule 1.12.8: a score stays between 0 and 1."""
    value = parse_object(answer({"a": "x y"}, "X x", 10).encode())

    assert value["documents"][0]["score"] == 0.5
    assert value["documents"][0]["why"] == {"query_terms": ["x", "x"], "term_matches": 1, "total_words": 2}


@pytest.mark.v0("1.7.4", "1.12.9")
def test_budget_zero_selects_only_empty_documents() -> None:
    """Rule 1.12.9."""
    assert answer({"a": "", "b": "x"}, "x", 0) == expected({"a": "", "b": "x"}, "x", 0)
    assert parse_object(answer({"a": "", "b": "x"}, "x", 0).encode())["selection"]["documents_selected"] == 1


@pytest.mark.v0("1.7.2")
def test_a_document_that_does_not_fit_is_skipped_for_a_later_one() -> None:
    documents = {"a": "q " * 50, "b": "q x", "c": "z"}

    assert [each["id"] for each in parse_object(answer(documents, "q", 3).encode())["documents"]] == ["b", "c"]


@pytest.mark.v0("1.6.1")
@pytest.mark.parametrize("query", ["", " \t\u2003"])
def test_an_empty_query_scores_all_documents_zero_in_order_of_id(query: str) -> None:
    assert answer({"b": "x", "a": "y"}, query, 9) == expected({"b": "x", "a": "y"}, query, 9)


@pytest.mark.v0("1.7.5")
def test_the_largest_budget_is_valid() -> None:
    assert answer({"a": "x"}, "x", (1 << 64) - 1) == expected({"a": "x"}, "x", (1 << 64) - 1)


@given(st.lists(st.integers(min_value=0, max_value=9), max_size=70), st.integers(0, 70), st.integers(0, 9))
def test_the_next_document_that_fits_is_that_of_a_linear_search(costs: list[int], start: int, limit: int) -> None:
    plain = next((at for at in range(start, len(costs)) if costs[at] <= limit), None)
    fit = BudgetTree(array("Q", costs))

    assert fit.find(start, limit) == plain
    assert fit.smallest == min(costs, default=(1 << 64) - 1)
