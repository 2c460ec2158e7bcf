"""Signed checkpoints: the size and Merkle root of the log at one moment, signed with an Ed25519 key.

The format is the C2SP signed note with the C2SP tlog-checkpoint text, so that other verifiers can read it:

    <origin>
    <number of records>
    <base64 of the RFC 6962 root>
    number <position among the checkpoints of the log, from 1>
    first <the oldest record that may not be missing>

    — <origin> <base64 of key id and signature>

The two extension lines make removals visible: of older checkpoints, and of records that no prune has allowed. Checkpoints of
earlier versions lack them.

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
COSIGNATURE: Final = b"\x04"
"""The algorithm bytes of the signed note format: a log signs with the first, a witness with the second (`cosign`)."""

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
    number: int = 0
    """Its position among the checkpoints of the log, from 1; 0 if the note does not tell."""
    first: int = 0
    """Records before this one were pruned, or set aside by a repair."""
    begins: bool = False
    """Whether a repair started the checkpoints anew with this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicKey:
    """Verifies signatures."""

    name: str
    raw: bytes
    algorithm: bytes = ED25519

    @property
    def key_id(self) -> bytes:
        """Four bytes that identify the key in a signature line."""
        return hashlib.sha256(self.name.encode() + b"\n" + self.algorithm + self.raw).digest()[:4]

    def for_log(self, name: str) -> PublicKey:
        """The same key for one of several logs: each has its own origin, so that none can stand in for another."""
        return PublicKey(name=f"{self.name}/{name}", raw=self.raw) if name else self

    def render(self) -> str:
        """The public key as text, for verifiers."""
        return f"{self.name}+{self.key_id.hex()}+{_encode(self.algorithm + self.raw)}"

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

    __slots__ = ("_key", "_seed", "public", "tag_key")

    def __init__(self, *, name: str, seed: bytes, algorithm: bytes = ED25519) -> None:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        self._seed = seed
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        self.public = PublicKey(name=_as_name(name), raw=self._key.public_key().public_bytes_raw(), algorithm=algorithm)
        self.tag_key = hashlib.sha256(b"strictwire audit tag\n" + seed).digest()
        """The key of the MAC in each record (`chain`)."""

    def for_log(self, name: str) -> SigningKey:
        """See PublicKey.for_log."""
        return SigningKey(name=self.public.for_log(name).name, seed=self._seed)

    def render(self) -> str:
        """The secret key as text. Write it only to the key file."""
        return f"{_PRIVATE}{self.public.name}+{self.public.key_id.hex()}+{_encode(self.public.algorithm + self._seed)}"

    def sign(self, *, size: int, root: bytes, number: int = 0, first: int = 0, begins: bool = False) -> Checkpoint:
        """Sign the size and root of a tree. The name of the key is the origin of the log."""
        more = f"number {number}\nfirst {first}\n" if number else ""
        more += f"begins {number}\n" if begins else ""
        text = f"{self.public.name}\n{size}\n{_encode(root)}\n{more}".encode()
        note = text + b"\n" + self.signature_line(self.sign_text(text))
        return Checkpoint(
            origin=self.public.name, size=size, root=root, note=note, number=number, first=first, begins=begins
        )

    def sign_text(self, text: bytes) -> bytes:
        """The bare signature of a text."""
        return self._key.sign(text)

    def signature_line(self, blob: bytes) -> bytes:
        """The line of a note for a signature of this key."""
        return f"{SIGNATURE_MARK}{self.public.name} {_encode(self.public.key_id + blob)}\n".encode()


def parse_public_key(text: str) -> PublicKey:
    """Parse a public key. Raises KeyRefused."""
    name, key_id, algorithm, raw = _key_parts(text.strip())
    key = PublicKey(name=name, raw=raw, algorithm=algorithm)
    if key.key_id.hex() != key_id:
        raise KeyRefused("the key id does not match the name and the key")
    return key


def parse_signing_key(text: str) -> SigningKey:
    """Parse a signing key. Raises KeyRefused."""
    text = text.strip()
    if not text.startswith(_PRIVATE):
        raise KeyRefused("a signing key must begin with PRIVATE+KEY+")
    name, key_id, algorithm, seed = _key_parts(text.removeprefix(_PRIVATE))
    key = SigningKey(name=name, seed=seed, algorithm=algorithm)
    if key.public.key_id.hex() != key_id:
        raise KeyRefused("the key id does not match the name and the key")
    return key


def open_checkpoint(note: bytes, key: PublicKey) -> Checkpoint:
    """Parse a note and verify its signature.

    Raises NoteRefused if it is not a checkpoint note, has no signature of this key, or has an invalid one.
    """
    text, signatures = split_note(note)
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


def split_note(note: bytes) -> tuple[bytes, list[tuple[str, bytes]]]:
    """The signed text, and for each signature the name of the key, and key id and signature. Raises NoteRefused."""
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
    records = _maybe_number(size)
    if not origin or records is None or raw is None or len(raw) != HASH_BYTES or more[-1:] != [""] or "" in more[:-1]:
        raise NoteRefused(NoteFault.MALFORMED)
    told = {name: number for name, _, value in (line.partition(" ") for line in more) if (number := _maybe_number(value))}
    number = told.get("number", 0)
    return Checkpoint(
        origin=origin,
        size=records,
        root=raw,
        note=note,
        number=number,
        first=told.get("first", 0),
        begins=number > 0 and told.get("begins") == number,
    )


def _maybe_number(text: str) -> int | None:
    is_plain = text.isascii() and text.isdigit() and len(text) <= _MAX_SIZE_DIGITS and str(int(text)) == text
    return int(text) if is_plain else None


def _key_parts(text: str) -> tuple[str, str, bytes, bytes]:
    name, _, rest = text.partition("+")
    key_id, _, encoded = rest.partition("+")
    raw = _maybe_decode(encoded)
    if raw is None or len(raw) != 33 or raw[:1] not in (ED25519, COSIGNATURE):
        raise KeyRefused("expected <name>+<key id>+<base64 of an Ed25519 key>")
    return _as_name(name), key_id, raw[:1], raw[1:]


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
