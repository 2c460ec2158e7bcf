"""Probes that call the server's tools with invalid arguments. The tool's own schema decides what is invalid."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from strictwire.canon import json
from strictwire.canon.json import JsonObject, JsonValue
from strictwire.probe import survey
from strictwire.probe.definition import Evaluation, Lane, Probe, ProbeContext, ToolCall, found, passed, skipped
from strictwire.probe.harm import Harm
from strictwire.probe.observation import Observation, ResponseKind
from strictwire.probe.synthesis import accepts

CANARY: Final = "strictwire-canary-b1946ac9"
"""A value that no server contains, to detect input that is echoed in error texts."""

UNKNOWN_ARGUMENT: Final = "strictwire_unknown_argument"

_COERCES: Final = "the tool runs with a different value than the client sent, against its own schema"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    id: str
    purpose: str
    types: frozenset[str]
    wrong: Callable[[JsonValue], JsonValue]
    """Returns an invalid value for a valid one."""


_NUMBERS: Final = frozenset({"integer", "number"})

_ROWS: Final = (
    _Row(
        id="ARGUMENT_TEXT_FOR_NUMBER",
        purpose='Checks that the string "5" is not accepted as a number.',
        types=_NUMBERS,
        wrong=lambda _right: "5",
    ),
    _Row(
        id="ARGUMENT_TRUE_FOR_NUMBER",
        purpose="Checks that true is not accepted as a number.",
        types=_NUMBERS,
        wrong=lambda _right: True,
    ),
    _Row(
        id="ARGUMENT_TEXT_FOR_LIST",
        purpose='Checks that the string "[1,2]" is not accepted as an array.',
        types=frozenset({"array"}),
        wrong=lambda right: json.render(right).decode(),
    ),
    _Row(
        id="ARGUMENT_NUMBER_FOR_TEXT",
        purpose="Checks that a number is not accepted as a string.",
        types=frozenset({"string"}),
        wrong=lambda _right: 5,
    ),
    _Row(
        id="ARGUMENT_CANARY",
        purpose="Checks that a string that is not a number is refused.",
        types=_NUMBERS,
        wrong=lambda _right: CANARY,
    ),
)


def _wrong_value(row: _Row) -> Probe:
    async def run(context: ProbeContext) -> Evaluation:
        for call, name in _properties(context, row.types):
            arguments = call.arguments | {name: row.wrong(call.arguments.get(name))}
            if not accepts(call.tool["inputSchema"], arguments):
                return _refused(call, (await survey.call(context, call.tool, arguments)).seen)
        return skipped(f"no callable tool takes {' or '.join(sorted(row.types))}")

    return Probe(
        id=row.id,
        purpose=row.purpose,
        expected="a result with isError, or error -32602",
        why=_COERCES,
        run=run,
        lane=Lane.TOOLS,
    )


def _properties(context: ProbeContext, types: frozenset[str]) -> Iterator[tuple[ToolCall, str]]:
    """The arguments of working calls whose schema has one of the types."""
    for call in context.working_calls():
        schema = call.tool.get("inputSchema")
        properties = schema.get("properties") if isinstance(schema, dict) else None
        for name, part in (properties if isinstance(properties, dict) else {}).items():
            if isinstance(part, dict) and types.intersection(_types(part)):
                yield call, name


def _types(schema: JsonObject) -> list[str]:
    named = schema.get("type")
    listed = named if isinstance(named, list) else [named]
    return [name for name in listed if isinstance(name, str)]


def _refused(call: ToolCall, seen: Observation) -> Evaluation:
    is_refused = seen.kind is ResponseKind.TOOL_ERROR or (seen.kind is ResponseKind.ERROR and seen.code == -32602)
    return passed(seen) if is_refused else found(seen, got=f"tool {call.name}: {seen.describe()}")


async def _integral(context: ProbeContext) -> Evaluation:
    for call, name in _properties(context, frozenset({"integer"})):
        right = call.arguments.get(name, 1)
        if type(right) is int:
            seen = (await survey.call(context, call.tool, call.arguments | {name: float(right)})).seen
            return (
                passed(seen) if seen.kind is ResponseKind.RESULT else found(seen, got=f"tool {call.name}: {seen.describe()}")
            )
    return skipped("no callable tool takes an integer")


async def _unknown(context: ProbeContext) -> Evaluation:
    for call in context.working_calls():
        arguments: JsonObject = call.arguments | {UNKNOWN_ARGUMENT: 1}
        return _refused(call, (await survey.call(context, call.tool, arguments)).seen)
    return skipped("no tool could be called")


async def _missing(context: ProbeContext) -> Evaluation:
    for call in context.working_calls():
        required = call.tool["inputSchema"].get("required") or []
        for name in required[:1]:
            arguments = {key: value for key, value in call.arguments.items() if key != name}
            return _refused(call, (await survey.call(context, call.tool, arguments)).seen)
    return skipped("no callable tool has a required argument")


PROBES: Final = (
    *map(_wrong_value, _ROWS),
    Probe(
        id="ARGUMENT_INTEGRAL_NUMBER",
        purpose="Checks that 1.0 is accepted as an integer, as JSON Schema requires.",
        expected="a result",
        why="clients in languages with a single number type cannot call the tool",
        run=_integral,
        harm=Harm.WRONG,
        lane=Lane.TOOLS,
    ),
    Probe(
        id="ARGUMENT_UNKNOWN",
        purpose="Checks that an unknown argument is refused.",
        expected="a result with isError, or error -32602",
        why="a misspelled optional argument is silently ignored, and the tool runs with its default",
        run=_unknown,
        lane=Lane.TOOLS,
    ),
    Probe(
        id="ARGUMENT_MISSING",
        purpose="Checks that a missing required argument is refused.",
        expected="a result with isError, or error -32602",
        why="the tool runs without a value that its schema requires",
        run=_missing,
        lane=Lane.TOOLS,
    ),
)
