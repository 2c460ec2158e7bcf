"""Whether a result keeps the contract: its type, its questions, its content, its output schema. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.message import header_value
from strictwire.fault.failure import Failure, fail
from strictwire.gateway.terms import broke
from strictwire.pipeline.call import Call, Kind
from strictwire.pipeline.compiled import CompiledTool
from strictwire.profiles.mcp.context import NEEDS
from strictwire.profiles.mcp.modern import ASKING
from strictwire.wire.revisions import Revision

COMPLETE: Final = "complete"
INPUT_REQUIRED: Final = "input_required"


def find_fault(
    result: JsonObject, tool: CompiledTool, call: Call, revision: Revision, capabilities: Mapping[str, JsonValue]
) -> Failure | None:
    """The first way in which a result breaks the contract.

    1. a result type that was not negotiated (UPSTREAM_BROKE)
    2. a question that this client did not offer to answer (UPSTREAM_BROKE)
    3. a tool result without content (OUTPUT_INVALID)
    4. structured content that is missing or does not fit the output schema (OUTPUT_INVALID)
    """
    if revision.modern:
        kind = result.get("resultType", COMPLETE)
        if kind == INPUT_REQUIRED:
            return find_question_fault(result, call.method, capabilities)
        if kind != COMPLETE:
            return None if "extensions" in capabilities else broke("result_type")
    return find_output_fault(result, tool) if tool.kind is Kind.TOOL else None


def find_question_fault(result: JsonObject, method: str, capabilities: Mapping[str, JsonValue]) -> Failure | None:
    """Questions may be asked on three methods, and only those that the client declared it can answer."""
    questions = result.get("inputRequests", {})
    if method not in ASKING or not isinstance(questions, dict):
        return broke("input_required")
    for question in questions.values():
        asked = question.get("method") if isinstance(question, dict) else None
        if not isinstance(asked, str) or NEEDS.get(asked) not in capabilities:
            return broke("question_not_offered")
    return None


def find_output_fault(result: JsonObject, tool: CompiledTool) -> Failure | None:
    """A tool's own error need not fit its output schema."""
    if not isinstance(result.get("content"), list):
        return fail("OUTPUT_INVALID", details={"reason": "content"})
    promises = tool.output
    if promises is None or result.get("isError") is True:
        return None
    if "structuredContent" not in result:
        return fail("OUTPUT_INVALID", details={"reason": "no_structured_content"})
    if promises.accepts(result["structuredContent"]):
        return None
    violations = [each.as_details() for each in promises.find_violations(result["structuredContent"])]
    return fail("OUTPUT_INVALID", details={"violations": violations})


def argument_at(arguments: Any, path: tuple[str, ...]) -> str | int | bool | None:
    """The annotated argument, if it is one that a header can repeat."""
    for name in path:
        arguments = arguments.get(name) if isinstance(arguments, dict) else None
    return arguments if isinstance(arguments, str | int | bool) else None


def header_text(value: str | bool | int) -> str:
    """An argument as the value of its header."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return header_value(value if isinstance(value, str) else str(value))
