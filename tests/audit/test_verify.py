"""Verification of a stream of lines. tests/stores/files/test_verify.py tampers with real folders."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictwire.audit.chain import GENESIS, seal_batch
from strictwire.audit.checkpoint import Checkpoint, SigningKey
from strictwire.audit.event import Prune, render_body
from strictwire.audit.merkle import Frontier, leaf_hash
from strictwire.audit.verify import Finding, Reason, Verifier, find_first_difference

KEY = SigningKey(name="test.local/log", seed=bytes(range(32)))


def make_log(bodies: list[bytes], signed: list[int]) -> tuple[list[bytes], list[Checkpoint]]:
    """Lines with line breaks, and a checkpoint for each size."""
    lines: list[bytes] = []
    checkpoints: list[Checkpoint] = []
    tree, head = Frontier(), GENESIS
    for body in bodies:
        sealed = seal_batch([body], first=tree.size, head=head)
        head = sealed.leaves[-1]
        tree.push(head)
        lines.append(sealed.lines)
        if tree.size in signed:
            checkpoints.append(KEY.sign(size=tree.size, root=tree.root()))
    return lines, checkpoints


def _notes(checkpoints: list[Checkpoint]) -> Iterator[bytes]:
    return (checkpoint.note for checkpoint in checkpoints)


def _at(reason: Reason, record: int, last: int | None = None) -> Finding:
    return Finding(reason=reason, record=record, last=record if last is None else last)


BODIES = [b'{"n":%d}' % number for number in range(9)]


@given(st.integers(0, 20), st.sets(st.integers(1, 20)), st.integers(1, 5))
def test_an_intact_log_verifies_however_it_is_fed(size: int, signed: set[int], chunk: int):
    lines, checkpoints = make_log([b'{"n":%d}' % number for number in range(size)], sorted(signed))
    verifier = Verifier(key=KEY.public, notes=_notes(checkpoints))
    for start in range(0, size, chunk):
        verifier.feed(lines[start : start + chunk])
    verdict = verifier.finish()

    assert verdict.finding is None
    assert (verdict.size, verdict.checkpoints) == (size, len(checkpoints))
    assert verdict.signed == max((checkpoint.size for checkpoint in checkpoints), default=0)


@given(st.integers(0, 8), st.integers(0, 60), st.integers(1, 255), st.sets(st.integers(1, 9), min_size=1))
def test_a_changed_byte_of_a_signed_record_is_found(record: int, place: int, flip: int, signed: set[int]):
    lines, checkpoints = make_log(BODIES, sorted({*signed, 9}))
    line = bytearray(lines[record])
    line[place % len(line)] ^= flip
    verifier = Verifier(key=KEY.public, notes=_notes(checkpoints))
    # Cut anew at line breaks, as a reader of the changed file would.
    data = b"".join([*lines[:record], bytes(line), *lines[record + 1 :]])
    verifier.feed([part + b"\n" for part in data.split(b"\n")[:-1]])

    assert verifier.finish().finding is not None


def test_verification_stops_at_the_first_finding():
    lines, checkpoints = make_log(BODIES, [9])
    verifier = Verifier(key=KEY.public, notes=_notes(checkpoints))
    first = verifier.feed([lines[0], lines[2]])

    assert first == verifier.feed(lines[1:2]) == verifier.finding == _at(Reason.MISSING, 1)


def test_a_pruned_log_starts_at_its_frontier_and_needs_a_checkpoint_that_allows_it():
    bodies = [*BODIES[:6], render_body(Prune(timestamp="T", before="B", first=4)), *BODIES[6:]]
    lines, checkpoints = make_log(bodies, [3, 5, 10])
    start, head = Frontier(), GENESIS
    for line in lines[:4]:
        head = leaf_hash(line[:-1])
        start.push(head)

    def judge(first: int) -> Finding | None:
        numbered = [
            KEY.sign(size=each.size, root=each.root, number=number, first=first if each.size == 10 else 0)
            for number, each in enumerate(checkpoints, 1)
        ]
        verifier = Verifier(key=KEY.public, notes=_notes(numbered), start=start, head=head)
        verifier.feed(lines[4:])
        return verifier.finish().finding

    assert judge(4) is None
    assert judge(0) == _at(Reason.PRUNED_UNSAID, 0, 3)
    assert judge(2) == _at(Reason.PRUNED_UNSAID, 2, 3)


def test_a_wrong_frontier_is_found_at_the_next_checkpoint():
    bodies = [*BODIES[:6], render_body(Prune(timestamp="T", before="B", first=4)), *BODIES[6:]]
    lines, checkpoints = make_log(bodies, [5])
    head = leaf_hash(lines[3][:-1])
    verifier = Verifier(key=KEY.public, notes=_notes(checkpoints), start=Frontier(4, [bytes(32)]), head=head)
    verifier.feed(lines[4:])

    assert verifier.finish().finding == _at(Reason.FORGED, 0, 4)


@pytest.mark.parametrize("cut", [1, 30, 100])
def test_a_last_note_truncated_by_a_crash_is_not_a_finding(cut: int):
    lines, checkpoints = make_log(BODIES, [4, 9])
    notes = [checkpoints[0].note, checkpoints[1].note[:cut]]
    verifier = Verifier(key=KEY.public, notes=notes)
    verifier.feed(lines)
    verdict = verifier.finish()

    assert (verdict.ok, verdict.signed) == (True, 4)


def test_a_malformed_note_before_others_is_a_finding():
    lines, checkpoints = make_log(BODIES, [4, 9])
    verifier = Verifier(key=KEY.public, notes=[b"x\n", checkpoints[1].note])
    verifier.feed(lines)

    assert verifier.finish().finding == _at(Reason.CHECKPOINT_ALTERED, 0)


def test_the_first_difference_between_two_streams_of_hashes():
    assert find_first_difference([b"a", b"b", b"c"], [b"a", b"x", b"c"], 10) == 11
    assert find_first_difference([b"a"], [b"a", b"b"], 10) is None
