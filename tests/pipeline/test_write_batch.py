"""Records that are committed together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from strictwire.audit.recorder import Done
from strictwire.pipeline.write_batch import WriteBatch
from strictwire.stores.memory.recorder import MemoryRecorder


class Committing(MemoryRecorder):
    """Notes what is committed together."""

    def __init__(self) -> None:
        super().__init__()
        self.commits: list[list[bytes]] = []

    def append(self, bodies: Sequence[bytes], done: Done) -> None:
        self.commits.append(list(bodies))
        done(None)


def test_records_of_one_block_and_of_one_turn_of_the_event_loop_are_committed_together() -> None:
    async def main() -> list[list[bytes]]:
        recorder = Committing()
        batch = WriteBatch(recorder)
        with batch:
            batch.add_record(b"1", lambda _failure: None)
            batch.add_record(b"2", lambda _failure: None)
        batch.add_record(b"3", lambda _failure: None)
        batch.add_record(b"4", lambda _failure: None)
        await asyncio.sleep(0)
        return recorder.commits

    assert asyncio.run(main()) == [[b"1", b"2"], [b"3", b"4"]]


def test_a_record_that_is_added_while_answers_leave_is_committed_too() -> None:
    """Over HTTP, the answer to a request lets the one that was pipelined behind it run."""

    async def main() -> list[list[bytes]]:
        recorder = Committing()
        batch = WriteBatch(recorder)
        batch.add_record(b"1", lambda _failure: batch.add_record(b"2", lambda _failure: None))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return recorder.commits

    assert asyncio.run(main()) == [[b"1"], [b"2"]]
