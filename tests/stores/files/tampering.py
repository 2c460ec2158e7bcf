"""Kinds of tampering with a trail, as functions of its folder. See test_tampering for how each is found."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from strictwire.audit.chain import GENESIS, maybe_link, seal_batch
from strictwire.audit.checkpoint import SigningKey, split_notes
from strictwire.audit.event import Prune, Recovery, render_body
from strictwire.audit.merkle import Frontier, leaf_hash
from strictwire.stores.files.config import TrailConfig, open_writer
from strictwire.stores.files.disk import ReadingDisk
from strictwire.stores.files.keys import load_or_make_key
from tests.stores.trails import body

RECORDS = 29
ROTATE = 3_000
UNSIGNED = 3
"""Records at the end that no checkpoint covers, as after a crash."""

Tamper = Callable[[TrailConfig], None]


def build(trail: TrailConfig, records: int = RECORDS) -> None:
    """A trail of several files, with checkpoints, and a few unsigned records at the end."""
    log = open_writer(trail)
    for number in range(records):
        log.append_unsynced([body(f"call {number}")])
        if number == records - UNSIGNED - 1 or (number % 5 == 4 and number < records - UNSIGNED):
            log.sign()
    assert log.unsigned == UNSIGNED
    log.close()


def disk_of(trail: TrailConfig) -> ReadingDisk:
    return ReadingDisk(trail.folder)


def active(trail: TrailConfig) -> Path:
    return trail.folder / "audit-log.jsonl"


def notes_file(trail: TrailConfig) -> Path:
    return trail.folder / "audit-log.checkpoints"


def older(trail: TrailConfig) -> list[Path]:
    return sorted(trail.folder.glob("audit-log-*.jsonl"))


def _lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def _change(path: Path, change: Callable[[list[bytes]], Sequence[bytes]]) -> None:
    path.write_bytes(b"".join(change(_lines(path))))


def _edit(line: bytes) -> bytes:
    return line.replace(b'"alice"', b'"malic"')


def _body_of(line: bytes) -> bytes:
    """The body of a record, without its place in the chain and its tag."""
    return b"{" + line.rstrip(b"\n").split(b",", 3)[3]


def _head_of(trail: TrailConfig) -> tuple[int, bytes]:
    """The next number, and the hash of the last record."""
    last = _lines(active(trail))[-1]
    link = maybe_link(last)
    assert link is not None
    return link.seq + 1, leaf_hash(last.rstrip(b"\n"))


def append_chained(trail: TrailConfig, *bodies: bytes, tag_key: bytes = b"guess") -> None:
    """Append records that continue the chain, as anyone can who has read the documentation."""
    first, head = _head_of(trail)
    with active(trail).open("ab") as file:
        file.write(seal_batch(bodies, first=first, head=head, tag_key=tag_key).lines)


# Signed records.


def edit_a_record_of_the_active_file(trail: TrailConfig) -> None:
    _change(active(trail), lambda lines: [_edit(lines[0]), *lines[1:]])


def edit_a_record_of_an_older_file(trail: TrailConfig) -> None:
    _change(older(trail)[1], lambda lines: [lines[0], _edit(lines[1]), *lines[2:]])


def edit_the_first_record(trail: TrailConfig) -> None:
    _change(older(trail)[0], lambda lines: [_edit(lines[0]), *lines[1:]])


def edit_the_last_record_of_a_file(trail: TrailConfig) -> None:
    _change(older(trail)[0], lambda lines: [*lines[:-1], _edit(lines[-1])])


def edit_a_tag(trail: TrailConfig) -> None:
    _change(older(trail)[0], lambda lines: [_flip(lines[0], b'"tag":"'), *lines[1:]])


def _flip(line: bytes, before: bytes) -> bytes:
    """Change the hexadecimal digit after some bytes."""
    at = line.index(before) + len(before)
    return line[:at] + (b"0" if line[at : at + 1] != b"0" else b"1") + line[at + 1 :]


def remove_the_tags(trail: TrailConfig) -> None:
    _change(older(trail)[0], lambda lines: [line[: line.index(b'"tag"')] + line[line.index(b'"kind"') :] for line in lines])


def edit_a_link(trail: TrailConfig) -> None:
    _change(older(trail)[0], lambda lines: [lines[0], _flip(lines[1], b'"prev":"'), *lines[2:]])


def delete_a_record_of_an_older_file(trail: TrailConfig) -> None:
    _change(older(trail)[1], lambda lines: [lines[0], *lines[2:]])


def delete_the_first_record(trail: TrailConfig) -> None:
    _change(older(trail)[0], lambda lines: lines[1:])


def delete_the_last_record_of_an_older_file(trail: TrailConfig) -> None:
    _change(older(trail)[0], lambda lines: lines[:-1])


def cut_into_the_signed_records(trail: TrailConfig) -> None:
    _change(active(trail), lambda lines: [lines[-UNSIGNED - 1][:50]])


def empty_the_active_file(trail: TrailConfig) -> None:
    active(trail).write_bytes(b"")


def empty_an_older_file(trail: TrailConfig) -> None:
    older(trail)[1].write_bytes(b"")


def swap_two_records(trail: TrailConfig) -> None:
    _change(older(trail)[0], lambda lines: [lines[1], lines[0], *lines[2:]])


def repeat_a_record(trail: TrailConfig) -> None:
    _change(older(trail)[0], lambda lines: [lines[0], lines[0], *lines[1:]])


def insert_a_forged_record(trail: TrailConfig) -> None:
    _change(older(trail)[0], lambda lines: [lines[0], lines[1].replace(b"call 1", b"call x"), *lines[1:]])


def _rewritten(trail: TrailConfig) -> tuple[bytes, list[bytes]]:
    """All records with one edited, chained anew."""
    lines = [line for path in [*older(trail), active(trail)] for line in _lines(path)]
    bodies = [_edit(_body_of(line)) if number == 3 else _body_of(line) for number, line in enumerate(lines)]
    sealed = seal_batch(bodies, first=0, head=GENESIS, tag_key=b"guess")
    return sealed.lines, sealed.leaves


def rewrite_history(trail: TrailConfig) -> None:
    whole, _ = _rewritten(trail)
    for path in older(trail):
        path.unlink()
    active(trail).write_bytes(whole)


def rewrite_history_and_the_hashes(trail: TrailConfig) -> None:
    _, leaves = _rewritten(trail)
    rewrite_history(trail)
    (trail.folder / "audit-log.hashes").write_bytes(b"".join(Frontier().extend(leaves)))


def rewrite_history_and_drop_the_checkpoints(trail: TrailConfig) -> None:
    rewrite_history_and_the_hashes(trail)
    notes_file(trail).unlink()


def reformat_a_record(trail: TrailConfig) -> None:
    _change(older(trail)[0], lambda lines: [lines[0].replace(b'"kind":"call"', b'"kind": "call"'), *lines[1:]])


def escape_a_letter(trail: TrailConfig) -> None:
    _change(older(trail)[0], lambda lines: [lines[0].replace(b"alice", rb"\u0061lice"), *lines[1:]])


def add_a_key_twice(trail: TrailConfig) -> None:
    _change(older(trail)[0], lambda lines: [lines[0].replace(b'"kind"', b'"principal":"bob","kind"'), *lines[1:]])


def insert_a_blank_line(trail: TrailConfig) -> None:
    _change(older(trail)[0], lambda lines: [lines[0], b"\n", *lines[1:]])


def use_carriage_returns(trail: TrailConfig) -> None:
    _change(older(trail)[0], lambda lines: [line.replace(b"\n", b"\r\n") for line in lines])


def put_zeros_in(trail: TrailConfig) -> None:
    _change(older(trail)[0], lambda lines: [lines[0], bytes(40) + b"\n", *lines[1:]])


# Records that no checkpoint covers yet.


def edit_an_unsigned_record(trail: TrailConfig) -> None:
    _change(active(trail), lambda lines: [*lines[:-1], _edit(lines[-1])])


def edit_an_unsigned_record_and_chain_the_rest_anew(trail: TrailConfig) -> None:
    lines = _lines(active(trail))
    kept, tail = lines[:-UNSIGNED], lines[-UNSIGNED:]
    link = maybe_link(tail[0])
    assert link is not None
    forged = seal_batch([_edit(_body_of(line)) for line in tail], first=link.seq, head=link.prev, tag_key=b"guess")
    active(trail).write_bytes(b"".join(kept) + forged.lines)


def chain_the_end_anew_without_tags(trail: TrailConfig) -> None:
    lines = _lines(active(trail))
    link = maybe_link(lines[-1])
    assert link is not None
    forged = seal_batch([_edit(_body_of(lines[-1]))], first=link.seq, head=link.prev)
    active(trail).write_bytes(b"".join(lines[:-1]) + forged.lines)


def append_a_forged_record(trail: TrailConfig) -> None:
    append_chained(trail, body("never happened"))


def append_a_forged_prune(trail: TrailConfig) -> None:
    append_chained(trail, render_body(Prune(timestamp="T", before="B", first=_second_file(trail))))


def append_a_forged_prune_and_delete_a_file(trail: TrailConfig) -> None:
    append_a_forged_prune(trail)
    older(trail)[0].unlink()


def append_a_forged_prune_and_delete_all_signed_files(trail: TrailConfig) -> None:
    append_chained(trail, _prune_of_older_files(trail))
    delete_all_older_files(trail)


def append_an_untagged_prune_and_delete_all_signed_files(trail: TrailConfig) -> None:
    append_chained(trail, _prune_of_older_files(trail), tag_key=b"")
    delete_all_older_files(trail)


def _prune_of_older_files(trail: TrailConfig) -> bytes:
    first = maybe_link(_lines(active(trail))[0])
    assert first is not None
    return render_body(Prune(timestamp="T", before="B", first=first.seq))


def append_a_forged_recovery(trail: TrailConfig) -> None:
    event = Recovery(timestamp="T", reason="torn_line", size=1, digest="sha256:0", kept_as="audit-log.torn-000000000001")
    append_chained(trail, render_body(event))


def _second_file(trail: TrailConfig) -> int:
    return int(older(trail)[1].stem.rpartition("-")[2])


def append_an_authentic_record_again(trail: TrailConfig) -> None:
    _change(active(trail), lambda lines: [*lines, lines[-1]])


def append_garbage(trail: TrailConfig) -> None:
    _change(active(trail), lambda lines: [*lines, b"garbage\n"])


def cut_the_last_record(trail: TrailConfig) -> None:
    _change(active(trail), lambda lines: lines[:-1])


def cut_all_unsigned_records(trail: TrailConfig) -> None:
    _change(active(trail), lambda lines: lines[:-UNSIGNED])


def cut_inside_the_last_record(trail: TrailConfig) -> None:
    _change(active(trail), lambda lines: [*lines[:-1], lines[-1][:50]])


# Files.


def delete_the_active_file(trail: TrailConfig) -> None:
    active(trail).unlink()


def delete_an_older_file(trail: TrailConfig) -> None:
    older(trail)[1].unlink()


def delete_the_oldest_file(trail: TrailConfig) -> None:
    older(trail)[0].unlink()


def delete_all_older_files(trail: TrailConfig) -> None:
    for path in older(trail):
        path.unlink()


def swap_two_files(trail: TrailConfig) -> None:
    one, two = older(trail)[:2]
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)


def rename_a_file(trail: TrailConfig) -> None:
    older(trail)[1].rename(trail.folder / "audit-log-000000000900.jsonl")


def move_a_record_to_the_next_file(trail: TrailConfig) -> None:
    one, two = older(trail)[:2]
    *kept, moved = _lines(one)
    one.write_bytes(b"".join(kept))
    two.write_bytes(moved + two.read_bytes())


def plant_an_empty_file(trail: TrailConfig) -> None:
    (trail.folder / "audit-log-000000000002.jsonl").write_bytes(b"")


def plant_a_file_of_forged_records(trail: TrailConfig) -> None:
    forged = seal_batch([body("forged")] * 3, first=2, head=GENESIS, tag_key=b"guess")
    (trail.folder / "audit-log-000000000002.jsonl").write_bytes(forged.lines)


def plant_a_file_after_the_end(trail: TrailConfig) -> None:
    forged = seal_batch([body("forged")], first=9_000, head=GENESIS, tag_key=b"guess")
    (trail.folder / "audit-log-000000009000.jsonl").write_bytes(forged.lines)


def plant_a_file_with_an_unknown_name(trail: TrailConfig) -> None:
    (trail.folder / "audit-log.jsonl.bak").write_bytes(active(trail).read_bytes())


def replace_the_active_file_by_a_link(trail: TrailConfig) -> None:
    elsewhere = trail.folder.parent / "elsewhere.jsonl"
    active(trail).rename(elsewhere)
    active(trail).symlink_to(elsewhere)


def replace_an_older_file_by_a_pipe(trail: TrailConfig) -> None:
    path = older(trail)[0]
    path.unlink()
    os.mkfifo(path)


def replace_an_older_file_by_a_folder(trail: TrailConfig) -> None:
    path = older(trail)[0]
    path.unlink()
    path.mkdir()


def replace_the_checkpoints_by_a_pipe(trail: TrailConfig) -> None:
    notes_file(trail).unlink()
    os.mkfifo(notes_file(trail))


def plant_an_incomplete_line(trail: TrailConfig) -> None:
    (trail.folder / "audit-log.torn-000000000004").write_bytes(b'{"seq":4,"prev":')


# Checkpoints.


def _notes(trail: TrailConfig) -> list[bytes]:
    return list(split_notes(_lines(notes_file(trail))))


def _change_notes(trail: TrailConfig, change: Callable[[list[bytes]], list[bytes]]) -> None:
    notes_file(trail).write_bytes(b"".join(change(_notes(trail))))


def delete_the_checkpoints(trail: TrailConfig) -> None:
    notes_file(trail).unlink()


def empty_the_checkpoints(trail: TrailConfig) -> None:
    notes_file(trail).write_bytes(b"")


def remove_the_newest_checkpoint(trail: TrailConfig) -> None:
    _change_notes(trail, lambda notes: notes[:-1])


def remove_the_first_checkpoint(trail: TrailConfig) -> None:
    _change_notes(trail, lambda notes: notes[1:])


def remove_a_checkpoint_in_between(trail: TrailConfig) -> None:
    _change_notes(trail, lambda notes: [notes[0], *notes[2:]])


def keep_only_the_newest_checkpoint(trail: TrailConfig) -> None:
    _change_notes(trail, lambda notes: notes[-1:])


def swap_two_checkpoints(trail: TrailConfig) -> None:
    _change_notes(trail, lambda notes: [notes[1], notes[0], *notes[2:]])


def repeat_a_checkpoint(trail: TrailConfig) -> None:
    _change_notes(trail, lambda notes: [notes[0], notes[0], *notes[1:]])


def edit_the_size_of_a_checkpoint(trail: TrailConfig) -> None:
    _change_notes(trail, lambda notes: [notes[0].replace(b"\n5\n", b"\n4\n"), *notes[1:]])


def edit_the_number_of_a_checkpoint(trail: TrailConfig) -> None:
    _change_notes(trail, lambda notes: [notes[0], notes[2].replace(b"number 3", b"number 2"), *notes[3:]])


def edit_which_records_may_be_missing(trail: TrailConfig) -> None:
    _change_notes(trail, lambda notes: [*notes[:-1], notes[-1].replace(b"first 0", b"first %d" % _second_file(trail))])
    older(trail)[0].unlink()


def sign_with_another_key(trail: TrailConfig) -> None:
    other = SigningKey(name=_notes(trail)[0].partition(b"\n")[0].decode(), seed=bytes(32))
    notes_file(trail).write_bytes(other.sign(size=20, root=bytes(32), number=1).note)


def cut_the_newest_checkpoint_short(trail: TrailConfig) -> None:
    notes_file(trail).write_bytes(notes_file(trail).read_bytes()[:-20])


def put_text_between_the_checkpoints(trail: TrailConfig) -> None:
    _change_notes(trail, lambda notes: [notes[0], b"hello\n\n", *notes[1:]])


# Someone who has the signing key and can write beside it.


def signing_key(trail: TrailConfig) -> SigningKey:
    return load_or_make_key(trail.key_path, log_folder=trail.folder)


def start_again(trail: TrailConfig, names: Sequence[str]) -> None:
    """Replace the whole trail, anchor and mark included, by one with other records, signed with the same key."""
    shutil.rmtree(trail.folder)
    for path in [*trail.anchor_paths, trail.mark_path]:
        path.unlink()
    log = open_writer(trail)
    log.append([body(name) for name in names])
    log.sign()
    log.close()
