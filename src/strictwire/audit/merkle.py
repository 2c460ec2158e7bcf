"""The RFC 6962 Merkle tree over audit records: appending leaves, and proofs of inclusion and consistency.

A tree only grows at its right edge, so a writer needs only the `Frontier`: the roots of the perfect subtrees, at most one
per bit of the size. Proofs also need older hashes. They are stored once, in the order in which they become known
(`stored_count`, `stored_index`), so that a hashes file is append-only.

Not here: what a leaf means (`chain`), who signs a root (`checkpoint`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Final, TypeAlias

HASH_BYTES: Final = 32
"""SHA-256, the hash of RFC 6962."""

LEAF_PREFIX: Final = b"\x00"
NODE_PREFIX: Final = b"\x01"
"""RFC 6962, 2.1: different prefixes, so that an inner node can never be presented as a leaf."""

EMPTY_ROOT: Final = sha256().digest()
"""The root of a tree without leaves."""

ReadHash: TypeAlias = Callable[[int, int], bytes]
"""(level, index) -> the hash of the perfect subtree over leaves [index << level, (index + 1) << level)."""


def leaf_hash(data: bytes) -> bytes:
    """The hash of one leaf."""
    return sha256(LEAF_PREFIX + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of an inner node."""
    return sha256(NODE_PREFIX + left + right).digest()


class Frontier:
    """The right edge of a growing tree: `size` leaves; `peaks` are the roots of its perfect subtrees, largest first."""

    __slots__ = ("peaks", "size")

    def __init__(self, size: int = 0, peaks: Sequence[bytes] = ()) -> None:
        if size.bit_count() != len(peaks):
            raise ValueError(f"a tree of {size} leaves has {size.bit_count()} peaks, not {len(peaks)}")
        self.size = size
        self.peaks = list(peaks)

    def push(self, leaf: bytes) -> list[bytes]:
        """Append a leaf hash. Returns the hashes that became known, in stored order: the leaf, then completed subtrees."""
        return self.extend((leaf,))

    def extend(self, leaves: Iterable[bytes]) -> list[bytes]:
        """Append leaf hashes. Returns the hashes that became known, in stored order."""
        known: list[bytes] = []
        peaks, size = self.peaks, self.size
        for leaf in leaves:
            known.append(leaf)
            node, rest = leaf, size
            while rest & 1:
                node = sha256(NODE_PREFIX + peaks.pop() + node).digest()
                known.append(node)
                rest >>= 1
            peaks.append(node)
            size += 1
        self.size = size
        return known

    def root(self) -> bytes:
        """The root of the tree."""
        if not self.peaks:
            return EMPTY_ROOT
        root = self.peaks[-1]
        for peak in reversed(self.peaks[:-1]):
            root = node_hash(peak, root)
        return root

    def copy(self) -> Frontier:
        """An independent copy."""
        return Frontier(self.size, self.peaks)


def stored_count(size: int) -> int:
    """How many hashes are stored for a tree of `size` leaves: every leaf and every perfect subtree."""
    return 2 * size - size.bit_count()


def stored_size(count: int) -> int:
    """The size of the largest tree whose hashes are all among the first `count` stored ones."""
    size = (count + count.bit_length()) // 2
    while stored_count(size) > count:
        size -= 1
    return size


def stored_index(level: int, index: int) -> int:
    """The position of a subtree's hash: `level` places after the hash of its last leaf."""
    last_leaf = ((index + 1) << level) - 1
    return stored_count(last_leaf) + level


def read_frontier(size: int, read: ReadHash) -> Frontier:
    """The frontier of a tree of `size` leaves, read from stored hashes."""
    return Frontier(size, [read(level, start >> level) for level, start in perfect_parts(size)])


def perfect_parts(size: int) -> Iterator[tuple[int, int]]:
    """(level, first leaf) of the perfect subtrees of a tree, largest first."""
    start = 0
    for level in range(size.bit_length() - 1, -1, -1):
        if size >> level & 1:
            yield level, start
            start += 1 << level


def prove_inclusion(index: int, size: int, read: ReadHash) -> list[bytes]:
    """The siblings on the path from leaf `index` to the root of the tree of `size` leaves (RFC 6962, 2.1.1)."""
    if not 0 <= index < size:
        raise IndexError(f"leaf {index} is not in a tree of {size}")
    proof: list[bytes] = []
    low, high = 0, size
    while high - low > 1:
        middle = low + _split(high - low)
        if index < middle:
            proof.append(_subtree_root(middle, high, read))
            high = middle
        else:
            proof.append(_subtree_root(low, middle, read))
            low = middle
    proof.reverse()
    return proof


def prove_consistency(old: int, new: int, read: ReadHash) -> list[bytes]:
    """The hashes that show that the tree of `new` leaves starts with the tree of `old` leaves (RFC 6962, 2.1.2)."""
    if not 0 <= old <= new:
        raise IndexError(f"a tree of {new} leaves cannot extend one of {old}")
    if old in (0, new):
        return []
    proof: list[bytes] = []
    low, high = 0, new
    while high != old:
        middle = low + _split(high - low)
        if old <= middle:
            proof.append(_subtree_root(middle, high, read))
            high = middle
        else:
            proof.append(_subtree_root(low, middle, read))
            low = middle
    # The verifier knows the root of the whole old tree, but not of a part of it.
    if low:
        proof.append(_subtree_root(low, high, read))
    proof.reverse()
    return proof


def _split(count: int) -> int:
    """The number of leaves in the left subtree: the largest power of two below `count`."""
    return 1 << (count - 1).bit_length() - 1


def _subtree_root(low: int, high: int, read: ReadHash) -> bytes:
    """The root over leaves [low, high); `low` is aligned to every power of two that the range is split by."""
    count = high - low
    if count.bit_count() == 1:
        level = count.bit_length() - 1
        return read(level, low >> level)
    middle = low + _split(count)
    return node_hash(_subtree_root(low, middle, read), _subtree_root(middle, high, read))


def fold_inclusion(leaf: bytes, *, index: int, size: int, proof: Sequence[bytes]) -> bytes | None:
    """The root that a proof yields for a leaf hash, or None if the proof has the wrong length."""
    if not 0 <= index < size:
        return None
    root, last, hashes = leaf, size - 1, list(proof)
    while last:
        if index & 1 or index < last:
            if not hashes:
                return None
            sibling = hashes.pop(0)
            root = node_hash(sibling, root) if index & 1 else node_hash(root, sibling)
        index >>= 1
        last >>= 1
    return None if hashes else root


def is_consistent(*, old: int, old_root: bytes, new: int, new_root: bytes, proof: Sequence[bytes]) -> bool:
    """Whether the proof shows that the new tree starts with the old one (RFC 9162, 2.1.4.2)."""
    if not 0 <= old <= new:
        return False
    if old in (0, new):
        return not proof and (old_root == new_root if old == new else old_root == EMPTY_ROOT)
    hashes = list(proof)
    if old.bit_count() == 1:
        hashes.insert(0, old_root)
    return bool(hashes) and _fold_consistency(old - 1, new - 1, hashes) == (old_root, new_root)


def _fold_consistency(index: int, last: int, hashes: Sequence[bytes]) -> tuple[bytes, bytes] | None:
    """The old and the new root that the hashes yield, or None if there are too many or too few of them."""
    while index & 1:
        index >>= 1
        last >>= 1
    old_root = new_root = hashes[0]
    for sibling in hashes[1:]:
        if not last:
            return None
        if index & 1 or index == last:
            old_root, new_root = node_hash(sibling, old_root), node_hash(sibling, new_root)
            while index and not index & 1:
                index >>= 1
                last >>= 1
        else:
            new_root = node_hash(new_root, sibling)
        index >>= 1
        last >>= 1
    return None if last else (old_root, new_root)
