"""How complete an engine's answer is, by what is known about the engine. References are checked further in `check`. Pure."""

from __future__ import annotations

from typing import Final

from strictwire.canon.json import JsonValue
from strictwire.packs.code.engine import Completeness
from strictwire.packs.code.engines.session import Answered
from strictwire.packs.code.engines.spec import EngineSpec

LOCAL: Final = frozenset({"textDocument/hover", "textDocument/documentSymbol", "textDocument/diagnostic"})
"""Answered from the document and what it imports: an index that is not finished takes nothing away."""

WARMING: Final = "the engine is still indexing"


def judge(spec: EngineSpec, note: str, method: str, answered: Answered) -> tuple[Completeness, str]:
    """The completeness of an answer, and why it is not complete. `note` is a standing reason."""
    if method in LOCAL:
        return Completeness.COMPLETE, ""
    if not answered.ready:
        return Completeness.WARMING, note or WARMING
    if note or answered.gap:
        return Completeness.PARTIAL, note or answered.gap
    return _judge_symbols(spec, answered.value) if method == "workspace/symbol" else (Completeness.COMPLETE, "")


def _judge_symbols(spec: EngineSpec, value: JsonValue) -> tuple[Completeness, str]:
    if not spec.symbols_complete:
        return Completeness.PARTIAL, f"{spec.name} does not search all symbols"
    if spec.symbol_limit and isinstance(value, list) and len(value) >= spec.symbol_limit:
        return Completeness.PARTIAL, f"{spec.name} returns at most {spec.symbol_limit} symbols"
    return Completeness.COMPLETE, ""
