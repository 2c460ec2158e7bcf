"""The recorder: group commit, callers that leave, schedules, failures."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from strictwire.audit.event import Values
from strictwire.audit.merkle import HASH_BYTES, stored_count
from strictwire.fault.failure import Failure
from strictwire.pipeline.soon import soon_of
from strictwire.stores.fault import LogFault
from strictwire.stores.files.config import TrailConfig
from strictwire.stores.files.disk import FolderDisk
from strictwire.stores.files.keys import read_public_key
from strictwire.stores.files.layout import HASHES
from strictwire.stores.files.lock import LOCK_NAME
from strictwire.stores.files.state import FRESH_RECORDS
from strictwire.stores.files.trail import ENOUGH, GATHER_SECONDS, FileTrail, open_trail
from strictwire.stores.files.verify import verify_trail
from strictwire.stores.schedule import Mode, Schedule
from tests.stores.trails import HandClock, Machine, call, call_ids, records_of, remove_folder, trail_in


@asynccontextmanager
async def recorder_on(
    machine: Machine, *, mode: Mode = Mode.SYNC, schedule: Schedule | None = None, clock: HandClock | None = None
) -> AsyncIterator[FileTrail]:
    recorder = FileTrail(
        machine.log(),
        mode=mode,
        values=Values.DIGESTED,
        schedule=schedule or Schedule(quick_seconds=0.0),
        clock=(clock or HandClock()).clock,
    )
    try:
        async with asyncio.timeout(10):
            yield recorder
    finally:
        await recorder.close()


class Gate:
    """Holds the disk's syncs back until it is opened."""

    def __init__(self, machine: Machine, what: str = "sync") -> None:
        self.reached = threading.Event()
        self._open = threading.Event()
        step = machine.disk.step

        def waiting(kind: str, change: Callable[[], object], size: int = 0) -> None:
            if kind == what:
                self.reached.set()
                assert self._open.wait(10)
            step(kind, change, size)

        machine.disk.step = waiting

    def open(self) -> None:
        self._open.set()


async def _until(event: threading.Event) -> None:
    assert await asyncio.to_thread(event.wait, 10)


async def _eventually(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.001)


@pytest.mark.clause("S7")
async def test_a_record_is_on_disk_when_record_returns(tmp_path: Path):
    trail = trail_in(tmp_path)
    recorder = await open_trail(trail)
    failure = await recorder.record(call("a"))

    assert failure is None
    assert call_ids(records_of(FolderDisk(trail.folder))) == ["a"]
    await recorder.close()


@pytest.mark.clause("S7")
async def test_no_answer_leaves_before_its_record_is_synced():
    machine = Machine()
    async with recorder_on(machine) as recorder:
        gate = Gate(machine)
        task = asyncio.create_task(recorder.record(call("a")))
        await _until(gate.reached)
        assert not task.done()
        gate.open()

        assert await task is None


async def test_records_that_come_together_share_one_sync():
    machine = Machine()
    async with recorder_on(machine) as recorder:
        await recorder.record(call("first"))
        machine.disk.calls.clear()
        gate = Gate(machine)
        early = asyncio.create_task(recorder.record(call("early")))
        await _until(gate.reached)
        late = [asyncio.create_task(recorder.record(call(f"call {number}"))) for number in range(32)]
        await asyncio.sleep(0)
        gate.open()

        assert [await task for task in (early, *late)] == [None] * 33
        done = [what for what, _ in machine.disk.calls]
        assert (done.count("write"), done.count("sync")) == (2, 2), "one write and one sync for all that come together"


async def test_a_caller_that_leaves_in_mid_commit_does_not_stop_the_others():
    machine = Machine()
    async with recorder_on(machine) as recorder:
        gate = Gate(machine)
        leaving = [asyncio.create_task(recorder.record(call(f"leaving {number}"))) for number in range(8)]
        await _until(gate.reached)
        staying = asyncio.create_task(recorder.record(call("staying")))
        await asyncio.sleep(0)
        for task in leaving:
            task.cancel()
        await asyncio.gather(*leaving, return_exceptions=True)
        gate.open()

        assert await staying is None
        assert await recorder.record(call("later")) is None
    assert call_ids(machine.records())[-2:] == ["staying", "later"]


async def test_submit_tells_on_the_loop_and_after_it_returned():
    machine = Machine()
    told: list[Failure | None] = []
    async with recorder_on(machine) as recorder:
        loop_thread = threading.current_thread()
        threads: list[threading.Thread] = []
        recorder.submit(call("a"), lambda failure: (told.append(failure), threads.append(threading.current_thread())))
        assert told == []
        await _eventually(lambda: bool(told))

    assert (told, threads) == ([None], [loop_thread])


async def test_a_callback_that_raises_does_not_keep_the_others_from_theirs():
    machine = Machine()
    told: list[Failure | None] = []
    problems: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: problems.append(context["exception"]))
    async with recorder_on(machine) as recorder:
        recorder.submit(call("a"), lambda _failure: 1 / 0)
        recorder.submit(call("b"), told.append)
        await _eventually(lambda: bool(told))

    assert told == [None]
    assert [type(problem) for problem in problems] == [ZeroDivisionError]


@pytest.mark.clause("S7")
@pytest.mark.parametrize(("error", "reason"), [(errno.ENOSPC, "disk_full"), (errno.EROFS, "read_only")])
async def test_a_record_that_cannot_be_written_is_told_and_the_next_one_goes_well(error: int, reason: str):
    machine = Machine()
    async with recorder_on(machine) as recorder:
        await recorder.record(call("a"))
        machine.disk.refusal = error
        failure = await recorder.record(call("lost"))
        trouble = recorder.trouble
        machine.disk.refusal = None

        assert failure is not None
        assert (failure.code, dict(failure.details), failure.retryable) == ("AUDIT_LOG_FAILED", {"reason": reason}, True)
        assert trouble == failure
        assert await recorder.record(call("b")) is None
        assert recorder.trouble is None
    assert call_ids(machine.records()) == ["a", "b"]


async def test_a_deleted_folder_is_told_over_the_recorder_too(tmp_path: Path):
    trail = trail_in(tmp_path)
    recorder = await open_trail(trail)
    await recorder.record(call("a"))
    remove_folder(trail.folder)
    failure = await recorder.record(call("lost"))
    trail.folder.mkdir()
    again = await recorder.record(call("b"))
    await recorder.close()

    assert failure is not None
    assert failure.details["reason"] == "folder_missing"
    assert again is None
    assert call_ids(records_of(FolderDisk(trail.folder))) == ["a", "b"]
    assert _verify(trail)


async def test_after_closing_a_record_is_refused():
    machine = Machine()
    async with recorder_on(machine) as recorder:
        pass
    failure = await recorder.record(call("late"))
    await recorder.close()

    assert failure is not None
    assert failure.details["reason"] == "closed"


async def test_closing_writes_what_waits_and_signs_for_it():
    machine = Machine()
    async with recorder_on(machine) as recorder:
        tasks = [asyncio.create_task(recorder.record(call(f"call {number}"))) for number in range(10)]
        await asyncio.sleep(0)

    assert [await task for task in tasks] == [None] * 10
    assert machine.verify().signed == 10


async def test_a_checkpoint_is_signed_after_so_many_records():
    machine = Machine()
    async with recorder_on(machine, schedule=Schedule(checkpoint_records=3, quick_seconds=0.0)) as recorder:
        for number in range(7):
            await recorder.record(call(f"call {number}"))
        await _eventually(lambda: 7 - machine.verify().signed < 3)


async def test_on_a_quick_disk_calls_that_keep_coming_share_a_sync():
    machine = Machine()
    async with recorder_on(machine, schedule=Schedule(quick_seconds=60.0)) as recorder:
        await recorder.record(call("opens the log"))
        await recorder.record(call("shows that the disk is quick"))
        machine.disk.calls.clear()
        tasks = []
        _find_more()
        for turn in range(3):
            tasks += [asyncio.create_task(recorder.record(call(f"{turn} {number}"))) for number in range(2)]
            await asyncio.sleep(0)

        assert [await task for task in tasks] == [None] * 6
        assert [what for what, _ in machine.disk.calls].count("sync") == 1


def _find_more() -> None:
    """Have the event loop tell that every turn found something, as it does while messages come."""

    class Busy:
        found = 1

    soon_of(asyncio.get_running_loop()).look = Busy()


async def _record_each_turn(recorder: FileTrail, clock: HandClock, *, turns: int, each: int, seconds: float) -> list[int]:
    """Records so many in every turn of the event loop, which take so long; how many were kept after each turn."""
    kept: list[Failure | None] = []
    after = []
    for _ in range(turns):
        for number in range(each):
            recorder.submit(call(f"call {number}"), kept.append)
        clock.now += seconds
        await asyncio.sleep(0)
        after.append(len(kept))
    return after


@pytest.mark.parametrize("mode", [Mode.SYNC, Mode.BATCHED])
@pytest.mark.parametrize(
    ("each", "seconds", "expected"),
    [
        pytest.param(2, 0.0, [0] * 6, id="as long as more come"),
        pytest.param(2, GATHER_SECONDS / 2, [0, 0, 6, 6, 6, 12], id="but not too long"),
        pytest.param(ENOUGH // 2, 0.0, [0, ENOUGH, ENOUGH, 2 * ENOUGH, 2 * ENOUGH, 3 * ENOUGH], id="and not too many"),
    ],
)
async def test_records_wait_for_others_that_come_at_once(mode: Mode, each: int, seconds: float, expected: list[int]):
    machine, clock = Machine(), HandClock()
    async with recorder_on(machine, mode=mode, schedule=Schedule(quick_seconds=60.0), clock=clock) as recorder:
        await recorder.record(call("opens the log"))
        await recorder.record(call("shows that the disk is quick"))
        _find_more()

        assert await _record_each_turn(recorder, clock, turns=6, each=each, seconds=seconds) == expected


@pytest.mark.parametrize("mode", [Mode.SYNC, Mode.BATCHED])
async def test_records_do_not_wait_if_the_event_loop_found_nothing_more(mode: Mode):
    machine, clock = Machine(), HandClock()
    async with recorder_on(machine, mode=mode, schedule=Schedule(quick_seconds=60.0), clock=clock) as recorder:
        await recorder.record(call("opens the log"))
        await recorder.record(call("shows that the disk is quick"))

        assert await _record_each_turn(recorder, clock, turns=3, each=2, seconds=0.0) == [2, 4, 6]


@pytest.mark.parametrize("mode", [Mode.SYNC, Mode.BATCHED])
async def test_records_do_not_wait_for_what_is_no_call(mode: Mode):
    machine, kept = Machine(), []
    async with recorder_on(machine, mode=mode, schedule=Schedule(quick_seconds=60.0), clock=HandClock()) as recorder:
        await recorder.record(call("opens the log"))
        await recorder.record(call("shows that the disk is quick"))
        _find_more()
        recorder.submit(call("the only one"), kept.append)
        await asyncio.sleep(0)
        assert kept == [], "more has come"
        await asyncio.sleep(0)

        assert kept == [None], "but it made no record"


@pytest.mark.parametrize("mode", [Mode.SYNC, Mode.BATCHED])
async def test_records_of_what_came_together_wait_for_no_others(mode: Mode):
    machine, soon = Machine(), soon_of(asyncio.get_running_loop())
    kept: list[Failure | None] = []
    async with recorder_on(machine, mode=mode, schedule=Schedule(quick_seconds=60.0)) as recorder:
        await recorder.record(call("opens the log"))
        await recorder.record(call("shows that the disk is quick"))
        with soon:
            for number in range(3):
                recorder.submit(call(f"call {number}"), kept.append)
            assert kept == []

        assert kept == [None] * 3


@pytest.mark.parametrize(("mode", "expected"), [(Mode.SYNC, True), (Mode.BATCHED, False)])
async def test_records_that_are_synced_are_better_kept_together(mode: Mode, expected: bool):
    async with recorder_on(Machine(), mode=mode):
        assert soon_of(asyncio.get_running_loop()).is_dear is expected
    assert not soon_of(asyncio.get_running_loop()).is_dear


async def test_there_are_never_two_syncs_at_once():
    machine = Machine()
    async with recorder_on(machine, schedule=Schedule(quick_seconds=60.0)) as recorder:
        await recorder.record(call("opens the log, and shows that the disk is quick"))
        recorder._quick = False
        gate = Gate(machine)
        first = asyncio.create_task(recorder.record(call("left to the thread")))
        await _until(gate.reached)
        recorder._quick = True
        begun, step = [], machine.disk.step

        def noting(kind: str, change: Callable[[], object], size: int = 0) -> None:
            if kind == "sync":
                begun.append(threading.current_thread().name)
            step(kind, change, size)

        machine.disk.step = noting
        later = [asyncio.create_task(recorder.record(call(f"later {number}"))) for number in range(2)]
        for _ in range(20):
            await asyncio.sleep(0)
        assert begun == [], "the thread is at it, and takes the rest, too"
        gate.open()

        assert [await task for task in (first, *later)] == [None] * 3
        assert begun == ["strictwire-audit"]


async def test_hashes_are_stored_when_the_answers_have_left():
    machine = Machine()
    async with recorder_on(machine, mode=Mode.BATCHED) as recorder:
        await recorder.record(call("opens the log"))
        waiting = []
        told = await asyncio.gather(
            *(_record_and_look(recorder, f"call {number}", waiting) for number in range(FRESH_RECORDS))
        )
        assert (told, max(waiting)) == ([None] * FRESH_RECORDS, FRESH_RECORDS + 1)
        await _eventually(lambda: not recorder._log.is_untidy)
        assert machine.disk.look(HASHES).size == stored_count(FRESH_RECORDS + 1) * HASH_BYTES
    assert machine.verify().ok


async def test_hashes_that_cannot_be_stored_are_stored_later_and_nobody_is_told_otherwise():
    machine = Machine()
    told: list[Failure | None] = []

    def fill_the_disk(failure: Failure | None) -> None:
        told.append(failure)
        machine.disk.refusal = errno.ENOSPC

    async with recorder_on(machine, mode=Mode.BATCHED) as recorder:
        await recorder.record(call("opens the log"))
        for number in range(FRESH_RECORDS):
            recorder.submit(call(f"call {number}"), fill_the_disk)
        for _ in range(5):
            await asyncio.sleep(0)
        assert (told, recorder._log.is_untidy) == ([None] * FRESH_RECORDS, True)
        machine.disk.refusal = None
        assert await recorder.record(call("the last")) is None
        await _eventually(lambda: not recorder._log.is_untidy)
    assert len(machine.records()) == FRESH_RECORDS + 2
    assert machine.verify().ok


async def _record_and_look(recorder: FileTrail, call_id: str, waiting: list[int]) -> Failure | None:
    """Notes how many hashes wait when the caller is told."""
    told = await recorder.record(call(call_id))
    waiting.append(len(recorder._log._tail.fresh))
    return told


async def test_a_failed_sync_of_calls_that_keep_coming_is_told_to_all_of_them(monkeypatch: pytest.MonkeyPatch):
    machine = Machine()
    async with recorder_on(machine, schedule=Schedule(quick_seconds=60.0)) as recorder:
        await recorder.record(call("opens the log"))
        await recorder.record(call("shows that the disk is quick"))
        with monkeypatch.context() as patch:
            patch.setattr(type(recorder._log._tail.file), "sync", _refuse)
            told = await asyncio.gather(*(recorder.record(call(f"lost {number}")) for number in range(3)))
        assert [failure.code for failure in told] == ["AUDIT_LOG_FAILED"] * 3
        assert await recorder.record(call("kept again")) is None

    assert call_ids(machine.records()) == ["opens the log", "shows that the disk is quick", "kept again"]
    assert machine.verify().ok


def _refuse(_file: object) -> None:
    raise OSError(errno.EIO, "broken")


async def test_on_a_quick_disk_the_event_loop_syncs_and_checkpoints_are_signed_all_the_same():
    machine = Machine()
    async with recorder_on(machine, schedule=Schedule(checkpoint_records=3, quick_seconds=60.0)) as recorder:
        for number in range(20):
            assert await recorder.record(call(f"call {number}")) is None
        await _eventually(lambda: machine.verify().signed >= 3)
    assert machine.verify().signed == 20


async def test_on_a_quick_disk_a_sync_that_fails_keeps_nothing_and_is_told():
    machine = Machine()
    async with recorder_on(machine, schedule=Schedule(quick_seconds=60.0)) as recorder:
        assert await recorder.record(call("first")) is None
        step = machine.disk.step

        def break_once(kind: str, change: Callable[[], object], size: int = 0) -> None:
            if kind == "sync":
                machine.disk.step = step
                raise OSError(errno.EIO, "broken")
            step(kind, change, size)

        machine.disk.step = break_once
        refused = await recorder.record(call("lost"))
        assert refused is not None
        assert await recorder.record(call("second")) is None
    assert call_ids(records_of(machine.disk)) == ["first", "second"]


async def test_a_checkpoint_is_signed_after_so_many_seconds():
    machine, clock = Machine(), HandClock()
    async with recorder_on(machine, schedule=Schedule(checkpoint_seconds=5.0, quick_seconds=0.0), clock=clock) as recorder:
        await recorder.record(call("a"))
        assert machine.verify().signed == 0
        clock.now = 5.0
        recorder.wake()
        await _eventually(lambda: machine.verify().signed == 1)


async def test_batched_mode_answers_before_the_sync_and_syncs_on_the_interval():
    machine, clock = Machine(), HandClock()
    async with recorder_on(machine, mode=Mode.BATCHED, clock=clock) as recorder:
        await recorder.record(call("a"))
        assert "sync" not in [what for what, _ in machine.disk.calls]
        clock.now = 0.2
        recorder.wake()
        await _eventually(lambda: ("sync", 0) in machine.disk.calls)


async def test_batched_records_of_one_turn_are_written_by_the_loop_itself_in_one_write():
    machine = Machine()
    async with recorder_on(machine, mode=Mode.BATCHED) as recorder:
        await recorder.record(call("first"))
        machine.disk.calls.clear()
        writers: set[str] = set()
        step = machine.disk.step

        def noting(what: str, change: Callable[[], object], size: int = 0) -> None:
            writers.add(threading.current_thread().name)
            step(what, change, size)

        machine.disk.step = noting
        failures = await asyncio.gather(*(recorder.record(call(f"call {number}")) for number in range(32)))
        machine.disk.step = step

        assert failures == [None] * 32
        assert [what for what, _ in machine.disk.calls] == ["write"]
        assert writers == {threading.current_thread().name}


async def test_a_batched_record_that_would_have_to_wait_is_left_to_the_thread(tmp_path: Path):
    """Another process has the lock: the loop does not stand still for it."""
    trail = trail_in(tmp_path, mode=Mode.BATCHED, lock_seconds=10.0)
    recorder = await open_trail(trail)
    await recorder.record(call("a"))
    fd = os.open(trail.folder / LOCK_NAME, os.O_RDWR)
    fcntl.flock(fd, fcntl.LOCK_EX)
    task = asyncio.create_task(recorder.record(call("b")))
    for _ in range(100):
        await asyncio.sleep(0)
    waiting = not task.done()
    fcntl.flock(fd, fcntl.LOCK_UN)
    os.close(fd)

    assert waiting
    assert await task is None
    await recorder.close()
    assert call_ids(records_of(FolderDisk(trail.folder))) == ["a", "b"]


async def test_a_batched_record_that_the_disk_refuses_is_told_and_the_next_one_goes_well():
    machine = Machine()
    async with recorder_on(machine, mode=Mode.BATCHED) as recorder:
        await recorder.record(call("a"))
        machine.disk.room = 100
        failure = await recorder.record(call("lost"))
        machine.disk.room = None

        assert failure is not None
        assert failure.details["reason"] == "disk_full"
        assert await recorder.record(call("b")) is None
    assert call_ids(machine.records()) == ["a", "b"]
    assert machine.verify().ok


async def test_batched_records_go_into_new_files_and_through_checkpoints():
    machine = Machine(rotate_bytes=3_000)
    async with recorder_on(machine, mode=Mode.BATCHED, schedule=Schedule(checkpoint_records=7)) as recorder:
        failures = [await recorder.record(call(f"call {number}")) for number in range(60)]

    assert failures == [None] * 60
    assert call_ids(machine.records()) == [f"call {number}" for number in range(60)]
    assert machine.verify().signed == 60


async def test_a_flood_of_malformed_input_is_one_record_an_interval():
    machine, clock = Machine(), HandClock()
    async with recorder_on(machine, clock=clock) as recorder:
        for _ in range(5_000):
            recorder.count_malformed("not_json")
        clock.now = 10.0
        recorder.wake()
        await _eventually(lambda: len(machine.records()) == 1)
        recorder.count_malformed("too_large")

    assert [record["counts"] for record in machine.records()] == [{"not_json": 5_000}, {"too_large": 1}]


async def test_counts_that_could_not_be_written_are_kept_for_the_next_interval():
    machine, clock = Machine(), HandClock()
    async with recorder_on(machine, clock=clock) as recorder:
        await recorder.record(call("a"))
        recorder.count_malformed("not_json")
        machine.disk.refusal = errno.ENOSPC
        clock.now = 10.0
        recorder.wake()
        await _eventually(lambda: recorder.trouble is not None)
        machine.disk.refusal = None

    assert machine.records()[1]["counts"] == {"not_json": 1}


async def test_a_writer_that_dies_of_a_fault_of_ours_leaves_nobody_waiting(monkeypatch: pytest.MonkeyPatch):
    seen: list[type[BaseException]] = []
    monkeypatch.setattr(threading, "excepthook", lambda args: seen.append(args.exc_type))
    machine = Machine()
    log = machine.log()
    monkeypatch.setattr(log, "append", lambda _bodies: 1 / 0)
    recorder = FileTrail(log, mode=Mode.SYNC, values=Values.DIGESTED, schedule=Schedule())
    async with asyncio.timeout(10):
        failures = [await recorder.record(call("a")), await recorder.record(call("b"))]
        await recorder.close()

    assert [failure and failure.details["reason"] for failure in failures] == ["closed", "closed"]
    assert seen == [ZeroDivisionError]


async def test_a_sync_that_dies_of_a_fault_of_ours_leaves_nobody_waiting(monkeypatch: pytest.MonkeyPatch):
    seen: list[type[BaseException]] = []
    monkeypatch.setattr(threading, "excepthook", lambda args: seen.append(args.exc_type))
    log = Machine().log()
    log.open()
    monkeypatch.setattr(log, "sync_written", lambda: 1 / 0)
    recorder = FileTrail(log, mode=Mode.SYNC, values=Values.DIGESTED, schedule=Schedule())
    async with asyncio.timeout(10):
        failures = [await recorder.record(call("a")), await recorder.record(call("b"))]
        await recorder.close()

    assert [failure and failure.details["reason"] for failure in failures] == ["closed", "closed"]
    assert seen == [ZeroDivisionError]


async def test_more_records_than_can_wait_are_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("strictwire.stores.files.trail.MAX_WAITING", 2)
    machine = Machine()
    async with recorder_on(machine) as recorder:
        gate = Gate(machine)
        first = asyncio.create_task(recorder.record(call("a")))
        await _until(gate.reached)
        tasks = [asyncio.create_task(recorder.record(call(f"call {number}"))) for number in range(3)]
        await asyncio.sleep(0)
        gate.open()
        failures = [await task for task in (first, *tasks)]

    assert [failure and failure.details["reason"] for failure in failures] == [None, None, None, "backlog"]


async def test_a_key_inside_the_folder_it_vouches_for_is_refused(tmp_path: Path):
    with pytest.raises(LogFault) as refused:
        await open_trail(TrailConfig(folder=tmp_path / "audit", key_path=tmp_path / "audit" / "audit.key"))

    assert refused.value.reason == "key_inside_the_log"


async def test_a_log_that_does_not_hold_is_not_opened(tmp_path: Path):
    trail = trail_in(tmp_path)
    recorder = await open_trail(trail)
    await recorder.record(call("a"))
    await recorder.close()
    (trail.folder / "audit-log.jsonl").write_bytes(b"")
    with pytest.raises(LogFault) as refused:
        await open_trail(trail)

    assert (refused.value.reason, refused.value.record) == ("damaged", 0)


async def test_the_event_loop_goes_on_while_the_disk_is_slow():
    machine = Machine()
    async with recorder_on(machine) as recorder:
        gate = Gate(machine)
        task = asyncio.create_task(recorder.record(call("a")))
        await _until(gate.reached)
        turns = 0
        for _ in range(1_000):
            await asyncio.sleep(0)
            turns += 1
        gate.open()
        await task

    assert turns == 1_000


def test_a_recorder_whose_loop_was_closed_ends_quietly(tmp_path: Path):
    trail = trail_in(tmp_path)

    async def leave() -> FileTrail:
        recorder = await open_trail(trail)
        recorder.submit(call("a"), lambda _failure: None)
        return recorder

    recorder = asyncio.run(leave())
    recorder._closing = True
    recorder.wake()
    recorder._thread.join(10)

    assert not recorder._thread.is_alive()
    assert _verify(trail)


def _verify(trail: TrailConfig) -> bool:
    return verify_trail(trail.folder, read_public_key(trail.key_path), anchor=trail.anchor_path).ok
