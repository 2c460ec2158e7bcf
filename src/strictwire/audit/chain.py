"""The hash chain: how a record becomes a line of the log, and what binds each line to the one before it.

A line is `{"seq":N,"prev":"<hex>",...}`: N counts from 0, `prev` is the leaf hash of the exact bytes of the line before.
Chain and Merkle tree share that one hash, so a line is hashed once. A line never contains a line break.

Not here: what the members mean (`event`), where lines are kept (`stores`).
"""

from __future__ import annotations

import re
from binascii import hexlify
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

import msgspec

from strictwire.audit.merkle import leaf_hash
from strictwire.native import speed

GENESIS: Final = bytes(32)
"""What the first record names as the hash before it."""

_OPENING: Final = b'{"seq":%d,"prev":"%b",'
_LINE: Final = _OPENING + b"%b"
_LINK: Final = re.compile(rb'\{"seq":(0|[1-9][0-9]{0,17}),"prev":"([0-9a-f]{64})",')


@dataclass(frozen=True, slots=True)
class Link:
    """What a line says about its place."""

    seq: int
    prev: bytes


def maybe_link(line: bytes) -> Link | None:
    """The place a line claims, or None where it does not begin as every line of the log does."""
    found = _LINK.match(line)
    return None if found is None else Link(int(found[1]), bytes.fromhex(found[2].decode()))


def maybe_leaf(line: bytes, *, seq: int, prev: bytes) -> bytes | None:
    """The leaf hash of a line, line break and all, if it is the record at this place; else None."""
    if not line.endswith(b"\n") or not line.startswith(_OPENING % (seq, hexlify(prev))):
        return None
    return leaf_hash(line[:-1])


class Sealed(msgspec.Struct, frozen=True):
    """Lines ready to be written, and what they add."""

    lines: bytes
    """Each ends in a line break."""
    leaves: list[bytes]
    """The leaf hash of each; the next record names the last of them."""


def seal_batch(bodies: Iterable[bytes], *, first: int, head: bytes) -> Sealed:
    """Chain bodies on to a log of `first` records that ends in `head`. At least one."""
    return Sealed(*seal(list(bodies), first, head))


def seal_in_python(bodies: list[bytes], first: int, head: bytes) -> tuple[bytes, list[bytes]]:
    """The lines of bodies, each with its line break, and their leaf hashes."""
    lines: list[bytes] = []
    leaves: list[bytes] = []
    for seq, body in enumerate(bodies, first):
        line = _LINE % (seq, hexlify(head), body[1:])
        head = leaf_hash(line)
        leaves.append(head)
        lines.append(line)
    lines.append(b"")
    return b"\n".join(lines), leaves


seal: Final[Callable[[list[bytes], int, bytes], tuple[bytes, list[bytes]]]] = getattr(speed, "seal", seal_in_python)
"""`seal_in_python`, by whoever is faster."""
