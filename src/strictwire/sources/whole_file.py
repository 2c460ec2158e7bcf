"""Reads and writes whole files: bounded reads, atomic writes. Failures are SourceRefused with the reason for the user."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from strictwire.sources.refused import SourceRefused


def read_whole(path: Path, limit: int) -> bytes:
    """The content of a file of at most `limit` bytes. Raises SourceRefused."""
    try:
        if path.stat().st_size > limit:
            raise SourceRefused(str(path), f"the file is larger than {limit:,} bytes")
        return path.read_bytes()
    except OSError as exc:
        raise SourceRefused(str(path), f"cannot read the file ({exc.strerror})") from exc


def write_whole(path: Path, raw: bytes) -> None:
    """Replace a file atomically: write and sync a temporary file, then rename it. The mode of the file is kept.

    Raises SourceRefused, also for a read-only file, which a rename would replace.
    """
    temporary = ""
    try:
        mode = _mode_of(path)
        if not mode & stat.S_IWUSR:
            raise SourceRefused(str(path), "the file is read-only; make it writable first")
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(descriptor, "wb") as file:
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(mode)
        Path(temporary).replace(path)
    except OSError as exc:
        with suppress(OSError):
            Path(temporary).unlink()
        raise SourceRefused(str(path), f"cannot write the file ({exc.strerror})") from exc


def _mode_of(path: Path) -> int:
    """The permissions of a file. A new one is for everyone on the project; mkstemp would make it for its owner only."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return 0o644
