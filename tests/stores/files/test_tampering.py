"""What an attacker can do to a trail, and how each of it is found.

The attacker can write to the audit folder, and to nothing beside the signing key. `audit verify` must find everything, and
so must the start of a server if the log is small. Of a large log, a start reads only the records after the last trusted
signature: it refuses what it can see there or in the list of files, and otherwise signs nothing that would hide the finding.
What someone with the signing key can do is invisible without a witness.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from strictwire.audit.verify import Reason
from strictwire.cli.main import main
from strictwire.fault.failure import Refused
from strictwire.stores.fault import DAMAGED, LogFault
from strictwire.stores.files import recovery
from strictwire.stores.files.config import TrailConfig, open_writer, refuse_missing_logs
from strictwire.stores.files.evidence import read_evidence
from strictwire.stores.files.keys import public_path, read_public_key
from strictwire.stores.files.prune import prune_trail
from strictwire.stores.files.repair import repair_trail
from strictwire.stores.files.verify import verify_trail
from strictwire.stores.files.view import FileTrailView
from strictwire.stores.files.writer import TrailWriter
from tests.stores.files import tampering
from tests.stores.files.tampering import ROTATE, active, build, notes_file, older
from tests.stores.trails import body, records_of, trail_in

pytestmark = pytest.mark.slow

REFUSED: Final = True
"""A server does not start on it."""

KEPT_OUT: Final = False
"""A server starts, and what it signs does not hide the finding."""

TABLE: Final[Mapping[tampering.Tamper, tuple[Reason, bool]]] = {
    tampering.edit_a_record_of_the_active_file: (Reason.FORGED, KEPT_OUT),
    tampering.edit_a_record_of_an_older_file: (Reason.EDITED, KEPT_OUT),
    tampering.edit_the_first_record: (Reason.EDITED, KEPT_OUT),
    tampering.edit_the_last_record_of_a_file: (Reason.FORGED, KEPT_OUT),
    tampering.edit_a_tag: (Reason.EDITED, KEPT_OUT),
    tampering.remove_the_tags: (Reason.EDITED, KEPT_OUT),
    tampering.edit_a_link: (Reason.EDITED, KEPT_OUT),
    tampering.delete_a_record_of_an_older_file: (Reason.MISSING, KEPT_OUT),
    tampering.delete_the_first_record: (Reason.MISSING, REFUSED),
    tampering.delete_the_last_record_of_an_older_file: (Reason.MISSING, REFUSED),
    tampering.cut_into_the_signed_records: (Reason.TRUNCATED, REFUSED),
    tampering.empty_the_active_file: (Reason.TRUNCATED, REFUSED),
    tampering.empty_an_older_file: (Reason.MISSING, REFUSED),
    tampering.swap_two_records: (Reason.MISSING, REFUSED),
    tampering.repeat_a_record: (Reason.REPEATED, KEPT_OUT),
    tampering.insert_a_forged_record: (Reason.REPEATED, KEPT_OUT),
    tampering.rewrite_history: (Reason.FORGED, REFUSED),
    tampering.rewrite_history_and_the_hashes: (Reason.FORGED, REFUSED),
    tampering.rewrite_history_and_drop_the_checkpoints: (Reason.FORGED, REFUSED),
    tampering.reformat_a_record: (Reason.REFORMATTED, KEPT_OUT),
    tampering.escape_a_letter: (Reason.REFORMATTED, KEPT_OUT),
    tampering.add_a_key_twice: (Reason.DUPLICATE_KEY, KEPT_OUT),
    tampering.insert_a_blank_line: (Reason.NOT_A_RECORD, KEPT_OUT),
    tampering.use_carriage_returns: (Reason.REFORMATTED, KEPT_OUT),
    tampering.put_zeros_in: (Reason.NOT_A_RECORD, KEPT_OUT),
    tampering.edit_an_unsigned_record: (Reason.NOT_AUTHENTIC, REFUSED),
    tampering.edit_an_unsigned_record_and_chain_the_rest_anew: (Reason.NOT_AUTHENTIC, REFUSED),
    tampering.chain_the_end_anew_without_tags: (Reason.NOT_AUTHENTIC, REFUSED),
    tampering.append_a_forged_record: (Reason.NOT_AUTHENTIC, REFUSED),
    tampering.append_a_forged_prune: (Reason.NOT_AUTHENTIC, REFUSED),
    tampering.append_a_forged_prune_and_delete_a_file: (Reason.NOT_AUTHENTIC, REFUSED),
    tampering.append_a_forged_prune_and_delete_all_signed_files: (Reason.NOT_AUTHENTIC, REFUSED),
    tampering.append_an_untagged_prune_and_delete_all_signed_files: (Reason.NOT_AUTHENTIC, REFUSED),
    tampering.append_a_forged_recovery: (Reason.NOT_AUTHENTIC, REFUSED),
    tampering.append_an_authentic_record_again: (Reason.REPEATED, REFUSED),
    tampering.append_garbage: (Reason.NOT_A_RECORD, REFUSED),
    tampering.cut_the_last_record: (Reason.TRUNCATED, REFUSED),
    tampering.cut_all_unsigned_records: (Reason.TRUNCATED, REFUSED),
    tampering.cut_inside_the_last_record: (Reason.TRUNCATED, REFUSED),
    tampering.delete_the_active_file: (Reason.TRUNCATED, REFUSED),
    tampering.delete_an_older_file: (Reason.MISSING, REFUSED),
    tampering.delete_the_oldest_file: (Reason.PRUNED_UNSAID, REFUSED),
    tampering.delete_all_older_files: (Reason.PRUNED_UNSAID, REFUSED),
    tampering.swap_two_files: (Reason.MISSING, REFUSED),
    tampering.rename_a_file: (Reason.MISSING, REFUSED),
    tampering.move_a_record_to_the_next_file: (Reason.MISSING, REFUSED),
    tampering.plant_an_empty_file: (Reason.UNEXPECTED_FILE, REFUSED),
    tampering.plant_a_file_of_forged_records: (Reason.UNEXPECTED_FILE, REFUSED),
    tampering.plant_a_file_after_the_end: (Reason.MISSING, REFUSED),
    tampering.plant_a_file_with_an_unknown_name: (Reason.UNEXPECTED_FILE, REFUSED),
    tampering.replace_the_active_file_by_a_link: (Reason.UNEXPECTED_FILE, REFUSED),
    tampering.replace_an_older_file_by_a_pipe: (Reason.UNEXPECTED_FILE, REFUSED),
    tampering.replace_an_older_file_by_a_folder: (Reason.UNEXPECTED_FILE, REFUSED),
    tampering.replace_the_checkpoints_by_a_pipe: (Reason.UNEXPECTED_FILE, REFUSED),
    tampering.plant_an_incomplete_line: (Reason.UNEXPECTED_FILE, KEPT_OUT),
    tampering.delete_the_checkpoints: (Reason.CHECKPOINT_MISSING, REFUSED),
    tampering.empty_the_checkpoints: (Reason.CHECKPOINT_MISSING, REFUSED),
    tampering.remove_the_newest_checkpoint: (Reason.CHECKPOINT_MISSING, REFUSED),
    tampering.remove_the_first_checkpoint: (Reason.CHECKPOINT_MISSING, REFUSED),
    tampering.remove_a_checkpoint_in_between: (Reason.CHECKPOINT_MISSING, REFUSED),
    tampering.keep_only_the_newest_checkpoint: (Reason.CHECKPOINT_MISSING, REFUSED),
    tampering.swap_two_checkpoints: (Reason.CHECKPOINT_MISSING, KEPT_OUT),
    tampering.repeat_a_checkpoint: (Reason.CHECKPOINT_ALTERED, REFUSED),
    tampering.edit_the_size_of_a_checkpoint: (Reason.CHECKPOINT_ALTERED, KEPT_OUT),
    tampering.edit_the_number_of_a_checkpoint: (Reason.CHECKPOINT_ALTERED, REFUSED),
    tampering.edit_which_records_may_be_missing: (Reason.CHECKPOINT_ALTERED, REFUSED),
    tampering.sign_with_another_key: (Reason.CHECKPOINT_ALTERED, REFUSED),
    tampering.cut_the_newest_checkpoint_short: (Reason.CHECKPOINT_MISSING, REFUSED),
    tampering.put_text_between_the_checkpoints: (Reason.CHECKPOINT_ALTERED, REFUSED),
}
"""How `verify` names it, and what a start does if the log is too large to be verified."""


@pytest.fixture
def trail(tmp_path: Path) -> TrailConfig:
    trail = trail_in(tmp_path, rotate_bytes=ROTATE)
    build(trail)
    return trail


def find(trail: TrailConfig) -> Reason | None:
    """What `audit verify` finds on the machine that has the key."""
    key = read_public_key(public_path(trail.key_path)).for_log(trail.log)
    finding = verify_trail(trail.folder, key, evidence=read_evidence(trail, key)).finding
    return None if finding is None else finding.reason


def verify_by_command(trail: TrailConfig, *more: str) -> int:
    return main(["audit", "verify", "--folder", str(trail.folder), "--key", str(trail.key_path), *more])


def start(trail: TrailConfig) -> bool:
    """Start a server on the trail and let it sign; True if it refuses."""
    try:
        with closing(open_writer(trail)) as log:
            log.open()
            log.append([body("after")])
            log.sign()
    except LogFault as fault:
        return fault.reason == DAMAGED
    return KEPT_OUT


def test_an_untouched_trail_is_accepted_and_continued(trail: TrailConfig):
    assert find(trail) is None
    assert start(trail) is KEPT_OUT
    assert find(trail) is None
    assert verify_by_command(trail) == 0


def test_the_table_has_sixty_kinds_that_leave_different_folders(trail: TrailConfig, tmp_path: Path):
    """Each kind starts from the same trail, so equal folders would be one kind under two names."""
    left = {_state_of(trail.folder)}
    for tamper in TABLE:
        copy = replace(trail, folder=tmp_path / tamper.__name__ / "audit")
        shutil.copytree(trail.folder, copy.folder)
        tamper(copy)
        left.add(_state_of(copy.folder))

    assert len(left) == len(TABLE) + 1 > 60


def _state_of(folder: Path) -> tuple[tuple[str, int, bytes], ...]:
    """Name, type and content of everything in a folder."""
    paths = [path for path in sorted(folder.iterdir()) if path.suffix != ".lock"]
    return tuple(
        (path.name, stat.S_IFMT(path.lstat().st_mode), path.read_bytes() if path.is_file() else b"") for path in paths
    )


@pytest.mark.clause("S7")
@pytest.mark.parametrize("tamper", TABLE, ids=lambda tamper: tamper.__name__)
def test_a_server_does_not_start_on_a_small_log_that_was_tampered_with(trail: TrailConfig, tamper: tampering.Tamper):
    tamper(trail)

    assert start(trail) is REFUSED
    assert find(trail) == TABLE[tamper][0]


@pytest.mark.clause("S7")
@pytest.mark.parametrize("tamper", TABLE, ids=lambda tamper: tamper.__name__)
def test_tampering_is_found_and_never_signed_away(
    trail: TrailConfig, tamper: tampering.Tamper, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(recovery, "VERIFIED_BYTES", -1)  # as if the log were large
    reason, refused = TABLE[tamper]
    tamper(trail)

    assert find(trail) == reason
    assert verify_by_command(trail) == 100
    assert start(trail) is refused
    assert find(trail) == reason


@pytest.mark.parametrize("tamper", TABLE, ids=lambda tamper: tamper.__name__)
def test_a_repair_continues_the_log_says_so_and_deletes_nothing(trail: TrailConfig, tamper: tampering.Tamper):
    tamper(trail)
    before = _bytes_below(trail.folder)
    repaired = repair_trail(trail, principal="alice", reason="test")

    assert repaired is not None
    assert find(trail) is None
    assert start(trail) is KEPT_OUT
    assert find(trail) is None
    record = next(each for each in records_of(tampering.disk_of(trail)) if each["kind"] == "repair")
    assert (record["seq"], record["principal"], record["reason"]) == (repaired.next, "alice", "test")
    assert (record["finding"], record["kept_as"]) == (repaired.finding, repaired.kept_as)
    assert _lines_of(before) <= _lines_of(_bytes_below(trail.folder))
    assert repair_trail(trail, principal="alice", reason="again") is None


def _bytes_below(folder: Path) -> list[bytes]:
    names = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".lock"]
    return [path.read_bytes() for path in names if path.name != "audit-log.hashes"]


def _lines_of(contents: list[bytes]) -> set[bytes]:
    return {line for content in contents for line in content.split(b"\n")}


# Put back to an earlier state.


def test_an_earlier_copy_of_the_folder_is_found(trail: TrailConfig, tmp_path: Path):
    shutil.copytree(trail.folder, tmp_path / "copy")
    assert start(trail) is KEPT_OUT
    shutil.rmtree(trail.folder)
    (tmp_path / "copy").rename(trail.folder)

    assert find(trail) == Reason.TRUNCATED
    assert start(trail) is REFUSED


def test_an_earlier_copy_behind_a_symbolic_link_is_found(tmp_path: Path):
    real, link = tmp_path / "real", tmp_path / "audit"
    real.mkdir()
    link.symlink_to(real)
    trail = trail_in(tmp_path, rotate_bytes=ROTATE)
    build(trail)
    shutil.copytree(real, tmp_path / "copy")
    assert start(trail) is KEPT_OUT
    link.unlink()
    link.symlink_to(tmp_path / "copy")

    assert find(trail) == Reason.TRUNCATED
    assert verify_by_command(trail) == 100
    assert start(trail) is REFUSED


def test_an_emptied_folder_is_found(trail: TrailConfig):
    for path in trail.folder.iterdir():
        path.unlink()

    assert find(trail) == Reason.TRUNCATED
    assert verify_by_command(trail) == 100
    assert start(trail) is REFUSED


def test_a_deleted_folder_is_found(trail: TrailConfig, capsys: pytest.CaptureFixture[str]):
    shutil.rmtree(trail.folder)

    assert verify_by_command(trail) == 100
    assert "the log is missing" in capsys.readouterr().out
    assert start(trail) is REFUSED


def test_an_emptied_folder_with_a_folder_for_a_worker_is_found(trail: TrailConfig):
    shutil.rmtree(trail.folder)
    (trail.folder / "worker-0").mkdir(parents=True)

    assert verify_by_command(trail) == 100
    assert start(trail) is REFUSED


# The logs of workers.


@pytest.fixture
def workers(tmp_path: Path) -> TrailConfig:
    """The folder of a server with two workers."""
    base = trail_in(tmp_path, rotate_bytes=ROTATE)
    for number in range(2):
        build(base.for_worker(number), 29 + number)
    return base


def test_the_logs_of_workers_are_verified(workers: TrailConfig, capsys: pytest.CaptureFixture[str]):
    assert verify_by_command(workers) == 0
    assert capsys.readouterr().out.count("ok: ") == 2


def _remove_worker(base: TrailConfig) -> None:
    shutil.rmtree(base.folder / "worker-1")


def _remove_all_workers(base: TrailConfig) -> None:
    shutil.rmtree(base.folder)


def _swap_workers(base: TrailConfig) -> None:
    one, two = base.folder / "worker-0", base.folder / "worker-1"
    one.rename(base.folder / "x")
    two.rename(one)
    (base.folder / "x").rename(two)


def _copy_worker(base: TrailConfig) -> None:
    shutil.rmtree(base.folder / "worker-1")
    shutil.copytree(base.folder / "worker-0", base.folder / "worker-1")


def _plant_worker(base: TrailConfig) -> None:
    shutil.copytree(base.folder / "worker-0", base.folder / "worker-7")


def _plant_worker_of_another_key(base: TrailConfig) -> None:
    other = trail_in(base.folder.parent / "other").for_worker(7)
    build(other)
    shutil.copytree(other.folder, base.folder / "worker-7")


def _rename_worker(base: TrailConfig) -> None:
    (base.folder / "worker-1").rename(base.folder / "worker-1.old")


@pytest.mark.parametrize(
    "tamper",
    [
        _remove_worker,
        _remove_all_workers,
        _swap_workers,
        _copy_worker,
        _plant_worker,
        _plant_worker_of_another_key,
        _rename_worker,
    ],
)
def test_tampering_with_the_logs_of_workers_is_found(workers: TrailConfig, tamper: Callable[[TrailConfig], None]):
    tamper(workers)

    assert verify_by_command(workers) == 100
    refused = [start(workers.for_worker(number)) for number in range(2)]
    assert any(refused) or tamper in (_plant_worker, _plant_worker_of_another_key)
    assert verify_by_command(workers) == 100
    repair = ["audit", "repair", "--reason", "test", "--folder", str(workers.folder), "--key", str(workers.key_path)]
    assert main(repair) == 0
    assert verify_by_command(workers) == 0


def test_a_start_of_any_server_on_the_folder_misses_a_removed_worker(workers: TrailConfig):
    refuse_missing_logs(workers)
    _remove_worker(workers)

    with pytest.raises(LogFault) as refused:
        refuse_missing_logs(workers)
    assert str(refused.value) == "AUDIT_LOG_FAILED: damaged: the log worker-1 is missing"


# Pruned logs, and lines that were set aside.


@pytest.fixture
def pruned(trail: TrailConfig) -> TrailConfig:
    names = [path.name for path in older(trail)]
    with closing(open_writer(trail)) as log:
        log.sign()
    _age(trail, names)
    return trail


def _age(trail: TrailConfig, names: list[str]) -> None:
    """Prune the first two files."""
    assert names[:2] == [path.name for path in older(trail)][:2]
    first = int(names[2].removesuffix(".jsonl").rpartition("-")[2])
    with closing(open_writer(trail)) as log, log.exclusively() as state:
        state.base = first
        log.append_signed(state, [body("prune")])
    with closing(open_writer(trail)) as log:
        log.open()
    assert [path.name for path in older(trail)][:1] == names[2:3]


def test_a_prune_that_was_interrupted_after_its_signature_is_finished_by_the_next_start(pruned: TrailConfig):
    assert find(pruned) is None


def _delete_one_more_file(trail: TrailConfig) -> None:
    older(trail)[0].unlink()


def _delete_one_more_record(trail: TrailConfig) -> None:
    path = older(trail)[0]
    path.write_bytes(path.read_bytes().partition(b"\n")[2])


def _change_the_hashes(trail: TrailConfig) -> None:
    (trail.folder / "audit-log.hashes").write_bytes(bytes(32 * 60))


@pytest.mark.parametrize("tamper", [_delete_one_more_file, _delete_one_more_record, _change_the_hashes])
def test_tampering_with_a_pruned_log_is_found(pruned: TrailConfig, tamper: Callable[[TrailConfig], None]):
    tamper(pruned)

    assert find(pruned) is not None
    assert start(pruned) is REFUSED


def test_a_prune_removes_nothing_before_its_checkpoint_is_signed(trail: TrailConfig, monkeypatch: pytest.MonkeyPatch):
    before = len(older(trail))
    signed = []

    def sign(self: TrailWriter, state: object) -> None:
        signed.append(len(older(trail)))
        raise OSError(5, "broken")

    monkeypatch.setattr(TrailWriter, "_sign", sign)
    with pytest.raises(LogFault):
        prune_trail(trail, "2027-01-01T00:00:00.000Z")

    assert (signed[0], len(older(trail))) == (before, before)


def test_a_changed_line_that_was_set_aside_is_found(trail: TrailConfig):
    with active(trail).open("ab") as file:
        file.write(b'{"seq":')
    assert start(trail) is KEPT_OUT
    torn = next(trail.folder.glob("audit-log.torn-*"))
    torn.write_bytes(b'{"sex":')

    assert find(trail) == Reason.UNEXPECTED_FILE


def test_damaged_hashes_are_computed_again_from_the_records(trail: TrailConfig):
    (trail.folder / "audit-log.hashes").write_bytes(b"\xff" * 3_000)

    assert start(trail) is KEPT_OUT
    assert find(trail) is None


# While a server runs.


@pytest.fixture
def running(trail: TrailConfig) -> Iterator[TrailWriter]:
    log = open_writer(trail)
    log.append([body("running")])
    yield log
    log.close()


def _cut(trail: TrailConfig) -> None:
    os.truncate(active(trail), active(trail).stat().st_size - 100)


def _cut_to_nothing(trail: TrailConfig) -> None:
    os.truncate(active(trail), 0)


def _append_forged(trail: TrailConfig) -> None:
    tampering.append_a_forged_record(trail)


def _replace_by_a_shorter_copy(trail: TrailConfig) -> None:
    shorter = active(trail).read_bytes().splitlines(keepends=True)[:-1]
    active(trail).unlink()
    active(trail).write_bytes(b"".join(shorter))


@pytest.mark.parametrize("tamper", [_cut, _cut_to_nothing, _append_forged, _replace_by_a_shorter_copy])
def test_a_running_server_refuses_to_go_on(trail: TrailConfig, running: TrailWriter, tamper: Callable[[TrailConfig], None]):
    tamper(trail)

    for write in (running.append, running.append_unsynced, running.append):
        with pytest.raises(LogFault) as refused:
            write([body("later")])
        assert refused.value.reason == DAMAGED
    assert find(trail) is not None


def test_a_running_server_puts_deleted_checkpoints_back_and_says_so(trail: TrailConfig, running: TrailWriter):
    kept = notes_file(trail).read_bytes()
    notes_file(trail).unlink()
    running.sign()
    running.append([body("later")])

    assert notes_file(trail).read_bytes().startswith(kept)
    assert [each["kept_as"] for each in records_of(tampering.disk_of(trail)) if each["kind"] == "recovery"] == [
        "audit-log.checkpoints"
    ]
    assert find(trail) is None


def test_a_running_server_does_not_sign_after_checkpoints_were_cut(trail: TrailConfig, running: TrailWriter):
    tampering.remove_the_newest_checkpoint(trail)

    with pytest.raises(LogFault) as refused:
        running.sign()
    assert refused.value.reason == DAMAGED


def test_a_reader_is_not_misled_by_a_planted_file(trail: TrailConfig):
    tampering.plant_a_file_of_forged_records(trail)

    with pytest.raises(Refused) as refused:
        list(FileTrailView(trail).lines_back())
    assert refused.value.failure.details == {"reason": DAMAGED}


def test_a_reader_follows_the_chain_from_page_to_page(trail: TrailConfig):
    view = FileTrailView(trail)
    whole = list(view.lines_back())

    assert [list(view.lines_back(before)) for before in (29, 17, 1, 0)] == [whole, whole[12:], whole[-1:], []]


# Someone who has the signing key. Only a witness can tell.


def _rewrite_everything(trail: TrailConfig) -> None:
    tampering.start_again(trail, [f"other {number}" for number in range(40)])


def _rewrite_one_record(trail: TrailConfig) -> None:
    names = [f"call {number}" for number in range(29)]
    tampering.start_again(trail, [*names[:7], "call seven", *names[8:]])


def _drop_one_record(trail: TrailConfig) -> None:
    tampering.start_again(trail, [f"call {number}" for number in range(35) if number != 7])


def _forget_the_end(trail: TrailConfig) -> None:
    tampering.start_again(trail, [f"call {number}" for number in range(10)])


def _forget_everything(trail: TrailConfig) -> None:
    tampering.start_again(trail, ["new"])


OWNER: Final = [_rewrite_everything, _rewrite_one_record, _drop_one_record, _forget_the_end, _forget_everything]


@pytest.mark.parametrize("tamper", OWNER)
def test_what_the_owner_of_the_key_rewrites_is_invisible_without_a_witness_and_found_with_one(
    trail: TrailConfig, tmp_path: Path, tamper: Callable[[TrailConfig], None]
):
    seen = tmp_path / "elsewhere" / "checkpoints"
    witness = ["audit", "witness", "--file", str(seen), "--folder", str(trail.folder), "--key", str(trail.key_path)]
    assert main(witness) == 0
    tamper(trail)

    assert verify_by_command(trail) == 0
    assert verify_by_command(trail, "--witness", str(seen)) == 100
    assert main(witness) == 100


def test_a_snapshot_of_folder_and_key_put_back_together_is_found_with_a_witness(trail: TrailConfig, tmp_path: Path):
    seen = tmp_path / "elsewhere" / "checkpoints"
    for folder in ("audit", "keys"):
        shutil.copytree(tmp_path / folder, tmp_path / "snapshot" / folder)
    assert start(trail) is KEPT_OUT
    witness = ["audit", "witness", "--file", str(seen), "--folder", str(trail.folder), "--key", str(trail.key_path)]
    assert main(witness) == 0
    for folder in ("audit", "keys"):
        shutil.rmtree(tmp_path / folder)
        shutil.copytree(tmp_path / "snapshot" / folder, tmp_path / folder)

    assert verify_by_command(trail) == 0
    assert verify_by_command(trail, "--witness", str(seen)) == 100
    assert main(witness) == 100


def test_a_trail_that_only_grew_stays_in_agreement_with_its_witness(trail: TrailConfig, tmp_path: Path):
    seen = tmp_path / "elsewhere" / "checkpoints"
    witness = ["audit", "witness", "--file", str(seen), "--folder", str(trail.folder), "--key", str(trail.key_path)]
    assert main(witness) == 0
    assert start(trail) is KEPT_OUT

    assert [main(witness), main(witness), verify_by_command(trail, "--witness", str(seen))] == [0, 0, 0]
