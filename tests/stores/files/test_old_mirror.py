"""A folder left by an earlier version after a power cut: what only its mirror holds is put back, and nothing else is."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from strictwire.audit.chain import GENESIS, Sealed, seal_batch
from strictwire.stores.fault import LogFault
from strictwire.stores.files.config import open_writer
from strictwire.stores.files.crash_disk import PowerCut, Survival
from strictwire.stores.files.disk import FolderDisk
from strictwire.stores.files.layout import ACTIVE, CHECKPOINTS
from strictwire.stores.files.old_mirror import MIRROR, read_mirrored
from tests.stores.trails import KEY, Machine, body, call_ids, trail_in

SECTOR = 512
SIZE = 16 * 1024


def _seal(*names: str, first: int = 0, head: bytes = GENESIS) -> Sealed:
    return seal_batch([body(name) for name in names], first=first, head=head)


def _frame(sealed: Sealed) -> bytes:
    """One commit as the earlier version wrote it to its mirror."""
    frame = b"mirror %d %b\n%b" % (len(sealed.lines), sealed.leaves[-1].hex().encode(), sealed.lines)
    return frame + bytes(-len(frame) % SECTOR)


def _leave(machine: Machine, *, log: bytes, frames: bytes) -> None:
    """A folder with a log and a mirror, everything synced."""
    for name, data in ((ACTIVE, log), (MIRROR, frames + bytes(SIZE - len(frames)))):
        file = machine.disk.open(name, create=True)
        file.write(0, data)
        file.sync()
    machine.disk.sync()


FIRST = _seal("a", "b")
SECOND = _seal("c", first=2, head=FIRST.leaves[-1])
THIRD = _seal("d", "e", first=3, head=SECOND.leaves[-1])


@pytest.mark.parametrize(
    "log",
    [
        pytest.param(b"", id="nothing survived in the log"),
        pytest.param(FIRST.lines, id="the first commit did"),
        pytest.param(FIRST.lines + SECOND.lines[:50], id="and half a line of the second"),
        pytest.param(FIRST.lines + bytes(50) + SECOND.lines[50:], id="and a hole"),
        pytest.param(FIRST.lines + SECOND.lines + THIRD.lines, id="everything did"),
    ],
)
@pytest.mark.parametrize("order", [(FIRST, SECOND, THIRD), (THIRD, FIRST, SECOND)], ids=["in order", "around the end"])
def test_what_only_the_mirror_holds_is_put_back_and_the_mirror_deleted(log: bytes, order: tuple[Sealed, ...]) -> None:
    machine = Machine()
    _leave(machine, log=log, frames=b"".join(map(_frame, order)))
    writer = machine.log()
    writer.open()
    machine.reboot(Survival.NOTHING)

    assert call_ids(machine.records()) == ["a", "b", "c", "d", "e"]
    assert machine.disk.stat(MIRROR) is None
    assert machine.verify().ok


def test_an_outdated_frame_is_not_put_back() -> None:
    machine = Machine()
    later = _seal("x", first=3, head=SECOND.leaves[-1])
    _leave(machine, log=FIRST.lines + SECOND.lines + later.lines, frames=_frame(FIRST) + _frame(SECOND))
    machine.log().open()

    assert call_ids(machine.records()) == ["a", "b", "c", "x"]


def test_a_frame_that_is_not_whole_is_ignored() -> None:
    machine = Machine()
    _leave(machine, log=b"", frames=_frame(FIRST))
    file = machine.disk.open(MIRROR)
    whole = file.read(0, SIZE)
    for place in range(0, len(FIRST.lines), 7):
        file.write(place, bytes([whole[place] ^ 1]))
        assert list(read_mirrored(machine.disk, GENESIS)) == [], f"byte {place} was changed"
        file.write(place, whole[place : place + 1])

    assert len(list(read_mirrored(machine.disk, GENESIS))) == 2


def _steps_of_a_start() -> int:
    machine = Machine()
    _leave(machine, log=FIRST.lines[:40], frames=_frame(FIRST) + _frame(SECOND))
    before = machine.disk.power.steps
    machine.log().open()
    return machine.disk.power.steps - before


@pytest.mark.parametrize("survival", Survival)
@pytest.mark.parametrize("step", range(_steps_of_a_start() + 1))
def test_a_power_cut_at_any_step_of_the_upgrade_loses_nothing(step: int, survival: Survival) -> None:
    machine = Machine()
    _leave(machine, log=FIRST.lines[:40], frames=_frame(FIRST) + _frame(SECOND))
    machine.disk.power.cut_after = machine.disk.power.steps + step
    with contextlib.suppress(PowerCut):
        machine.log().open()
    machine.reboot(survival)
    machine.log().open()

    assert call_ids(machine.records()) == ["a", "b", "c"]
    assert machine.verify().ok


def test_records_in_the_page_cache_are_synced_before_the_mirror_goes() -> None:
    """The process of the earlier version was killed: its records are in the log, but synced in the mirror alone."""
    machine = Machine()
    _leave(machine, log=b"", frames=_frame(FIRST))
    machine.disk.open(ACTIVE).write(0, FIRST.lines)
    machine.log().open()
    machine.reboot(Survival.NOTHING)

    assert call_ids(machine.records()) == ["a", "b"]


def test_the_mirror_of_a_damaged_log_is_left_as_it_is() -> None:
    machine = Machine()
    _leave(machine, log=b"", frames=_frame(FIRST))
    machine.disk.open(CHECKPOINTS, create=True).write(0, KEY.sign(size=9, root=bytes(32)).note)
    with pytest.raises(LogFault):
        machine.log().open()

    assert machine.disk.stat(MIRROR) is not None


def test_a_mirror_that_another_process_uses_is_not_deleted(tmp_path: Path) -> None:
    trail = trail_in(tmp_path)
    trail.folder.mkdir()
    (trail.folder / MIRROR).write_bytes(_frame(FIRST))
    used = FolderDisk(trail.folder).open(MIRROR)
    assert used.try_lock()
    writer = open_writer(trail)
    writer.open()
    assert (trail.folder / MIRROR).exists()
    writer.close()
    used.close()
    again = open_writer(trail)
    again.open()
    again.close()

    assert not (trail.folder / MIRROR).exists()
