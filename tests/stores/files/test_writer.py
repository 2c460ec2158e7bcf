"""The writer: what a commit costs, what happens when the disk does not want it, and several writers of one log."""

from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from strictwire.audit.chain import GENESIS, seal_batch
from strictwire.audit.merkle import HASH_BYTES, stored_count
from strictwire.stores.fault import LogFault
from strictwire.stores.files.config import open_writer
from strictwire.stores.files.crash_disk import Survival
from strictwire.stores.files.disk import FolderDisk
from strictwire.stores.files.layout import ACTIVE, HASHES, list_segments
from strictwire.stores.files.writer import MAX_PENDING, TrailWriter
from tests.stores.trails import KEY, Machine, body, call_ids, no_new_files, records_of, trail_in


def test_records_are_chained_and_the_files_are_for_their_owner_alone(tmp_path: Path):
    trail = trail_in(tmp_path)
    log = open_writer(trail)
    log.append([body("a"), body("b")])
    log.sign()
    log.close()

    assert call_ids(records_of(FolderDisk(trail.folder))) == ["a", "b"]
    assert {path.stat().st_mode & 0o777 for path in trail.folder.iterdir()} == {0o600}
    assert {path.stat().st_mode & 0o777 for path in trail.key_path.parent.iterdir()} == {0o600}
    assert trail.folder.stat().st_mode & 0o777 == 0o700


def _cost(machine: Machine, log: TrailWriter) -> tuple[Counter[str], int]:
    """What commits of one record do to the disk: the calls, and the bytes."""
    log.sign()
    machine.disk.calls.clear()
    for _ in range(COMMITS):
        log.append([body("x")])
    return Counter(name for name, _ in machine.disk.calls), sum(size for _, size in machine.disk.calls)


COMMITS = 100


@pytest.mark.slow
def test_a_commit_costs_the_same_at_a_million_records_as_at_a_thousand():
    """Same calls, same bytes; but for the digits of the number and the nodes that the last leaf completes."""
    machine = Machine()
    log = machine.log()
    log.append([body("x")] * 1_000)
    early, early_bytes = _cost(machine, log)
    for _ in range(990):
        log.append_unsynced([body("x")] * 1_001)
    log.append([body("x")] * (1_000_000 - log._state.records))
    late, late_bytes = _cost(machine, log)
    digits = COMMITS * (len("1000000") - len("1000"))

    assert early == late == {"write": COMMITS, "sync": COMMITS}
    assert abs(late_bytes - digits - early_bytes) < 20 * HASH_BYTES


def test_hashes_are_stored_before_a_signature_needs_them():
    machine = Machine()
    log = machine.log()
    for count in (1, 3, 10):
        log.append([body("a")] * count)
    before = machine.disk.stat(HASHES).size
    log.sign()

    assert (before, machine.disk.stat(HASHES).size) == (0, stored_count(14) * HASH_BYTES)


def test_pending_hashes_are_bounded_if_nothing_can_be_signed():
    machine = Machine()
    log = machine.log()
    for _ in range(3):
        log.append([body("a")] * MAX_PENDING)

    assert machine.disk.stat(HASHES).size == stored_count(2 * MAX_PENDING) * HASH_BYTES


def test_the_hashes_of_an_undone_commit_are_forgotten(monkeypatch: pytest.MonkeyPatch):
    machine = Machine()
    log = machine.log()
    log.append([body("a")] * 3)
    _refuse_syncs(machine, monkeypatch, 1)
    with pytest.raises(LogFault):
        log.append([body("lost")] * 5)
    log.append([body("b")])
    log.sign()

    assert machine.disk.stat(HASHES).size == stored_count(4) * HASH_BYTES
    assert call_ids(machine.records()) == ["a", "a", "a", "b"]
    assert machine.verify().ok


def test_a_full_disk_is_told_and_writing_goes_on_when_there_is_room():
    machine = Machine()
    log = machine.log()
    log.append([body("a")])
    machine.disk.room = 200
    with pytest.raises(LogFault) as refused:
        log.append([body("lost")])
    machine.disk.room = None
    log.append([body("b")])

    assert (refused.value.code, refused.value.reason) == ("AUDIT_LOG_FAILED", "disk_full")
    assert call_ids(machine.records()) == ["a", "b"]
    assert machine.verify().ok


def test_of_a_batch_that_does_not_fit_nothing_is_kept():
    machine = Machine()
    log = machine.log()
    log.append([body("a")])
    line = machine.disk.stat(ACTIVE).size
    machine.disk.room = 7 * HASH_BYTES + 2 * line
    with pytest.raises(LogFault):
        log.append([body("lost")] * 3)
    machine.disk.room = None
    log.append([body("b")])

    assert [record["kind"] for record in machine.records()] == ["call"] * 2
    assert call_ids(machine.records()) == ["a", "b"]


@pytest.mark.parametrize(
    ("error", "reason"),
    [(errno.EROFS, "read_only"), (errno.EIO, "io_error"), (errno.EACCES, "denied"), (errno.EDQUOT, "disk_full")],
)
def test_a_disk_that_refuses_is_told_and_writing_goes_on_when_it_does_not(error: int, reason: str):
    machine = Machine()
    log = machine.log()
    log.append([body("a")])
    machine.disk.refusal = error
    for _ in range(3):
        with pytest.raises(LogFault) as refused:
            log.append([body("lost")])
        assert refused.value.reason == reason
    machine.disk.refusal = None
    log.append([body("b")])

    assert call_ids(machine.records()) == ["a", "b"]
    assert machine.verify().ok


@pytest.mark.parametrize("when", range(6))
def test_whichever_step_of_a_commit_fails_the_next_one_goes_well(when: int, monkeypatch: pytest.MonkeyPatch):
    machine = Machine()
    log = machine.log()
    log.append([body("a")])
    step, left = machine.disk.step, [when]

    def failing(what: str, change: object, size: int = 0) -> None:
        left[0] -= 1
        if left[0] == -1:
            raise OSError(errno.EIO, "broken")
        step(what, change, size)

    monkeypatch.setattr(machine.disk, "step", failing)
    kept = ["a"]
    for name in ("b", "c"):
        try:
            log.append([body(name)])
        except LogFault:
            continue
        kept.append(name)

    assert call_ids(machine.records()) == kept
    assert machine.verify().ok


def test_two_writers_take_turns_and_the_chain_goes_through_both():
    machine = Machine()
    one, two = machine.log(), machine.log()
    for number in range(5):
        one.append([body(f"one {number}")])
        two.append([body(f"two {number}"), body(f"too {number}")])
    one.sign()

    assert Counter(name.split()[0] for name in call_ids(machine.records())) == {"one": 5, "two": 5, "too": 5}
    assert machine.verify().signed == 15


@pytest.mark.clause("S7")
def test_what_could_not_be_synced_is_removed_and_nothing_that_another_writer_kept(monkeypatch: pytest.MonkeyPatch):
    machine = Machine()
    one, two = machine.log(), machine.log()
    one.append([body("one")])
    two.append([body("two")])
    with monkeypatch.context() as patch:
        patch.setattr(type(one._state.file), "sync", _refuse)
        with pytest.raises(LogFault):
            one.append([body("lost")])
    two.append([body("three")])
    one.append([body("four")])

    assert call_ids(machine.records()) == ["one", "two", "three", "four"]
    assert machine.verify().ok


def _refuse_syncs(machine: Machine, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Let so many syncs fail."""
    step, refused = machine.disk.step, []

    def refuse(what: str, change: Callable[[], object], size: int = 0) -> None:
        if what == "sync" and len(refused) < count:
            refused.append(what)
            raise OSError(errno.EIO, "refused")
        step(what, change, size)

    monkeypatch.setattr(machine.disk, "step", refuse)


@pytest.mark.clause("S7")
@pytest.mark.parametrize("survival", Survival)
@pytest.mark.parametrize("later", [[], ["b"]], ids=["power fails at once", "power fails after another commit"])
def test_a_record_whose_sync_failed_does_not_come_back(
    survival: Survival, later: list[str], monkeypatch: pytest.MonkeyPatch
):
    machine = Machine()
    log = machine.log()
    log.append([body("a")])
    _refuse_syncs(machine, monkeypatch, 1)
    with pytest.raises(LogFault):
        log.append([body("lost")])
    for name in later:
        log.append([body(name)])
    machine.reboot(survival)
    machine.log().open()

    assert call_ids(machine.records()) == ["a", *later]
    assert machine.verify().ok


@pytest.mark.clause("S7")
@pytest.mark.parametrize("what", ["write", "sync"])
def test_a_failed_commit_that_cannot_be_undone_at_once_is_undone_later(what: str, monkeypatch: pytest.MonkeyPatch):
    """Whole lines of it are in the file: the disk fails for a while, from the end of the write or from the sync on."""
    machine = Machine()
    log = machine.log()
    log.append([body("a")])
    step = machine.disk.step

    def break_down(kind: str, change: Callable[[], object], size: int = 0) -> None:
        if kind == what and (what == "sync" or size > 9 * HASH_BYTES):
            if what == "write":
                step(kind, change, size)
            machine.disk.refusal = errno.EIO
        step(kind, change, size)

    monkeypatch.setattr(machine.disk, "step", break_down)
    for _ in range(2):
        with pytest.raises(LogFault):
            log.append([body("lost"), body("lost, too")])
    monkeypatch.setattr(machine.disk, "step", step)
    machine.disk.refusal = None
    log.append([body("b")])

    assert call_ids(machine.records()) == ["a", "b"]
    assert machine.verify().ok


def test_a_failed_commit_on_which_another_writer_has_built_stays(monkeypatch: pytest.MonkeyPatch):
    machine = Machine()
    one, two = machine.log(), machine.log()
    one.append([body("a")])
    step = machine.disk.step

    def refuse(kind: str, change: Callable[[], object], size: int = 0) -> None:
        if kind in ("sync", "truncate"):
            raise OSError(errno.EIO, "broken")
        step(kind, change, size)

    monkeypatch.setattr(machine.disk, "step", refuse)
    with pytest.raises(LogFault):
        one.append([body("refused")])
    monkeypatch.setattr(machine.disk, "step", step)
    two.append([body("b")])
    one.append([body("c")])

    assert call_ids(machine.records()) == ["a", "refused", "b", "c"], "the chain must not break"
    assert machine.verify().ok


def test_a_commit_behind_much_that_another_writer_wrote_may_wait(monkeypatch: pytest.MonkeyPatch):
    machine = Machine()
    one, two = machine.log(), machine.log()
    one.append([body("a")])
    two.append([body("b")])
    assert one.try_append_unsynced([body("c")])
    monkeypatch.setattr("strictwire.stores.files.writer.BLOCK", 100)
    two.append([body("d")])

    assert not one.try_append_unsynced([body("e")])
    one.append([body("e")])
    assert call_ids(machine.records()) == ["a", "b", "c", "d", "e"]


def test_after_a_failed_sync_everything_unsynced_is_written_again_before_the_next(monkeypatch: pytest.MonkeyPatch):
    """The kernel may hold the pages for clean after it reported the error: a second sync alone would do nothing."""
    machine = Machine()
    log = machine.log()
    log.append([body("a")])
    synced = machine.disk.stat(ACTIVE).size
    log.append_unsynced([body("b"), body("c")])
    _refuse_syncs(machine, monkeypatch, 1)
    with pytest.raises(LogFault):
        log.sync()
    machine.disk.calls.clear()
    log.sync()
    log.sync()

    assert machine.disk.calls == [("write", machine.disk.stat(ACTIVE).size - synced), ("sync", 0), ("sync", 0)]


def test_a_failed_sync_is_remembered_when_the_end_of_the_log_is_read_again(monkeypatch: pytest.MonkeyPatch):
    machine = Machine()
    log = machine.log()
    log.append([body("a")])
    synced = machine.disk.stat(ACTIVE).size
    log.append_unsynced([body("b")])
    _refuse_syncs(machine, monkeypatch, 1)
    with pytest.raises(LogFault):
        log.sync()
    log._state.must_reload = True
    log.open()
    machine.disk.calls.clear()
    log.sync()

    assert machine.disk.calls == [("write", machine.disk.stat(ACTIVE).size - synced), ("sync", 0)]


def test_unsynced_records_stay_when_the_sync_of_a_later_commit_fails(monkeypatch: pytest.MonkeyPatch):
    machine = Machine()
    log = machine.log()
    log.append([body("a")])
    log.append_unsynced([body("b")])
    _refuse_syncs(machine, monkeypatch, 1)
    with pytest.raises(LogFault):
        log.append([body("lost")])
    log.sync()
    machine.reboot(Survival.NOTHING)
    machine.log().open()

    assert call_ids(machine.records()) == ["a", "b"]


def _refuse(_file: object) -> None:
    raise OSError(errno.EIO, "broken")


def test_two_writers_follow_each_other_into_new_files():
    machine = Machine(rotate_bytes=1_000)
    one, two = machine.log(), machine.log()
    for number in range(12):
        (one if number % 3 else two).append([body(f"call {number}")])

    assert call_ids(machine.records()) == [f"call {number}" for number in range(12)]
    assert len(list_segments(machine.disk)) > 4
    assert machine.verify().ok


def test_a_log_is_rotated_by_size_with_the_chain_carried_over():
    machine = Machine(rotate_bytes=2_000)
    log = machine.log()
    for number in range(20):
        log.append([body(f"call {number}")])
    log.sign()
    whole = b"".join(_read(machine, segment.name) for segment in list_segments(machine.disk))
    expected = seal_batch([body(f"call {n}") for n in range(20)], first=0, head=GENESIS, tag_key=KEY.tag_key)

    assert len(list_segments(machine.disk)) > 2
    assert whole == expected.lines
    assert machine.verify().signed == 20


def test_a_new_file_whose_name_was_not_synced_takes_no_record(monkeypatch: pytest.MonkeyPatch):
    machine = Machine(rotate_bytes=600)
    log = machine.log()
    log.open()
    step, refused = machine.disk.step, []

    def refuse(what: str, change: Callable[[], object], size: int = 0) -> None:
        if what == "sync_folder" and machine.disk.stat("audit-log-000000000000.jsonl") is not None and not refused:
            refused.append(what)
            raise OSError(errno.EIO, "refused")
        step(what, change, size)

    monkeypatch.setattr(machine.disk, "step", refuse)
    log.append([body("a"), body("b")])
    assert refused
    log.append([body("c")])
    machine.reboot(Survival.NOTHING)
    machine.log().open()

    assert call_ids(machine.records()) == ["a", "b", "c"]


def test_a_record_is_kept_even_when_there_is_no_room_for_a_new_file():
    machine = Machine(rotate_bytes=1)
    log = machine.log()
    log.open()
    with no_new_files(machine.anchors):
        log.append([body("a")])
    log.append([body("b")])

    assert call_ids(machine.records()) == ["a", "b"]
    assert machine.verify().ok


def _read(machine: Machine, name: str) -> bytes:
    return machine.disk.open(name).read(0, 1 << 20)
