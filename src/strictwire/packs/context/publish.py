"""Atomic publication of a directory: written beside its target, synced to disk, then moved or exchanged in one step.

Not here: what the directory contains (`build`). A reader of the target never sees an incomplete cache.
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

# Flags of renameat2 and AT_FDCWD, from linux/fs.h and linux/fcntl.h.
_NO_REPLACE: Final = 1
_EXCHANGE: Final = 2
_AT_CWD: Final = -100
_CACHE_NAMES: Final = frozenset({MANIFEST, INDEX, DOCUMENTS})


def check_output(output: Path, *, sources: Path, force: bool) -> None:
    """Check that the output may be written. Raises NotBuilt: IO_ERROR.

    With `force`, only a cache or an empty directory is replaced: a mistyped path must not delete a home directory.
    """
    if not os.path.lexists(output):
        return
    if not force:
        raise NotBuilt("IO_ERROR", "the output exists; use --force to replace it", str(output))
    if output.is_symlink() or not output.is_dir():
        raise NotBuilt("IO_ERROR", "the output exists and is not a directory", str(output))
    real = output.resolve()
    if real == sources.resolve() or real in sources.resolve().parents:
        raise NotBuilt("IO_ERROR", "the output contains the sources", str(output))
    if not {entry.name for entry in output.iterdir()} <= _CACHE_NAMES:
        raise NotBuilt("IO_ERROR", "the output is not a cache, so it is not replaced; remove it yourself", str(output))


@contextmanager
def staging_directory(output: Path) -> Iterator[Path]:
    """Create a directory beside the output, and remove it with all its contents at the end. Raises NotBuilt: IO_ERROR."""
    prefix = f".{output.name}.tmp-"
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        staging, lock = _claim(output.parent, prefix)
    except OSError as exc:
        raise NotBuilt("IO_ERROR", "the folder of the output cannot be written", str(output.parent)) from exc
    try:
        yield staging
    finally:
        os.close(lock)
        shutil.rmtree(staging, ignore_errors=True)


def sync_tree(staging: Path) -> None:
    """Sync everything below to disk. Uses one call for the whole file system where the system has it. Raises OSError."""
    if not _sync_file_system(staging):
        _sync_each(staging)


@contextmanager
def start_sync(staging: Path) -> Iterator[None]:
    """Sync in the background while the block runs, so that `sync_tree` has little left to do afterwards.

    Raises OSError.
    """
    with ThreadPoolExecutor(1) as background:
        started = background.submit(_sync_file_system, staging)
        yield
    if not started.result():
        # The kernel reports a disk error only once, so the files are synced here and not in a later call.
        _sync_each(staging)


def publish(staging: Path, output: Path) -> None:
    """Move the finished directory to its name. A previous cache ends up in `staging`. Raises NotBuilt: IO_ERROR, OSError."""
    occupied = os.path.lexists(output)
    if _rename(staging, output, _EXCHANGE if occupied else _NO_REPLACE):
        return _sync(output.parent)
    if occupied:
        # Without an atomic exchange, the output is absent between the two renames. A reader sees no cache then, never half
        # of one.
        aside = staging.with_name(staging.name + ".old")
        output.rename(aside)
        staging.rename(output)
        aside.rename(staging)
    else:
        staging.rename(output)
    return _sync(output.parent)


def _rename(staging: Path, output: Path, flag: int) -> bool:
    """Call renameat2. Returns False if the system or the file system does not support it."""
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return False
    if call(_AT_CWD, os.fsencode(staging), _AT_CWD, os.fsencode(output), flag) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EINVAL):
        return False
    raise OSError(code, os.strerror(code))


def _claim(folder: Path, prefix: str) -> tuple[Path, int]:
    """Create a directory and lock it. The lock shows that its builder is alive: a directory without one is left over from a
    crashed build, and is removed."""
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        _remove_stale(folder, prefix)
        staging = folder / f"{prefix}{secrets.token_hex(6)}"
        staging.mkdir()
        lock = os.open(staging, os.O_RDONLY | os.O_CLOEXEC)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return staging, lock
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


def _sync_file_system(folder: Path) -> bool:
    """Sync the whole file system that contains the folder. Returns False if there is no such call or if it failed."""
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return sys.platform == "linux" and bool(ctypes.CDLL(None).syncfs(handle) == 0)
    finally:
        os.close(handle)


def _sync_each(tree: Path) -> None:
    for folder, _, names in os.walk(tree):
        for name in (*names, ""):
            _sync(Path(folder) / name)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
