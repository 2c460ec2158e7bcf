"""Probes that check the results of tool calls: output schema, strict JSON, other valid arguments, and survival."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.contract.conform import compile_schema
from strictwire.contract.schema import SchemaRefused
from strictwire.probe import survey
from strictwire.probe.definition import Evaluation, Lane, Probe, ProbeContext, ToolCall, judged, skipped
from strictwire.probe.harm import Harm
from strictwire.probe.observation import ResponseKind
from strictwire.probe.record import Problem
from strictwire.probe.synthesis import random_arguments

VARIED_TOOLS: Final = 12
VARIED_CALLS: Final = 3
"""Tools that get generated arguments, and calls of each: the fastest tools first, so that a few seconds are enough."""

VARIED_SHARE: Final = 0.3
"""Share of the remaining time that calls with generated arguments may take: other probes follow in the same lane."""

_INTERNAL_ERROR: Final = -32603
_NONE_CALLED: Final = "no tool could be called; declare tools read-only, or allow all calls with --call-anything"


async def _output_schema(context: ProbeContext) -> Evaluation:
    promised = [call for call in context.calls if isinstance(call.tool.get("outputSchema"), dict)]
    if not promised:
        return skipped("no callable tool declares an output schema")
    problems = [_problem(call, text) for call in promised if (text := _find_violation(call))]
    return judged(problems, clean=f"{len(promised)} results conform to their schema")


def _problem(call: ToolCall, got: str) -> Problem:
    return Problem(subject=f"tool {call.name}", got=got)


def _find_violation(call: ToolCall) -> str | None:
    """How a successful result violates the output schema. The schema does not apply to failures."""
    if call.seen.kind is not ResponseKind.RESULT or call.seen.result.get("resultType", "complete") != "complete":
        return None
    if "structuredContent" not in call.seen.result:
        return "success without structuredContent"
    try:
        violations = compile_schema(call.tool["outputSchema"]).find_violations(call.seen.result["structuredContent"])
    except SchemaRefused as exc:
        return str(exc)
    if not violations:
        return None
    first = violations[0]
    wanted = f"{first.keyword} {first.expected}".strip()
    return f"structuredContent{first.path} violates {wanted}, {call.seen.describe()}"


async def _survives(context: ProbeContext) -> Evaluation:
    if not context.calls:
        return skipped(_NONE_CALLED)
    lost = [call for call in context.calls if _is_lost(call)]
    seen = [call.seen for call in lost if call.seen.is_fatal]
    problems = [_problem(call, call.seen.describe()) for call in lost]
    return judged(problems, *seen, clean=f"{len(context.calls)} calls got a response")


def _is_lost(call: ToolCall) -> bool:
    """Whether the call ended the server, or certainly gets no response. A slow call may still get one."""
    is_unanswered = call.seen.kind in (ResponseKind.CLOSED, ResponseKind.SILENCE) and not call.seen.is_slow
    return is_unanswered or call.seen.is_fatal


async def _strict_results(context: ProbeContext) -> Evaluation:
    if not context.calls:
        return skipped(_NONE_CALLED)
    invalid = [_problem(call, call.seen.describe()) for call in context.calls if call.seen.kind is ResponseKind.GARBAGE]
    return judged(invalid, clean=f"{len(context.calls)} responses are strict JSON")


async def _varied(context: ProbeContext) -> Evaluation:
    """Call tools with other valid arguments. A tool error is a response; a crash or an internal error is a finding."""
    end = time.monotonic() + VARIED_SHARE * min(context.deadline - time.monotonic(), context.options.budget)
    made = [
        await survey.call(context, call.tool, arguments)
        for call, arguments in _variations(context)
        if time.monotonic() < end
    ]
    if not made:
        return skipped("no tool could be called with other valid arguments")
    faulty = {call.name: (call, text) for call in made if (text := _find_fault(call))}
    problems = [_problem(call, text) for call, text in faulty.values()]
    seen = [call.seen for call, _ in faulty.values()]
    return judged(problems, *seen, clean=f"{len(made)} calls with generated arguments, seed {context.options.seed}")


def _variations(context: ProbeContext) -> Iterator[tuple[ToolCall, JsonObject]]:
    """Other valid arguments for calls that had a fine result, the fastest tools first."""
    fine = [call for call in context.working_calls() if _find_fault(call) is None]
    for call in sorted(fine, key=lambda call: call.seconds)[:VARIED_TOOLS]:
        for arguments in random_arguments(call.tool["inputSchema"], context.options.seed, VARIED_CALLS):
            if arguments != call.arguments:
                yield call, arguments


def _find_fault(call: ToolCall) -> str | None:
    is_fault = call.seen.kind is ResponseKind.GARBAGE or call.seen.code == _INTERNAL_ERROR or _is_lost(call)
    if is_fault:
        return call.seen.describe()
    return _find_violation(call) if isinstance(call.tool.get("outputSchema"), dict) else None


PROBES: Final = (
    Probe(
        id="OUTPUT_SCHEMA",
        purpose="Checks that structuredContent conforms to the output schema of its tool.",
        expected="every successful result conforms",
        why="clients and models rely on the schema; a NaN that becomes null looks like a valid value",
        run=_output_schema,
        harm=Harm.WRONG,
        lane=Lane.TOOLS,
        compared=False,
    ),
    Probe(
        id="OUTPUT_SURVIVED",
        purpose="Checks that the server responds to every call and keeps running.",
        expected="a response to each call, and the process still runs",
        why="one unusual value, such as a file name that is not UTF-8, stops the server for all clients",
        run=_survives,
        harm=Harm.DROP,
        lane=Lane.TOOLS,
        compared=False,
    ),
    Probe(
        id="OUTPUT_STRICT",
        purpose="Checks that results are strict JSON.",
        expected="UTF-8 JSON without lone surrogates, NaN or duplicate keys",
        why="a strict client cannot parse the response",
        run=_strict_results,
        harm=Harm.WRONG,
        lane=Lane.TOOLS,
        compared=False,
    ),
    Probe(
        id="CALL_VARIED",
        purpose="Checks that calls with generated valid arguments get a valid response.",
        expected="a result that conforms to the output schema, or a tool error",
        why="a value at the bounds of the schema stops the server, or is an internal error for the client",
        run=_varied,
        harm=Harm.WRONG,
        lane=Lane.TOOLS,
        compared=False,
    ),
)
