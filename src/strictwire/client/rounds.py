"""Calls that take several rounds (2026-07-28): the server answers `input_required`, the client calls again with the answers.

`requestState` belongs to the server and is sent back unchanged. A round without questions is repeated after a short wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from strictwire.canon.json import JsonObject
from strictwire.client.errors import NotUnderstood
from strictwire.client.message import RemoteError, Reply, Result
from strictwire.client.questions import Answers, NotAnswered

MAX_ROUNDS: Final = 16
"""Rounds of one call. A server that asks for ever must not occupy the user."""

MAX_QUESTIONS: Final = 16
"""Questions of one round."""

WAIT_SECONDS: Final = 0.5
"""Wait before a round without questions is repeated."""

Send: TypeAlias = Callable[[JsonObject], Awaitable[Reply]]
"""Sends the request with these params. Raises ClientError."""


async def complete_rounds(send: Send, params: JsonObject, answers: Answers) -> Reply:
    """Call until the result is complete. Raises ClientError, InvalidAnswer, and whatever a handler of `answers` raises."""
    current = params
    for _ in range(MAX_ROUNDS):
        reply = await send(current)
        if isinstance(reply, RemoteError) or is_complete(reply):
            return reply
        current = {**params, **await _next_round(reply, answers)}
    raise NotUnderstood(f"the server asks for input more than {MAX_ROUNDS} times")


def is_complete(result: Result) -> bool:
    """Whether the call is done, or became a task. A server of an older revision does not say.

    Raises NotUnderstood: unknown kind of result.
    """
    kind = result.value.get("resultType", "complete")
    if kind not in ("complete", "input_required", "task"):
        raise NotUnderstood("the result has an unknown resultType", result.raw)
    return bool(kind != "input_required")


async def _next_round(result: Result, answers: Answers) -> JsonObject:
    """The members to add to the params. Raises NotUnderstood."""
    questions, state = result.value.get("inputRequests"), result.value.get("requestState")
    if (questions is None and state is None) or (state is not None and not isinstance(state, str)):
        raise NotUnderstood("input_required without valid inputRequests or requestState", result.raw)
    added: JsonObject = {} if state is None else {"requestState": state}
    if not questions:
        await asyncio.sleep(WAIT_SECONDS)
        return added
    if not isinstance(questions, dict) or len(questions) > MAX_QUESTIONS:
        raise NotUnderstood(f"inputRequests is not an object of at most {MAX_QUESTIONS} requests", result.raw)
    return {**added, "inputResponses": await answer_questions(questions, result, answers)}


async def answer_questions(questions: JsonObject, result: Result, answers: Answers) -> JsonObject:
    """The answers to questions of the server, with the same keys. `result` holds them. Raises NotUnderstood."""
    given = await asyncio.gather(*(_answer(each, result, answers) for each in questions.values()))
    return dict(zip(questions, given, strict=True))


async def _answer(question: object, result: Result, answers: Answers) -> JsonObject:
    if not isinstance(question, dict) or not isinstance(question.get("method"), str):
        raise NotUnderstood("an input request has no method", result.raw)
    params = question.get("params", {})
    try:
        return await answers.answer(question["method"], params if isinstance(params, dict) else {})
    except NotAnswered as exc:
        raise NotUnderstood(f"the server asks for input that it may not ask for: {exc.reason}", result.raw) from exc
