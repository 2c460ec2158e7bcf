"""The hash chain: how a record becomes a line of the log that is linked to the previous line.

A line is `{"seq":N,"prev":"<hex>",...}`. N counts from 0; `prev` is the leaf hash of the exact bytes of the previous
line. The chain and the Merkle tree share this hash, so each line is hashed once. A line never contains a line break.

Not here: the meaning of the members (`event`) and the files (`stores`).
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
"""The `prev` of the first record."""

_OPENING: Final = b'{"seq":%d,"prev":"%b",'
_LINE: Final = _OPENING + b"%b"
_LINK: Final = re.compile(rb'\{"seq":(0|[1-9][0-9]{0,17}),"prev":"([0-9a-f]{64})",')


@dataclass(frozen=True, slots=True)
class Link:
    """The `seq` and `prev` of a line."""

    seq: int
    prev: bytes


def maybe_link(line: bytes) -> Link | None:
    """The `seq` and `prev` of a line, or None if the line does not begin with them."""
    found = _LINK.match(line)
    return None if found is None else Link(int(found[1]), bytes.fromhex(found[2].decode()))


def maybe_leaf(line: bytes, *, seq: int, prev: bytes) -> bytes | None:
    """The leaf hash of a line (given with its line break) if it has this `seq` and `prev`; else None."""
    if not line.endswith(b"\n") or not line.startswith(_OPENING % (seq, hexlify(prev))):
        return None
    return leaf_hash(line[:-1])


class Sealed(msgspec.Struct, frozen=True):
    """Lines ready to be written, and their leaf hashes."""

    lines: bytes
    """Each line ends with a line break."""
    leaves: list[bytes]
    """The leaf hash of each line; the last one is the `prev` of the next record."""


def seal_batch(bodies: Iterable[bytes], *, first: int, head: bytes) -> Sealed:
    """Append bodies (at least one) to the chain of a log with `first` records whose last leaf hash is `head`."""
    return Sealed(*seal(list(bodies), first, head))


def seal_in_python(bodies: list[bytes], first: int, head: bytes) -> tuple[bytes, list[bytes]]:
    """The lines of the bodies, each with its line break, and their leaf hashes."""
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
"""The C implementation if available, else `seal_in_python`."""
