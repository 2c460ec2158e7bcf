"""Calls that become tasks: the client waits, answers and cancels as for any other call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from strictwire import Client, Context, NotFound, Server, TaskPolicy, ToolFailed
from strictwire.client import tasks
from strictwire.client.errors import NotUnderstood, RequestFailed
from strictwire.client.message import RemoteError, Result
from strictwire.client.questions import Answers
from strictwire.client.tasks import await_task

T = TypeVar("T")
QUICK = TaskPolicy(required=True, poll_ms=20)


def made(ended: list[str]) -> Server:
    server = Server("jobs", version="1")

    @server.tool(safety="read-only", task=QUICK)
    async def add(a: int, b: int) -> int:
        """Adds."""
        await asyncio.sleep(0.01)
        return a + b

    @server.tool(task=QUICK)
    async def miss() -> str:
        """Fails."""
        raise NotFound("note 7")

    @server.tool(task=QUICK)
    async def ask(ctx: Context) -> str:
        """Asks."""
        form = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
        return str((await ctx.elicit("Which?", form)).content)

    @server.tool(task=QUICK)
    async def hold(ctx: Context) -> str:
        """Waits, once it has the answer to a question: then the client knows the task."""
        await ctx.elicit("Which?", {"type": "object"})
        ended.append("began")
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append("cancelled")
        return "never"

    return server


def use(act: Callable[[Client], Awaitable[T]], ended: list[str] | None = None, **options: Any) -> T:
    async def main() -> T:
        async with asyncio.timeout(30), Client(made([] if ended is None else ended), **options) as client:
            return await act(client)

    return asyncio.run(main())


def test_a_task_has_the_result_of_its_call() -> None:
    async def act(client: Client) -> int:
        return await client.call_tool("add", {"a": 1, "b": 2}, returns=int)

    assert use(act, tasks=True) == 3


def test_a_task_that_fails_raises_as_a_call_does() -> None:
    async def act(client: Client) -> str:
        with pytest.raises(ToolFailed) as caught:
            await client.call_tool("miss")
        return caught.value.failure.code

    assert use(act, tasks=True) == "NOT_FOUND"


def test_questions_of_a_task_are_answered() -> None:
    async def act(client: Client) -> str:
        return (await client.call_tool("ask")).text

    assert use(act, tasks=True, on_elicit=lambda _: {"n": 7}) == "{'n': 7}"


def test_cancelling_the_call_cancels_the_task() -> None:
    steps: list[str] = []

    async def act(client: Client) -> None:
        call = asyncio.create_task(client.call_tool("hold"))
        while not steps:
            await asyncio.sleep(0.005)
        call.cancel()
        while "cancelled" not in steps:
            await asyncio.sleep(0.005)

    use(act, steps, tasks=True, on_elicit=lambda _: {})

    assert steps[-1] == "cancelled"


def test_without_the_option_the_client_does_not_declare_tasks() -> None:
    async def act(client: Client) -> str:
        with pytest.raises(RequestFailed) as caught:
            await client.call_tool("add", {"a": 1, "b": 2})
        return caught.value.failure.code

    assert use(act) == "MISSING_CAPABILITY"


def polled(*answers: dict[str, Any]) -> Any:
    """What a task with these polls comes to."""
    created, *rest = (Result(value={"taskId": "t", "pollIntervalMs": 1, **each}, raw=b"") for each in answers)
    polls = iter(rest)

    async def ask(_method: str, _params: Any) -> Any:
        return next(polls)

    return asyncio.run(await_task(created, ask, Answers(), lambda _: None))


def test_what_a_task_comes_to() -> None:
    working = {"status": "working"}

    assert polled(working, {"status": "completed", "result": {"x": 1}}) == Result(value={"x": 1}, raw=b"")
    failed = polled(working, {"status": "failed", "error": {"code": 5, "message": "m", "data": 1}})
    assert failed == RemoteError(code=5, message="m", data=1)
    assert polled({"status": "cancelled"}).data == {"code": "CANCELLED"}


@pytest.mark.parametrize(
    "task",
    [
        {"status": "odd"},
        {"status": "completed"},
        {"status": "failed", "error": {"code": "5"}},
        {"status": "working", "taskId": 7},
        {"status": "input_required", "inputRequests": {"k": {"method": "roots/list"}}},
    ],
)
def test_a_malformed_task_is_not_understood(task: dict[str, Any]) -> None:
    with pytest.raises(NotUnderstood):
        polled(task)


def test_a_wait_of_four_hundred_digits_is_clamped() -> None:
    created = Result(value={"pollIntervalMs": 10**400}, raw=b"")

    assert tasks._wait_of(created) == tasks.MAX_POLL_SECONDS
