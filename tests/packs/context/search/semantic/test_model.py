"""Models that can be used, and the refusals for those that cannot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.packs.context.search.semantic.models import table, write_model

from strictwire.packs.context.search.dense import SemanticRefused, SemanticSettings
from strictwire.packs.context.search.semantic import model as module
from strictwire.packs.context.search.semantic.model import EmbeddingModel, ModelFailed


def test_the_embedding_is_the_mean_of_the_tokens_with_length_1(tmp_path: Path) -> None:
    model = EmbeddingModel(SemanticSettings(folder=write_model(tmp_path)))

    assert model.embed("car bread").tolist() == pytest.approx([0.5**0.5, 0.0, 0.0, 0.5**0.5])
    assert model.embed("").tolist() == [0.0] * 4
    assert model.embed("unheard of").tolist() == [0.0] * 4


def test_a_model_with_token_types_gets_them(tmp_path: Path) -> None:
    inputs = ("input_ids", "attention_mask", "token_type_ids")

    assert EmbeddingModel(SemanticSettings(folder=write_model(tmp_path, inputs=inputs))).dimensions == 4


def test_tokens_past_the_limit_are_not_embedded(tmp_path: Path) -> None:
    model = EmbeddingModel(SemanticSettings(folder=write_model(tmp_path), tokens=16))

    assert model.embed("car " * 16 + "bread " * 1_000_000).tolist() == [1.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        (("input_ids", "attention_mask", "pixels"), "unexpected input 'pixels'"),
        (("input_ids",), "no input 'attention_mask'"),
    ],
)
def test_other_inputs_are_refused_by_name(tmp_path: Path, inputs: tuple[str, ...], said: str) -> None:
    with pytest.raises(SemanticRefused, match=said):
        EmbeddingModel(SemanticSettings(folder=write_model(tmp_path, inputs=inputs)))


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    (write_model(tmp_path) / name).unlink()

    with pytest.raises(SemanticRefused, match=f"{name} cannot be read"):
        EmbeddingModel(SemanticSettings(folder=tmp_path))


@pytest.mark.parametrize(("name", "said"), [("model.onnx", "cannot load model.onnx"), ("tokenizer.json", "not a tokenizer")])
def test_a_damaged_file_is_named(tmp_path: Path, name: str, said: str) -> None:
    (write_model(tmp_path) / name).write_bytes(b"damaged")

    with pytest.raises(SemanticRefused, match=said):
        EmbeddingModel(SemanticSettings(folder=tmp_path))


def test_a_model_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    with (write_model(tmp_path) / "model.onnx").open("r+b") as handle:
        handle.truncate(module.MAX_MODEL_BYTES + 1)

    with pytest.raises(SemanticRefused, match="at most 1,073,741,824"):
        EmbeddingModel(SemanticSettings(folder=tmp_path))


def test_a_model_that_returns_nan_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SemanticRefused, match="not a finite number"):
        EmbeddingModel(SemanticSettings(folder=write_model(tmp_path, rows=np.full_like(table(), np.nan))))


def test_an_output_of_another_shape_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SemanticRefused, match="does not have the shape"):
        EmbeddingModel(SemanticSettings(folder=write_model(tmp_path, pooled=True)))


def test_too_many_dimensions_are_refused(tmp_path: Path) -> None:
    wide = np.ones((len(table()), module.MAX_DIMENSIONS + 1), np.float32)

    with pytest.raises(SemanticRefused, match="2049 dimensions"):
        EmbeddingModel(SemanticSettings(folder=write_model(tmp_path, rows=wide)))


def test_a_failure_on_one_text_is_a_failure_of_the_model(tmp_path: Path) -> None:
    rows = table()
    rows[-1] = np.inf
    model = EmbeddingModel(SemanticSettings(folder=write_model(tmp_path, rows=rows)))

    with pytest.raises(ModelFailed):
        model.embed("loaf")


def test_a_text_that_cannot_be_tokenized_is_a_failure_of_the_model(tmp_path: Path) -> None:
    model = EmbeddingModel(SemanticSettings(folder=write_model(tmp_path)))

    with pytest.raises(ModelFailed, match="tokenizers cannot split it"):
        model.embed("\ud800")


def test_the_digest_depends_on_model_and_length(tmp_path: Path) -> None:
    one = EmbeddingModel(SemanticSettings(folder=write_model(tmp_path / "a")))
    other = EmbeddingModel(SemanticSettings(folder=write_model(tmp_path / "b", rows=table() * 2)))
    shorter = EmbeddingModel(SemanticSettings(folder=tmp_path / "a", tokens=32))

    assert len({one.digest, other.digest, shorter.digest}) == 3
