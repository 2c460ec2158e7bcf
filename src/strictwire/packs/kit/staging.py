"""Atomic file replacement: write to a temporary file in the same folder, sync it, then rename it into place.

Works in a folder that is already open, so no path is looked up here. Locking, hashing and plan checks belong to the caller,
who stages, checks, and then commits or discards.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import suppress
from enum import Enum
from types import TracebackType
from typing import Final, Self

from strictwire.fault.failure import Refused, fail
from strictwire.packs.kit.refusals import Aim, content_refusal, kind_refusal
from strictwire.packs.kit.root import CREATE, OpenFolder, os_error

TEMPORARY: Final = ".strictwire-"
"""Prefix of the names of temporary files. After a crash, files with this prefix may be deleted."""

_NEW_MODE: Final = 0o666
"""Mode of a newly created file, before the umask. A file that is replaced keeps its mode."""


class Existing(Enum):
    """What to do if the target file exists."""

    REPLACE = "replace"
    REFUSE = "refuse"


class Staged:
    """A temporary file that waits for its commit. Leaving the `with` block without a commit discards it."""

    def __init__(self, folder: OpenFolder, *, temporary: str, name: str, existing: Existing) -> None:
        self._folder = folder
        self._temporary = temporary
        self._name = name
        self._existing = existing
        self._is_open = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None) -> None:
        self.discard()

    def commit(self) -> None:
        """Move the file into place and sync the folder. Raises Refused: FILE_ALREADY_EXISTS, FILE_WRITE_FAILED."""
        if not self._is_open:
            raise RuntimeError("already committed or discarded")
        try:
            self._publish()
            self._folder.sync()
        except FileExistsError as exc:
            raise Refused(fail("FILE_ALREADY_EXISTS")) from exc
        except OSError as exc:
            raise content_refusal(exc, Aim.WRITE) from exc
        finally:
            self.discard()

    def discard(self) -> None:
        """Delete the temporary file; after a commit there is none. May be called more than once."""
        if not self._is_open:
            return
        self._is_open = False
        with suppress(FileNotFoundError):
            os.unlink(self._folder.at(self._temporary), dir_fd=self._folder.handle)
        self._folder.close()

    def _publish(self) -> None:
        here = self._folder.handle
        old, new = self._folder.at(self._temporary), self._folder.at(self._name)
        if self._existing is Existing.REPLACE:
            os.replace(old, new, src_dir_fd=here, dst_dir_fd=here)
        elif os.name == "nt":
            os.rename(old, new)
        else:
            # POSIX rename replaces an existing file; link fails with EEXIST instead.
            os.link(old, new, src_dir_fd=here, dst_dir_fd=here, follow_symlinks=False)


def stage(folder: OpenFolder, name: str, data: bytes, *, existing: Existing) -> Staged:
    """Write the bytes to a temporary file beside `name`. Takes ownership of `folder`, and closes it if staging fails.

    Raises Refused: FILE_ALREADY_EXISTS, FILE_WRITE_FAILED. Raises OSError ELOOP if `name` is a symbolic link.
    """
    try:
        mode = _check_target(folder, name, existing)
    except BaseException:
        folder.close()
        raise
    temporary = f"{TEMPORARY}{secrets.token_hex(8)}"
    staged = Staged(folder, temporary=temporary, name=name, existing=existing)
    try:
        _write(folder.at(temporary), folder.handle, data, mode=mode)
    except OSError as exc:
        staged.discard()
        raise content_refusal(exc, Aim.WRITE) from exc
    except BaseException:
        staged.discard()
        raise
    return staged


def _check_target(folder: OpenFolder, name: str, existing: Existing) -> int | None:
    """Return the mode of the file to be replaced, or None if there is none.

    This check only selects the failure code. A file that appears after it is replaced by the rename, never written through.
    """
    try:
        found = os.stat(folder.at(name), dir_fd=folder.handle, follow_symlinks=False)
    except FileNotFoundError:
        return None
    except OSError as exc:
        raise content_refusal(exc, Aim.WRITE) from exc
    if stat.S_ISLNK(found.st_mode):
        raise os_error(errno.ELOOP)
    if existing is Existing.REFUSE:
        raise Refused(fail("FILE_ALREADY_EXISTS"))
    if not stat.S_ISREG(found.st_mode):
        raise kind_refusal("folder" if stat.S_ISDIR(found.st_mode) else "device", Aim.WRITE)
    return stat.S_IMODE(found.st_mode)


def _write(path: bytes, folder: int | None, data: bytes, *, mode: int | None) -> None:
    handle = os.open(path, CREATE, _NEW_MODE, dir_fd=folder)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(handle, rest) :]
        if mode is not None and os.chmod in os.supports_fd:
            os.chmod(handle, mode)
        os.fsync(handle)
    finally:
        os.close(handle)
