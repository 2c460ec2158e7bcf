"""The Merkle tree, compared with a naive implementation of the definition in RFC 6962."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictwire.audit.merkle import (
    EMPTY_ROOT,
    HASH_BYTES,
    Frontier,
    fold_inclusion,
    is_consistent,
    leaf_hash,
    prove_consistency,
    prove_inclusion,
    read_frontier,
    stored_count,
    stored_index,
    stored_size,
)

SIZES = st.integers(min_value=1, max_value=200)


def _leaves(size: int) -> list[bytes]:
    return [leaf_hash(b"record %d" % number) for number in range(size)]


def _naive_root(leaves: list[bytes]) -> bytes:
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    half = 1
    while half * 2 < len(leaves):
        half *= 2
    return hashlib.sha256(b"\x01" + _naive_root(leaves[:half]) + _naive_root(leaves[half:])).digest()


class _Stored:
    """Hashes in stored order, as in the file."""

    def __init__(self, size: int) -> None:
        self.tree = Frontier()
        self.hashes: list[bytes] = []
        for leaf in _leaves(size):
            self.hashes += self.tree.push(leaf)

    def read(self, level: int, index: int) -> bytes:
        return self.hashes[stored_index(level, index)]


def test_leaves_and_nodes_are_hashed_with_different_prefixes():
    """RFC 6962, 2.1: without the prefixes, a node could be presented as a leaf."""
    assert leaf_hash(b"x") == hashlib.sha256(b"\x00x").digest()


def test_the_root_of_the_empty_tree_is_the_hash_of_no_bytes():
    assert Frontier().root() == EMPTY_ROOT


@given(SIZES)
def test_the_frontier_has_the_root_of_the_definition(size: int):
    assert _Stored(size).tree.root() == _naive_root(_leaves(size))


@given(SIZES)
def test_stored_count_is_the_number_of_stored_hashes(size: int):
    assert len(_Stored(size).hashes) == stored_count(size)


@given(SIZES)
def test_every_perfect_subtree_is_at_its_stored_index(size: int):
    stored, leaves = _Stored(size), _leaves(size)

    for level in range(size.bit_length()):
        for index in range(size >> level):
            part = leaves[index << level : (index + 1) << level]
            assert stored.read(level, index) == _naive_root(part)


@given(SIZES, st.data())
def test_the_frontier_of_any_earlier_size_can_be_read(size: int, data: st.DataObject):
    earlier = data.draw(st.integers(min_value=0, max_value=size))

    assert read_frontier(earlier, _Stored(size).read).root() == _naive_root(_leaves(earlier))


@given(SIZES, st.data())
def test_an_inclusion_proof_gives_the_root_only_for_its_leaf(size: int, data: st.DataObject):
    index = data.draw(st.integers(min_value=0, max_value=size - 1))
    stored = _Stored(size)
    proof = prove_inclusion(index, size, stored.read)
    leaf = _leaves(size)[index]

    assert fold_inclusion(leaf, index=index, size=size, proof=proof) == stored.tree.root()
    assert fold_inclusion(leaf_hash(b"other"), index=index, size=size, proof=proof) != stored.tree.root()
    assert fold_inclusion(leaf, index=index, size=size, proof=[*proof, bytes(32)]) is None
    if proof:
        assert fold_inclusion(leaf, index=index, size=size, proof=proof[:-1]) is None


@given(SIZES, st.data())
def test_a_consistency_proof_is_valid_between_any_two_sizes_and_for_no_other_root(size: int, data: st.DataObject):
    old = data.draw(st.integers(min_value=0, max_value=size))
    stored = _Stored(size)
    proof = prove_consistency(old, size, stored.read)
    roots = {"old_root": _naive_root(_leaves(old)), "new_root": stored.tree.root()}

    assert is_consistent(old=old, new=size, proof=proof, **roots)
    assert not is_consistent(old=old, new=size, proof=[*proof, bytes(32)], **roots)
    if old:
        assert not is_consistent(old=old, new=size, proof=proof, **{**roots, "old_root": bytes(HASH_BYTES)})
        assert not is_consistent(old=old, new=size, proof=proof, **{**roots, "new_root": bytes(HASH_BYTES)})


@given(SIZES, st.data())
def test_a_changed_hash_invalidates_a_proof(size: int, data: st.DataObject):
    index = data.draw(st.integers(min_value=0, max_value=size - 1))
    stored = _Stored(size)
    proof = prove_inclusion(index, size, stored.read)
    for place in range(len(proof)):
        forged = [*proof]
        forged[place] = bytes(HASH_BYTES)

        assert fold_inclusion(_leaves(size)[index], index=index, size=size, proof=forged) != stored.tree.root()


def test_a_frontier_with_the_wrong_number_of_peaks_is_refused():
    with pytest.raises(ValueError, match="has 2 peaks, not 1"):
        Frontier(3, [bytes(32)])


@pytest.mark.parametrize(("index", "size"), [(-1, 3), (3, 3), (0, 0)])
def test_a_missing_leaf_has_no_proof(index: int, size: int):
    with pytest.raises(IndexError):
        prove_inclusion(index, size, _Stored(3).read)
    assert fold_inclusion(bytes(32), index=index, size=size, proof=[]) is None


def test_a_smaller_tree_does_not_extend_a_larger_one():
    with pytest.raises(IndexError):
        prove_consistency(3, 2, _Stored(3).read)
    assert not is_consistent(old=3, old_root=b"", new=2, new_root=b"", proof=[])
    assert not is_consistent(old=1, old_root=bytes(32), new=3, new_root=bytes(32), proof=[])


@pytest.mark.parametrize("count", range(300))
def test_stored_size_is_the_largest_tree_with_all_hashes_stored(count: int):
    size = stored_size(count)

    assert stored_count(size) <= count < stored_count(size + 1)
