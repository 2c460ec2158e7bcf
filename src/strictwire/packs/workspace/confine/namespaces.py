"""Own namespaces for a program: no network but loopback, no other processes, and a file system that is read-only.

Every mount of the machine becomes read-only in the new mount namespace; the writable folders are mounted onto themselves and
made writable again. A read-only mount also refuses changes of mode, owner, times and extended attributes, which Landlock
does not cover. A path inside a writable folder is protected in the same way: it is mounted onto itself, read-only. The
kernel refuses to move or remove a mount point, so the folders above it are made mount points too.
"""

from __future__ import annotations

import os
import socket
import stat
import struct
from collections.abc import Iterable
from contextlib import suppress
from fcntl import ioctl
from typing import Final

from strictwire.packs.workspace.confine.kernel import LIBC, Unavailable, checked
from strictwire.packs.workspace.confine.order import Folder

_NEW_MOUNTS, _NEW_IPC, _NEW_USER, _NEW_PIDS, _NEW_NET = 0x00020000, 0x08000000, 0x10000000, 0x20000000, 0x40000000
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_BIND, _MS_REC, _MS_PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE, _ATTR_RDONLY = 442, -100, 0x8000, 1

SHARED_MEMORY: Final = "/dev/shm"  # noqa: S108 - a mount point, on which an own file system is mounted
_SHARED_MEMORY_OPTIONS: Final = b"size=64m,nr_inodes=4096,mode=1777"
"""POSIX semaphores and shared memory of the program; gone with its last process."""


def enter() -> None:
    """Enter new user, network, PID, mount and IPC namespaces. The PID namespace begins with the next child.

    Raises Unavailable if the kernel does not permit this to an unprivileged process.
    """
    user, group = os.geteuid(), os.getegid()
    if LIBC.unshare(_NEW_USER | _NEW_NET | _NEW_PIDS | _NEW_MOUNTS | _NEW_IPC) != 0:
        raise Unavailable("namespaces")
    try:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    except OSError as exc:
        raise Unavailable("namespaces") from exc
    _raise_loopback()


def _raise_loopback() -> None:
    """Bring up the loopback interface, so that tests can connect to themselves. There is nothing else to connect to."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        # SIOCSIFFLAGS with IFF_UP | IFF_RUNNING.
        ioctl(probe, 0x8914, struct.pack("16sH14x", b"lo", 0x1 | 0x40))


def make_read_only(writable: Iterable[Folder]) -> None:
    """Make everything read-only except these folders, and mount own /proc and shared memory.

    Call it in the first process of the PID namespace. Raises FolderReplaced; Unavailable.
    """
    handles = [folder.open() for folder in writable]
    try:
        checked(LIBC.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None))
        for handle in handles:
            _bind(handle, _MS_REC)
        _set_read_only(b"/", _AT_RECURSIVE)
        for folder in writable:
            _make_writable(folder)
        checked(LIBC.mount(b"proc", b"/proc", b"proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC, None))
        if os.path.isdir(SHARED_MEMORY):
            target = os.fsencode(SHARED_MEMORY)
            checked(LIBC.mount(b"tmpfs", target, b"tmpfs", _MS_NOSUID | _MS_NODEV, _SHARED_MEMORY_OPTIONS))
    except OSError as exc:
        # Some systems let everyone create a user namespace, but grant no rights in it.
        raise Unavailable("mounts") from exc
    for handle in handles:
        os.close(handle)


def close_proc() -> None:
    """Make /proc read-only, after the limits that are set through it. Raises OSError."""
    _set_read_only(b"/proc", _AT_RECURSIVE)


def pin(root: Folder, paths: Iterable[str]) -> None:
    """Protect paths below a writable folder from any change. Paths that do not exist, and links, cannot be protected.

    Raises FolderReplaced, OSError.
    """
    mounted: set[str] = set()
    for path in sorted(paths):
        names = path.split("/")
        handle: int | None = root.open()
        for depth in range(1, len(names) + 1):
            here = "/".join(names[:depth])
            handle = _mount_onto_itself(handle, names[depth - 1], is_new=here not in mounted)
            if handle is None:
                break
            mounted.add(here)
        if handle is not None:
            _set_read_only(_name(handle), _AT_RECURSIVE)
            os.close(handle)


def _mount_onto_itself(parent: int | None, name: str, *, is_new: bool) -> int | None:
    """Make a name a mount point and return it, opened on top of the new mount; None if it is absent or a link."""
    if parent is None:
        return None
    try:
        handle = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
        if stat.S_ISLNK(os.fstat(handle).st_mode):
            os.close(handle)
            return None
        if is_new:
            _bind(handle, _MS_REC)
            os.close(handle)
            handle = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    except (FileNotFoundError, NotADirectoryError):
        return None
    finally:
        os.close(parent)
    return handle


def _make_writable(folder: Folder) -> None:
    """Make a folder writable again, with the mounts in it if the kernel permits it for all of them."""
    handle = folder.open()
    attributes = struct.pack("QQQQ", 0, _ATTR_RDONLY, 0, 0)
    if LIBC.syscall(_MOUNT_SETATTR, _AT_FDCWD, _name(handle), _AT_RECURSIVE, attributes, len(attributes)) != 0:
        checked(LIBC.syscall(_MOUNT_SETATTR, _AT_FDCWD, _name(handle), 0, attributes, len(attributes)))
    os.close(handle)


def _set_read_only(path: bytes, flags: int) -> None:
    attributes = struct.pack("QQQQ", _ATTR_RDONLY, 0, 0, 0)
    checked(LIBC.syscall(_MOUNT_SETATTR, _AT_FDCWD, path, flags, attributes, len(attributes)))


def _bind(handle: int, flags: int) -> None:
    checked(LIBC.mount(_name(handle), _name(handle), None, _MS_BIND | flags, None))


def _name(handle: int) -> bytes:
    return b"/proc/self/fd/%d" % handle
