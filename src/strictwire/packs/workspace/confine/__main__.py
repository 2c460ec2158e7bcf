"""Starts the program of an order: `python -I -S __main__.py STATUS`, with the order on stdin.

STATUS is a descriptor. If the program is not started, or is stopped, one line of JSON is written to it with the reason;
otherwise nothing. The exit code is that of the program, or 128 plus the number of the signal that ended it.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from types import ModuleType
from typing import NoReturn

if __name__ == "__main__":
    # Only this folder can be imported from: not the rest of the package, and nothing that a workspace contains.
    _PACKAGE = ModuleType("strictwire.packs.workspace.confine")
    _PACKAGE.__path__ = [os.path.dirname(os.path.abspath(__file__))]
    sys.modules |= {_PACKAGE.__name__: _PACKAGE, "strictwire": ModuleType("strictwire")}

from strictwire.packs.workspace.confine import landlock, limits, namespaces, seccomp
from strictwire.packs.workspace.confine.kernel import LIBC, Unavailable, drop_privileges
from strictwire.packs.workspace.confine.order import FolderReplaced, Order, read_order

NOT_STARTED = 125
"""Exit code if the program was not started or was stopped; `STATUS` has the reason."""

_PR_SET_PDEATHSIG = 1


def main(order: Order, status: int) -> int:
    """Run the program and return its exit code."""
    return _reporting(status, lambda: _run_isolated(order, status))


def _run_isolated(order: Order, status: int) -> int:
    limits.set_limits(order.limits)
    limits.prefer_for_oom()
    limits.schedule_first()
    namespaces.enter()
    return _wait(_fork(lambda: _reporting(status, lambda: _first_process(order, status))))


def _first_process(order: Order, status: int) -> int:
    """Run as PID 1 of the new namespace: when it ends, the kernel kills all other processes in the namespace."""
    namespaces.make_read_only(order.writable)
    namespaces.pin(order.writable[0], order.pinned)
    is_limited = limits.limit_processes(order.processes)
    namespaces.close_proc()

    def start() -> NoReturn:
        limits.schedule_last()
        drop_privileges()
        handles = [folder.open() for folder in order.writable]
        writable = [*map(_name, handles), namespaces.SHARED_MEMORY]
        landlock.restrict(writable=writable, readable=landlock.outside(order.hidden))
        families = socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK
        seccomp.install((*seccomp.NO_NEW_PRIVILEGES, *seccomp.NO_SETUID, *seccomp.only_sockets(*families)))
        _replace_process(order, handles[0] if order.directory is None else order.directory.open())

    child = _fork(lambda: _reporting(status, start))
    return _exit_code(limits.watch(child, memory=order.memory, processes=None if is_limited else order.processes))


def _replace_process(order: Order, folder: int) -> NoReturn:
    """Become the program, in its working directory."""
    os.fchdir(folder)
    try:
        os.execv(order.program[0], order.program)  # noqa: S606 - on purpose without a shell
    except OSError as exc:
        sys.stderr.write(f"cannot start the program: {exc.strerror}\n")
        sys.stderr.flush()
        os._exit(126)


def _name(handle: int) -> str:
    return f"/proc/self/fd/{handle}"


def _fork(work: Callable[[], int]) -> int:
    """Run the work in a child, which exits with the number it returns."""
    child = os.fork()
    if child != 0:
        return child
    LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    code = NOT_STARTED
    try:
        code = work()
    finally:
        os._exit(code)


def _reporting(status: int, work: Callable[[], int]) -> int:
    """Return what the work returns. If it fails, write the reason to the status and return NOT_STARTED."""
    try:
        return work()
    except Unavailable as exc:
        reason = {"reason": "unconfined", "missing": exc.measure}
    except FolderReplaced:
        reason = {"reason": "root_changed"}
    except limits.Exceeded as exc:
        reason = {"reason": exc.what}
    except OSError as exc:
        reason = {"reason": "unconfined", "missing": os.strerror(exc.errno or 0)}
    os.write(status, json.dumps(reason).encode())
    return NOT_STARTED


def _wait(child: int) -> int:
    return _exit_code(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def _exit_code(ended: int) -> int:
    return ended if ended >= 0 else 128 - ended


if __name__ == "__main__":
    _STATUS = int(sys.argv[1])
    os.set_inheritable(_STATUS, False)
    _ORDER = read_order(sys.stdin.buffer.read())
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.exit(main(_ORDER, _STATUS))
