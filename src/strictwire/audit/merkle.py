"""The RFC 6962 Merkle tree over audit records: append, inclusion proofs and consistency proofs.

A tree grows only at its right edge, so a writer needs only the `Frontier`: the roots of the perfect subtrees, at most one
per bit of the size. Proofs also need older hashes. These are stored once, in the order in which they become known
(`stored_count`, `stored_index`), so that a file of hashes is append-only.

Not here: the meaning of a leaf (`chain`) and the signature of a root (`checkpoint`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from strictwire.canon.digest import sha256
from strictwire.native import speed

HASH_BYTES: Final = 32
"""The size of a SHA-256 digest, the hash of RFC 6962."""

EMPTY_ROOT: Final = sha256()
"""The root of a tree without leaves."""

ReadHash: TypeAlias = Callable[[int, int], bytes]
"""(level, index) -> the hash of the perfect subtree over leaves [index << level, (index + 1) << level)."""


def leaf_hash(data: bytes) -> bytes:
    """The hash of a leaf. The prefix prevents an inner node from being presented as a leaf (RFC 6962, 2.1)."""
    return sha256(b"\x00", data)


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of an inner node."""
    return sha256(b"\x01", left, right)


class Frontier:
    """The right edge of a growing tree with `size` leaves. `peaks`: the roots of its perfect subtrees, largest first."""

    __slots__ = ("peaks", "size")

    def __init__(self, size: int = 0, peaks: Sequence[bytes] = ()) -> None:
        if size.bit_count() != len(peaks):
            raise ValueError(f"a tree of {size} leaves has {size.bit_count()} peaks, not {len(peaks)}")
        self.size = size
        self.peaks = list(peaks)

    def push(self, leaf: bytes) -> list[bytes]:
        """Append a leaf hash. Returns the new hashes in stored order: the leaf, then the subtrees that it completes."""
        known, rest = [leaf], self.size
        while rest & 1:
            known.append(sha256(b"\x01", self.peaks.pop(), known[-1]))
            rest >>= 1
        self.peaks.append(known[-1])
        self.size += 1
        return known

    def push_all(self, leaves: list[bytes]) -> bytes:
        """Append many leaf hashes. Returns the new hashes in stored order, concatenated."""
        self.peaks, known = grow(self.size, self.peaks, leaves)
        self.size += len(leaves)
        return known

    def root(self) -> bytes:
        """The root of the current tree."""
        if not self.peaks:
            return EMPTY_ROOT
        root = self.peaks[-1]
        for peak in reversed(self.peaks[:-1]):
            root = node_hash(peak, root)
        return root

    def copy(self) -> Frontier:
        """An independent copy."""
        return Frontier(self.size, self.peaks)


def grow_in_python(size: int, peaks: list[bytes], leaves: list[bytes]) -> tuple[list[bytes], bytes]:
    """Append leaves to a tree. Returns its new peaks and the new hashes in stored order, concatenated."""
    tree = Frontier(size, peaks)
    known = [each for leaf in leaves for each in tree.push(leaf)]
    return tree.peaks, b"".join(known)


grow: Final[Callable[[int, list[bytes], list[bytes]], tuple[list[bytes], bytes]]] = getattr(speed, "grow", grow_in_python)
"""The C implementation if available, else `grow_in_python`."""


def stored_count(size: int) -> int:
    """How many hashes are stored for a tree of `size` leaves: one per leaf and per perfect subtree."""
    return 2 * size - size.bit_count()


def stored_size(count: int) -> int:
    """The size of the largest tree whose hashes are all among the first `count` stored ones."""
    size = (count + count.bit_length()) // 2
    while stored_count(size) > count:
        size -= 1
    return size


def stored_index(level: int, index: int) -> int:
    """The position of the hash of a perfect subtree in stored order: `level` places after its last leaf."""
    last_leaf = ((index + 1) << level) - 1
    return stored_count(last_leaf) + level


def read_frontier(size: int, read: ReadHash) -> Frontier:
    """The frontier of a tree of `size` leaves, read from stored hashes."""
    return Frontier(size, [read(level, start >> level) for level, start in _perfect_parts(size)])


def _perfect_parts(size: int) -> Iterator[tuple[int, int]]:
    """(level, first leaf) of the perfect subtrees of a tree, largest first."""
    start = 0
    for level in range(size.bit_length() - 1, -1, -1):
        if size >> level & 1:
            yield level, start
            start += 1 << level


def prove_inclusion(index: int, size: int, read: ReadHash) -> list[bytes]:
    """The sibling hashes on the path from leaf `index` to the root of a tree of `size` leaves (RFC 6962, 2.1.1)."""
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
    """The hashes that prove that the tree of `new` leaves extends the tree of `old` leaves (RFC 6962, 2.1.2)."""
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
    # The verifier knows the root of the old tree. If the old tree is not one perfect subtree, it needs this part too.
    if low:
        proof.append(_subtree_root(low, high, read))
    proof.reverse()
    return proof


def _split(count: int) -> int:
    """The largest power of two smaller than `count`: the number of leaves in the left subtree."""
    return 1 << (count - 1).bit_length() - 1


def _subtree_root(low: int, high: int, read: ReadHash) -> bytes:
    """The root over leaves [low, high); `low` is a multiple of every power of two at which the range is split."""
    count = high - low
    if count.bit_count() == 1:
        level = count.bit_length() - 1
        return read(level, low >> level)
    middle = low + _split(count)
    return node_hash(_subtree_root(low, middle, read), _subtree_root(middle, high, read))


def fold_inclusion(leaf: bytes, *, index: int, size: int, proof: Sequence[bytes]) -> bytes | None:
    """Compute the root from a leaf hash and its proof; None if the proof has the wrong length."""
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
    """Whether the proof shows that the new tree extends the old one (RFC 9162, 2.1.4.2)."""
    if not 0 <= old <= new:
        return False
    if old in (0, new):
        return not proof and (old_root == new_root if old == new else old_root == EMPTY_ROOT)
    hashes = list(proof)
    if old.bit_count() == 1:
        hashes.insert(0, old_root)
    return bool(hashes) and _fold_consistency(old - 1, new - 1, hashes) == (old_root, new_root)


def _fold_consistency(index: int, last: int, hashes: Sequence[bytes]) -> tuple[bytes, bytes] | None:
    """Compute the old and the new root from the hashes; None if there are too many or too few."""
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
