"""The Unity pack opened over a folder, called like the pipeline calls it. Every answer is held to its output schema."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from strictwire.canon.json import as_json
from strictwire.contract.conform import compile_schema
from strictwire.contract.tool import ToolContract
from strictwire.fault.failure import Failure, Refused
from strictwire.packs.pack import Environment
from strictwire.packs.unity.pack import UnityPack
from strictwire.server.packs import read_contracts


@cache
def contracts() -> dict[str, ToolContract]:
    return {each.name: each for each in read_contracts(UnityPack())}


@cache
def judge(tool: str) -> tuple[Any, Any]:
    contract = contracts()[tool]
    assert contract.output_schema is not None
    return compile_schema(contract.input_schema), compile_schema(contract.output_schema)


@dataclass
class Context:
    """Keeps the notes of one call."""

    facts: dict[str, str | None] = field(default_factory=lambda: {"tier": "core"})
    notes: list[str] = field(default_factory=list)

    def diagnose(self, note: str) -> None:
        self.notes.append(note)


@dataclass(frozen=True)
class Called:
    """One answer."""

    output: Any
    notes: list[str]
    text: str


class Desk:
    """Calls tools."""

    def __init__(self, handlers: Any) -> None:
        self._handlers = handlers

    def call(self, tool: str, **arguments: Any) -> Called:
        accepts, promises = judge(tool)
        assert accepts.accepts(arguments), list(accepts.find_violations(arguments))
        context = Context()
        answer = self._handlers[tool](arguments, context)
        output, _ = as_json(answer.structured)
        assert promises.accepts(output), list(promises.find_violations(output))
        return Called(output, context.notes, answer.content[0]["text"])

    def output(self, tool: str, **arguments: Any) -> Any:
        return self.call(tool, **arguments).output

    def refuse(self, tool: str, **arguments: Any) -> Failure:
        with pytest.raises(Refused) as caught:
            self._handlers[tool](arguments, Context())
        return caught.value.failure


@contextmanager
def opened(root: Path, clock: Callable[[], float] = time.monotonic, **more: Any) -> Iterator[Desk]:
    pack = UnityPack(clock=clock)
    told = Environment(settings={"root": str(root)}, contracts=tuple(contracts().values()), **more)
    handlers = asyncio.run(pack.open(told))
    try:
        yield Desk(handlers)
    finally:
        asyncio.run(pack.close())
