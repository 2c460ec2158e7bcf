"""Transition: events on top of `append`. Deleted with the adapter."""

from __future__ import annotations

import asyncio

import pytest

from strictwire.fault.failure import Failure, fail
from strictwire.pipeline.soon import soon_of
from strictwire.stores.memory.recorder import MemoryRecorder, NoRecorder
from tests.stores.trails import call


async def test_events_of_one_turn_are_one_commit_and_told_after_submit_returned(monkeypatch: pytest.MonkeyPatch):
    recorder, commits = MemoryRecorder(), list[int]()
    commit = recorder.append
    monkeypatch.setattr(recorder, "append", lambda bodies, done: (commits.append(len(bodies)), commit(bodies, done)))
    told: list[Failure | None] = []
    with soon_of(asyncio.get_running_loop()):
        for name in "abc":
            recorder.submit(call(name), told.append)
        assert told == []

    assert (told, commits, recorder.events) == ([None] * 3, [3], [call("a"), call("b"), call("c")])


async def test_a_failure_is_told_to_each_of_them():
    recorder = MemoryRecorder()
    recorder.failure = fail("AUDIT_LOG_FAILED")

    assert await asyncio.gather(*(recorder.record(call(name)) for name in "ab")) == [recorder.failure] * 2
    assert recorder.events == []
    assert await NoRecorder().record(call("a")) is None
