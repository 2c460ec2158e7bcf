"""Runs one program with less than the rights of its starter: `python -I -S confine.py ORDER PROGRAM [ARGUMENT...]`.

A program of its own, without imports of ours, so that nothing runs between fork and exec in a server with threads. ORDER is
JSON: `writable` folders, `hidden` folders, `frozen` folders inside the writable ones, `limits` by name of the resource.

limits -> new namespaces (user, network, processes, mounts) -> no more privileges -> Landlock -> seccomp -> exec

Each measure is taken where the kernel lets an unprivileged process take it; one that is not there is left out, and
`measures` says which are there. Below is the kernel; above is `preflight`, which decides what a program gets.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import resource
import signal
import socket
import stat
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from fcntl import ioctl
from typing import Any, Final

_LIBC: Final = ctypes.CDLL(None, use_errno=True)

_NEW_MOUNTS, _NEW_IPC, _NEW_USER, _NEW_PIDS, _NEW_NET = 0x00020000, 0x08000000, 0x10000000, 0x20000000, 0x40000000
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 1, 2, 4, 8
_MS_REMOUNT, _MS_BIND, _MS_REC, _MS_PRIVATE = 32, 4096, 16384, 1 << 18
_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 22, 24, 38
_LAST_CAPABILITY: Final = 63
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
"""Numbers that are the same on every architecture."""

_EXECUTE, _WRITE, _READ, _READ_FOLDER = 1, 2, 4, 8
_LOOK: Final = _EXECUTE | _READ | _READ_FOLDER
_ON_FILES: Final = _EXECUTE | _WRITE | _READ | (1 << 14) | (1 << 15)
"""Rights that a rule about a file may give; 14 is truncate, 15 ioctl of devices."""

_RIGHTS: Final = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
"""Version of Landlock to the rights over files that it knows."""

_SCOPES: Final = 3
"""No signals to processes outside, no sockets without a name in the file system (from version 6)."""

_DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/shm")  # noqa: S108

_CALLS: Final = {"x86_64": (0xC000003E, 41, 425), "aarch64": (0xC00000B7, 198, 425)}
"""Machine to how it names itself to filters, and its numbers of `socket` and `io_uring_setup`."""

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _DENY, _KILL = 0x7FFF0000, 0x00050000 | 13, 0x80000000


def _checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def set_limits(limits: dict[str, int]) -> None:
    """Resources by name, soft and hard. A limit that is already lower stays."""
    for name, value in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(kind)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (bound, bound))


def enter_namespaces() -> bool:
    """A network with nobody in it, processes and mounts of its own. False where the system does not grant it."""
    user, group = os.geteuid(), os.getegid()
    if _LIBC.unshare(_NEW_USER | _NEW_NET | _NEW_PIDS | _NEW_MOUNTS | _NEW_IPC) != 0:
        return False
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    _raise_loopback()
    return True


def _raise_loopback() -> None:
    """Tests that talk to themselves can; there is nobody else to talk to."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        ioctl(probe, 0x8914, struct.pack("16sH14x", b"lo", 0x1 | 0x40))


def freeze(folders: list[str]) -> None:
    """Folders that cannot be changed by anyone in these mounts."""
    _LIBC.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None)
    for folder in folders:
        if os.path.isdir(folder) and not os.path.islink(folder):
            path = os.fsencode(folder)
            _checked(_LIBC.mount(path, path, None, _MS_BIND | _MS_REC, None))
            _checked(_LIBC.mount(None, path, None, _MS_REMOUNT | _MS_BIND | _MS_RDONLY, None))


def drop_privileges() -> None:
    """Nothing that is started can have more than its starter, and the powers of root are gone for good."""
    for capability in range(_LAST_CAPABILITY + 1):
        _LIBC.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    _checked(_LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def restrict_files(writable: list[str], hidden: list[str]) -> bool:
    """Only the folders that are named can be changed, and the hidden not even read. False without Landlock."""
    version = int(_LIBC.syscall(_LANDLOCK_CREATE, None, 0, 1))
    if version < 1:
        return False
    rights = _RIGHTS[min(version, max(_RIGHTS))]
    handled = struct.pack("QQQ", rights, 0, _SCOPES if version >= 6 else 0)[
        : 24 if version >= 6 else 16 if version >= 4 else 8
    ]
    rules = _checked(_LIBC.syscall(_LANDLOCK_CREATE, handled, len(handled), 0))
    for path in _beside(hidden):
        # A link may lead to what is hidden; what it leads to has a rule of its own where it lies.
        _permit(rules, path, _LOOK & rights, os.O_NOFOLLOW)
    for path in (*writable, *_DEVICES):
        _permit(rules, path, rights)
    _checked(_LIBC.syscall(_LANDLOCK_RESTRICT, rules, 0))
    os.close(rules)
    return True


def _permit(rules: int, path: str, rights: int, follow: int = 0) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC | follow)
    except OSError:
        return
    granted = rights if stat.S_ISDIR(os.fstat(handle).st_mode) else rights & _ON_FILES
    _LIBC.syscall(_LANDLOCK_ADD, rules, 1, struct.pack("=Qi", granted, handle), 0)
    os.close(handle)


def _beside(hidden: list[str]) -> Iterator[str]:
    """Everything that is not on the way to a hidden folder: rights can be given, but not taken away below."""
    avoided = [os.path.realpath(each) for each in hidden]
    waiting = ["/"]
    while waiting:
        folder = waiting.pop()
        inside = [each for each in avoided if each == folder or each.startswith(folder.rstrip("/") + "/")]
        if not inside:
            yield folder
        elif folder not in inside:
            with suppress(OSError):
                waiting += [os.path.join(folder, name) for name in os.listdir(folder)]


def refuse_sockets(families: tuple[int, ...]) -> bool:
    """No sockets but of these families, and no way around it. False on a machine whose calls are not known here."""
    known = _CALLS.get(platform.machine())
    if known is None:
        return False
    machine, call, ring = known
    allow, deny = 7 + len(families), 8 + len(families)
    program = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 0, -1, machine),
        (_LOAD, 0, 0, 0),
        (_AT_LEAST, deny, 0, 0x40000000),
        (_EQUAL, deny, 0, ring),
        (_EQUAL, 0, allow, call),
        (_LOAD, 0, 0, 16),
        *((_EQUAL, allow, 0, family) for family in families),
    ]
    size = len(program)
    lines = [
        (code, _hop(at, yes, allow, deny, size), _hop(at, no, allow, deny, size), k)
        for at, (code, yes, no, k) in enumerate(program)
    ]
    # In the order of their distance: deny, allow, kill.
    lines += [(_RETURN, 0, 0, _DENY), (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _KILL)]
    packed = b"".join(struct.pack("HBBI", *line) for line in lines)
    buffer = ctypes.create_string_buffer(packed, len(packed))
    header = struct.pack("HxxxxxxQ", len(lines), ctypes.addressof(buffer))
    return int(_LIBC.prctl(_PR_SET_SECCOMP, 2, header, 0, 0)) == 0


def _hop(at: int, target: int, allow: int, deny: int, size: int) -> int:
    """How many lines to skip to reach an end; 0 goes on."""
    ends = {deny: size, allow: size + 1, -1: size + 2}
    return ends[target] - at - 1 if target in ends else 0


def measures() -> dict[str, bool]:
    """What this kernel grants an unprivileged process, tried in a child."""
    found = {}
    for name, attempt in (("namespaces", enter_namespaces), ("landlock", _try_landlock), ("seccomp", _try_seccomp)):
        child = os.fork()
        if child == 0:
            with suppress(BaseException):
                os._exit(0 if attempt() else 1)
            os._exit(1)
        found[name] = os.waitpid(child, 0)[1] == 0
    return found


def _try_landlock() -> bool:
    drop_privileges()
    return restrict_files([], [])


def _try_seccomp() -> bool:
    drop_privileges()
    return refuse_sockets(())


def _run(program: list[str], order: dict[str, Any], *, is_apart: bool) -> None:
    """Become the program. Returns never."""
    drop_privileges()
    restrict_files([*order["writable"]], [*order["hidden"]])
    refuse_sockets((socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK) if is_apart else ())
    os.execv(program[0], program)  # noqa: S606 - that no shell is between is the point


def _forked(work: Callable[[], None]) -> int:
    """The status of a child that does the work; whoever else ends meanwhile is collected."""
    child = os.fork()
    if child == 0:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        try:
            work()
        except OSError as exc:
            sys.stderr.write(f"cannot be started: {exc.strerror}\n")
        finally:
            os._exit(126)
    while True:
        ended, status = os.wait()
        if ended == child:
            return os.waitstatus_to_exitcode(status)


def main(order: dict[str, Any], program: list[str]) -> int:
    """The exit code of the program; 128 and the signal that ended it."""
    set_limits(order["limits"])
    if not enter_namespaces():
        _run(program, order, is_apart=False)

    def first() -> None:
        # The first process of the namespace: when it ends, the kernel ends all the others, wherever they hide.
        freeze(order["frozen"])
        _LIBC.mount(b"proc", b"/proc", b"proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC, None)
        code = _forked(lambda: _run(program, order, is_apart=True))
        os._exit(code if code >= 0 else 128 - code)

    code = _forked(first)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1]), sys.argv[2:]))
