"""Malformed input becomes one record per interval."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from strictwire.audit.recorder import Done
from strictwire.canon.json import JsonObject, parse_object
from strictwire.fault.failure import Failure, fail
from strictwire.stores.floods import FloodCounter
from tests.stores.trails import stamp


class Committed:
    """Takes commits; refuses them while `failure` is set."""

    def __init__(self) -> None:
        self.counts: list[JsonObject] = []
        self.failure: Failure | None = None
        self.asked = asyncio.Event()

    def append(self, bodies: Sequence[bytes], done: Done) -> None:
        if self.failure is None:
            self.counts += [parse_object(body)["counts"] for body in bodies]
        self.asked.set()
        done(self.failure)


async def test_the_counts_of_an_interval_are_one_record():
    committed = Committed()
    floods = FloodCounter(committed.append, interval=0.0, stamp=stamp)
    for _ in range(5_000):
        floods.count("not_json")
    async with asyncio.timeout(10):
        await committed.asked.wait()
    floods.count("too_large")
    floods.flush()
    floods.flush()

    assert committed.counts == [{"not_json": 5_000}, {"too_large": 1}]


async def test_counts_that_could_not_be_recorded_are_in_the_next_record():
    committed = Committed()
    committed.failure = fail("AUDIT_LOG_FAILED")
    floods = FloodCounter(committed.append, interval=0.0, stamp=stamp)
    floods.count("not_json")
    async with asyncio.timeout(10):
        await committed.asked.wait()
        floods.count("not_json")
        committed.failure = None
        committed.asked.clear()
        await committed.asked.wait()

    assert committed.counts == [{"not_json": 2}]


async def test_nothing_is_recorded_while_nothing_is_counted():
    committed = Committed()
    FloodCounter(committed.append, interval=0.0, stamp=stamp).flush()

    assert committed.counts == []
