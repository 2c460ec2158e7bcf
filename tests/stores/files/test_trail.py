"""The recorder over files: group commit, the order of answers, schedules, failures."""

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

from strictwire.fault.failure import Failure
from strictwire.stores.fault import LogFault
from strictwire.stores.files.config import TrailConfig
from strictwire.stores.files.crash_disk import CrashDisk, Survival
from strictwire.stores.files.disk import FolderDisk
from strictwire.stores.files.lock import LOCK_NAME
from strictwire.stores.files.trail import FileTrail, open_trail
from strictwire.stores.files.writer import TrailWriter
from strictwire.stores.schedule import Mode, Schedule
from tests.stores.trails import (
    HandClock,
    Machine,
    append,
    body,
    call_ids,
    no_new_files,
    records_of,
    remove_folder,
    trail_in,
    verify,
)

DEADLINE = 30.0
"""Seconds that a busy machine may take."""


def trail_on(
    log: TrailWriter, *, mode: Mode = Mode.SYNC, schedule: Schedule | None = None, clock: HandClock | None = None
) -> FileTrail:
    config = trail_in(Path("unused"), mode=mode, schedule=schedule or Schedule())
    return FileTrail(log, config, (clock or HandClock()).clock)


@asynccontextmanager
async def recording(machine: Machine, **more: object) -> AsyncIterator[FileTrail]:
    recorder = trail_on(machine.log(), **more)
    try:
        async with asyncio.timeout(DEADLINE):
            yield recorder
    finally:
        await recorder.close()


class Gate:
    """Holds one kind of operation of the disk back until it is opened."""

    def __init__(self, machine: Machine, what: str = "sync") -> None:
        self._reached = threading.Event()
        self._open = threading.Event()
        step = machine.disk.step

        def waiting(kind: str, change: Callable[[], object], size: int = 0) -> None:
            if kind == what:
                self._reached.set()
                assert self._open.wait(DEADLINE)
            step(kind, change, size)

        machine.disk.step = waiting

    async def reached(self) -> None:
        assert await asyncio.to_thread(self._reached.wait, DEADLINE)

    def open(self) -> None:
        self._open.set()


def refuse_syncs(machine: Machine, count: int) -> None:
    """Let so many syncs fail."""
    step, refused = machine.disk.step, []

    def refuse(kind: str, change: Callable[[], object], size: int = 0) -> None:
        if kind == "sync" and len(refused) < count:
            refused.append(kind)
            raise OSError(errno.EIO, "broken")
        step(kind, change, size)

    machine.disk.step = refuse


def wake(recorder: FileTrail) -> None:
    """Have the thread look at the clock, which was moved by hand."""
    recorder._wake()


async def pass_time(recorder: FileTrail, clock: HandClock, now: float, timer: str = "_sync_at") -> None:
    """Move the clock, once the thread has started its timer for what was written."""
    await eventually(lambda: getattr(recorder._maintenance, timer) is not None)
    clock.now = now
    wake(recorder)


async def eventually(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(DEADLINE):
        while not condition():
            await asyncio.sleep(0.001)


def operations(machine: Machine) -> list[str]:
    return operations_on(machine.disk)


def operations_on(disk: CrashDisk) -> list[str]:
    return [what for what, _ in disk.calls]


@pytest.mark.clause("S7")
async def test_a_record_is_on_disk_when_it_is_done(tmp_path: Path):
    trail = trail_in(tmp_path)
    recorder = await open_trail(trail)
    failure = await append(recorder, "a", "b")

    assert failure is None
    assert call_ids(records_of(FolderDisk(trail.folder))) == ["a", "b"]
    await recorder.close()


# Mode sync.


@pytest.mark.clause("S7")
async def test_no_commit_is_done_before_it_is_synced():
    machine = Machine()
    async with recording(machine) as recorder:
        gate = Gate(machine)
        task = asyncio.create_task(append(recorder, "a"))
        await gate.reached()
        assert not task.done()
        gate.open()

        assert await task is None


async def test_commits_that_arrive_during_a_sync_share_the_next_one():
    machine = Machine()
    async with recording(machine) as recorder:
        await append(recorder, "first")
        machine.disk.calls.clear()
        gate = Gate(machine)
        early = asyncio.create_task(append(recorder, "early"))
        await gate.reached()
        late = [asyncio.create_task(append(recorder, f"call {number}")) for number in range(32)]
        await asyncio.sleep(0)
        gate.open()

        assert [await task for task in (early, *late)] == [None] * 33
        assert operations(machine) == ["write", "sync"] * 2, "one write and one sync, for all of them together"


async def test_a_caller_that_leaves_during_a_commit_does_not_stop_the_others():
    machine = Machine()
    async with recording(machine) as recorder:
        gate = Gate(machine)
        leaving = [asyncio.create_task(append(recorder, f"leaving {number}")) for number in range(8)]
        await gate.reached()
        staying = asyncio.create_task(append(recorder, "staying"))
        await asyncio.sleep(0)
        for task in leaving:
            task.cancel()
        await asyncio.gather(*leaving, return_exceptions=True)
        gate.open()

        assert await staying is None
        assert await append(recorder, "later") is None
    assert call_ids(machine.records())[-2:] == ["staying", "later"]


async def test_the_event_loop_goes_on_while_the_disk_is_slow():
    machine = Machine()
    async with recording(machine) as recorder:
        gate = Gate(machine)
        task = asyncio.create_task(append(recorder, "a"))
        await gate.reached()
        for _ in range(1_000):
            await asyncio.sleep(0)
        assert not task.done()
        gate.open()

        assert await task is None


@pytest.mark.clause("S7")
async def test_a_failed_sync_refuses_every_commit_that_shared_it_and_the_next_one_is_kept():
    machine = Machine()
    async with recording(machine) as recorder:
        await append(recorder, "first")
        gate = Gate(machine, "write")
        early = asyncio.create_task(append(recorder, "kept"))
        await gate.reached()
        late = [asyncio.create_task(append(recorder, f"lost {number}")) for number in range(3)]
        await asyncio.sleep(0)
        await asyncio.to_thread(_fail_second_sync, machine, gate)
        failures = [await task for task in (early, *late)]

        assert [failure and failure.code for failure in failures] == [None, *["AUDIT_LOG_FAILED"] * 3]
        assert await append(recorder, "second") is None
    machine.reboot(Survival.NOTHING)
    assert call_ids(machine.records()) == ["first", "kept", "second"]
    assert machine.verify().ok


def _fail_second_sync(machine: Machine, gate: Gate) -> None:
    step, syncs = machine.disk.step, []

    def refuse(kind: str, change: Callable[[], object], size: int = 0) -> None:
        if kind == "sync":
            syncs.append(kind)
            if len(syncs) == 2:
                raise OSError(errno.EIO, "broken")
        step(kind, change, size)

    machine.disk.step = refuse
    gate.open()


# Mode batched.


async def test_a_batched_commit_is_written_by_the_loop_itself_and_done_at_once():
    machine = Machine()
    async with recording(machine, mode=Mode.BATCHED) as recorder:
        await append(recorder, "opens the log")
        await eventually(lambda: not recorder._busy.locked())
        machine.disk.calls.clear()
        told: list[Failure | None] = []
        recorder.append([body(f"call {number}") for number in range(32)], told.append)

        assert told == [None]
        assert operations(machine) == ["write"], "once for all of them"


async def test_a_batched_commit_is_done_before_the_sync_which_follows_on_the_interval():
    machine, clock = Machine(), HandClock()
    async with recording(machine, mode=Mode.BATCHED, clock=clock) as recorder:
        await append(recorder, "a")
        assert "sync" not in operations(machine)
        await pass_time(recorder, clock, 0.2)
        await eventually(lambda: "sync" in operations(machine))


async def test_the_loop_goes_on_writing_while_the_thread_syncs():
    machine, clock = Machine(), HandClock()
    async with recording(machine, mode=Mode.BATCHED, clock=clock) as recorder:
        await append(recorder, "a")
        gate = Gate(machine)
        await pass_time(recorder, clock, 0.2)
        await gate.reached()
        told: list[Failure | None] = []
        recorder.append([body("b")], told.append)
        assert told == [None]
        gate.open()
    assert call_ids(machine.records()) == ["a", "b"]
    assert machine.verify().signed == 2


async def test_a_write_of_the_loop_starts_the_timer_of_a_thread_that_has_nothing_to_do():
    machine, clock = Machine(), HandClock()
    log = machine.log()
    log.open()
    recorder = trail_on(log, mode=Mode.BATCHED, clock=clock)
    await eventually(lambda: recorder._is_idle)
    told: list[Failure | None] = []
    recorder.append([body("a")], told.append)
    assert told == [None]
    await pass_time(recorder, clock, 0.2)
    await eventually(lambda: log.is_synced)
    await recorder.close()


async def test_the_loop_goes_on_writing_while_the_bulk_is_synced_for_a_checkpoint():
    machine, clock = Machine(), HandClock()
    async with recording(machine, mode=Mode.BATCHED, schedule=Schedule(sync_seconds=99.0), clock=clock) as recorder:
        await append(recorder, "a")
        gate = Gate(machine)
        await pass_time(recorder, clock, 5.0, "_sign_at")
        await gate.reached()
        told: list[Failure | None] = []
        recorder.append([body("b")], told.append)
        assert told == [None]
        gate.open()
    assert machine.verify().signed == 2


async def test_batched_records_survive_a_sync_that_failed_once():
    """The kernel may hold the pages for clean: they are written again before the next sync."""
    machine, clock = Machine(), HandClock()
    async with recording(machine, mode=Mode.BATCHED, clock=clock) as recorder:
        await append(recorder, "a")
        refuse_syncs(machine, 1)
        await pass_time(recorder, clock, 0.2)
        await eventually(lambda: recorder.trouble is not None)
        assert await append(recorder, "b") is None
        machine.disk.calls.clear()
        await pass_time(recorder, clock, 0.4)
        await eventually(lambda: "sync" in operations(machine))
        machine.reboot(Survival.NOTHING)
        assert call_ids(machine.records()) == ["a", "b"]


async def test_a_batched_commit_that_must_wait_is_left_to_the_thread_and_later_ones_stay_behind_it(tmp_path: Path):
    """Another process has the lock: the loop does not stand still for it, and answers keep their order."""
    trail = trail_in(tmp_path, mode=Mode.BATCHED, lock_seconds=DEADLINE)
    recorder = await open_trail(trail)
    await append(recorder, "a")
    fd = os.open(trail.folder / LOCK_NAME, os.O_RDWR)
    fcntl.flock(fd, fcntl.LOCK_EX)
    told: list[str] = []
    recorder.append([body("b")], lambda _failure: told.append("b"))
    for _ in range(100):
        await asyncio.sleep(0)
    assert told == []
    fcntl.flock(fd, fcntl.LOCK_UN)
    os.close(fd)
    recorder.append([body("c")], lambda _failure: told.append("c"))
    await eventually(lambda: len(told) == 2)
    await recorder.close()

    assert told == ["b", "c"]
    assert call_ids(records_of(FolderDisk(trail.folder))) == ["a", "b", "c"]


async def test_a_commit_from_inside_a_callback_stays_behind_those_that_wait(tmp_path: Path):
    trail = trail_in(tmp_path, mode=Mode.BATCHED)
    recorder = await open_trail(trail)
    told: list[str] = []

    def again(_failure: Failure | None) -> None:
        told.append("a")
        recorder.append([body("c")], lambda _failure: told.append("c"))

    with recorder._busy:
        recorder.append([body("a")], again)
        recorder.append([body("b")], lambda _failure: told.append("b"))
    await eventually(lambda: len(told) == 3)
    await recorder.close()

    assert told == ["a", "b", "c"]


async def test_a_batched_commit_that_the_disk_refuses_is_told_and_the_next_one_succeeds():
    machine = Machine()
    async with recording(machine, mode=Mode.BATCHED) as recorder:
        await append(recorder, "a")
        machine.disk.room = 100
        failure = await append(recorder, "lost")
        machine.disk.room = None

        assert failure is not None
        assert failure.details["reason"] == "disk_full"
        assert await append(recorder, "b") is None
    assert call_ids(machine.records()) == ["a", "b"]
    assert machine.verify().ok


async def test_batched_commits_go_into_new_files_and_through_checkpoints():
    machine = Machine(rotate_bytes=3_000)
    async with recording(machine, mode=Mode.BATCHED, schedule=Schedule(checkpoint_records=7)) as recorder:
        failures = [await append(recorder, f"call {number}") for number in range(60)]

    assert failures == [None] * 60
    assert call_ids(machine.records()) == [f"call {number}" for number in range(60)]
    assert machine.verify().signed == 60


# Both modes.


@pytest.mark.parametrize("mode", Mode)
async def test_callbacks_are_called_on_the_event_loop_in_the_order_of_the_commits(mode: Mode):
    machine = Machine()
    async with recording(machine, mode=mode) as recorder:
        told: list[tuple[int, threading.Thread]] = []
        for number in range(50):
            recorder.append([body("x")], lambda _failure, n=number: told.append((n, threading.current_thread())))
            await asyncio.sleep(0)
        await eventually(lambda: len(told) == 50)

    assert told == [(number, threading.current_thread()) for number in range(50)]


async def test_a_callback_that_raises_does_not_keep_the_others_from_theirs():
    machine = Machine()
    told: list[Failure | None] = []
    problems: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: problems.append(context["exception"]))
    async with recording(machine) as recorder:
        gate = Gate(machine)
        first = asyncio.create_task(append(recorder, "first"))
        await gate.reached()
        recorder.append([body("a")], lambda _failure: 1 / 0)
        recorder.append([body("b")], told.append)
        gate.open()
        await first
        await eventually(lambda: bool(told))

    assert (told, recorder._queued_bytes) == ([None], 0)
    assert [type(problem) for problem in problems] == [ZeroDivisionError]


@pytest.mark.clause("S7")
@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize(("error", "reason"), [(errno.ENOSPC, "disk_full"), (errno.EROFS, "read_only")])
async def test_a_commit_that_cannot_be_written_is_told_and_the_next_one_succeeds(mode: Mode, error: int, reason: str):
    machine = Machine()
    async with recording(machine, mode=mode) as recorder:
        await append(recorder, "a")
        machine.disk.refusal = error
        failure = await append(recorder, "lost")
        trouble = recorder.trouble
        machine.disk.refusal = None

        assert failure is not None
        assert (failure.code, dict(failure.details), failure.retryable) == ("AUDIT_LOG_FAILED", {"reason": reason}, True)
        assert trouble == failure
        assert await append(recorder, "b") is None
        assert recorder.trouble is None
    assert call_ids(machine.records()) == ["a", "b"]


@pytest.mark.parametrize("mode", Mode)
async def test_a_deleted_folder_is_told_and_recording_goes_on_when_it_is_back(tmp_path: Path, mode: Mode):
    trail = trail_in(tmp_path, mode=mode)
    recorder = await open_trail(trail)
    await append(recorder, "a")
    remove_folder(trail.folder)
    failure = await append(recorder, "lost")
    trail.folder.mkdir()
    again = await append(recorder, "b")
    await recorder.close()

    assert failure is not None
    assert failure.details["reason"] == "folder_missing"
    assert again is None
    assert call_ids(records_of(FolderDisk(trail.folder))) == ["a", "b"]
    assert verify(trail).ok


@pytest.mark.parametrize("mode", Mode)
async def test_a_checkpoint_is_signed_after_so_many_records(mode: Mode):
    machine, clock = Machine(), HandClock()
    async with recording(machine, mode=mode, schedule=Schedule(checkpoint_records=3), clock=clock) as recorder:
        for number in range(7):
            await append(recorder, f"call {number}")
        wake(recorder)
        await eventually(lambda: 7 - machine.verify().signed < 3)


@pytest.mark.parametrize("mode", Mode)
async def test_a_checkpoint_is_signed_after_so_many_seconds(mode: Mode):
    machine, clock = Machine(), HandClock()
    async with recording(machine, mode=mode, schedule=Schedule(checkpoint_seconds=5.0), clock=clock) as recorder:
        await append(recorder, "a")
        assert machine.verify().signed == 0
        await pass_time(recorder, clock, 5.0, "_sign_at")
        await eventually(lambda: machine.verify().signed == 1)


async def test_a_checkpoint_that_cannot_be_signed_is_tried_again_after_the_interval():
    machine, clock = Machine(), HandClock()
    machine.log().open()
    async with recording(machine, schedule=Schedule(checkpoint_records=2), clock=clock) as recorder:
        with no_new_files(machine.anchors):
            await append(recorder, "a", "b")
            await eventually(lambda: recorder.trouble is not None)
        machine.anchors.calls.clear()
        assert [await append(recorder, name) for name in "cd"] == [None] * 2
        assert "create" not in operations_on(machine.anchors), "not with every commit"
        await pass_time(recorder, clock, 5.0, "_sign_at")
        await eventually(lambda: machine.verify().signed == 4)


@pytest.mark.parametrize("mode", Mode)
async def test_closing_writes_what_waits_and_signs_for_it(mode: Mode):
    machine = Machine()
    told: list[Failure | None] = []
    async with recording(machine, mode=mode) as recorder:
        for number in range(10):
            recorder.append([body(f"call {number}")], told.append)
        recorder.count_malformed("not_json")

    assert told == [None] * 10
    assert [record["kind"] for record in machine.records()] == ["call"] * 10 + ["flood"]
    assert machine.verify().signed == 11


@pytest.mark.parametrize("mode", Mode)
async def test_after_closing_a_commit_is_refused(mode: Mode):
    async with recording(Machine(), mode=mode) as recorder:
        pass
    failure = await append(recorder, "late")
    await recorder.close()

    assert failure is not None
    assert failure.details["reason"] == "closed"


async def test_malformed_input_is_one_record_per_interval():
    machine = Machine()
    async with recording(machine, schedule=Schedule(flood_seconds=0.0)) as recorder:
        for _ in range(5_000):
            recorder.count_malformed("not_json")
        await eventually(lambda: len(machine.records()) == 1)
        recorder.count_malformed("too_large")

    assert [record["counts"] for record in machine.records()] == [{"not_json": 5_000}, {"too_large": 1}]


@pytest.mark.parametrize(("mode", "name"), [(Mode.SYNC, "append"), (Mode.BATCHED, "append_unsynced")])
async def test_a_thread_that_ends_because_of_a_bug_leaves_no_caller_waiting(
    monkeypatch: pytest.MonkeyPatch, mode: Mode, name: str
):
    seen: list[type[BaseException]] = []
    monkeypatch.setattr(threading, "excepthook", lambda args: seen.append(args.exc_type))
    log = Machine().log()
    monkeypatch.setattr(log, name, lambda _bodies: 1 / 0)
    recorder = trail_on(log, mode=mode)
    async with asyncio.timeout(DEADLINE):
        failures = [await append(recorder, "a"), await append(recorder, "b")]
        await recorder.close()

    assert [failure and failure.details["reason"] for failure in failures] == ["closed", "closed"]
    assert seen == [ZeroDivisionError]


async def test_commits_that_wait_behind_a_bug_are_refused_too(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(threading, "excepthook", lambda _args: None)
    log, is_there, may_go_on = Machine().log(), threading.Event(), threading.Event()

    def fail(_bodies: object) -> None:
        is_there.set()
        assert may_go_on.wait(DEADLINE)
        raise ZeroDivisionError

    monkeypatch.setattr(log, "append", fail)
    recorder = trail_on(log)
    told: list[Failure | None] = []
    recorder.append([body("a")], told.append)
    assert await asyncio.to_thread(is_there.wait, DEADLINE)
    recorder.append([body("b")], told.append)
    may_go_on.set()
    await eventually(lambda: len(told) == 2)
    await recorder.close()

    assert [failure and failure.details["reason"] for failure in told] == ["closed", "closed"]


async def test_more_bytes_than_may_wait_are_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("strictwire.stores.files.trail.MAX_QUEUED_BYTES", 3 * len(body("call 0")))
    machine = Machine()
    async with recording(machine) as recorder:
        gate = Gate(machine)
        first = asyncio.create_task(append(recorder, "call a"))
        await gate.reached()
        tasks = [asyncio.create_task(append(recorder, f"call {number}")) for number in range(3)]
        await asyncio.sleep(0)
        gate.open()
        failures = [await task for task in (first, *tasks)]

    assert [failure and failure.details["reason"] for failure in failures] == [None, None, None, "backlog"]


async def test_a_key_inside_the_folder_it_signs_is_refused(tmp_path: Path):
    with pytest.raises(LogFault) as refused:
        await open_trail(TrailConfig(folder=tmp_path / "audit", key_path=tmp_path / "audit" / "audit.key"))

    assert refused.value.reason == "key_inside_the_log"


async def test_a_damaged_log_is_not_opened(tmp_path: Path):
    trail = trail_in(tmp_path)
    recorder = await open_trail(trail)
    await append(recorder, "a")
    await recorder.close()
    (trail.folder / "audit-log.jsonl").write_bytes(b"")
    with pytest.raises(LogFault) as refused:
        await open_trail(trail)

    assert (refused.value.reason, refused.value.record) == ("damaged", 0)


def test_a_recorder_whose_loop_was_closed_ends_quietly(tmp_path: Path):
    trail = trail_in(tmp_path)

    async def leave() -> FileTrail:
        recorder = await open_trail(trail)
        recorder.append([body("a")], lambda _failure: None)
        return recorder

    recorder = asyncio.run(leave())
    recorder._closing = True
    wake(recorder)
    recorder._thread.join(DEADLINE)

    assert not recorder._thread.is_alive()
    assert verify(trail).ok
