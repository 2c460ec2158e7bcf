"""Checks a result against the contract: its type, its questions, its content, its output schema. Pure."""

from __future__ import annotations

from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.contract.conform import Conformer
from strictwire.fault.failure import Failure, fail
from strictwire.gateway.links.errors import protocol_broken
from strictwire.gateway.relayed_call import RelayedCall
from strictwire.profiles.mcp.context import NEEDS
from strictwire.profiles.mcp.modern import ASKING

COMPLETE: Final = "complete"
INPUT_REQUIRED: Final = "input_required"


def find_violation(result: JsonObject, call: RelayedCall) -> Failure | None:
    """The first violation of the contract in a result.

    1. a result type that was not negotiated (UPSTREAM_BROKE)
    2. a question that this client did not declare to answer (UPSTREAM_BROKE)
    3. a tool result without content (OUTPUT_INVALID)
    4. structured content that is missing or does not conform to the output schema (OUTPUT_INVALID)
    """
    if call.request.exchange.revision.modern:
        kind = result.get("resultType", COMPLETE)
        if kind == INPUT_REQUIRED:
            return _find_question_fault(result, call)
        if kind != COMPLETE:
            return None if "extensions" in call.via.capabilities else protocol_broken("result_type")
    return None if call.tool is None else _find_output_fault(result, call.tool.compiled.output)


def _find_question_fault(result: JsonObject, call: RelayedCall) -> Failure | None:
    """Only three methods may be answered with questions, and only with those that the client declared to answer."""
    questions = result.get("inputRequests", {})
    if call.request.method not in ASKING or not isinstance(questions, dict):
        return protocol_broken("input_required")
    for question in questions.values():
        kind = question.get("method") if isinstance(question, dict) else None
        if not isinstance(kind, str) or NEEDS.get(kind) not in call.via.capabilities:
            return protocol_broken("question_not_offered")
    return None


def _find_output_fault(result: JsonObject, promised: Conformer | None) -> Failure | None:
    """OUTPUT_INVALID, if so. A tool's own error need not conform to the output schema."""
    if not isinstance(result.get("content"), list):
        return fail("OUTPUT_INVALID", details={"reason": "content"})
    if promised is None or result.get("isError") is True:
        return None
    if "structuredContent" not in result:
        return fail("OUTPUT_INVALID", details={"reason": "no_structured_content"})
    if promised.accepts(result["structuredContent"]):
        return None
    violations = [each.as_details() for each in promised.find_violations(result["structuredContent"])]
    return fail("OUTPUT_INVALID", details={"violations": violations})
