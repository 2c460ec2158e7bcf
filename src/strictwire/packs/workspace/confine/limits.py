"""Limits on the resources of a program: of each process by the kernel, of all processes together by their first process."""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Final

from strictwire.packs.workspace.confine.kernel import kernel_version

_OWN_PID_MAX: Final = (6, 14)
"""From this version on, kernel.pid_max belongs to the PID namespace. Before, it is that of the whole machine."""

_OWN_COUNT: Final = (5, 14)
"""From this version on, RLIMIT_NPROC counts the processes of a user in each user namespace separately."""

_RESERVED: Final = 300
"""Process ids that the kernel does not give out a second time, so they do not count towards the limit."""

_NICENESS: Final = 10

_INTERVAL: Final = 0.1
"""Seconds between two measurements of the memory. A process can fill about a gigabyte in this time."""

_COUNT_INTERVAL: Final = 0.02
"""Seconds between two measurements if processes are counted too. A fork bomb makes some hundreds in this time."""

_LEFT_FREE: Final = 1 / 16
"""Part of the memory of the machine that a program must leave available."""


class Exceeded(Exception):
    """The processes together use more than they may. Carries what: `memory` or `processes`."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


def set_limits(limits: Mapping[str, int]) -> None:
    """Set soft and hard resource limits by name. A hard limit that is already lower is kept."""
    for name, value in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(kind)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (bound, bound))


def limit_processes(count: int) -> bool:
    """Limit the number of processes and threads. Call it in new namespaces with their own /proc.

    Returns False if this kernel cannot: before 6.14 there is only RLIMIT_NPROC, which does not apply to root. The first
    process then has to count them. Raises OSError.
    """
    if kernel_version() >= _OWN_PID_MAX:
        with open("/proc/sys/kernel/pid_max", "w") as file:
            file.write(str(_RESERVED + count))
        return True
    if kernel_version() >= _OWN_COUNT and os.getuid() != 0:
        set_limits({"NPROC": count})
        return True
    return False


def schedule_first() -> None:
    """Let this process and its descendants run before all others, so that a fork bomb cannot keep the first process from
    stopping it. Without the privilege nothing changes."""
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))


def schedule_last() -> None:
    """Let this process and its descendants run after others, so that a server on the same machine keeps answering."""
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    os.nice(_NICENESS)


def prefer_for_oom() -> None:
    """Let the kernel kill this process and its descendants first if the machine runs out of memory."""
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def watch(child: int, *, memory: int, processes: int | None = None) -> int:
    """Wait for a child as the first process of a PID namespace, and reap orphans.

    Returns the exit status of the child as `os.waitstatus_to_exitcode` does. Raises Exceeded as soon as the processes use
    too much. When the caller then exits, the kernel kills every other process of the namespace. `processes` is None if the
    kernel limits their number.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    interval = _INTERVAL if processes is None else _COUNT_INTERVAL
    due = time.monotonic()
    while True:
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0] != 0:
                if ended[0] == child:
                    return os.waitstatus_to_exitcode(ended[1])
        signal.sigtimedwait({signal.SIGCHLD}, interval)
        if time.monotonic() >= due:
            _check_use(memory, processes)
            due = time.monotonic() + interval


def _check_use(memory: int, processes: int | None) -> None:
    found = [name for name in os.listdir("/proc") if name.isdigit()]
    if processes is not None and len(found) > processes:
        raise Exceeded("processes")
    if _used_memory(found) > memory or is_machine_short():
        raise Exceeded("memory")


def _used_memory(processes: Iterable[str]) -> int:
    """Return the bytes that processes have for themselves. Pages that they share are not counted."""
    pages = 0
    for name in processes:
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
