"""What is synced in the mirror alone comes back after a power cut, and nothing else does."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from strictwire.audit.event import Values
from strictwire.stores.fault import LogFault
from strictwire.stores.files.crash_disk import PowerCut, Survival
from strictwire.stores.files.disk import FolderDisk
from strictwire.stores.files.keys import read_public_key
from strictwire.stores.files.layout import ACTIVE
from strictwire.stores.files.mirror import MIRROR, MIRROR_BYTES, maybe_open_mirror, read_mirrored
from strictwire.stores.files.trail import FileTrail, open_trail
from strictwire.stores.files.verify import verify_trail
from strictwire.stores.files.writer import TrailWriter
from strictwire.stores.schedule import Mode, Schedule
from tests.stores.trails import HandClock, Machine, body, call, call_ids, records_of, trail_in

SIZE = 16 * 1024
FRAME = 1024
"""Bytes of the mirror that one record takes."""


def _open(machine: Machine, size: int = SIZE) -> TrailWriter:
    log = machine.log()
    log.open()
    _mirror(log, size)
    return log


def _mirror(log: TrailWriter, size: int = SIZE) -> None:
    mirror = log.maybe_open_mirror(size)
    assert mirror is not None
    log.use_mirror(mirror)


def _commit(log: TrailWriter, *names: str) -> None:
    assert log.try_append_unsynced([body(name) for name in names])
    log.sync_written()


def _refuse_syncs(machine: Machine, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    step, refused = machine.disk.step, []

    def refuse(what: str, change: Callable[[], object], size: int = 0) -> None:
        if what == "sync" and len(refused) < count:
            refused.append(what)
            raise OSError(errno.EIO, "refused")
        step(what, change, size)

    monkeypatch.setattr(machine.disk, "step", refuse)


def _kept(machine: Machine) -> list[str]:
    machine.log().open()
    assert machine.verify().finding is None
    return call_ids(machine.records())


def test_what_was_synced_in_the_mirror_alone_is_put_back() -> None:
    machine = Machine()
    log = _open(machine)
    _commit(log, "a")
    machine.disk.calls.clear()
    _commit(log, "b", "c")
    _commit(log, "d")
    assert [what for what, _ in machine.disk.calls] == ["write", "write", "sync"] * 2, "the log itself is not synced"
    machine.reboot(Survival.NOTHING)

    assert call_ids(machine.records()) == [], "as far as the log itself goes"
    assert _kept(machine) == ["a", "b", "c", "d"]


def test_a_log_goes_on_behind_what_was_put_back() -> None:
    machine = Machine()
    _commit(_open(machine), "a", "b")
    machine.reboot(Survival.NOTHING)
    log = _open(machine)
    _commit(log, "c")
    log.sign()
    machine.reboot(Survival.NOTHING)

    assert _kept(machine) == ["a", "b", "c"]
    assert machine.verify().signed == 3


@pytest.mark.parametrize("size", [2048, 4096])
@pytest.mark.parametrize("catches_up", [True, False])
def test_a_mirror_that_goes_around_or_has_no_room_loses_nothing(size: int, catches_up: bool) -> None:
    machine = Machine()
    log = _open(machine, size)
    names = [f"call {number}" for number in range(60)]
    for name in names:
        _commit(log, name)
        if catches_up and log.is_behind:
            log.sync_behind()
    machine.reboot(Survival.NOTHING)

    assert _kept(machine) == names


def test_a_mirror_that_does_not_fit_on_the_disk_leaves_no_trace_and_recording_goes_on() -> None:
    machine = Machine()
    log = machine.log()
    log.append([body("a")])
    machine.disk.room = SIZE // 2
    with pytest.raises(LogFault):
        log.maybe_open_mirror(SIZE)
    look = machine.disk.look(MIRROR)
    assert look is not None
    assert look.size == 0
    machine.disk.room = None
    log.append([body("b")])

    assert _kept(machine) == ["a", "b"]


async def test_what_can_be_synced_nowhere_is_told_to_the_caller_and_the_next_record_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine = Machine()
    recorder = FileTrail(
        machine.log(), mode=Mode.SYNC, values=Values.DIGESTED, schedule=Schedule(), clock=HandClock().clock, mirrors=True
    )
    assert [await recorder.record(call(name)) for name in ("a", "b")] == [None, None]
    _refuse_syncs(machine, monkeypatch, 2)
    failure = await recorder.record(call("lost"))
    assert failure is not None
    assert failure.code == "AUDIT_LOG_FAILED"
    assert await recorder.record(call("c")) is None
    await recorder.close()
    machine.reboot(Survival.NOTHING)

    assert machine.disk.look(MIRROR) is not None
    assert _kept(machine) == ["a", "b", "c"]


@pytest.mark.parametrize("survival", Survival)
def test_what_cannot_be_synced_in_the_mirror_is_synced_in_the_log_itself(
    survival: Survival, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine()
    log = _open(machine)
    _commit(log, "a")
    _refuse_syncs(machine, monkeypatch, 1)
    _commit(log, "b")
    _commit(log, "c")
    machine.reboot(survival)

    assert _kept(machine) == ["a", "b", "c"]


def test_commits_that_share_a_sync_share_a_write_but_not_around_the_end_of_the_mirror() -> None:
    machine = Machine()
    log = _open(machine, 7 * FRAME)
    names, writes = [f"call {number}" for number in range(12)], []
    for first, second in zip(names[::2], names[1::2], strict=True):
        assert log.try_append_unsynced([body(first)])
        assert log.try_append_unsynced([body(second)])
        machine.disk.calls.clear()
        log.sync_written()
        writes.append([size for what, size in machine.disk.calls if what == "write"])
        log.sync_behind()
    machine.reboot(Survival.NOTHING)

    assert writes == [[2 * FRAME]] * 3 + [[FRAME] * 2] + [[2 * FRAME]] * 2
    assert _kept(machine) == names


@pytest.mark.parametrize("survival", Survival)
def test_what_could_not_be_synced_does_not_come_back(survival: Survival) -> None:
    machine = Machine()
    log = _open(machine)
    _commit(log, "a")
    assert log.try_append_unsynced([body("lost")])
    machine.disk.refusal = errno.EIO
    with pytest.raises(LogFault):
        log.sync_written()
    machine.disk.refusal = None
    log.take_back()
    log.append([body("b")])
    machine.reboot(survival)

    assert _kept(machine) == ["a", "b"]


def test_what_waits_for_its_sync_is_not_lost_with_a_commit_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine()
    log = _open(machine)
    _commit(log, "a")
    assert log.try_append_unsynced([body("b")])
    _refuse_syncs(machine, monkeypatch, 1)
    with pytest.raises(LogFault):
        log.append([body("lost")])
    log.sync_written()
    machine.reboot(Survival.NOTHING)

    assert _kept(machine) == ["a", "b"]


def _steps_of_a_second_process() -> int:
    machine = Machine()
    _commit(_open(machine), "a", "b")
    before = machine.disk.cord.steps
    _commit(_open(machine), "c")
    return machine.disk.cord.steps - before


@pytest.mark.parametrize("survival", Survival)
@pytest.mark.parametrize("step", range(_steps_of_a_second_process() + 1))
@pytest.mark.parametrize("size", [SIZE, 2 * SIZE])
def test_what_a_process_that_died_had_synced_is_safe_from_the_next(step: int, survival: Survival, size: int) -> None:
    machine = Machine()
    _commit(_open(machine), "a", "b")
    machine.disk.cord.cut_after = machine.disk.cord.steps + step
    with contextlib.suppress(PowerCut):
        _commit(_open(machine, size), "c")
    machine.reboot(survival)

    assert _kept(machine)[:2] == ["a", "b"]


def test_after_a_sync_of_the_log_that_failed_it_is_written_again_before_the_next() -> None:
    machine = Machine()
    log = _open(machine)
    _commit(log, "a")
    machine.disk.refusal = errno.EIO
    with pytest.raises(LogFault):
        log.sync_behind()
    machine.disk.refusal = None
    machine.disk.calls.clear()
    log.sync_behind()
    log.sync()
    log.sync_behind()

    written = machine.disk.look(ACTIVE)
    assert written is not None
    assert machine.disk.calls == [("write", written.size), ("sync", 0), ("sync", 0)]


def test_what_was_written_before_there_was_a_mirror_is_synced_in_the_log_itself() -> None:
    machine = Machine()
    log = machine.log()
    log.open()
    assert log.try_append_unsynced([body("a")])
    _mirror(log)
    _commit(log, "b")
    machine.reboot(Survival.NOTHING)

    assert _kept(machine) == ["a", "b"]


def test_behind_records_of_another_process_the_log_itself_is_synced() -> None:
    machine = Machine()
    log, other = _open(machine), machine.log()
    _commit(log, "a")
    other.append_unsynced([body("b")])
    _commit(log, "c")
    machine.reboot(Survival.NOTHING)

    assert _kept(machine) == ["a", "b", "c"]


def test_without_its_mirror_the_log_itself_is_synced() -> None:
    machine = Machine()
    log = _open(machine)
    _commit(log, "a")
    machine.disk.remove(MIRROR)
    _commit(log, "b")
    machine.reboot(Survival.NOTHING)

    assert _kept(machine) == ["a", "b"]


def test_a_frame_that_is_not_whole_is_none() -> None:
    machine = Machine()
    _commit(_open(machine), "a", "b", "c")
    file = machine.disk.open(MIRROR)
    whole = file.read(0, SIZE)
    head = bytes(32)
    for place in range(0, 1200, 7):
        file.write(place, bytes([whole[place] ^ 1]))
        assert list(read_mirrored(machine.disk, head)) == [], f"byte {place} was changed"
        file.write(place, whole[place : place + 1])

    assert len(list(read_mirrored(machine.disk, head))) == 3


def test_one_process_alone_has_the_mirror(tmp_path: Path) -> None:
    disk = FolderDisk(tmp_path)
    first = maybe_open_mirror(disk, SIZE)
    assert first is not None
    assert maybe_open_mirror(disk, SIZE) is None
    first.close()
    again = maybe_open_mirror(disk, SIZE)

    assert again is not None
    again.close()


async def test_a_recorder_that_syncs_has_a_mirror_after_its_first_record(tmp_path: Path) -> None:
    trail = trail_in(tmp_path)
    recorder = await open_trail(trail)
    for name in ("a", "b", "c"):
        assert await recorder.record(call(name)) is None
    await recorder.close()

    assert (trail.folder / MIRROR).stat().st_size == MIRROR_BYTES
    assert call_ids(records_of(FolderDisk(trail.folder))) == ["a", "b", "c"]
    assert verify_trail(trail.folder, read_public_key(trail.key_path), anchor=trail.anchor_path).signed == 3
