"""Proof files."""

from __future__ import annotations

import pytest

from strictwire.audit.checkpoint import SigningKey
from strictwire.audit.merkle import Frontier, leaf_hash, prove_consistency, prove_inclusion, stored_index
from strictwire.audit.proof import (
    ProofRefused,
    check_consistency,
    check_inclusion,
    render_consistency,
    render_inclusion,
)

KEY = SigningKey(name="test.local/log", seed=bytes(range(32)))
LINES = [b'{"seq":%d}' % number for number in range(7)]
TREE = Frontier()
HASHES = [known for line in LINES for known in TREE.push(leaf_hash(line))]
NEW = KEY.sign(size=7, root=TREE.root())


def _read(level: int, index: int) -> bytes:
    return HASHES[stored_index(level, index)]


INCLUSION = render_inclusion(LINES[4], index=4, hashes=prove_inclusion(4, 7, _read), checkpoint=NEW)


def test_an_inclusion_proof_has_the_c2sp_format():
    head, note = INCLUSION.split(b"\n\n", 1)

    assert head.split(b"\n")[:3] == [b"c2sp.org/tlog-proof@v1", b"extra eyJzZXEiOjR9", b"index 4"]
    assert note == NEW.note


def test_checking_a_proof_returns_the_record():
    proved = check_inclusion(INCLUSION, KEY.public)

    assert (proved.index, proved.line, proved.checkpoint) == (4, LINES[4], NEW)


@pytest.mark.parametrize("place", range(0, len(INCLUSION), 3))
def test_a_changed_byte_of_a_proof_is_refused(place: int):
    forged = bytearray(INCLUSION)
    forged[place] ^= 2
    with pytest.raises(ProofRefused):
        check_inclusion(bytes(forged), KEY.public)


def test_a_proof_needs_the_right_key():
    other = SigningKey(name="test.local/log", seed=bytes(32))
    with pytest.raises(ProofRefused, match="unknown_key"):
        check_inclusion(INCLUSION, other.public)


def test_a_consistency_proof_contains_both_checkpoints():
    tree = Frontier()
    for line in LINES[:3]:
        tree.push(leaf_hash(line))
    old = KEY.sign(size=3, root=tree.root())
    proof = render_consistency(old, NEW, hashes=prove_consistency(3, 7, _read))
    proved = check_consistency(proof, KEY.public)

    assert (proved.old, proved.new) == (old, NEW)
    with pytest.raises(ProofRefused, match="not_consistent"):
        check_consistency(render_consistency(old, NEW, hashes=[]), KEY.public)
    with pytest.raises(ProofRefused, match="malformed"):
        check_consistency(proof.replace(NEW.note, b""), KEY.public)
