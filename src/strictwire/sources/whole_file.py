"""Reads and writes whole files: bounded reads, atomic writes. Failures are SourceRefused with the reason for the user."""

from __future__ import annotations

import os
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
    """Replace a file atomically: write and sync a temporary file, then rename it. Raises SourceRefused."""
    temporary = ""
    try:
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(descriptor, "wb") as file:
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp creates the file readable by its owner only; a lock file or schema is for everyone on the project.
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError as exc:
        with suppress(OSError):
            Path(temporary).unlink()
        raise SourceRefused(str(path), f"cannot write the file ({exc.strerror})") from exc
