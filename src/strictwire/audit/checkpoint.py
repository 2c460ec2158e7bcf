"""Signed checkpoints: the size and Merkle root of the log at one moment, signed with an Ed25519 key.

The format is the C2SP signed note with the C2SP tlog-checkpoint text, so that other verifiers can read it:

    <origin>
    <number of records>
    <base64 of the RFC 6962 root>

    — <origin> <base64 of key id and signature>

Keys are text: `<name>+<key id>+<base64>` is the public key, `PRIVATE+KEY+<name>+<key id>+<base64>` the signing key.
Not here: creating keys, and storing keys and checkpoints (`stores`).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from strictwire.audit.merkle import HASH_BYTES

ED25519: Final = b"\x01"
"""The algorithm byte of the signed note format."""

SIGNATURE_MARK: Final = "— "
"""Each signature line begins with an em dash and a space."""

MAX_NOTE_BYTES: Final = 16_384
"""Maximum size of one note: room for sixteen cosignatures, the minimum that the format requires readers to accept."""

_PRIVATE: Final = "PRIVATE+KEY+"
_MAX_SIZE_DIGITS: Final = 18


class NoteFault(StrEnum):
    """Why a note is refused."""

    MALFORMED = "malformed"
    UNKNOWN_KEY = "unknown_key"
    BAD_SIGNATURE = "bad_signature"


class NoteRefused(ValueError):
    """The note is not a checkpoint that the key signed."""

    def __init__(self, fault: NoteFault) -> None:
        super().__init__(fault)
        self.fault = fault


class KeyRefused(ValueError):
    """The text is not an Ed25519 key of the signed note format."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The signed size and root, and the signed note."""

    origin: str
    size: int
    root: bytes
    note: bytes
    """The exact bytes of the signed note."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicKey:
    """Verifies signatures."""

    name: str
    raw: bytes

    @property
    def key_id(self) -> bytes:
        """Four bytes that identify the key in a signature line."""
        return hashlib.sha256(self.name.encode() + b"\n" + ED25519 + self.raw).digest()[:4]

    def render(self) -> str:
        """The public key as text, for verifiers."""
        return f"{self.name}+{self.key_id.hex()}+{_encode(ED25519 + self.raw)}"

    def accepts(self, text: bytes, signature: bytes) -> bool:
        """Whether this key made the signature of the text."""
        # Imported here because loading the library is slow, and most commands never use a key.
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, text)
        except InvalidSignature:
            return False
        return True


class SigningKey:
    """Signs checkpoints. The default repr does not show the key."""

    __slots__ = ("_key", "_seed", "public")

    def __init__(self, *, name: str, seed: bytes) -> None:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        self._seed = seed
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        self.public = PublicKey(name=_as_name(name), raw=self._key.public_key().public_bytes_raw())

    def render(self) -> str:
        """The secret key as text. Write it only to the key file."""
        return f"{_PRIVATE}{self.public.name}+{self.public.key_id.hex()}+{_encode(ED25519 + self._seed)}"

    def sign(self, *, size: int, root: bytes) -> Checkpoint:
        """Sign the size and root of a tree. The name of the key is the origin of the log."""
        text = f"{self.public.name}\n{size}\n{_encode(root)}\n".encode()
        signature = _encode(self.public.key_id + self._key.sign(text))
        note = text + f"\n{SIGNATURE_MARK}{self.public.name} {signature}\n".encode()
        return Checkpoint(origin=self.public.name, size=size, root=root, note=note)


def parse_public_key(text: str) -> PublicKey:
    """Parse a public key. Raises KeyRefused."""
    name, key_id, raw = _key_parts(text.strip())
    key = PublicKey(name=name, raw=raw)
    if key.key_id.hex() != key_id:
        raise KeyRefused("the key id does not match the name and the key")
    return key


def parse_signing_key(text: str) -> SigningKey:
    """Parse a signing key. Raises KeyRefused."""
    text = text.strip()
    if not text.startswith(_PRIVATE):
        raise KeyRefused("a signing key must begin with PRIVATE+KEY+")
    name, key_id, seed = _key_parts(text.removeprefix(_PRIVATE))
    key = SigningKey(name=name, seed=seed)
    if key.public.key_id.hex() != key_id:
        raise KeyRefused("the key id does not match the name and the key")
    return key


def open_checkpoint(note: bytes, key: PublicKey) -> Checkpoint:
    """Parse a note and verify its signature.

    Raises NoteRefused if it is not a checkpoint note, has no signature of this key, or has an invalid one.
    """
    text, signatures = _split_note(note)
    checkpoint = _parse_text(text, note)
    if checkpoint.origin != key.name:
        raise NoteRefused(NoteFault.UNKNOWN_KEY)
    ours = [raw[4:] for name, raw in signatures if name == key.name and raw[:4] == key.key_id]
    if not ours:
        raise NoteRefused(NoteFault.UNKNOWN_KEY)
    if not all(key.accepts(text, signature) for signature in ours):
        raise NoteRefused(NoteFault.BAD_SIGNATURE)
    return checkpoint


def split_notes(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Split the lines (with line breaks) of a file of concatenated notes into notes.

    A note ends before the first line after its signatures that is not a signature. The last note may be truncated;
    `open_checkpoint` detects that. Raises NoteRefused for a note larger than MAX_NOTE_BYTES.
    """
    mark = SIGNATURE_MARK.encode()
    note: list[bytes] = []
    size, signed = 0, False
    for line in lines:
        is_signature = line.startswith(mark)
        if signed and not is_signature:
            yield b"".join(note)
            note, size = [], 0
        signed = is_signature
        note.append(line)
        size += len(line)
        if size > MAX_NOTE_BYTES:
            raise NoteRefused(NoteFault.MALFORMED)
    if note:
        yield b"".join(note)


def find_last_note(tail: bytes) -> tuple[int, int] | None:
    """(start, end) of the last complete note in the tail of a file of notes, or None. Bytes after `end` are truncated.

    `start` is correct only if the tail contains the whole note.
    """
    mark = SIGNATURE_MARK.encode()
    lines = tail.splitlines(keepends=True)
    end = len(lines)
    while end and not (lines[end - 1].startswith(mark) and lines[end - 1].endswith(b"\n")):
        end -= 1
    start = end
    while start and lines[start - 1].startswith(mark):
        start -= 1
    while start and not lines[start - 1].startswith(mark):
        start -= 1
    sizes = [len(line) for line in lines[:end]]
    return (sum(sizes[:start]), sum(sizes)) if end else None


def _split_note(note: bytes) -> tuple[bytes, list[tuple[str, bytes]]]:
    text, blank, tail = note.rpartition(b"\n\n")
    if not blank or not tail.endswith(b"\n") or len(note) > MAX_NOTE_BYTES:
        raise NoteRefused(NoteFault.MALFORMED)
    try:
        lines = tail.decode("utf-8").split("\n")[:-1]
    except UnicodeDecodeError:
        raise NoteRefused(NoteFault.MALFORMED) from None
    return text + b"\n", [_parse_signature(line) for line in lines]


def _parse_signature(line: str) -> tuple[str, bytes]:
    name, _, encoded = line.removeprefix(SIGNATURE_MARK).partition(" ")
    raw = _maybe_decode(encoded)
    if not line.startswith(SIGNATURE_MARK) or not name or raw is None or len(raw) <= 4:
        raise NoteRefused(NoteFault.MALFORMED)
    return name, raw


def _parse_text(text: bytes, note: bytes) -> Checkpoint:
    try:
        origin, size, root, *more = text.decode("utf-8").split("\n")
    except ValueError:
        raise NoteRefused(NoteFault.MALFORMED) from None
    raw = _maybe_decode(root)
    plain_size = size.isascii() and size.isdigit() and len(size) <= _MAX_SIZE_DIGITS and str(int(size)) == size
    if not origin or not plain_size or raw is None or len(raw) != HASH_BYTES or more[-1:] != [""] or "" in more[:-1]:
        raise NoteRefused(NoteFault.MALFORMED)
    return Checkpoint(origin=origin, size=int(size), root=raw, note=note)


def _key_parts(text: str) -> tuple[str, str, bytes]:
    name, _, rest = text.partition("+")
    key_id, _, encoded = rest.partition("+")
    raw = _maybe_decode(encoded)
    if raw is None or len(raw) != 33 or raw[:1] != ED25519:
        raise KeyRefused("expected <name>+<key id>+<base64 of an Ed25519 key>")
    return _as_name(name), key_id, raw[1:]


def _as_name(name: str) -> str:
    if not name or "+" in name or any(letter.isspace() for letter in name):
        raise KeyRefused("a key name must not be empty or contain spaces or plus signs")
    return name


def _encode(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")


def _maybe_decode(text: str) -> bytes | None:
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw if _encode(raw) == text else None
