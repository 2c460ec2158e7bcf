"""The twin in memory keeps what the file would hold."""

from __future__ import annotations

import asyncio

from strictwire.audit.chain import GENESIS, seal_batch
from strictwire.audit.recorder import Recorder
from strictwire.fault.failure import Failure, fail
from strictwire.stores.files.trail import FileTrail
from strictwire.stores.memory.recorder import MemoryRecorder, NoRecorder
from tests.stores.trails import body, call


async def test_the_lines_are_those_of_the_file():
    recorder = MemoryRecorder()
    told: list[Failure | None] = []
    await recorder.record(call("a"))
    recorder.submit(call("b"), told.append)
    recorder.count_malformed("not_json")
    await asyncio.sleep(0)
    expected = seal_batch([body("a"), body("b")], first=0, head=GENESIS)

    assert b"".join(line + b"\n" for line in recorder.lines) == expected.lines
    assert (recorder.events, told) == ([call("a"), call("b")], [None])
    assert recorder.malformed == {"not_json": 1}


async def test_it_refuses_as_told():
    recorder = MemoryRecorder()
    recorder.failure = fail("AUDIT_LOG_FAILED", details={"reason": "disk_full"})

    assert await recorder.record(call("a")) == recorder.failure
    assert recorder.lines == []


async def test_the_recorder_that_records_nothing_says_yes():
    recorder = NoRecorder()
    told: list[Failure | None] = []
    recorder.submit(call("a"), told.append)
    recorder.count_malformed("x")
    await asyncio.sleep(0)

    assert await recorder.record(call("a")) is None
    assert told == [None]


def test_all_three_are_recorders():
    def accept(_recorder: type[Recorder]) -> None:
        """For the type checker."""

    for kind in (FileTrail, MemoryRecorder, NoRecorder):
        accept(kind)
        assert {"record", "submit", "count_malformed", "close"} <= set(dir(kind))
