"""Putting a file in its place in one step: written beside it under a name of its own, made durable, then renamed.

Works in a folder that was reached already, so no path is looked up here. Locks, hashes and plans are not here either:
whoever needs them stages, judges, and then commits or discards.
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
from strictwire.packs.kit.ground import CREATE, Place
from strictwire.packs.kit.refusals import Aim, content_refusal, kind_refusal

TEMPORARY: Final = ".strictwire-"
"""What the names of staged files begin with; after a crash they may be removed."""

_NEW_MODE: Final = 0o666
"""Of a file that was not there, less the umask; a file that is replaced keeps its mode."""


class Existing(Enum):
    """What a file that is there already means."""

    REPLACE = "replace"
    REFUSE = "refuse"


class Staged:
    """Bytes that wait beside their place. Leaving the `with` block without a commit discards them."""

    def __init__(self, folder: Place, *, temporary: str, name: str, existing: Existing) -> None:
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
        """Give the bytes their name, durably. Raises Refused: FILE_ALREADY_EXISTS, FILE_WRITE_FAILED."""
        if not self._is_open:
            raise RuntimeError("committed or discarded before")
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
        """Remove the bytes; after a commit there is nothing to remove. May be called again."""
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
            # A second name is refused if it is taken, which no rename of POSIX does.
            os.link(old, new, src_dir_fd=here, dst_dir_fd=here, follow_symlinks=False)


def stage(folder: Place, name: str, data: bytes, *, existing: Existing) -> Staged:
    """Write the bytes beside `name`. Takes over `folder`, also when it fails.

    Raises Refused: FILE_ALREADY_EXISTS, FILE_WRITE_FAILED; OSError ELOOP: a link has the name.
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


def _check_target(folder: Place, name: str, existing: Existing) -> int | None:
    """The mode of the file to be replaced, if there is one.

    Only names the refusal: what is put there after this look is replaced by the rename and never written through.
    """
    try:
        found = os.stat(folder.at(name), dir_fd=folder.handle, follow_symlinks=False)
    except FileNotFoundError:
        return None
    except OSError as exc:
        raise content_refusal(exc, Aim.WRITE) from exc
    if stat.S_ISLNK(found.st_mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
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
