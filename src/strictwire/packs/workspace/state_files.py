"""Files in the state folder of the pack: written durably, and read with their size, kind and form checked.

A file there may be damaged, or planted by another program of the same user. It must not hang or crash a server.
"""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from strictwire.canon.json import NotStrict, parse_object

MAX_STATE: Final = 16 * 1024 * 1024
"""Largest of these files. A journal of 64 moves between paths of 4 KB, with their second names, has 1 MB; 6 MB if every
character is escaped."""

Form = TypeVar("Form")


class StateDamaged(OSError):
    """A file of the state folder is not what was written there, so it is unknown what it meant."""

    def __init__(self, path: Path) -> None:
        super().__init__(0, f"{path} is damaged; read it, then remove it")


def read_state(path: Path, form: type[Form]) -> Form:
    """Return a file as a value of this type. Raises StateDamaged, FileNotFoundError, OSError."""
    try:
        return msgspec.convert(parse_object(read_regular(path)), form)
    except (NotStrict, msgspec.ValidationError) as exc:
        raise StateDamaged(path) from exc


def read_regular(path: Path) -> bytes:
    """Return the content of a small regular file. Raises StateDamaged, FileNotFoundError, OSError."""
    # Without O_NONBLOCK, opening a pipe at this place would block.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
        is_regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
        raw = file.read(MAX_STATE + 1) if is_regular else b""
    if not is_regular or len(raw) > MAX_STATE:
        raise StateDamaged(path)
    return raw


def write_draft(folder: Path, content: bytes) -> Path:
    """Write a temporary file in a folder, which is created if needed, and sync it. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = folder / f".{secrets.token_hex(8)}"
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(handle)
    return draft


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable. Raises OSError."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
