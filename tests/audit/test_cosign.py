"""A witness signs what extends the log that it has seen, and nothing else."""

from __future__ import annotations

import pytest

from strictwire.audit.checkpoint import COSIGNATURE, Checkpoint, SigningKey, parse_public_key, parse_signing_key
from strictwire.audit.cosign import (
    MAX_REQUEST_BYTES,
    Reply,
    Request,
    RequestRefused,
    Status,
    add_signatures,
    cosign,
    find_cosigned,
    judge,
    parse_request,
    render_request,
)
from strictwire.audit.merkle import Frontier, leaf_hash, prove_consistency, stored_index

LOG = SigningKey(name="test.local/log", seed=bytes(range(32)))
WITNESS = SigningKey(name="test.local/witness", seed=bytes(32), algorithm=COSIGNATURE)
LEAVES = [leaf_hash(b"%d" % number) for number in range(20)]
HASHES = Frontier().extend(LEAVES)


def checkpoint(size: int, key: SigningKey = LOG, leaves: list[bytes] = LEAVES) -> Checkpoint:
    tree = Frontier()
    tree.extend(leaves[:size])
    return key.sign(size=size, root=tree.root(), number=1)


def request(old: int, new: Checkpoint) -> bytes:
    proof = prove_consistency(old, new.size, lambda level, index: HASHES[stored_index(level, index)])
    return render_request(Request(old=old, proof=tuple(proof), note=new.note))


def test_a_request_survives_its_rendering():
    given = Request(old=3, proof=(bytes(32), b"\x01" * 32), note=checkpoint(9).note)

    assert parse_request(render_request(given)) == given


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"old 1\n",
        b"new 1\n\nnote",
        b"old -1\n\nnote",
        b"old 1\nAAAA\n\nnote",
        b"old 1\n!\n\nnote",
        b"old " + b"9" * 19 + b"\n\nnote",
        b"old 1\n\n" + b"x" * MAX_REQUEST_BYTES,
        "old 1é\n\n".encode(),
    ],
)
def test_what_is_no_request_is_refused(data: bytes):
    with pytest.raises(RequestRefused):
        parse_request(data)
    assert judge(data, log=LOG.public, last=None) == Reply(status=Status.MALFORMED)


@pytest.mark.parametrize("old", range(20))
def test_a_log_that_grew_is_accepted(old: int):
    new = checkpoint(20)
    last = checkpoint(old) if old else None

    assert judge(request(old, new), log=LOG.public, last=last) == Reply(status=Status.SIGNED, seen=new)


def test_a_log_that_was_rewritten_or_put_back_is_refused():
    other = [leaf_hash(b"x"), *LEAVES[1:]]
    stranger = SigningKey(name="test.local/log", seed=b"\x07" * 32)

    def status(data: bytes, last: Checkpoint | None) -> tuple[Status, bytes]:
        reply = judge(data, log=LOG.public, last=last)
        return reply.status, reply.body

    assert status(request(5, checkpoint(20)), checkpoint(5, leaves=other)) == (Status.NOT_CONSISTENT, b"")
    assert status(request(20, checkpoint(20, leaves=other)), checkpoint(20)) == (Status.NOT_CONSISTENT, b"")
    assert status(request(5, checkpoint(10)), checkpoint(15)) == (Status.CONFLICT, b"15\n")
    assert status(request(0, checkpoint(10)), checkpoint(5)) == (Status.CONFLICT, b"5\n")
    assert status(request(5, checkpoint(10)), None) == (Status.CONFLICT, b"0\n")
    assert status(request(0, checkpoint(10, stranger)), None) == (Status.REFUSED, b"")
    assert status(b"old 11\n\n" + checkpoint(10).note, checkpoint(11)) == (Status.MALFORMED, b"")


def test_a_cosignature_names_its_time_and_binds_the_note():
    note = checkpoint(9).note
    signed = add_signatures(note, cosign(note, WITNESS, seconds=1_700_000_000))
    other = SigningKey(name="test.local/witness", seed=b"\x01" * 32, algorithm=COSIGNATURE)

    assert find_cosigned(signed, WITNESS.public) == 1_700_000_000
    assert find_cosigned(note, WITNESS.public) is None
    assert find_cosigned(signed, other.public) is None
    assert find_cosigned(signed.replace(b"\n9\n", b"\n8\n", 1), WITNESS.public) is None


def test_the_keys_of_a_witness_are_told_from_those_of_a_log():
    assert parse_public_key(WITNESS.public.render()) == WITNESS.public
    assert parse_signing_key(WITNESS.render()).public == WITNESS.public
    assert SigningKey(name="test.local/witness", seed=bytes(32)).public.key_id != WITNESS.public.key_id
