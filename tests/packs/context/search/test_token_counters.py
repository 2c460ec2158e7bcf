"""Counting the tokens of long texts."""

from __future__ import annotations

import pytest

from strictwire.packs.context.search.answers import MAX_BUDGET
from strictwire.packs.context.search.token_counters import MAX_COUNTED, VocabularyCounter


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("hello world", 2), ("hello world\n" * 200_000, 600_000)])
def test_long_texts_are_counted_in_slices(text: str, tokens: int) -> None:
    assert VocabularyCounter().count(text) == pytest.approx(tokens, rel=0.001)


def test_a_text_with_more_tokens_than_characters_is_counted() -> None:
    assert VocabularyCounter().count("\U0001f9ff" * 150_000) >= 150_000


def test_a_text_that_is_too_long_to_count_is_above_every_budget() -> None:
    assert VocabularyCounter().count("a" * (MAX_COUNTED + 1)) > MAX_BUDGET
