"""A sentence model from the user's disk: `model.onnx` and `tokenizer.json` in one folder. Nothing is downloaded.

The model gets `input_ids` and `attention_mask`, and `token_type_ids` if it has such an input: int64, one text at a time,
without padding. Its output has the shape (1, tokens, dimensions). The embedding is the mean over the attention mask with
length 1. No library of custom operators is loaded, and all weights must be inside model.onnx.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from strictwire.packs.context.search.dense import SemanticRefused, SemanticSettings

MODEL: Final = "model.onnx"
TOKENIZER: Final = "tokenizer.json"

MAX_MODEL_BYTES: Final = 1 << 30
MAX_TOKENIZER_BYTES: Final = 64 << 20
MAX_DIMENSIONS: Final = 2048

_CHARACTERS_PER_TOKEN: Final = 16
"""A text is cut to this many characters for each token before it is tokenized: three times the usual length of a token."""

_REQUIRED: Final = frozenset({"input_ids", "attention_mask"})
_KNOWN: Final = _REQUIRED | {"token_type_ids"}
_OUTPUTS: Final = ("last_hidden_state", "token_embeddings")
"""Outputs that are preferred by name; otherwise the first one is used."""

_LOG_FATAL: Final = 4

Vector: TypeAlias = NDArray[np.float32]


class ModelFailed(Exception):
    """The model failed on a text, or returned something that is no embedding. Carries the reason."""


class EmbeddingModel:
    """A loaded model. Safe to call from any thread."""

    def __init__(self, settings: SemanticSettings) -> None:
        """Load and try the model. Raises SemanticRefused with what to do."""
        raw = _read(settings.folder, MODEL, MAX_MODEL_BYTES)
        described = _read(settings.folder, TOKENIZER, MAX_TOKENIZER_BYTES)
        self._tokenizer = _open_tokenizer(described, settings.tokens)
        self._session = _open_session(raw, settings.threads)
        self._inputs = _check_inputs(self._session)
        self._output = _choose_output(self._session)
        self._most_characters = settings.tokens * _CHARACTERS_PER_TOKEN
        self.digest = _digest(raw, described, settings.tokens)
        self.dimensions = self._try(settings)

    def embed(self, text: str) -> Vector:
        """Return the embedding of a text: length 1, or zero for a text without tokens. Raises ModelFailed."""
        try:
            encoding = self._tokenizer.encode(text[: self._most_characters])
        except Exception as exc:
            raise ModelFailed("tokenizers cannot split it") from exc
        if not encoding.ids:
            return np.zeros(self.dimensions, np.float32)
        given = {
            "input_ids": np.array([encoding.ids], np.int64),
            "attention_mask": np.array([encoding.attention_mask], np.int64),
            "token_type_ids": np.array([encoding.type_ids], np.int64),
        }
        try:
            (states,) = self._session.run([self._output], {name: given[name] for name in self._inputs})
        except Exception as exc:
            raise ModelFailed("onnxruntime cannot run it") from exc
        return _pool(states, given["attention_mask"])

    def _try(self, settings: SemanticSettings) -> int:
        """Embed a short text and one of the greatest length. Returns the dimensions. Raises SemanticRefused."""
        self.dimensions = 0
        try:
            short = self.embed("a search query")
            self.embed("search " * settings.tokens)
        except ModelFailed as exc:
            raise SemanticRefused(
                f"{settings.folder / MODEL} cannot be used with texts of {settings.tokens} tokens: {exc}. "
                "Use a sentence model in ONNX format, or lower `semantic_tokens` if the model takes fewer"
            ) from exc
        if not short.any():
            raise SemanticRefused(
                f"{settings.folder / MODEL} returns zeros for English text; check that {TOKENIZER} belongs to it"
            )
        return len(short)


def _read(folder: Path, name: str, most: int) -> bytes:
    """Read a file of the model. Raises SemanticRefused."""
    path = folder / name
    try:
        with path.open("rb") as handle:
            size = os.fstat(handle.fileno()).st_size
            if size > most:
                raise SemanticRefused(f"{path} has {size:,} bytes; at most {most:,} are allowed")
            raw = handle.read(most + 1)
    except OSError as exc:
        raise SemanticRefused(
            f"{path} cannot be read ({exc.strerror}); `semantic_model` must be a folder with {MODEL} and {TOKENIZER}"
        ) from exc
    return raw


def _open_tokenizer(raw: bytes, tokens: int) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_buffer(raw)
        tokenizer.no_padding()
        tokenizer.enable_truncation(tokens)
    except Exception as exc:
        raise SemanticRefused(f"{TOKENIZER} is not a tokenizer that the library `tokenizers` can read") from exc
    return tokenizer


def _open_session(raw: bytes, threads: int) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # patterns are kept for each length of text
    options.log_severity_level = _LOG_FATAL
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(raw, options, providers=["CPUExecutionProvider"])
    except Exception as exc:
        raise SemanticRefused(
            f"onnxruntime cannot load {MODEL}: it is damaged, needs custom operators, or keeps its weights in another file"
        ) from exc


def _check_inputs(session: onnxruntime.InferenceSession) -> tuple[str, ...]:
    names = [str(each.name) for each in session.get_inputs()]
    unexpected, missing = sorted(set(names) - _KNOWN), sorted(_REQUIRED - set(names))
    if unexpected:
        raise SemanticRefused(
            f"{MODEL} has the unexpected input {unexpected[0]!r}; known inputs are {', '.join(sorted(_KNOWN))}"
        )
    if missing:
        raise SemanticRefused(f"{MODEL} has no input {missing[0]!r}; it needs {' and '.join(sorted(_REQUIRED))}")
    return tuple(names)


def _choose_output(session: onnxruntime.InferenceSession) -> str:
    names = [str(each.name) for each in session.get_outputs()]
    return next((name for name in _OUTPUTS if name in names), names[0])


def _pool(states: object, mask: NDArray[np.int64]) -> Vector:
    """Return the mean over the attention mask with length 1. Raises ModelFailed."""
    if not isinstance(states, np.ndarray) or states.ndim != 3 or states.shape[:2] != mask.shape:
        raise ModelFailed("its output does not have the shape (texts, tokens, dimensions)")
    if not 1 <= states.shape[2] <= MAX_DIMENSIONS:
        raise ModelFailed(f"its output has {states.shape[2]} dimensions; 1 to {MAX_DIMENSIONS} are allowed")
    weights = mask[0].astype(np.float32)
    pooled = weights @ states[0].astype(np.float32) / max(float(weights.sum()), 1.0)
    if not np.isfinite(pooled).all():
        raise ModelFailed("its output is not a finite number")
    length = float(np.linalg.norm(pooled))
    return np.asarray(pooled / length if length else pooled, np.float32)


def _digest(model: bytes, tokenizer: bytes, tokens: int) -> str:
    parts = (hashlib.sha256(model).digest(), hashlib.sha256(tokenizer).digest(), str(tokens).encode())
    return hashlib.sha256(b"".join(parts)).hexdigest()
