"""How complete an answer is, by what is known about its engine."""

from __future__ import annotations

from typing import Any

import pytest

from strictwire.packs.code.engine import Completeness
from strictwire.packs.code.engines.judged import judge
from strictwire.packs.code.engines.session import Answered
from strictwire.packs.code.engines.spec import EngineSpec

COMPLETE, PARTIAL, WARMING = Completeness.COMPLETE, Completeness.PARTIAL, Completeness.WARMING
REFERENCES, SYMBOLS, HOVER = "textDocument/references", "workspace/symbol", "textDocument/hover"


def spec(**changes: Any) -> EngineSpec:
    return EngineSpec(name="x", languages=("python",), command=("x",), **changes)


@pytest.mark.parametrize(
    ("engine", "note", "method", "answered", "expected"),
    [
        (spec(), "", REFERENCES, Answered([], ready=True), (COMPLETE, "")),
        (spec(), "", REFERENCES, Answered([], ready=False), (WARMING, "the engine is still indexing")),
        (spec(), "no index", REFERENCES, Answered([], ready=True), (PARTIAL, "no index")),
        (spec(), "no index", REFERENCES, Answered([], ready=False), (WARMING, "no index")),
        (spec(), "no index", HOVER, Answered(None, ready=False), (COMPLETE, "")),
        (spec(symbol_limit=2), "", SYMBOLS, Answered([1], ready=True), (COMPLETE, "")),
        (spec(symbol_limit=2), "", SYMBOLS, Answered([1, 2], ready=True), (PARTIAL, "x returns at most 2 symbols")),
        (spec(symbol_limit=2), "", REFERENCES, Answered([1, 2], ready=True), (COMPLETE, "")),
        (spec(symbols_complete=False), "", SYMBOLS, Answered([], ready=True), (PARTIAL, "x does not search all symbols")),
    ],
)
def test_an_answer_is_as_complete_as_its_engine_can_show(
    engine: EngineSpec, note: str, method: str, answered: Answered, expected: tuple[Completeness, str]
) -> None:
    assert judge(engine, note, method, answered) == expected
