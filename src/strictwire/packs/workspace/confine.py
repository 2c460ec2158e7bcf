"""Runs a program with reduced privileges: `python -I -S confine.py ORDER PROGRAM [ARGUMENT...]`.

It is a separate program that imports nothing of strictwire, because running Python code between fork and exec is unsafe in
a server with threads. ORDER is JSON: `writable` folders, `hidden` folders, `frozen` folders inside the writable ones, and
`limits` by resource name.

resource limits -> new namespaces (user, network, PID, mount) -> no new privileges -> Landlock -> seccomp -> exec

Each measure is used where the kernel permits it to an unprivileged process, and skipped where it does not. `measures`
reports which are available. Below is the kernel; above is `preflight`, which decides what a program may access.
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
"""System call numbers; Landlock's are the same on every architecture. The other constants are from the Linux headers."""

_EXECUTE, _WRITE, _READ, _READ_FOLDER = 1, 2, 4, 8
_READ_ONLY: Final = _EXECUTE | _READ | _READ_FOLDER
_ON_FILES: Final = _EXECUTE | _WRITE | _READ | (1 << 14) | (1 << 15)
"""Landlock rights that a rule for a file may grant; bit 14 is truncate, bit 15 is device ioctl."""

_RIGHTS: Final = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
"""Landlock ABI version to the mask of file rights that it supports."""

_SCOPES: Final = 3
"""Landlock scopes (ABI 6): no signals to processes outside, no abstract Unix sockets."""

_DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/shm")  # noqa: S108

_CALLS: Final = {"x86_64": (0xC000003E, 41, 425), "aarch64": (0xC00000B7, 198, 425)}
"""Machine to its audit architecture in seccomp filters, and the numbers of `socket` and `io_uring_setup`."""

# Opcodes of classic BPF, and return values of a seccomp filter (13 is EACCES).
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _DENY, _KILL = 0x7FFF0000, 0x00050000 | 13, 0x80000000


def _checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def set_limits(limits: dict[str, int]) -> None:
    """Set soft and hard resource limits by name. A hard limit that is already lower is kept."""
    for name, value in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(kind)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (bound, bound))


def enter_namespaces() -> bool:
    """Enter a network namespace without interfaces, and own PID and mount namespaces. Returns False if not permitted."""
    user, group = os.geteuid(), os.getegid()
    if _LIBC.unshare(_NEW_USER | _NEW_NET | _NEW_PIDS | _NEW_MOUNTS | _NEW_IPC) != 0:
        return False
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    _raise_loopback()
    return True


def _raise_loopback() -> None:
    """Bring up the loopback interface, so that tests can connect to themselves. There is nothing else to connect to."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        # SIOCSIFFLAGS with IFF_UP | IFF_RUNNING.
        ioctl(probe, 0x8914, struct.pack("16sH14x", b"lo", 0x1 | 0x40))


def freeze(folders: list[str]) -> None:
    """Remount folders read-only in this mount namespace."""
    _LIBC.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None)
    for folder in folders:
        if os.path.isdir(folder) and not os.path.islink(folder):
            path = os.fsencode(folder)
            _checked(_LIBC.mount(path, path, None, _MS_BIND | _MS_REC, None))
            _checked(_LIBC.mount(None, path, None, _MS_REMOUNT | _MS_BIND | _MS_RDONLY, None))


def drop_privileges() -> None:
    """Drop all capabilities for good, and prevent gaining any through setuid programs."""
    for capability in range(_LAST_CAPABILITY + 1):
        _LIBC.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    _checked(_LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def restrict_files(writable: list[str], hidden: list[str]) -> bool:
    """Restrict writing to the given folders, and forbid even reading the hidden ones. Returns False without Landlock."""
    version = int(_LIBC.syscall(_LANDLOCK_CREATE, None, 0, 1))
    if version < 1:
        return False
    rights = _RIGHTS[min(version, max(_RIGHTS))]
    handled = struct.pack("QQQ", rights, 0, _SCOPES if version >= 6 else 0)[
        : 24 if version >= 6 else 16 if version >= 4 else 8
    ]
    rules = _checked(_LIBC.syscall(_LANDLOCK_CREATE, handled, len(handled), 0))
    for path in _outside(hidden):
        # O_NOFOLLOW: a link may lead into a hidden folder. Its target has its own rule if it is elsewhere.
        _permit(rules, path, _READ_ONLY & rights, os.O_NOFOLLOW)
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


def _outside(hidden: list[str]) -> Iterator[str]:
    """Yield every path that does not contain a hidden folder. Landlock can grant rights but not revoke them below."""
    avoided = [os.path.realpath(each) for each in hidden]
    pending = ["/"]
    while pending:
        folder = pending.pop()
        inside = [each for each in avoided if each == folder or each.startswith(folder.rstrip("/") + "/")]
        if not inside:
            yield folder
        elif folder not in inside:
            with suppress(OSError):
                pending += [os.path.join(folder, name) for name in os.listdir(folder)]


def refuse_sockets(families: tuple[int, ...]) -> bool:
    """Permit only sockets of these families, and forbid io_uring, which could bypass it. False on an unknown machine.
    The filter kills the process on a foreign architecture, and denies x32 calls (numbers from 0x40000000).
    """
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
        (code, _offset(at, yes, allow, deny, size), _offset(at, no, allow, deny, size), k)
        for at, (code, yes, no, k) in enumerate(program)
    ]
    # Jump targets in the order that `_offset` expects: deny, allow, kill.
    lines += [(_RETURN, 0, 0, _DENY), (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _KILL)]
    packed = b"".join(struct.pack("HBBI", *line) for line in lines)
    buffer = ctypes.create_string_buffer(packed, len(packed))
    header = struct.pack("HxxxxxxQ", len(lines), ctypes.addressof(buffer))
    return int(_LIBC.prctl(_PR_SET_SECCOMP, 2, header, 0, 0)) == 0


def _offset(at: int, target: int, allow: int, deny: int, size: int) -> int:
    """Return the number of instructions to skip to reach a target; 0 continues with the next instruction."""
    ends = {deny: size, allow: size + 1, -1: size + 2}
    return ends[target] - at - 1 if target in ends else 0


def measures() -> dict[str, bool]:
    """Return which measures this kernel permits to an unprivileged process. Each is tried in a child process."""
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


def _run(program: list[str], order: dict[str, Any], *, has_own_network: bool) -> None:
    """Replace this process with the program. Does not return."""
    drop_privileges()
    restrict_files([*order["writable"]], [*order["hidden"]])
    refuse_sockets((socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK) if has_own_network else ())
    os.execv(program[0], program)  # noqa: S606 - on purpose without a shell


def _fork(work: Callable[[], None]) -> int:
    """Run the work in a child and return its exit status. Other children that end in the meantime are reaped."""
    child = os.fork()
    if child == 0:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        try:
            work()
        except OSError as exc:
            sys.stderr.write(f"cannot start the program: {exc.strerror}\n")
        finally:
            os._exit(126)
    while True:
        ended, status = os.wait()
        if ended == child:
            return os.waitstatus_to_exitcode(status)


def main(order: dict[str, Any], program: list[str]) -> int:
    """Return the exit code of the program, or 128 plus the number of the signal that ended it."""
    set_limits(order["limits"])
    if not enter_namespaces():
        _run(program, order, has_own_network=False)

    def init() -> None:
        # PID 1 of the new namespace: when it ends, the kernel kills all other processes in the namespace.
        freeze(order["frozen"])
        _LIBC.mount(b"proc", b"/proc", b"proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC, None)
        code = _fork(lambda: _run(program, order, has_own_network=True))
        os._exit(code if code >= 0 else 128 - code)

    code = _fork(init)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1]), sys.argv[2:]))
