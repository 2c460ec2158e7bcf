"""Joins rankings of passages by reciprocal rank fusion. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from strictwire.packs.context.search.answers import Found

RANK_OFFSET: Final = 60
"""The constant k of reciprocal rank fusion. 60 is the value of its authors (Cormack, Clarke and Büttcher, 2009), who found
that results hardly depend on it. It is not tuned here: a small k would let the first place of one ranking decide alone."""


def fuse(rankings: Sequence[Sequence[Found]]) -> list[Found]:
    """Return the passages of all rankings, best first: a place counts 61/(60 + place), so 1.0 for a first place.

    The same text is returned once. A single ranking is returned as it is, with its own scores.
    """
    if len(rankings) == 1:
        return list(rankings[0])
    scores: dict[str, float] = {}
    passages: dict[str, Found] = {}
    for ranking in rankings:
        for place, found in enumerate(ranking, 1):
            text = found.text
            scores[text] = scores.get(text, 0.0) + (RANK_OFFSET + 1) / (RANK_OFFSET + place)
            passages.setdefault(text, found)
    fused = [replace(found, score=scores[text]) for text, found in passages.items()]
    return sorted(fused, key=best_first)


def best_first(found: Found) -> tuple[float, str, str, int]:
    """Sort key of passages: score, then cache, id and line."""
    return -found.score, found.cache, found.id, found.first
