"""Ranks the passages of several caches by the similarity of their embeddings to the query: exact dot products."""

from __future__ import annotations

from collections.abc import Mapping
from heapq import nsmallest
from pathlib import Path
from typing import Final

import numpy as np

from strictwire.packs.context.search.dense import DenseRanking, LexicalReason
from strictwire.packs.context.search.index_file import SearchIndex
from strictwire.packs.context.search.ranking import Match
from strictwire.packs.context.search.semantic.model import EmbeddingModel, ModelFailed, Vector
from strictwire.packs.context.search.semantic.vector_file import Vectors
from strictwire.packs.context.search.semantic.vector_store import VectorStore

_DIGITS: Final = 6
"""Similarities are rounded: the last bits of a product depend on the place of a row, and equal rows must stay equal."""


class SemanticRanker:
    """See DenseRanker."""

    def __init__(self, model: EmbeddingModel, store: VectorStore) -> None:
        self._model = model
        self._store = store

    def rank(self, query: str, indexes: Mapping[str, SearchIndex], paths: Mapping[str, Path], depth: int) -> DenseRanking:
        """See DenseRanker.rank. Order: similarity, then cache and passage. Only positive similarities count."""
        states = self._store.open_all({paths[name]: index for name, index in indexes.items()})
        opened = {name: states[paths[name]] for name in indexes}
        try:
            vector = self._model.embed(query)
        except ModelFailed:
            return DenseRanking([], dict.fromkeys(indexes, "FAILED"))
        best: list[Match] = []
        lexical_only: dict[str, LexicalReason] = {}
        for name, state in opened.items():
            if isinstance(state, Vectors):
                best += [Match(name, row, score) for row, score in _nearest(state, vector, depth)]
            else:
                lexical_only[name] = state
        return DenseRanking(nsmallest(depth, best, key=_best_first), lexical_only)

    def close(self) -> None:
        """See DenseRanker.close."""
        self._store.close()


def _nearest(vectors: Vectors, query: Vector, depth: int) -> list[tuple[int, float]]:
    """Return the best rows and their similarity. Of equal rows the first ones are taken."""
    scores = np.round(vectors.matrix @ query, _DIGITS)
    least = np.partition(scores, -depth)[-depth] if len(scores) > depth else -np.inf
    rows = np.flatnonzero((scores >= least) & (scores > 0))
    ordered = rows[np.argsort(-scores[rows], kind="stable")][:depth]
    return [(int(row), float(scores[row])) for row in ordered]


def _best_first(match: Match) -> tuple[float, str, int]:
    return -match.score, match.cache, match.passage
