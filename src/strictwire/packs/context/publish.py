"""A directory that appears whole or not at all: written beside its place, made durable, then moved or exchanged.

Not here: what is in it (`build`). The place is never without a whole cache, also when one replaces another.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from strictwire.packs.context.ingest import NotBuilt
from strictwire.packs.context.layout import DOCUMENTS, INDEX, MANIFEST

_NO_REPLACE: Final = 1
_EXCHANGE: Final = 2
_AT_CWD: Final = -100
_CACHE_NAMES: Final = frozenset({MANIFEST, INDEX, DOCUMENTS})


def refuse_place(output: Path, *, sources: Path, force: bool) -> None:
    """Check that the output may be written there. Raises NotBuilt: IO_ERROR.

    With `force` only a cache, or an empty directory, is replaced: a mistyped path must not cost a home directory.
    """
    if not os.path.lexists(output):
        return
    if not force:
        raise NotBuilt("IO_ERROR", "the output exists; use --force to replace it", str(output))
    if output.is_symlink() or not output.is_dir():
        raise NotBuilt("IO_ERROR", "the output exists and is not a directory", str(output))
    real = output.resolve()
    if real == sources.resolve() or real in sources.resolve().parents:
        raise NotBuilt("IO_ERROR", "the output holds the sources", str(output))
    if not {entry.name for entry in output.iterdir()} <= _CACHE_NAMES:
        raise NotBuilt("IO_ERROR", "the output is not a cache; remove it yourself", str(output))


@contextmanager
def workplace(output: Path) -> Iterator[Path]:
    """A fresh directory beside the output, removed in the end, with whatever is in it then. Raises NotBuilt: IO_ERROR."""
    prefix = f".{output.name}.tmp-"
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        place, lock = _claim(output.parent, prefix)
    except OSError as exc:
        raise NotBuilt("IO_ERROR", "the output's folder cannot be written", str(output.parent)) from exc
    try:
        yield place
    finally:
        os.close(lock)
        shutil.rmtree(place, ignore_errors=True)


def make_durable(place: Path) -> None:
    """Have everything below on disk: one call for the whole file system where there is one. Raises OSError."""
    if not _sync_file_system(place):
        _sync_each(place)


@contextmanager
def begin_durable(place: Path) -> Iterator[None]:
    """Let the disk work on what is below while the block does something else. `make_durable` has little left to do then.

    Raises OSError.
    """
    with ThreadPoolExecutor(1) as beside:
        begun = beside.submit(_sync_file_system, place)
        yield
    if not begun.result():
        # An error of the disk is told once, so it is not left to a later call.
        _sync_each(place)


def publish(place: Path, output: Path) -> None:
    """Move the finished directory to its name; what stood there ends in `place`. Raises NotBuilt: IO_ERROR, OSError."""
    occupied = os.path.lexists(output)
    if _rename(place, output, _EXCHANGE if occupied else _NO_REPLACE):
        return _sync(output.parent)
    if occupied:
        # Without an atomic exchange there is a moment between the two renames; a reader meets no cache then, never half.
        aside = place.with_name(place.name + ".old")
        output.rename(aside)
        place.rename(output)
        aside.rename(place)
    else:
        place.rename(output)
    return _sync(output.parent)


def _rename(place: Path, output: Path, flag: int) -> bool:
    """renameat2; False where the system or the file system has no such call."""
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return False
    if call(_AT_CWD, os.fsencode(place), _AT_CWD, os.fsencode(output), flag) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EINVAL):
        return False
    raise OSError(code, os.strerror(code))


def _claim(folder: Path, prefix: str) -> tuple[Path, int]:
    """A new directory and the lock that says its builder lives: an unlocked one is a dead build's and is removed."""
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        _remove_stale(folder, prefix)
        place = folder / f"{prefix}{secrets.token_hex(6)}"
        place.mkdir()
        lock = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return place, lock
    finally:
        os.close(handle)


def _remove_stale(folder: Path, prefix: str) -> None:
    for entry in list(os.scandir(folder)):
        if entry.name.startswith(prefix) and entry.is_dir(follow_symlinks=False) and not _is_locked(entry.path):
            shutil.rmtree(entry.path, ignore_errors=True)


def _is_locked(path: str) -> bool:
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(handle)
        return False
    return True


def _sync_file_system(place: Path) -> bool:
    """Have the whole file system on disk; False where there is no such call, or where it failed."""
    handle = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return sys.platform == "linux" and bool(ctypes.CDLL(None).syncfs(handle) == 0)
    finally:
        os.close(handle)


def _sync_each(place: Path) -> None:
    for folder, _, names in os.walk(place):
        for name in (*names, ""):
            _sync(Path(folder) / name)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
