"""Calls that became tasks (extension `io.modelcontextprotocol/tasks`, 2026-07-28): polls until the task has ended.

Questions of the task are answered with `tasks/update`, each key once. A call that is cancelled cancels its task.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from strictwire.canon.json import JsonObject
from strictwire.client.errors import NotUnderstood
from strictwire.client.message import RemoteError, Reply, Result
from strictwire.client.questions import Answers
from strictwire.client.rounds import MAX_QUESTIONS, MAX_ROUNDS, answer_questions

POLL_SECONDS: Final = 1.0
"""Wait between two polls, where the server does not name one."""

MIN_POLL_SECONDS: Final = 0.02
MAX_POLL_SECONDS: Final = 30.0
"""The waits that a server may ask for."""

Ask: TypeAlias = Callable[[str, JsonObject], Awaitable[Reply]]
"""Sends a request. Raises ClientError."""


def is_task(reply: Reply) -> bool:
    """Whether the server answered a call with a task."""
    return isinstance(reply, Result) and reply.value.get("resultType") == "task"


async def await_task(created: Result, ask: Ask, answers: Answers, cancel: Callable[[JsonObject], None]) -> Reply:
    """The result of the call behind a task, or its error. `cancel` gets the params of `tasks/cancel` if the caller gives up.

    Raises ClientError.
    """
    task_id = created.value.get("taskId")
    if not isinstance(task_id, str):
        raise NotUnderstood("a task without taskId", created.raw)
    target: JsonObject = {"taskId": task_id}
    try:
        return await _poll(created, target, ask, answers)
    except asyncio.CancelledError:
        cancel(target)
        raise


async def _poll(task: Result, target: JsonObject, ask: Ask, answers: Answers) -> Reply:
    answered: set[str] = set()
    while True:
        ended = _ended(task)
        if ended is not None:
            return ended
        given = await _answer(task, answers, answered)
        if given:
            reply = await ask("tasks/update", {**target, "inputResponses": given})
            if isinstance(reply, RemoteError):
                return reply
        await asyncio.sleep(_wait_of(task))
        polled = await ask("tasks/get", target)
        if isinstance(polled, RemoteError):
            return polled
        task = polled


def _ended(task: Result) -> Reply | None:
    """The result or the error of a task that has ended. Raises NotUnderstood: its status is unknown."""
    members = task.value
    match members.get("status"):
        case "working" | "input_required":
            return None
        case "completed" if isinstance(result := members.get("result"), dict):
            return Result(value=result, raw=task.raw)
        case "failed" if isinstance(error := members.get("error"), dict):
            code, text = error.get("code"), error.get("message")
            if type(code) is int and isinstance(text, str):
                return RemoteError(code=code, message=text, data=error.get("data"), raw=task.raw)
        case "cancelled":
            return RemoteError(code=-32603, message="the task was cancelled", data={"code": "CANCELLED"}, raw=task.raw)
    raise NotUnderstood("a task without a valid status, result or error", task.raw)


async def _answer(task: Result, answers: Answers, answered: set[str]) -> JsonObject:
    """Answers to the questions that are new. Raises NotUnderstood: too many of them."""
    questions = task.value.get("inputRequests")
    if not isinstance(questions, dict):
        return {}
    new = {key: question for key, question in questions.items() if key not in answered}
    answered.update(new)
    if len(answered) > MAX_ROUNDS * MAX_QUESTIONS:
        raise NotUnderstood("the task asks for input too often", task.raw)
    return await answer_questions(new, task, answers) if new else {}


def _wait_of(task: Result) -> float:
    milliseconds = task.value.get("pollIntervalMs")
    if not isinstance(milliseconds, int):
        return POLL_SECONDS
    # Clamped as an integer: one of 400 digits has no float.
    return min(max(milliseconds, int(MIN_POLL_SECONDS * 1000)), int(MAX_POLL_SECONDS * 1000)) / 1000
