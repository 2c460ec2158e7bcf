"""Probes that check the results of tool calls: output schema, strict JSON, and that the server survives."""

from __future__ import annotations

from typing import Final

from strictwire.contract.conform import compile_schema
from strictwire.contract.schema import SchemaRefused
from strictwire.probe.definition import Evaluation, Probe, ProbeContext, ToolCall, found, passed, skipped
from strictwire.probe.observation import ResponseKind

_NONE_CALLED: Final = "no tool could be called; mark tools read-only, or give arguments with --tool"


async def _output_schema(context: ProbeContext) -> Evaluation:
    promised = [call for call in context.calls if isinstance(call.tool.get("outputSchema"), dict)]
    if not promised:
        return skipped("no callable tool declares an output schema")
    violations = [text for call in promised if (text := _find_violation(call))]
    return found(got="; ".join(violations)) if violations else passed(got=f"{len(promised)} results conform to their schema")


def _find_violation(call: ToolCall) -> str | None:
    """How a successful result violates the output schema. The schema does not apply to failures."""
    if call.seen.kind is not ResponseKind.RESULT or call.seen.result.get("resultType", "complete") != "complete":
        return None
    if "structuredContent" not in call.seen.result:
        return f"tool {call.name}: success without structuredContent"
    try:
        violations = compile_schema(call.tool["outputSchema"]).find_violations(call.seen.result["structuredContent"])
    except SchemaRefused as exc:
        return f"tool {call.name}: {exc}"
    if not violations:
        return None
    first = violations[0]
    wanted = f"{first.keyword} {first.expected}".strip()
    return f"tool {call.name}: structuredContent{first.path} violates {wanted}, {call.seen.describe()}"


async def _survives(context: ProbeContext) -> Evaluation:
    if not context.calls:
        return skipped(_NONE_CALLED)
    fatal = [
        call for call in context.calls if call.seen.kind in (ResponseKind.CLOSED, ResponseKind.SILENCE) or call.seen.note
    ]
    shown = "; ".join(f"tool {call.name}: {call.seen.describe()}" for call in fatal)
    return found(got=shown) if fatal else passed(got=f"{len(context.calls)} calls got a response")


async def _strict_results(context: ProbeContext) -> Evaluation:
    if not context.calls:
        return skipped(_NONE_CALLED)
    invalid = [call for call in context.calls if call.seen.kind is ResponseKind.GARBAGE]
    shown = "; ".join(f"tool {call.name}: {call.seen.describe()}" for call in invalid)
    return found(got=shown) if invalid else passed(got=f"{len(context.calls)} responses are strict JSON")


PROBES: Final = (
    Probe(
        id="OUTPUT_SCHEMA",
        purpose="Checks that structuredContent conforms to the output schema of its tool.",
        expected="every successful result conforms",
        why="clients and models rely on the schema; a NaN that becomes null looks like a valid value",
        run=_output_schema,
        compared=False,
    ),
    Probe(
        id="OUTPUT_SURVIVED",
        purpose="Checks that the server responds to every call and keeps running.",
        expected="a response to each call, and the process still runs",
        why="one unusual value, such as a file name that is not UTF-8, stops the server for all clients",
        run=_survives,
        compared=False,
    ),
    Probe(
        id="OUTPUT_STRICT",
        purpose="Checks that results are strict JSON.",
        expected="UTF-8 JSON without lone surrogates, NaN or duplicate keys",
        why="a strict client cannot parse the response",
        run=_strict_results,
        compared=False,
    ),
)
