"""Every way of tampering we know is found, with the record named; an untouched log never fails.

The forger has the whole folder and all our code, but not the signing key, and not the folder the key is in.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from strictwire.audit.chain import GENESIS, seal_batch
from strictwire.audit.merkle import Frontier
from strictwire.audit.verify import Finding, Reason, Verdict
from strictwire.stores.files.config import TrailConfig, open_writer
from strictwire.stores.files.keys import public_path, read_public_key
from strictwire.stores.files.verify import verify_trail
from tests.stores.trails import body, trail_in

SIGNED_AT = (4, 8, 12)
"""Twelve records, signed for after each four, then two more that are not."""


@pytest.fixture
def trail(tmp_path: Path) -> TrailConfig:
    trail = trail_in(tmp_path)
    log = open_writer(trail)
    for start in range(0, 12, 4):
        log.append([body(f"call {number}") for number in range(start, start + 4)])
        log.sign()
    log.append([body("call 12"), body("call 13")])
    log.close()
    return trail


def _verify(trail: TrailConfig, *, with_anchor: bool = True) -> Verdict:
    key = read_public_key(public_path(trail.key_path))
    return verify_trail(trail.folder, key, anchor=trail.anchor_path if with_anchor else None)


def _log(trail: TrailConfig) -> Path:
    return trail.folder / "audit-log.jsonl"


def _change(trail: TrailConfig, change: Callable[[list[bytes]], list[bytes]]) -> None:
    path = _log(trail)
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))


def _bodies(lines: list[bytes]) -> list[bytes]:
    """Records without their place, to be chained anew."""
    return [b"{" + line.rstrip(b"\n").split(b",", 2)[2] for line in lines]


def _rechain(bodies: list[bytes]) -> bytes:
    return seal_batch(bodies, first=0, head=GENESIS).lines


def _at(reason: Reason, record: int, last: int | None = None) -> Finding:
    return Finding(reason=reason, record=record, last=record if last is None else last)


def edit_a_value(lines: list[bytes]) -> list[bytes]:
    return [*lines[:5], lines[5].replace(b"alice", b"malice"), *lines[6:]]


def edit_the_first(lines: list[bytes]) -> list[bytes]:
    return [lines[0].replace(b"alice", b"malice"), *lines[1:]]


def edit_a_link(lines: list[bytes]) -> list[bytes]:
    line = lines[5]
    return [*lines[:5], line.replace(line[17:81], b"0" * 64), *lines[6:]]


def edit_two_neighbours(lines: list[bytes]) -> list[bytes]:
    return [*lines[:5], *(line.replace(b"alice", b"malice") for line in lines[5:7]), *lines[7:]]


def delete_one(lines: list[bytes]) -> list[bytes]:
    return lines[:5] + lines[6:]


def delete_the_first(lines: list[bytes]) -> list[bytes]:
    return lines[1:]


def delete_several(lines: list[bytes]) -> list[bytes]:
    return lines[:2] + lines[9:]


def swap_neighbours(lines: list[bytes]) -> list[bytes]:
    return [*lines[:5], lines[6], lines[5], *lines[7:]]


def reverse_all(lines: list[bytes]) -> list[bytes]:
    return lines[::-1]


def repeat_one(lines: list[bytes]) -> list[bytes]:
    return [*lines[:6], lines[5], *lines[6:]]


def insert_a_blank_line(lines: list[bytes]) -> list[bytes]:
    return [*lines[:5], b"\n", *lines[5:]]


def insert_a_carriage_return(lines: list[bytes]) -> list[bytes]:
    return [*lines[:5], lines[5].replace(b"\n", b"\r\n"), *lines[6:]]


def add_spaces(lines: list[bytes]) -> list[bytes]:
    return [*lines[:5], lines[5].replace(b":", b": "), *lines[6:]]


def reformat_all(lines: list[bytes]) -> list[bytes]:
    return [json.dumps(json.loads(line)).encode() + b"\n" for line in lines]


def escape_a_letter(lines: list[bytes]) -> list[bytes]:
    return [*lines[:5], lines[5].replace(b"alice", b"\\u0061lice"), *lines[6:]]


def add_a_key_twice(lines: list[bytes]) -> list[bytes]:
    return [*lines[:5], lines[5].replace(b'"principal":"alice"', b'"principal":"bob","principal":"alice"'), *lines[6:]]


def add_a_key_twice_in_the_last(lines: list[bytes]) -> list[bytes]:
    return [*lines[:13], lines[13].replace(b'"principal":"alice"', b'"principal":"bob","principal":"alice"')]


def break_the_json(lines: list[bytes]) -> list[bytes]:
    return [*lines[:5], lines[5][:-3] + b"\n", *lines[6:]]


def put_text_in(lines: list[bytes]) -> list[bytes]:
    return [*lines[:5], b"nothing to see here\n", *lines[6:]]


def put_zeros_in(lines: list[bytes]) -> list[bytes]:
    return [*lines[:5], b"\x00" * 10 + lines[5], *lines[6:]]


def cut_to_nothing(_lines: list[bytes]) -> list[bytes]:
    return []


def cut_to_a_checkpoint(lines: list[bytes]) -> list[bytes]:
    return lines[:8]


def cut_between_checkpoints(lines: list[bytes]) -> list[bytes]:
    return lines[:6]


def cut_inside_a_record(lines: list[bytes]) -> list[bytes]:
    return [*lines[:10], lines[10][:40]]


def forge_one_and_chain_the_rest_anew(lines: list[bytes]) -> list[bytes]:
    return [_rechain(_bodies(edit_a_value(lines)))]


def drop_one_and_chain_the_rest_anew(lines: list[bytes]) -> list[bytes]:
    return [_rechain(_bodies([*lines[:6], *lines[7:], lines[0]]))]


def insert_one_and_chain_the_rest_anew(lines: list[bytes]) -> list[bytes]:
    return [_rechain(_bodies([*lines[:6], lines[0], *lines[6:]]))]


MATRIX = {
    edit_a_value: _at(Reason.EDITED, 5),
    edit_the_first: _at(Reason.EDITED, 0),
    edit_a_link: _at(Reason.EDITED, 5),
    edit_two_neighbours: _at(Reason.EDITED, 5),
    delete_one: _at(Reason.MISSING, 5),
    delete_the_first: _at(Reason.PRUNED_UNSAID, 0),
    delete_several: _at(Reason.MISSING, 2),
    swap_neighbours: _at(Reason.MISSING, 5),
    reverse_all: _at(Reason.EDITED, 13),
    repeat_one: _at(Reason.REPEATED, 6),
    insert_a_blank_line: _at(Reason.NOT_A_RECORD, 5),
    insert_a_carriage_return: _at(Reason.REFORMATTED, 5),
    add_spaces: _at(Reason.REFORMATTED, 5),
    reformat_all: _at(Reason.REFORMATTED, 0),
    escape_a_letter: _at(Reason.REFORMATTED, 5),
    add_a_key_twice: _at(Reason.DUPLICATE_KEY, 5),
    add_a_key_twice_in_the_last: _at(Reason.DUPLICATE_KEY, 13),
    break_the_json: _at(Reason.NOT_A_RECORD, 5),
    put_text_in: _at(Reason.NOT_A_RECORD, 5),
    put_zeros_in: _at(Reason.NOT_A_RECORD, 5),
    cut_to_nothing: _at(Reason.TRUNCATED, 0, 3),
    cut_to_a_checkpoint: _at(Reason.TRUNCATED, 8, 11),
    cut_between_checkpoints: _at(Reason.TRUNCATED, 6, 7),
    cut_inside_a_record: _at(Reason.TRUNCATED, 10, 11),
    forge_one_and_chain_the_rest_anew: _at(Reason.FORGED, 5),
    drop_one_and_chain_the_rest_anew: _at(Reason.FORGED, 6),
    insert_one_and_chain_the_rest_anew: _at(Reason.FORGED, 6),
}


@pytest.mark.clause("S7")
@pytest.mark.parametrize("change", MATRIX, ids=lambda change: change.__name__)
def test_a_changed_log_is_found_out_and_the_record_named(trail: TrailConfig, change: Callable[[list[bytes]], list[bytes]]):
    _change(trail, change)

    assert _verify(trail).finding == MATRIX[change]


def test_an_untouched_log_holds(trail: TrailConfig):
    verdict = _verify(trail)

    assert (verdict.ok, verdict.size, verdict.signed, verdict.checkpoints, verdict.torn) == (True, 14, 12, 3, 0)


def test_a_forger_who_replaces_the_hashes_too_is_found_out_within_one_checkpoint(trail: TrailConfig):
    lines = _log(trail).read_bytes().splitlines(keepends=True)
    sealed = seal_batch(_bodies(edit_a_value(lines)), first=0, head=GENESIS)
    _log(trail).write_bytes(sealed.lines)
    (trail.folder / "audit-log.hashes").write_bytes(b"".join(Frontier().extend(sealed.leaves)))

    assert _verify(trail).finding == _at(Reason.FORGED, 4, 7)


def test_a_log_without_its_hashes_is_judged_all_the_same(trail: TrailConfig):
    (trail.folder / "audit-log.hashes").unlink()
    assert _verify(trail).ok

    _change(trail, edit_a_value)

    assert _verify(trail).finding == _at(Reason.EDITED, 5)


def test_cutting_the_checkpoints_with_the_log_is_found_out_by_the_anchor_beside_the_key(trail: TrailConfig):
    """A folder put back to an earlier, whole state holds in itself; only what is kept elsewhere can tell."""
    notes = trail.folder / "audit-log.checkpoints"
    whole = notes.read_bytes()
    _change(trail, cut_to_a_checkpoint)
    notes.write_bytes(whole[: len(whole) * 2 // 3])

    assert _verify(trail).finding == _at(Reason.TRUNCATED, 8, 11)
    assert _verify(trail, with_anchor=False).ok


def test_emptying_the_folder_is_found_out_by_the_anchor(trail: TrailConfig):
    for path in trail.folder.iterdir():
        path.unlink()

    assert _verify(trail).finding == _at(Reason.TRUNCATED, 0, 11)


def test_a_checkpoint_that_is_gone_is_missed(trail: TrailConfig):
    notes = trail.folder / "audit-log.checkpoints"
    whole = notes.read_bytes()
    notes.write_bytes(whole[: len(whole) * 2 // 3])

    assert _verify(trail).finding == _at(Reason.CHECKPOINT_MISSING, 8)


def test_an_altered_checkpoint_is_found_out(trail: TrailConfig):
    notes = trail.folder / "audit-log.checkpoints"
    notes.write_bytes(notes.read_bytes().replace(b"\n8\n", b"\n7\n"))

    assert _verify(trail).finding == _at(Reason.CHECKPOINT_ALTERED, 4)


def test_checkpoints_out_of_order_are_found_out(trail: TrailConfig):
    notes = trail.folder / "audit-log.checkpoints"
    whole = notes.read_bytes()
    third = len(whole) * 2 // 3
    notes.write_bytes(whole[third:] + whole[:third])

    assert _verify(trail).finding == _at(Reason.CHECKPOINT_MISSING, 0)


def test_checkpoints_of_another_key_vouch_for_nothing(trail: TrailConfig, tmp_path: Path):
    other = trail_in(tmp_path / "other")
    log = open_writer(other)
    log.append([body("x")] * 4)
    log.sign()
    log.close()
    (trail.folder / "audit-log.checkpoints").write_bytes((other.folder / "audit-log.checkpoints").read_bytes())

    assert _verify(trail).finding == _at(Reason.CHECKPOINT_ALTERED, 0)


def test_a_file_of_a_rotated_log_that_is_gone_is_missed(tmp_path: Path):
    trail = trail_in(tmp_path, rotate_bytes=1)
    log = open_writer(trail)
    for number in range(4):
        log.append([body(f"call {number}")])
    log.close()
    assert _verify(trail).ok
    (trail.folder / "audit-log-000000000002.jsonl").unlink()

    assert _verify(trail).finding == _at(Reason.MISSING, 2)


def test_the_unsigned_end_may_be_cut_short_by_a_crash_and_is_not_held_against_the_log(trail: TrailConfig):
    _change(trail, lambda lines: [*lines[:13], lines[13][:50]])
    verdict = _verify(trail)

    assert (verdict.ok, verdict.size, verdict.torn) == (True, 13, 50)


def test_progress_is_told_up_to_the_last_byte(trail: TrailConfig):
    told: list[tuple[int, int]] = []
    key = read_public_key(public_path(trail.key_path))
    verify_trail(trail.folder, key, progress=lambda done, total: told.append((done, total)))

    assert told[-1] == (_log(trail).stat().st_size,) * 2


@pytest.mark.parametrize("reason", Reason)
def test_every_finding_has_a_sentence_with_its_record_or_file(reason: Reason):
    said = str(Finding(reason=reason, record=7, last=9, name="a\x1bb"))

    assert "7" in said or "9" in said or r"a\x1bb" in said
