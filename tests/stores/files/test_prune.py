"""Retention: what is removed, and what is left can still be proved."""

from __future__ import annotations

import contextlib
from contextlib import closing

import pytest

from strictwire.audit.event import Prune, render_body
from strictwire.audit.proof import check_inclusion
from strictwire.audit.verify import Reason
from strictwire.stores.files.config import TrailConfig, open_writer
from strictwire.stores.files.crash_disk import PowerCut, Survival
from strictwire.stores.files.disk import FolderDisk
from strictwire.stores.files.keys import read_public_key
from strictwire.stores.files.layout import list_segments
from strictwire.stores.files.progress import ProgressMeter
from strictwire.stores.files.proofs import NoProof, prove_record
from strictwire.stores.files.prune import Pruned, _prune, prune_trail
from strictwire.stores.files.reading import read_trail
from strictwire.stores.records import Filters
from tests.stores.trails import HandClock, Machine, body, call, call_ids, hour_of, seqs, verify


@pytest.mark.parametrize("hour", [0, 1, 5, 13, 19])
def test_pruning_removes_what_is_older_and_what_is_left_is_still_proved(trail: TrailConfig, hour: int):
    key = read_public_key(trail.key_path)
    pruned = prune_trail(trail, hour_of(hour), clock=HandClock().clock)
    log = open_writer(trail)
    log.append([body("after")])
    log.sign()
    log.close()
    verdict = verify(trail)
    left = seqs(trail, Filters(kind="call"))

    assert pruned == Pruned(first=hour, removed=hour)
    assert verdict.finding is None, verdict.finding
    assert verdict.first == hour
    assert left == [*range(hour, 20), 21 if hour else 20]
    assert check_inclusion(prove_record(trail.folder, key, 19), key).index == 19
    if hour:
        with pytest.raises(NoProof, match="no_such_record"):
            prove_record(trail.folder, key, hour - 1)


def test_pruning_everything_leaves_the_prune_record(trail: TrailConfig):
    pruned = prune_trail(trail, "2027", clock=HandClock().clock)
    records = [stored.record for stored in read_trail(trail.folder)]

    assert pruned == Pruned(first=20, removed=20)
    assert [(record["kind"], record["first"], record["before"]) for record in records] == [("prune", 20, "2027")]
    assert verify(trail).ok


def _prune_on(machine: Machine) -> Pruned:
    prune = Prune(timestamp=hour_of(20), before=hour_of(7), first=0)
    with closing(machine.log()) as writer:
        return _prune(writer, machine.disk, prune, ProgressMeter(machine.disk, None))


def _machine_with_calls(rotate_bytes: int) -> Machine:
    machine = Machine(rotate_bytes)
    with closing(machine.log()) as writer:
        for number in range(12):
            writer.append([render_body(call(f"call {number}", hour_of(number)))])
        writer.sign()
    return machine


def _steps_of_a_prune(rotate_bytes: int) -> int:
    machine = _machine_with_calls(rotate_bytes)
    before = machine.disk.power.steps
    _prune_on(machine)
    return machine.disk.power.steps - before


@pytest.mark.slow
@pytest.mark.parametrize("survival", Survival)
@pytest.mark.parametrize(
    ("rotate_bytes", "step"), [(size, step) for size in (1 << 40, 1_500) for step in range(_steps_of_a_prune(size) + 1)]
)
def test_a_power_cut_at_any_step_of_a_prune_leaves_a_log_that_holds(rotate_bytes: int, step: int, survival: Survival):
    machine = _machine_with_calls(rotate_bytes)
    machine.disk.power.cut_after = machine.disk.power.steps + step
    with contextlib.suppress(PowerCut):
        _prune_on(machine)
    machine.reboot(survival)
    assert machine.verify().finding is None
    pruned = _prune_on(machine)

    assert pruned.first == 7
    assert call_ids(machine.records()) == [f"call {number}" for number in range(7, 12)]
    assert machine.verify().finding is None


def test_pruning_twice_and_a_writer_that_was_open_all_the_time(trail: TrailConfig):
    log = open_writer(trail)
    log.append([body("before")])
    prune_trail(trail, hour_of(3), clock=HandClock().clock)
    log.append([body("between")])
    prune_trail(trail, hour_of(6), clock=HandClock().clock)
    log.append([body("after")])
    log.close()

    assert verify(trail).ok
    assert verify(trail).first == 6


def test_records_that_are_gone_without_a_prune_record_are_missed(trail: TrailConfig):
    prune_trail(trail, hour_of(3), clock=HandClock().clock)
    prune_trail(trail, hour_of(9), clock=HandClock().clock)
    first = list_segments(FolderDisk(trail.folder))[0]
    path = trail.folder / first.name
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[1:]))
    finding = verify(trail).finding

    assert finding is not None
    assert (finding.reason, finding.record) in {(Reason.PRUNED_UNSAID, 9), (Reason.MISSING, 9), (Reason.MISSING, 10)}
