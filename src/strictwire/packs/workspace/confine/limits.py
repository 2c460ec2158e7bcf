"""Limits on the resources of a program: of each process by the kernel, of all processes together by their first process."""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from strictwire.packs.workspace.confine.kernel import Unavailable, kernel_version

_OWN_PID_MAX: Final = (6, 14)
"""From this version on, kernel.pid_max belongs to the PID namespace. Before, it is that of the whole machine."""

_OWN_COUNT: Final = (5, 14)
"""From this version on, RLIMIT_NPROC counts the processes of a user in each user namespace separately."""

_RESERVED: Final = 300
"""Process ids that the kernel does not give out a second time, so they do not count towards the limit."""

_INTERVAL: Final = 0.1
"""Seconds between two measurements of the memory. A process can fill about a gigabyte in this time."""

_LEFT_FREE: Final = 1 / 16
"""Part of the memory of the machine that a program must leave available."""


class OutOfMemory(Exception):
    """The processes together use more memory than they may."""


def set_limits(limits: Mapping[str, int]) -> None:
    """Set soft and hard resource limits by name. A hard limit that is already lower is kept."""
    for name, value in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(kind)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (bound, bound))


def limit_processes(count: int) -> None:
    """Limit the number of processes and threads. Call it in new namespaces with their own /proc. Raises Unavailable."""
    if kernel_version() >= _OWN_PID_MAX:
        with open("/proc/sys/kernel/pid_max", "w") as file:
            file.write(str(_RESERVED + count))
    elif kernel_version() >= _OWN_COUNT and os.getuid() != 0:
        set_limits({"NPROC": count})
    else:
        # The kernel does not apply RLIMIT_NPROC to root.
        raise Unavailable("process limit")


def prefer_for_oom() -> None:
    """Let the kernel kill this process and its descendants first if the machine runs out of memory."""
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def watch(child: int, *, memory: int) -> int:
    """Wait for a child as the first process of a PID namespace, and reap orphans.

    Returns the exit status of the child as `os.waitstatus_to_exitcode` does. Raises OutOfMemory as soon as the processes use
    too much. When the caller then exits, the kernel kills every other process of the namespace.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    due = time.monotonic()
    while True:
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0] != 0:
                if ended[0] == child:
                    return os.waitstatus_to_exitcode(ended[1])
        signal.sigtimedwait({signal.SIGCHLD}, _INTERVAL)
        if time.monotonic() >= due:
            if used_memory() > memory or is_machine_short():
                raise OutOfMemory
            due = time.monotonic() + _INTERVAL


def used_memory() -> int:
    """Return the bytes that the processes in /proc have for themselves. Pages that they share are not counted."""
    pages = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError), open(f"/proc/{name}/statm", "rb") as file:
                _, resident, shared, *_ = map(int, file.read().split())
                pages += resident - shared
    return pages * resource.getpagesize()


def is_machine_short() -> bool:
    """Return whether the machine has too little memory left. This also notices memory that belongs to no process, such as
    pages of shared memory and of files without a name."""
    with open("/proc/meminfo", "rb") as file:
        found = dict(line.split()[:2] for line in file)
    return int(found[b"MemAvailable:"]) < int(found[b"MemTotal:"]) * _LEFT_FREE
