"""Reciprocal rank fusion."""

from __future__ import annotations

from strictwire.packs.context.search.answers import Found
from strictwire.packs.context.search.fusion import fuse


def found(name: str, score: float = 1.0, cache: str = "docs", text: str | None = None) -> Found:
    return Found(
        cache=cache,
        id=name,
        source=name,
        version="sha256:" + "0" * 64,
        kind="markdown",
        headings=(),
        first=0,
        last=1,
        lines=(text or name,),
        score=score,
    )


def test_a_single_ranking_is_unchanged() -> None:
    ranking = [found("a", 7.5), found("b", 2.0)]

    assert fuse([ranking]) == ranking


def test_places_count_and_ties_are_broken_by_id() -> None:
    fused = fuse([[found("c"), found("a")], [found("b"), found("a")]])

    assert [(each.id, each.score) for each in fused] == [("a", 2 * 61 / 62), ("b", 1.0), ("c", 1.0)]


def test_the_same_text_of_two_caches_is_returned_once() -> None:
    fused = fuse([[found("a", cache="one", text="same")], [found("a", cache="two", text="same")]])

    assert [(each.cache, each.score) for each in fused] == [("one", 2.0)]
