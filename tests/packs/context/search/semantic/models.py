"""Small real ONNX models: a table of word embeddings, with a WordPiece tokenizer. Words of one group are synonyms."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

GROUPS = (("car", "automobile", "vehicle"), ("doctor", "physician"), ("search", "query"), ("bread", "loaf"))
UNKNOWN = "[UNK]"


def words() -> dict[str, int]:
    return {word: number for number, word in enumerate([UNKNOWN, *(word for group in GROUPS for word in group)])}


def table() -> np.ndarray:
    """Each group has its own axis; unknown words are zero."""
    rows = np.zeros((len(words()), len(GROUPS)), np.float32)
    for axis, group in enumerate(GROUPS):
        for word in group:
            rows[words()[word], axis] = 1.0
    return rows


def write_model(
    folder: Path,
    *,
    rows: np.ndarray | None = None,
    inputs: tuple[str, ...] = ("input_ids", "attention_mask"),
    pooled: bool = False,
) -> Path:
    """Write model.onnx and tokenizer.json. `pooled` removes the axis of the tokens from the output."""
    folder.mkdir(parents=True, exist_ok=True)
    nodes = [helper.make_node("Gather", ["table", inputs[0]], ["states"])]
    if pooled:
        nodes.append(helper.make_node("ReduceMean", ["states", "axes"], ["last_hidden_state"], keepdims=0))
    else:
        nodes.append(helper.make_node("Identity", ["states"], ["last_hidden_state"]))
    axes = ["texts", "dimensions"] if pooled else ["texts", "tokens", "dimensions"]
    graph = helper.make_graph(
        nodes,
        "words",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"]) for name in inputs],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, axes)],
        [
            numpy_helper.from_array(table() if rows is None else rows, "table"),
            numpy_helper.from_array(np.array([1], np.int64), "axes"),
        ],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    onnx.checker.check_model(made)
    (folder / "model.onnx").write_bytes(made.SerializeToString())
    tokenizer = Tokenizer(models.WordPiece(words(), unk_token=UNKNOWN))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder
