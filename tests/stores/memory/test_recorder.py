"""The twin in memory keeps what the file would hold."""

from __future__ import annotations

from strictwire.audit.chain import GENESIS, seal_batch
from strictwire.audit.recorder import Recorder
from strictwire.fault.failure import Failure, fail
from strictwire.stores.files.trail import FileTrail
from strictwire.stores.memory.recorder import MemoryRecorder, NoRecorder
from tests.stores.trails import append, body


async def test_the_lines_are_those_of_the_file():
    recorder = MemoryRecorder()
    told = [await append(recorder, "a"), await append(recorder, "b", "c")]
    recorder.count_malformed("not_json")
    expected = seal_batch([body("a"), body("b"), body("c")], first=0, head=GENESIS)

    assert b"".join(line + b"\n" for line in recorder.lines) == expected.lines
    assert [(record["seq"], record["call_id"]) for record in recorder.records] == [(0, "a"), (1, "b"), (2, "c")]
    assert (told, recorder.malformed) == ([None, None], {"not_json": 1})


async def test_a_commit_is_refused_with_the_failure_that_was_set():
    recorder = MemoryRecorder()
    recorder.failure = fail("AUDIT_LOG_FAILED", details={"reason": "disk_full"})

    assert await append(recorder, "a") == recorder.failure
    assert recorder.lines == []


async def test_the_recorder_that_keeps_nothing_accepts_every_commit_at_once():
    recorder = NoRecorder()
    told: list[Failure | None] = []
    recorder.append([body("a")], told.append)
    recorder.count_malformed("x")

    assert told == [None]


def test_all_three_are_recorders():
    def accept(_recorder: type[Recorder]) -> None:
        """For the type checker."""

    for kind in (FileTrail, MemoryRecorder, NoRecorder):
        accept(kind)
        assert {"append", "count_malformed", "close"} <= set(dir(kind))
