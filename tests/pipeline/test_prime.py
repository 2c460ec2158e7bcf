"""A coroutine whose first step is taken early behaves as one that is awaited whole."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from strictwire.pipeline.prime import Primed, begin


async def _at_once(value: object) -> object:
    return value


async def _after_waiting(value: object) -> object:
    await asyncio.sleep(0)
    await asyncio.get_running_loop().run_in_executor(None, lambda: None)
    return value


async def _catches(_value: object) -> object:
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        await asyncio.sleep(0)
        return "caught"
    return "never"


async def _raises(_value: object) -> object:
    raise LookupError("first step")


async def _raises_later(_value: object) -> object:
    await asyncio.sleep(0)
    raise LookupError("second step")


def _not_async() -> object:
    return 1


async def _finish(function: Callable[..., Any], argument: object) -> object:
    begun = begin(function, argument)
    return await begun if isinstance(begun, Primed) else begun


def test_what_returns_in_its_first_step_is_there_at_once() -> None:
    async def main() -> object:
        return begin(_at_once, 7)

    assert asyncio.run(main()) == 7


def test_what_waits_goes_on_when_it_is_awaited() -> None:
    assert asyncio.run(_finish(_after_waiting, 7)) == 7


@pytest.mark.parametrize(("function", "words"), [(_raises, "first step"), (_raises_later, "second step")])
def test_what_raises_raises_where_it_is_awaited(function: Callable[..., Any], words: str) -> None:
    with pytest.raises(LookupError, match=words):
        asyncio.run(_finish(function, 7))


def test_a_function_that_cannot_be_called_so_raises_where_it_is_awaited() -> None:
    with pytest.raises(TypeError):
        asyncio.run(_finish(_not_async, 7))


def test_cancelling_the_task_reaches_the_coroutine() -> None:
    async def main() -> object:
        task = asyncio.ensure_future(_finish(_catches, 7))
        await asyncio.sleep(0)
        task.cancel()
        return await task

    assert asyncio.run(main()) == "caught"


def test_closing_closes_the_coroutine() -> None:
    ended: list[str] = []

    async def waits(_: object) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("closed")

    async def main() -> None:
        begun = begin(waits, 7)
        waiting = begun.__await__()
        waiting.send(None)
        waiting.close()

    asyncio.run(main())
    assert ended == ["closed"]
