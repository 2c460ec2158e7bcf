"""Answers of clients to questions of handlers: which capability a question needs, and whether an answer is accepted.

The same rules hold in both eras and in tasks. An answer that is not accepted is asked for again with the reason, a few
times; then the call fails with ANSWER_INVALID. Not here: how a question reaches the client (`modern`, `legacy`, `tasks`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.contract.conform import compile_schema
from strictwire.contract.handler import Ask
from strictwire.fault.failure import Failure, Refused, fail
from strictwire.fault.violations import read_violations

NEEDS: Final[Mapping[str, str]] = MappingProxyType(
    {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}
)
"""The client capability behind each question."""

MAX_ASKED: Final[Mapping[str, int]] = MappingProxyType(
    {"elicitation/create": 3, "sampling/createMessage": 1, "roots/list": 1}
)
"""How often one question is sent. A person can correct a form; a model or a program would only answer the same again."""

_ACTIONS: Final = ("accept", "decline", "cancel")
_ROLES: Final = ("user", "assistant")
"""Tuples, not sets: a client may send an object or an array here, which no set can be asked for."""

_ITEMS: Final[Mapping[str, Mapping[str, type]]] = MappingProxyType(
    {
        "text": {"text": str},
        "image": {"data": str, "mimeType": str},
        "audio": {"data": str, "mimeType": str},
        "tool_use": {"id": str, "name": str, "input": dict},
    }
)
"""The content items of a model's answer, and the members that each must have."""


def check_capabilities(questions: Mapping[str, Ask], capabilities: Mapping[str, JsonValue]) -> None:
    """Raises Refused(MISSING_CAPABILITY): a question that the client did not say it can answer."""
    missing = {NEEDS[ask.method] for ask in questions.values()} - capabilities.keys()
    if missing:
        details: JsonObject = {"requiredCapabilities": {name: {} for name in sorted(missing)}}
        raise Refused(fail("MISSING_CAPABILITY", details=details))
    sampling = capabilities.get("sampling")
    if any("tools" in ask.params for ask in questions.values()) and not (isinstance(sampling, dict) and "tools" in sampling):
        raise Refused(fail("MISSING_CAPABILITY", details={"requiredCapabilities": {"sampling": {"tools": {}}}}))


def is_usable(answer: object, ask: Ask) -> bool:
    """Whether an answer has the shape of its question: enough for the guard, whose upstream validates the rest."""
    if not isinstance(answer, dict):
        return False
    if ask.method == "elicitation/create":
        has_content = isinstance(answer.get("content"), dict)
        return answer.get("action") in _ACTIONS and (has_content or not _is_filled_form(answer, ask))
    if ask.method == "sampling/createMessage":
        return "content" in answer and "role" in answer
    return isinstance(answer.get("roots"), list)


def _is_filled_form(answer: JsonObject, ask: Ask) -> bool:
    return answer.get("action") == "accept" and ask.params.get("mode", "form") == "form"


def _is_message(answer: JsonObject, *, has_tools: bool) -> bool:
    content = answer.get("content")
    items = content if isinstance(content, list) else [content]
    return (
        answer.get("role") in _ROLES
        and isinstance(answer.get("model"), str)
        and isinstance(answer.get("stopReason", ""), str)
        and all(_is_item(each, has_tools=has_tools) for each in items)
    )


def _is_item(item: object, *, has_tools: bool) -> bool:
    if not isinstance(item, dict):
        return False
    members = _ITEMS.get(str(item.get("type")))
    if members is None or (item["type"] == "tool_use" and not has_tools):
        return False
    return all(isinstance(item.get(name), kind) for name, kind in members.items())


def find_answer_fault(answer: object, ask: Ask) -> Failure | None:
    """ANSWER_INVALID: the answer has the wrong shape, or violates the requested schema or a rule of its type."""
    if not isinstance(answer, dict) or not is_usable(answer, ask):
        return _malformed(ask)
    if ask.method == "sampling/createMessage":
        return None if _is_message(answer, has_tools="tools" in ask.params) else _malformed(ask)
    if ask.method == "elicitation/create" and _is_filled_form(answer, ask):
        return _find_content_fault(answer["content"], ask)
    return None


def _malformed(ask: Ask) -> Failure:
    return fail("ANSWER_INVALID", details={"reason": "malformed", "method": ask.method})


def _find_content_fault(content: JsonObject, ask: Ask) -> Failure | None:
    conformer = compile_schema(ask.params.get("requestedSchema", {}))
    if not conformer.accepts(content):
        violations: list[JsonValue] = [each.as_details() for each in conformer.find_violations(content)]
        return fail("ANSWER_INVALID", details={"violations": violations})
    try:
        if ask.read is not None:
            ask.read(content)
    except Refused as exc:
        return fail("ANSWER_INVALID", details={"violations": exc.failure.details.get("violations", [])})
    return None


def with_reason(ask: Ask, fault: Failure) -> Ask:
    """The same question, which says why the last answer was not accepted."""
    reasons = "; ".join(each.sentence for each in read_violations(fault))
    if ask.method != "elicitation/create" or not reasons:
        return ask
    message = f"{ask.params.get('message', '')}\n\nThe last answer was not accepted: {reasons}."
    return replace(ask, params={**ask.params, "message": message})


async def ask_until_accepted(put: Callable[[Ask], Awaitable[object]], ask: Ask) -> JsonObject:
    """Put a question until its answer is accepted, at most MAX_ASKED times. Raises Refused(ANSWER_INVALID)."""
    attempt, fault = ask, _malformed(ask)
    for _ in range(MAX_ASKED[ask.method]):
        answer = await put(attempt)
        found = find_answer_fault(answer, ask)
        if found is None and isinstance(answer, dict):
            return answer
        fault = found or fault
        attempt = with_reason(ask, fault)
    raise Refused(fault)
