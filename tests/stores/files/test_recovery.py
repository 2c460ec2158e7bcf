"""The power fails at every step of the writer, and nothing that was answered is missing; what a start accepts and refuses.

The disk forgets what was not synced, or keeps it, or keeps half of it; after each the log is opened, verified and used.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest

from strictwire.audit.chain import GENESIS, seal_batch
from strictwire.audit.merkle import Frontier
from strictwire.stores.fault import LogFault
from strictwire.stores.files.config import open_writer
from strictwire.stores.files.crash_disk import PowerCut, Survival
from strictwire.stores.files.layout import ACTIVE, CHECKPOINTS, HASHES
from strictwire.stores.files.writer import TrailWriter
from tests.stores.trails import KEY, Machine, body, call_ids, trail_in

BATCHES = [["a"], ["b", "c"], ["d", "e", "f"], ["g"]]
SMALL = 900
"""Bytes after which a new file is begun: the run below rotates twice."""


def _work(log: TrailWriter, answered: list[str], append: Callable[[TrailWriter], Callable[[list[bytes]], None]]) -> None:
    """What a server does: commits, a checkpoint now and then, a last one at the end."""
    keep = append(log)
    for number, names in enumerate(BATCHES):
        keep([body(name) for name in names])
        answered += names
        if number % 2:
            log.sign()
    log.sign()
    log.close()


def _append_in_two_steps(log: TrailWriter) -> Callable[[list[bytes]], None]:
    """Write as the event loop does, then sync as the thread does."""

    def append(bodies: list[bytes]) -> None:
        if log.try_append_unsynced(bodies):
            log.sync()
        else:
            log.append(bodies)

    return append


WAYS: dict[str, Callable[[TrailWriter], Callable[[list[bytes]], None]]] = {
    "in one step": lambda log: log.append,
    "in two steps": _append_in_two_steps,
}


def _steps_of_a_whole_run(rotate_bytes: int, way: str = "in one step") -> int:
    machine = Machine(rotate_bytes)
    _work(machine.log(), [], WAYS[way])
    return machine.disk.power.steps


CASES = [
    (way, rotate_bytes, step, survival)
    for way in WAYS
    for rotate_bytes in (1 << 40, SMALL)
    for step in range(_steps_of_a_whole_run(rotate_bytes, way) + 1)
    for survival in Survival
]


@pytest.mark.slow
@pytest.mark.clause("S7")
@pytest.mark.parametrize(("way", "rotate_bytes", "step", "survival"), CASES)
def test_no_answered_call_is_missing_after_a_power_cut_in_sync_mode(
    way: str, rotate_bytes: int, step: int, survival: Survival
):
    machine = Machine(rotate_bytes)
    machine.disk.power.cut_after = step
    answered: list[str] = []
    with contextlib.suppress(PowerCut):
        _work(machine.log(), answered, WAYS[way])
    machine.reboot(survival)

    _assert_whole(machine, answered)


@pytest.mark.parametrize("survival", Survival)
@pytest.mark.parametrize("first_cut", range(4, 28))
def test_a_second_power_cut_at_every_step_of_the_repair_loses_nothing_either(first_cut: int, survival: Survival):
    second = 0
    while True:
        machine = Machine()
        machine.disk.power.cut_after = first_cut
        answered: list[str] = []
        with pytest.raises(PowerCut):
            _work(machine.log(), answered, lambda log: log.append)
        machine.reboot(Survival.PART)
        machine.disk.power.cut_after = machine.disk.power.steps + second
        try:
            machine.log().open()
        except PowerCut:
            machine.reboot(survival)
            _assert_whole(machine, answered)
            second += 1
            continue
        break
    machine.disk.power.cut_after = None

    _assert_whole(machine, answered)


@pytest.mark.parametrize("step", range(_steps_of_a_whole_run(1 << 40) + 1))
def test_batched_mode_loses_nothing_when_only_the_process_dies(step: int):
    """kill -9: what was written stays with the system."""
    machine = Machine()
    machine.disk.power.cut_after = step
    answered: list[str] = []
    with contextlib.suppress(PowerCut):
        _work(machine.log(), answered, lambda log: log.append_unsynced)
    machine.reboot(Survival.EVERYTHING)

    _assert_whole(machine, answered)


def test_batched_mode_loses_at_most_what_was_written_since_the_last_sync():
    machine = Machine()
    log = machine.log()
    log.append_unsynced([body("a")])
    log.sync()
    log.append_unsynced([body("b")])
    machine.reboot(Survival.NOTHING)
    machine.log().open()

    assert call_ids(machine.records()) == ["a"]


@pytest.mark.slow
@pytest.mark.parametrize("survival", Survival)
@pytest.mark.parametrize("step", range(_steps_of_a_whole_run(1 << 40) + 4))
def test_batched_mode_loses_nothing_that_was_synced_before_a_power_cut(step: int, survival: Survival):
    machine = Machine()
    machine.disk.power.cut_after = step
    synced: list[str] = []
    with contextlib.suppress(PowerCut):
        log = machine.log()
        for number in range(6):
            log.append_unsynced([body(f"{number} a"), body(f"{number} b")])
            log.append_unsynced([body(f"{number} c")])
            if number % 2:
                log.sync()
                synced += [f"{each} {letter}" for each in (number - 1, number) for letter in "abc"]
        log.append_unsynced([body("signed")])
        log.sign()
        synced.append("signed")
    machine.reboot(survival)

    _assert_whole(machine, synced)


def _assert_whole(machine: Machine, answered: list[str]) -> None:
    before = machine.verify()
    assert before.finding is None, before.finding
    log = machine.log()
    log.open()
    log.append([body("after")])
    log.sign()
    kept = call_ids(machine.records())

    assert kept[: len(answered)] == answered
    assert kept[-1] == "after"
    assert machine.verify().finding is None
    assert machine.verify().signed == machine.verify().size


def test_a_torn_line_is_set_aside_and_recorded():
    machine = Machine()
    log = machine.log()
    log.append([body("a")])
    file = machine.disk.open(ACTIVE)
    file.write(file.size(), b'{"seq":1,"prev":"00')
    machine.log().open()
    recovery = machine.records()[1]

    assert {name: recovery[name] for name in ("kind", "reason", "size", "kept_as")} == {
        "kind": "recovery",
        "reason": "torn_line",
        "size": 19,
        "kept_as": "audit-log.torn-000000000001",
    }
    assert machine.disk.open("audit-log.torn-000000000001").read(0, 99) == b'{"seq":1,"prev":"00'


@pytest.mark.slow
def test_a_start_reads_only_what_came_after_the_last_checkpoint():
    machine = Machine()
    log = machine.log()
    log.append([body("x")] * 50_000)
    log.sign()
    log.append([body("y")])
    machine.disk.calls.clear()
    machine.log().open()

    assert machine.disk.calls == [("sync_folder", 0), ("write", 32)]


def test_hashes_that_do_not_fit_the_signature_are_made_again_from_the_records():
    machine = Machine()
    log = machine.log()
    log.append([body("a"), body("b"), body("c")])
    log.sign()
    good = machine.disk.open(HASHES).read(0, 999)
    machine.disk.open(HASHES).write(0, bytes(128))
    again = machine.log()
    again.open()

    assert machine.disk.open(HASHES).read(0, 999) == good


def test_a_log_that_was_tampered_with_is_not_written_to():
    machine = Machine()
    log = machine.log()
    log.append([body("a"), body("b")])
    log.sign()
    machine.disk.open(ACTIVE).truncate(10)
    with pytest.raises(LogFault) as refused:
        machine.log().open()

    assert (refused.value.reason, refused.value.record) == ("damaged", 0)


def test_a_log_whose_records_and_hashes_were_forged_is_not_written_to():
    machine = Machine()
    log = machine.log()
    log.append([body("a"), body("b")])
    log.sign()
    forged = seal_batch([body("x"), body("b")], first=0, head=GENESIS)
    machine.disk.open(ACTIVE).write(0, forged.lines)
    machine.disk.open(HASHES).write(0, b"".join(Frontier().extend(forged.leaves)))
    with pytest.raises(LogFault) as refused:
        machine.log().open()

    assert (refused.value.reason, refused.value.record) == ("damaged", 1)


def test_a_log_whose_unsigned_end_was_edited_is_not_written_to():
    machine = Machine()
    log = machine.log()
    log.append([body("a"), body("b"), body("c")])
    lines = machine.disk.open(ACTIVE).read(0, 9999)
    machine.disk.open(ACTIVE).write(0, lines.replace(b'"a"', b'"x"'))
    with pytest.raises(LogFault) as refused:
        machine.log().open()

    assert (refused.value.reason, refused.value.record) == ("damaged", 0)


def test_a_log_that_was_put_back_to_an_earlier_state_is_not_signed_again():
    """A log never signs two histories: the anchor beside the key remembers."""
    machine = Machine()
    log = machine.log()
    log.append([body("a")])
    log.sign()
    disk = machine.disk
    notes, lines = disk.open(CHECKPOINTS).read(0, 999), disk.open(ACTIVE).read(0, 999)
    log.append([body("b")])
    log.sign()
    disk.open(CHECKPOINTS).truncate(len(notes))
    disk.open(ACTIVE).truncate(len(lines))
    with pytest.raises(LogFault) as refused:
        machine.log().open()

    assert (refused.value.reason, refused.value.record) == ("damaged", 1)


def test_a_log_of_another_key_is_not_written_to():
    machine = Machine()
    log = machine.log()
    log.append([body("a")])
    other = type(KEY)(name=KEY.public.name, seed=bytes(32))
    machine.disk.open(CHECKPOINTS, create=True).write(0, other.sign(size=1, root=bytes(32)).note)
    with pytest.raises(LogFault) as refused:
        machine.log().open()

    assert str(refused.value) == "AUDIT_LOG_FAILED: damaged: its last checkpoint is refused: unknown_key"


def test_a_failed_start_leaves_no_file_open(tmp_path: Path):
    trail = trail_in(tmp_path)
    log = open_writer(trail)
    log.append([body("a"), body("b")])
    log.sign()
    log.close()
    (trail.folder / ACTIVE).write_bytes(b"")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        again = open_writer(trail)
        with pytest.raises(LogFault):
            again.open()
        again.close()

    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_writer_that_finds_another_ones_torn_line_sets_it_aside():
    machine = Machine()
    one, two = machine.log(), machine.log()
    one.append([body("a")])
    two.append([body("b")])
    look = machine.disk.stat(ACTIVE)
    machine.disk.open(ACTIVE).write(look.size, b'{"seq":2')
    one.append([body("c")])

    assert [record["kind"] for record in machine.records()] == ["call", "call", "recovery", "call"]
    assert machine.verify().ok
