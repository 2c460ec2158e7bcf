"""Dense retrieval as the searcher sees it, and its settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias

from strictwire.canon.json import JsonValue
from strictwire.packs.context.search.index_file import SearchIndex
from strictwire.packs.context.search.ranking import Match

MAX_THREADS: Final = 64
MIN_TOKENS: Final = 16
MAX_TOKENS: Final = 2048
_THREADS: Final = 1
_TOKENS: Final = 256
"""Tokens of a passage or query that are embedded, special tokens included: the length that small sentence models take."""

LexicalReason: TypeAlias = Literal["EMBEDDING", "TOO_LARGE", "FAILED"]
"""Why a cache is ranked by words alone: embeddings are not ready, it has too many passages, or file or model failed."""


class SemanticRefused(Exception):
    """The settings or the model cannot be used. The text says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticSettings:
    """The settings of dense retrieval, checked."""

    folder: Path
    threads: int = _THREADS
    tokens: int = _TOKENS


class DenseRanking(NamedTuple):
    """The best passages by similarity, and the caches that are ranked by words alone."""

    matches: list[Match]
    lexical_only: Mapping[str, LexicalReason]


class DenseRanker(Protocol):
    """Ranks passages by the similarity of their embeddings. Safe to call from any thread."""

    def rank(self, query: str, indexes: Mapping[str, SearchIndex], paths: Mapping[str, Path], depth: int) -> DenseRanking:
        """Return the best `depth` passages of the indexes, by cache name."""

    def close(self) -> None:
        """Stop the work in the background."""


def read_semantic_settings(settings: Mapping[str, JsonValue]) -> SemanticSettings | None:
    """Return the settings, or None if no model is configured. Raises SemanticRefused."""
    folder = settings.get("semantic_model")
    if folder is None:
        return None
    if not isinstance(folder, str) or not folder:
        raise SemanticRefused("`semantic_model` must be the path of a folder with model.onnx and tokenizer.json")
    return SemanticSettings(
        folder=Path(folder),
        threads=_number(settings, "semantic_threads", _THREADS, 1, MAX_THREADS),
        tokens=_number(settings, "semantic_tokens", _TOKENS, MIN_TOKENS, MAX_TOKENS),
    )


def _number(settings: Mapping[str, JsonValue], name: str, default: int, low: int, high: int) -> int:
    value = settings.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise SemanticRefused(f"`{name}` must be a whole number from {low} to {high}")
    return value
