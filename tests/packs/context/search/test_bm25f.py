"""BM25F scores compared with the formula."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictwire.packs.context.search.bm25f import (
    FIELDS,
    SATURATION,
    PassageFields,
    PassageIndex,
    inverse_frequency,
    term_weights,
)
from strictwire.packs.context.search.terms import parse_terms

FIELD = st.lists(st.sampled_from(["ant", "bee", "cat", "dog"]), max_size=6).map(" ".join)
TEXTS = st.lists(
    st.builds(lambda title, headings, body: PassageFields(title=title, headings=headings, body=body), FIELD, FIELD, FIELD),
    max_size=8,
)


def index_of(texts: list[PassageFields]) -> PassageIndex:
    index = PassageIndex()
    for text in texts:
        index.add(text)
    index.finish()
    return index


def plain_score(texts: list[PassageFields], query: str, number: int) -> float:
    fields = [[parse_terms(getattr(text, name)) for text in texts] for name, _, _ in FIELDS]
    total = 0.0
    for term, count in Counter(parse_terms(query)).items():
        having = sum(any(term in field[each] for field in fields) for each in range(len(texts)))
        frequency = 0.0
        for (_, weight, b), field in zip(FIELDS, fields, strict=True):
            average = sum(map(len, field)) / len(texts) or 1.0
            frequency += weight * field[number].count(term) / (1 - b + b * len(field[number]) / average)
        total += count * math.log(1 + (len(texts) - having + 0.5) / (having + 0.5)) * frequency / (SATURATION + frequency)
    return total


@given(TEXTS, FIELD)
def test_scores_are_those_of_the_formula(texts: list[PassageFields], query: str) -> None:
    index = index_of(texts)
    scores = index.score(term_weights(parse_terms(query), [index]))

    for number in range(len(texts)):
        assert scores.get(number, 0.0) == pytest.approx(plain_score(texts, query, number), rel=1e-5, abs=1e-7)


def test_two_indexes_weigh_a_term_as_one_collection() -> None:
    text = PassageFields(title="", headings="", body="ant")
    one, two = index_of([text]), index_of([text, PassageFields(title="", headings="", body="bee")])

    assert term_weights(["ant", "ant"], [one, two]) == {"ant": 2 * inverse_frequency(3, 2)}


def test_a_word_of_the_title_outweighs_one_of_the_body() -> None:
    index = index_of(
        [PassageFields(title="", headings="", body="ant x"), PassageFields(title="ant", headings="", body="y x")]
    )
    scores = index.score(term_weights(["ant"], [index]))

    assert scores[1] > scores[0]


def test_frequencies_above_the_limit_are_clipped_and_do_not_overflow() -> None:
    index = index_of([PassageFields(title="ant " * 300, headings="bee " * 300, body="cat " * 70_000)])

    assert [index.postings[term][1][0] for term in ("ant", "bee", "cat")] == [255, 255 << 8, 65_535 << 16]
