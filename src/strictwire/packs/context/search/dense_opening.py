"""Opens dense retrieval. Nothing of the `semantic` extra is imported before that."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from strictwire.packs.context.search.dense import DenseRanker, SemanticRefused, SemanticSettings

INSTALL: Final = "pip install 'strictwire[semantic]'"


def open_dense_ranker(settings: SemanticSettings, state: Path | None) -> DenseRanker:
    """Load the model and return the ranker. `state` is the folder of the embeddings; None: they are not kept.

    Raises SemanticRefused.
    """
    try:
        from strictwire.packs.context.search.semantic.model import EmbeddingModel
        from strictwire.packs.context.search.semantic.ranker import SemanticRanker
        from strictwire.packs.context.search.semantic.vector_store import VectorStore
    except ImportError as exc:
        raise SemanticRefused(f"`semantic_model` needs the extra `semantic`: {INSTALL}") from exc
    model = EmbeddingModel(settings)
    return SemanticRanker(model, VectorStore(state, model))
