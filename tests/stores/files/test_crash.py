"""The power fails at every step of the writer, and nothing that was answered is missing.

The disk forgets what was not synced, or keeps it, or keeps half of it; after each the log is opened, verified and used.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest

from strictwire.stores.files.crash_disk import CrashDisk, PowerCut, Survival
from strictwire.stores.files.writer import TrailWriter
from tests.stores.trails import Machine, body, call_ids

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
@pytest.mark.parametrize("first_cut", range(12, 24))
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
    machine.disk.open("audit-log.jsonl").write(log_size(machine.disk), b'{"seq":1,"prev":"00')
    machine.log().open()
    recovery = machine.records()[1]

    assert {name: recovery[name] for name in ("kind", "reason", "size", "kept_as")} == {
        "kind": "recovery",
        "reason": "torn_line",
        "size": 19,
        "kept_as": "audit-log.torn-000000000001",
    }
    assert machine.disk.open("audit-log.torn-000000000001").read(0, 99) == b'{"seq":1,"prev":"00'


def log_size(disk: CrashDisk) -> int:
    found = disk.stat("audit-log.jsonl")
    assert found is not None
    return found.size
