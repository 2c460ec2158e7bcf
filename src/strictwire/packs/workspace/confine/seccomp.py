"""System calls that a confined program may not make, as a table, and the assembler that makes a seccomp filter of it.

libseccomp is not used: its Python bindings need a system library that many installations lack, and the filters here are a
list of comparisons. A denied call fails with an error number that programs expect, so that they can do without it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from strictwire.packs.workspace.confine.kernel import LIBC, Unavailable

_MACHINES: Final[Mapping[str, tuple[int, int]]] = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
"""Machine to its number in seccomp data, and its column in `NUMBERS`."""

_NAMESPACES: Final = {"unshare": (272, 97), "setns": (308, 268)}
_MOUNTS: Final = {
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "open_tree": (428, 428),
    "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442), "open_tree_attr": (467, 467),
}  # fmt: skip
_METADATA: Final = {
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, None), "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54),
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16), "removexattrat": (466, 466),
    "file_setattr": (469, 469),
}  # fmt: skip
_KERNEL: Final = {
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "fanotify_init": (300, 262),
    "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218), "open_by_handle_at": (304, 265),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "acct": (163, 89), "quotactl": (179, 60), "quotactl_fd": (443, 443),
    "swapon": (167, 224), "swapoff": (168, 225), "reboot": (169, 142), "sethostname": (170, 161),
    "setdomainname": (171, 162), "settimeofday": (164, 170), "clock_settime": (227, 112), "clock_adjtime": (305, 266),
    "adjtimex": (159, 171), "syslog": (103, 116), "vhangup": (153, 58), "iopl": (172, None), "ioperm": (173, None),
}  # fmt: skip
"""Calls that neither tests nor compilers need, and that attacks on the kernel start from."""

_CREATE: Final = {
    "open": (2, None), "openat": (257, 56), "openat2": (437, 437), "creat": (85, None), "mknod": (133, None),
    "mknodat": (259, 33),
}  # fmt: skip

_OTHERS: Final = {"clone": (56, 220), "clone3": (435, 435), "fork": (57, None), "vfork": (58, None), "socket": (41, 198)}

NUMBERS: Final[Mapping[str, tuple[int | None, int | None]]] = _NAMESPACES | _MOUNTS | _METADATA | _KERNEL | _CREATE | _OTHERS
"""Name of a system call to its number on x86-64 and on ARM64; None where the machine does not have it."""

_NEW_NAMESPACE: Final = 0x7E020000
"""All CLONE_NEW* flags that `clone` takes. (CLONE_NEWTIME shares its bit with the exit signal; only `clone3` and `unshare`
take it.)"""

_THREAD: Final = 0x00010000
"""CLONE_THREAD: a new thread, not a new process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deny:
    """A call fails with an error number, always or depending on one of its arguments."""

    call: str
    error: int = errno.EPERM
    argument: int = 0
    any_of: int | None = None
    """Only if the argument has one of these bits."""
    none_of: int | None = None
    """Only if the argument has none of these bits."""
    not_in: tuple[int, ...] | None = None
    """Only if the argument is not one of these numbers."""
    creates_at: int | None = None
    """With `any_of`: only if this other argument, the flags of an open, has O_CREAT. Otherwise the mode is undefined."""


Filter: TypeAlias = tuple[Deny, ...]


# clone3 passes its flags in memory, which a filter cannot read. With ENOSYS, libc uses clone instead.
_NO_CLONE3: Final = Deny(call="clone3", error=errno.ENOSYS)

NO_NEW_PRIVILEGES: Final[Filter] = (
    Deny(call="clone", any_of=_NEW_NAMESPACE),
    _NO_CLONE3,
    *(Deny(call=call) for call in (*_NAMESPACES, *_MOUNTS, *_KERNEL)),
)
"""No namespaces, in which a program would get capabilities again; no mounts; no rarely used parts of the kernel."""

_SETUID: Final = 0o6000

NO_SETUID: Final[Filter] = (
    *(Deny(call=call, argument=1, any_of=_SETUID) for call in ("chmod", "fchmod", "creat", "mknod")),
    *(Deny(call=call, argument=2, any_of=_SETUID) for call in ("fchmodat", "fchmodat2", "mknodat")),
    Deny(call="open", argument=2, any_of=_SETUID, creates_at=1),
    Deny(call="openat", argument=3, any_of=_SETUID, creates_at=2),
    # openat2 passes the mode in memory. With ENOSYS, programs use openat instead.
    Deny(call="openat2", error=errno.ENOSYS),
)
"""No setuid or setgid files: they would give their owner's rights to other users, long after the program has ended."""

NO_METADATA: Final[Filter] = tuple(Deny(call=call) for call in _METADATA)
"""No change of mode, owner, times or extended attributes of any file."""

NO_PROCESSES: Final[Filter] = (Deny(call="fork"), Deny(call="vfork"), Deny(call="clone", none_of=_THREAD), _NO_CLONE3)
"""Threads, but no other process."""


def only_sockets(*families: int) -> Filter:
    """Return the rule that permits only sockets of these address families."""
    return (Deny(call="socket", error=errno.EACCES, not_in=families),)


def install(rules: Filter) -> None:
    """Apply a filter to this process and all its descendants. Needs `drop_privileges` before. Raises Unavailable."""
    if platform.machine() not in _MACHINES:
        raise Unavailable("seccomp")
    packed = b"".join(struct.pack("HBBI", *line) for line in assemble(rules, platform.machine()))
    buffer = ctypes.create_string_buffer(packed, len(packed))
    # struct sock_fprog: the number of instructions of 8 bytes each, and a pointer to them.
    header = struct.pack("HxxxxxxQ", len(packed) // 8, ctypes.addressof(buffer))
    if LIBC.prctl(_PR_SET_SECCOMP, _MODE_FILTER, header, 0, 0) != 0:
        raise Unavailable("seccomp")


_PR_SET_SECCOMP, _MODE_FILTER = 22, 2

Instruction: TypeAlias = tuple[int, int, int, int]
"""Classic BPF: opcode, instructions to skip if true, instructions to skip if false, operand."""

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_CALL, _MACHINE, _ARGUMENTS = 0, 4, 16
"""Offsets in struct seccomp_data. Arguments have 8 bytes each; the lower half comes first on both machines."""

_X32: Final = 0x40000000
"""Calls of the x32 ABI of x86-64 have numbers from here on, which the rules do not list. ARM64 has no such calls."""


def assemble(rules: Filter, machine: str) -> list[Instruction]:
    """Return the program. Every rule is a block that returns, or ends with the number of the call loaded for the next."""
    code, column = _MACHINES[machine]
    program: list[Instruction] = [
        (_LOAD, 0, 0, _MACHINE),
        (_EQUAL, 1, 0, code),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _CALL),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _ERRNO | errno.ENOSYS),
    ]
    for rule in rules:
        number = NUMBERS[rule.call][column]
        if number is not None:
            block = list(_block(rule))
            program += [(_EQUAL, 0, len(block), number), *block]
    return [*program, (_RETURN, 0, 0, _ALLOW)]


def _block(rule: Deny) -> Iterator[Instruction]:
    deny, again = (_RETURN, 0, 0, _ERRNO | rule.error), (_LOAD, 0, 0, _CALL)
    argument = (_LOAD, 0, 0, _ARGUMENTS + 8 * rule.argument)
    if rule.creates_at is not None:
        # Without O_CREAT the next three instructions are skipped; the fourth loads the call again.
        yield from ((_LOAD, 0, 0, _ARGUMENTS + 8 * rule.creates_at), (_ANY_BIT, 0, 3, os.O_CREAT))
    if rule.any_of is not None:
        yield from (argument, (_ANY_BIT, 0, 1, rule.any_of), deny, again)
    elif rule.none_of is not None:
        yield from (argument, (_ANY_BIT, 1, 0, rule.none_of), deny, again)
    elif rule.not_in is not None:
        yield argument
        for left, number in zip(range(len(rule.not_in), 0, -1), rule.not_in, strict=True):
            yield (_EQUAL, left, 0, number)
        yield from (deny, again)
    else:
        yield deny
