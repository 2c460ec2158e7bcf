"""Probes that call the server's own tools with wrong arguments. What is wrong is decided by the tool's own schema."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from strictwire.canon import json
from strictwire.canon.json import JsonObject, JsonValue
from strictwire.probe import survey
from strictwire.probe.bench import Bench, Called, Judged, Probe, found, passed, skipped
from strictwire.probe.observation import Kind, Observation
from strictwire.probe.synthesis import accepts

CANARY: Final = "strictwire-canary-b1946ac9"
"""A value that no server has by itself."""

UNKNOWN_ARGUMENT: Final = "strictwire_unknown_argument"

_COERCES: Final = "the tool runs with another value than the caller sent, and its contract is not what it says"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    id: str
    purpose: str
    types: frozenset[str]
    wrong: Callable[[JsonValue], JsonValue]
    """Makes the wrong value from the right one."""


_NUMBERS: Final = frozenset({"integer", "number"})

_ROWS: Final = (
    _Row(
        id="ARGUMENT_TEXT_FOR_NUMBER",
        purpose='Checks that "5" is not taken for a number.',
        types=_NUMBERS,
        wrong=lambda _right: "5",
    ),
    _Row(
        id="ARGUMENT_TRUE_FOR_NUMBER",
        purpose="Checks that true is not taken for a number.",
        types=_NUMBERS,
        wrong=lambda _right: True,
    ),
    _Row(
        id="ARGUMENT_TEXT_FOR_LIST",
        purpose='Checks that the text "[1,2]" is not taken for a list.',
        types=frozenset({"array"}),
        wrong=lambda right: json.render(right).decode(),
    ),
    _Row(
        id="ARGUMENT_NUMBER_FOR_TEXT",
        purpose="Checks that a number is not taken for text.",
        types=frozenset({"string"}),
        wrong=lambda _right: 5,
    ),
    _Row(
        id="ARGUMENT_CANARY",
        purpose="Checks that text which is no number is refused.",
        types=_NUMBERS,
        wrong=lambda _right: CANARY,
    ),
)


def _wrong_value(row: _Row) -> Probe:
    async def judge(bench: Bench) -> Judged:
        for call, name in _properties(bench, row.types):
            arguments = call.arguments | {name: row.wrong(call.arguments.get(name))}
            if not accepts(call.tool["inputSchema"], arguments):
                return _refused(call, (await survey.call(bench, call.tool, arguments)).seen)
        return skipped(f"no callable tool takes {' or '.join(sorted(row.types))}")

    return Probe(
        id=row.id,
        purpose=row.purpose,
        expected="a result with isError, or error -32602",
        why=_COERCES,
        judge=judge,
    )


def _properties(bench: Bench, types: frozenset[str]) -> Iterator[tuple[Called, str]]:
    """Arguments of working calls whose schema has one of the types."""
    for call in bench.working_calls():
        schema = call.tool.get("inputSchema")
        properties = schema.get("properties") if isinstance(schema, dict) else None
        for name, part in (properties if isinstance(properties, dict) else {}).items():
            if isinstance(part, dict) and part.get("type") in types:
                yield call, name


def _refused(call: Called, seen: Observation) -> Judged:
    is_refused = seen.kind is Kind.TOOL_ERROR or (seen.kind is Kind.ERROR and seen.code == -32602)
    return passed(seen) if is_refused else found(seen, got=f"tool {call.name}: {seen.describe()}")


async def _integral(bench: Bench) -> Judged:
    for call, name in _properties(bench, frozenset({"integer"})):
        right = call.arguments.get(name, 1)
        if type(right) is int:
            seen = (await survey.call(bench, call.tool, call.arguments | {name: float(right)})).seen
            return passed(seen) if seen.kind is Kind.RESULT else found(seen, got=f"tool {call.name}: {seen.describe()}")
    return skipped("no callable tool takes an integer")


async def _unknown(bench: Bench) -> Judged:
    for call in bench.working_calls():
        arguments: JsonObject = call.arguments | {UNKNOWN_ARGUMENT: 1}
        return _refused(call, (await survey.call(bench, call.tool, arguments)).seen)
    return skipped("no tool could be called")


async def _missing(bench: Bench) -> Judged:
    for call in bench.working_calls():
        required = call.tool["inputSchema"].get("required") or []
        for name in required[:1]:
            arguments = {key: value for key, value in call.arguments.items() if key != name}
            return _refused(call, (await survey.call(bench, call.tool, arguments)).seen)
    return skipped("no callable tool has a required argument")


PROBES: Final = (
    *map(_wrong_value, _ROWS),
    Probe(
        id="ARGUMENT_INTEGRAL_NUMBER",
        purpose="Checks that 1.0 is an integer, as JSON Schema says.",
        expected="a result",
        why="clients whose language has one number type cannot call the tool",
        judge=_integral,
    ),
    Probe(
        id="ARGUMENT_UNKNOWN",
        purpose="Checks that an argument the tool does not know is refused.",
        expected="a result with isError, or error -32602",
        why="a misspelt optional argument is lost in silence, and the tool runs with its default",
        judge=_unknown,
    ),
    Probe(
        id="ARGUMENT_MISSING",
        purpose="Checks that a missing required argument is refused.",
        expected="a result with isError, or error -32602",
        why="the tool runs without what its contract demands",
        judge=_missing,
    ),
)
