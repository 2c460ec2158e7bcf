"""Large arguments are freed soon after their calls have ended, also where a reference cycle has them."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Callable
from typing import Any, cast

from strictwire.pipeline.call import Caller
from strictwire.profiles.endpoint import Deliver, Endpoint, Inbound, Outlet
from strictwire.transport.large_garbage import LARGE, MAX_BYTES, TIMES, LargeGarbage
from strictwire.transport.message_tasks import MessageTasks
from tests.fixtures.live import PATIENCE, StdioProcess, modern
from tests.fixtures.stories import story

MEGABYTE = 1024 * 1024
TEXT = "x" * (3 * MEGABYTE)
CALLS = 60
LIMIT = 120 * MEGABYTE
"""These calls took 345 MB while nothing collected their garbage, and take 50 MB."""

ADD = modern("add", "tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}})


class Machine:
    """A clock, and a collector that takes a known time."""

    def __init__(self, seconds: float) -> None:
        self.now, self.runs = 0.0, 0
        self._seconds = seconds

    def clock(self) -> float:
        return self.now

    def collect(self) -> None:
        self.runs += 1
        self.now += self._seconds


def test_the_collector_runs_after_so_many_bytes_of_large_messages() -> None:
    machine = Machine(0.0)
    garbage = LargeGarbage(machine.clock, machine.collect)
    runs = []
    for size in (LARGE - 1, MAX_BYTES - 1, LARGE - 1, LARGE, MAX_BYTES - 1, LARGE):
        garbage.note(size)
        runs.append(machine.runs)

    assert runs == [0, 0, 0, 1, 1, 2]


def test_a_collector_that_is_slow_runs_seldom() -> None:
    machine = Machine(1.0)
    garbage = LargeGarbage(machine.clock, machine.collect)
    runs = []
    for now in (0.0, 2.0, TIMES, TIMES + 1.0):
        machine.now = now
        garbage.note(MAX_BYTES)
        runs.append(machine.runs)

    assert runs == [1, 1, 1, 2]


def test_a_collector_that_is_switched_off_stays_off() -> None:
    machine = Machine(0.0)
    gc.disable()
    try:
        LargeGarbage(machine.clock, machine.collect).note(MAX_BYTES)
    finally:
        gc.enable()

    assert machine.runs == 0


def test_cycles_that_a_handler_leaves_behind_keep_few_arguments() -> None:
    with StdioProcess("hard:server") as server:
        server.ask(ADD)
        before = server.memory()
        for number in range(CALLS):
            server.ask(modern(number, "tools/call", {"name": "fail_in_a_group", "arguments": {"text": TEXT}}))

        assert server.memory() - before < LIMIT


class Waiting:
    """An endpoint that waits until it is cancelled. Like that of MCP, it knows the task that runs it."""

    large: weakref.ref[Large]

    async def serve(self, inbound: Inbound, outlet: Outlet, deliver: Deliver) -> None:
        exchange = Large(task=asyncio.current_task())
        self.large = weakref.ref(exchange)
        await asyncio.Event().wait()


@story
async def test_a_cancelled_call_keeps_no_arguments() -> None:
    """Not even until the garbage collector runs."""
    endpoint, replies = Waiting(), list[object]()
    inbound = Inbound(body=b"{}", transport="memory", caller=Caller())
    gc.collect()
    gc.disable()
    try:
        task = MessageTasks().start(cast("Endpoint", endpoint), inbound, cast("Outlet", None), replies.append)
        await asyncio.sleep(0)
        task.cancel()
        del task
        await until(lambda: replies == [None])
        await until(lambda: endpoint.large() is None)
    finally:
        gc.enable()


async def until(happened: Callable[[], bool]) -> None:
    """Give the event loop turns until something has happened."""
    async with asyncio.timeout(PATIENCE):
        while not happened():
            await asyncio.sleep(0)


class Large(dict[str, Any]):
    """A mapping that can be referred to weakly."""
