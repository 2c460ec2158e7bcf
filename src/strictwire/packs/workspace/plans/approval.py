"""Signed statements about plans: who created and who approved which plan in which folder.

They are signed with the Ed25519 key of this server. The key is in the state folder of the pack, outside every workspace, so
a session cannot sign anything. The signature covers the canonical JSON of all other members.
"""

from __future__ import annotations

import os
import secrets
import stat
from base64 import b64decode, b64encode
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, TypeVar

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from strictwire.canon.jcs import render_canonical
from strictwire.canon.json import JsonObject, NotStrict, indent, parse_object, render

_SEED: Final = 32
"""Bytes of a private or public key."""

_CONTEXT: Final = b"strictwire workspace approval v1\n"
"""Prefix of the signed bytes (domain separation): no other signature of the key can be used as an approval."""

_CREATION_CONTEXT: Final = b"strictwire workspace creation v1\n"
"""The same for creations."""

_BUNDLE_CONTEXT: Final = b"strictwire workspace attestation v1\n"
"""The same for attestation bundles."""


class KeyRefused(Exception):
    """The key file is not a key, or other users can read it. Carries the path."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"{self.path}: expected a key of 32 bytes that this user owns and no other can read; mend it or move it away"


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """An approval of one plan."""

    plan_hash: str
    workspace: str
    approver: str
    """A principal, or `terminal:<user>` for a person at the terminal."""
    approved_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Creation:
    """The creation of one plan. It proves the author; the text of the plan only claims one."""

    plan_hash: str
    workspace: str
    author: str
    """A principal, or `terminal:<user>` for a person at the terminal."""
    created_at: str


Statement = TypeVar("Statement", Approval, Creation)


@dataclass(frozen=True, slots=True)
class Verifier:
    """Verifies signatures of one server, with its public key only."""

    raw: bytes
    """The public key, 32 bytes."""

    @property
    def text(self) -> str:
        """The public key in base64, to give to others."""
        return b64encode(self.raw).decode()

    def maybe_approval(self, raw: bytes) -> Approval | None:
        """Return the approval in a file; None if it is not an approval signed by this key."""
        return self._maybe_statement(raw, _CONTEXT, Approval)

    def maybe_creation(self, raw: bytes) -> Creation | None:
        """Return the creation in a file; None if it is not a creation signed by this key."""
        return self._maybe_statement(raw, _CREATION_CONTEXT, Creation)

    def accepts_bundle(self, members: JsonObject, signature: object) -> bool:
        """Return whether a signature over a bundle is from this key."""
        return self._accepts(signature, _BUNDLE_CONTEXT, members)

    def _maybe_statement(self, raw: bytes, context: bytes, kind: type[Statement]) -> Statement | None:
        try:
            found = parse_object(raw)
        except NotStrict:
            return None
        signature = found.pop("signature", "")
        is_whole = found.keys() == set(kind.__slots__) and all(isinstance(each, str) for each in found.values())
        return kind(**found) if is_whole and self._accepts(signature, context, found) else None

    def _accepts(self, signature: object, context: bytes, members: JsonObject) -> bool:
        try:
            given = b64decode(str(signature), validate=True)
            Ed25519PublicKey.from_public_bytes(self.raw).verify(given, context + render_canonical(members))
        except (ValueError, InvalidSignature):
            return False
        return True


def maybe_verifier(text: object) -> Verifier | None:
    """Parse a public key; None if it is invalid."""
    try:
        raw = b64decode(text, validate=True) if isinstance(text, str) else b""
    except ValueError:
        return None
    return Verifier(raw) if len(raw) == _SEED else None


class Signer:
    """Signs approvals and bundles, and verifies them."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.verifier: Final = Verifier(key.public_key().public_bytes_raw())

    def sign(self, approval: Approval) -> bytes:
        """Return the content of an approval file."""
        return self._signed(asdict(approval), _CONTEXT)

    def sign_creation(self, creation: Creation) -> bytes:
        """Return the content of the record of a creation."""
        return self._signed(asdict(creation), _CREATION_CONTEXT)

    def sign_bundle(self, members: JsonObject) -> str:
        """Return the signature over a bundle."""
        return self._sign(_BUNDLE_CONTEXT, members)

    def maybe_approval(self, raw: bytes) -> Approval | None:
        """Return the approval in a file; None if it is not an approval signed by this key."""
        return self.verifier.maybe_approval(raw)

    def _signed(self, members: JsonObject, context: bytes) -> bytes:
        return indent(render(members | {"signature": self._sign(context, members)})) + b"\n"

    def _sign(self, context: bytes, members: JsonObject) -> str:
        return b64encode(self._key.sign(context + render_canonical(members))).decode()


def open_signer(path: Path) -> Signer:
    """Read the key at a path; it is created on first use. Raises KeyRefused, OSError."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not path.exists():
        _make(path)
    return Signer(Ed25519PrivateKey.from_private_bytes(_read_seed(path)))


def _read_seed(path: Path) -> bytes:
    # The file that is checked is the one that is read. Without O_NONBLOCK, opening a pipe at this place would block.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
        found = os.fstat(file.fileno())
        is_private = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077
        seed = file.read(_SEED + 1) if is_private else b""
    if len(seed) != _SEED:
        raise KeyRefused(path)
    return seed


def _make(path: Path) -> None:
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(secrets.token_bytes(_SEED))
        file.flush()
        os.fsync(file.fileno())
    # A hard link fails if the name exists: if two processes create a key at once, both use the first one.
    with suppress(FileExistsError):
        os.link(draft, path)
    draft.unlink()
