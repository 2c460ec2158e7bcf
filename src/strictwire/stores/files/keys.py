"""The signing key of a trail: created on first use, kept outside the folder that it signs."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from pathlib import Path
from typing import Final

from strictwire.audit.checkpoint import (
    COSIGNATURE,
    ED25519,
    KeyRefused,
    PublicKey,
    SigningKey,
    parse_public_key,
    parse_signing_key,
)
from strictwire.stores.files.disk import FILE_MODE, FolderDisk, make_folder

ORIGIN: Final = "strictwire.local/audit/"
"""A log is named after its key: two logs never share a name by accident, and the name reveals nothing about the machine."""

WITNESS_ORIGIN: Final = "strictwire.local/witness/"

ANCHOR_SUFFIX: Final = ".checkpoint"

MAX_KEY_BYTES: Final = 4096
"""A key has about 150 bytes."""


class KeyUnsafe(Exception):
    """The key cannot be used. `reason`: inside_the_log, readable_by_others, not_a_key."""

    def __init__(self, reason: str, path: Path) -> None:
        super().__init__(reason, path)
        self.reason = reason
        self.path = path

    def __str__(self) -> str:
        return f"{self.path}: {self.reason.replace('_', ' ')}"


def load_or_make_key(path: Path, *, log_folder: Path) -> SigningKey:
    """The signing key at `path`; if there is none, a new one, with its public half beside it as `<path>.pub`.

    Raises KeyUnsafe, OSError.
    """
    if path.resolve().is_relative_to(log_folder.resolve()):
        raise KeyUnsafe("inside_the_log", path)
    make_folder(path.parent)
    if not path.exists():
        _make(path, ORIGIN, ED25519)
    return _read_signing_key(path)


def load_or_make_witness_key(path: Path) -> SigningKey:
    """The signing key of a witness at `path`; if there is none, a new one. Raises KeyUnsafe, OSError."""
    make_folder(path.parent)
    if not path.exists():
        _make(path, WITNESS_ORIGIN, COSIGNATURE)
    return _read_signing_key(path)


def read_public_key(path: Path) -> PublicKey:
    """A public key from `<key>.pub`, or from the file of the secret key. Raises KeyUnsafe, OSError."""
    text = _read(path).strip()
    try:
        return parse_signing_key(text).public if text.startswith("PRIVATE+") else parse_public_key(text)
    except KeyRefused:
        raise KeyUnsafe("not_a_key", path) from None


def public_path(path: Path) -> Path:
    """The file of the public half of the key at `path`."""
    return path.with_name(path.name + ".pub")


def anchor_names(key_path: Path, log_folder: Path, log: str = "") -> tuple[str, ...]:
    """The names of the files beside the key that hold the newest checkpoint of one log.

    The name comes from the configured path, so that a symbolic link to another folder does not lead to another anchor.
    If the path has links, there is a second file for the folder that they lead to.
    """
    places = dict.fromkeys((os.path.abspath(log_folder), os.path.realpath(log_folder)))  # noqa: PTH100 - links are kept
    digests = [hashlib.sha256(os.fsencode(place)).hexdigest()[:16] for place in places]
    return tuple(f"{key_path.name}.{digest}{'.' if log else ''}{log}{ANCHOR_SUFFIX}" for digest in digests)


def _read_signing_key(path: Path) -> SigningKey:
    if path.stat().st_mode & 0o077:
        raise KeyUnsafe("readable_by_others", path)
    try:
        return parse_signing_key(_read(path))
    except KeyRefused:
        raise KeyUnsafe("not_a_key", path) from None


def _make(path: Path, origin: str, algorithm: bytes) -> None:
    seed = secrets.token_bytes(32)
    name = origin + hashlib.sha256(SigningKey(name="x", seed=seed).public.raw).hexdigest()[:16]
    key = SigningKey(name=name, seed=seed, algorithm=algorithm)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    _write(draft, key.render())
    # `link` fails if the name is taken: of two processes that create a key at once, both use the first one's.
    with contextlib.suppress(FileExistsError):
        os.link(draft, path)
        _write(public_path(path), key.public.render())
    draft.unlink()
    FolderDisk(path.parent).sync()


def _read(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(MAX_KEY_BYTES).decode("utf-8", "replace")


def _write(path: Path, text: str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, FILE_MODE)
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(fd)
