"""The hash chain: turns record bodies into log lines and binds each line to the one before it.

A line is `{"seq":N,"prev":"<hex>","tag":"<hex>",...}`. N counts from 0; `prev` is the RFC 6962 leaf hash of the line before.
The chain and the Merkle tree share that hash, so each line is hashed once. A line never contains a line break.

Anyone can compute the chain, so it does not show who wrote a line. `tag` does: it is a MAC over `prev` and the body, with a
key that is derived from the signing key. A writer that finds records which no checkpoint covers yet checks their tags
before it signs them. Readers without the key rely on the checkpoints.

Not here: what the members mean (`event`), where lines are stored (`stores`).
"""

from __future__ import annotations

import re
from binascii import hexlify
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b, sha256
from hmac import compare_digest
from typing import Final, NamedTuple

from strictwire.audit.merkle import LEAF_PREFIX, leaf_hash
from strictwire.canon.json import JsonObject, Limits, parse_object

GENESIS: Final = bytes(32)
"""The `prev` of the first record."""

TAG_BYTES: Final = 16
"""128 bits cannot be guessed, and cost a record 42 bytes."""

_OPENING: Final = b'{"seq":%d,"prev":"%b",'
_LINE: Final = _OPENING + b"%b"
_TAGGED_LINE: Final = _OPENING + b'"tag":"%b",%b'
_TAG: Final = re.compile(rb'"tag":"([0-9a-f]{32})",')
_LINK: Final = re.compile(rb'\{"seq":(0|[1-9][0-9]{0,17}),"prev":"([0-9a-f]{64})",')


@dataclass(frozen=True, slots=True)
class Link:
    """The position that a line claims."""

    seq: int
    prev: bytes


class Sealed(NamedTuple):
    """Lines ready to be written."""

    lines: bytes
    """Each line ends in a line break."""
    leaves: list[bytes]
    """The leaf hash of each line; the next record names the last of them."""


def maybe_link(line: bytes) -> Link | None:
    """The position a line claims, or None if it does not start like a record."""
    found = _LINK.match(line)
    return None if found is None else Link(int(found[1]), bytes.fromhex(found[2].decode()))


def maybe_leaf(line: bytes, *, seq: int, prev: bytes) -> bytes | None:
    """The leaf hash of a line (line break included) if it is the record at this position, else None."""
    if not line.endswith(b"\n") or not line.startswith(_OPENING % (seq, hexlify(prev))):
        return None
    return leaf_hash(line[:-1])


def is_authentic(text: bytes, *, prev: bytes, tag_key: bytes) -> bool:
    """Whether a line without its line break has the tag of a writer with the key. `prev` must be the one that it names."""
    start = text.find(b",", text.find(b",") + 1) + 1
    found = _TAG.match(text, start)
    if found is None:
        return False
    expected = blake2b(prev + text[found.end() :], key=tag_key, digest_size=TAG_BYTES).hexdigest()
    return compare_digest(expected.encode(), found[1])


def seal_batch(bodies: Sequence[bytes], *, first: int, head: bytes, tag_key: bytes = b"") -> Sealed:
    """Chain at least one body onto a log of `first` records whose last leaf hash is `head`. No key: no tags."""
    lines: list[bytes] = []
    leaves: list[bytes] = []
    # The hash is inlined here: every record of every call passes through this loop.
    for seq, body in enumerate(bodies, first):
        if tag_key:
            tag = blake2b(head + body[1:], key=tag_key, digest_size=TAG_BYTES).hexdigest()
            line = _TAGGED_LINE % (seq, hexlify(head), tag.encode(), body[1:])
        else:
            line = _LINE % (seq, hexlify(head), body[1:])
        head = sha256(LEAF_PREFIX + line).digest()
        leaves.append(head)
        lines.append(line)
    lines.append(b"")
    return Sealed(b"\n".join(lines), leaves)


def parse_record(text: bytes) -> JsonObject:
    """A stored record. Raises NotStrict.

    The limits of a client's message do not apply: a record may hold the arguments of one and a result besides.
    """
    return parse_object(text, Limits(size=len(text), values=len(text)))
