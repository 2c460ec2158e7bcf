"""Probes of what tools give back: their own output schema, JSON that can carry it, and a server that survives it."""

from __future__ import annotations

from typing import Final

from strictwire.contract.conform import compile_schema
from strictwire.contract.schema import SchemaRefused
from strictwire.probe.bench import Bench, Called, Judged, Probe, found, passed, skipped
from strictwire.probe.observation import Kind

_NONE_CALLED: Final = "no tool could be called; mark tools read-only or name them with --tool"


async def _output_schema(bench: Bench) -> Judged:
    promised = [call for call in bench.calls if isinstance(call.tool.get("outputSchema"), dict)]
    if not promised:
        return skipped("no callable tool declares an output schema")
    broken = [text for call in promised if (text := _find_breach(call))]
    return found(got="; ".join(broken)) if broken else passed(got=f"{len(promised)} tools keep their output schema")


def _find_breach(call: Called) -> str | None:
    """How a success breaks the promise; the schema does not bind failures."""
    if call.seen.kind is not Kind.RESULT or call.seen.result.get("resultType", "complete") != "complete":
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
    return f"tool {call.name}: structuredContent{first.path} breaks {wanted}, {call.seen.describe()}"


async def _survives(bench: Bench) -> Judged:
    if not bench.calls:
        return skipped(_NONE_CALLED)
    deadly = [call for call in bench.calls if call.seen.kind in (Kind.CLOSED, Kind.SILENCE) or call.seen.note]
    shown = "; ".join(f"tool {call.name}: {call.seen.describe()}" for call in deadly)
    return found(got=shown) if deadly else passed(got=f"{len(bench.calls)} calls answered")


async def _strict_results(bench: Bench) -> Judged:
    if not bench.calls:
        return skipped(_NONE_CALLED)
    bent = [call for call in bench.calls if call.seen.kind is Kind.GARBAGE]
    shown = "; ".join(f"tool {call.name}: {call.seen.describe()}" for call in bent)
    return found(got=shown) if bent else passed(got=f"{len(bench.calls)} answers are strict JSON")


PROBES: Final = (
    Probe(
        id="OUTPUT_SCHEMA",
        purpose="Checks that structuredContent fits the output schema of its tool.",
        expected="every success fits",
        why="clients and models are told a shape that does not come; NaN becomes null and looks like an answer",
        judge=_output_schema,
        compared=False,
    ),
    Probe(
        id="OUTPUT_SURVIVED",
        purpose="Checks that the server answers every call and outlives it.",
        expected="an answer to each call, and the process still runs",
        why="one odd value, such as a file name that is not UTF-8, ends the server for everybody",
        judge=_survives,
        compared=False,
    ),
    Probe(
        id="OUTPUT_STRICT",
        purpose="Checks that results are strict JSON.",
        expected="UTF-8 JSON without lone surrogates, NaN or duplicate keys",
        why="a strict client cannot read the answer",
        judge=_strict_results,
        compared=False,
    ),
)
