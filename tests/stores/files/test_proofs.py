"""Proofs from a trail, checked with the public key alone."""

from __future__ import annotations

import pytest

from strictwire.audit.proof import ProofRefused, check_consistency, check_inclusion
from strictwire.stores.files.config import TrailConfig, open_writer
from strictwire.stores.files.keys import public_path, read_public_key
from strictwire.stores.files.proofs import NoProof, list_checkpoints, prove_growth, prove_record
from strictwire.stores.files.reading import read_trail
from tests.stores.trails import body


@pytest.mark.parametrize("index", [0, 7, 19])
def test_a_record_is_proved_with_only_the_public_key(trail: TrailConfig, index: int):
    key = read_public_key(public_path(trail.key_path))
    proof = prove_record(trail.folder, key, index)
    proved = check_inclusion(proof, key)

    assert (proved.index, proved.checkpoint.size) == (index, 20)
    assert proved.line == list(read_trail(trail.folder))[index].line


@pytest.mark.parametrize("forge", [b"alice", b"index 7", b"\n20\n"])
def test_a_forged_proof_proves_nothing(trail: TrailConfig, forge: bytes):
    key = read_public_key(trail.key_path)
    proof = prove_record(trail.folder, key, 7)
    head, _, rest = proof.partition(b"\nindex")
    changes = {
        b"alice": proof.replace(head[-40:-36], b"AAAA"),
        b"index 7": proof.replace(b"index 7", b"index 6"),
        b"\n20\n": proof.replace(b"\n20\n", b"\n19\n"),
    }
    assert rest
    with pytest.raises(ProofRefused):
        check_inclusion(changes[forge], key)


@pytest.mark.parametrize("junk", [b"", b"x\n\ny", b"c2sp.org/tlog-proof@v1\nextra !\nindex 0\n\n"])
def test_what_is_no_proof_is_refused(trail: TrailConfig, junk: bytes):
    key = read_public_key(trail.key_path)
    with pytest.raises(ProofRefused, match="malformed"):
        check_inclusion(junk, key)
    with pytest.raises(ProofRefused, match="malformed"):
        check_consistency(junk, key)


def test_a_record_without_a_checkpoint_has_no_proof_yet(trail: TrailConfig):
    log = open_writer(trail)
    log.append([body("new")])
    size = log._state.records
    log.close()
    key = read_public_key(trail.key_path)
    signed = list_checkpoints(trail.folder, key)[-1]
    if signed < size:
        with pytest.raises(NoProof, match="not_signed_yet"):
            prove_record(trail.folder, key, size - 1)
    with pytest.raises(NoProof, match="not_signed_yet"):
        prove_record(trail.folder, key, size + 5)


def test_growth_between_checkpoints_is_proved(trail: TrailConfig):
    key = read_public_key(trail.key_path)
    sizes = list_checkpoints(trail.folder, key)
    for old in sizes:
        proved = check_consistency(prove_growth(trail.folder, key, old=old), key)
        assert (proved.old.size, proved.new.size) == (old, 20)
    middle = check_consistency(prove_growth(trail.folder, key, old=sizes[0], new=sizes[1]), key)

    assert (middle.old.size, middle.new.size) == (sizes[0], sizes[1])
    with pytest.raises(NoProof, match="no_such_checkpoint"):
        prove_growth(trail.folder, key, old=999)


def test_without_its_hashes_a_log_has_no_proofs(trail: TrailConfig):
    key = read_public_key(trail.key_path)
    (trail.folder / "audit-log.hashes").unlink()
    with pytest.raises(NoProof, match="damaged"):
        prove_record(trail.folder, key, 7)
    with pytest.raises(NoProof, match="damaged"):
        prove_growth(trail.folder, key, old=list_checkpoints(trail.folder, key)[0])
