"""Runs one engine so that nothing of it outlives the server, and bounds its memory. Started as a script of its own.

    python -I -S leash.py LIFELINE MEMORY_BYTES COMMAND...

LIFELINE is the read end of a pipe that the server holds open. It reaches its end when the server closes it or dies,
kill -9 included; the engine and everything it started are then killed at once. The engine inherits stdin and stdout, so no
byte passes through here. Standard library only: this process is small (9 MB) and starts in 20 ms.

Exit codes: the engine's own, 128 + N if signal N ended it, 90 for too much memory, 127 if there is no such command.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
from contextlib import suppress

TOO_MUCH_MEMORY = 90
NOT_FOUND = 127

_SECONDS = 0.5
"""Between two looks at the memory. An engine that takes 1 GB/s is 0.5 GB over its limit at most."""

_SET_PDEATHSIG, _SET_CHILD_SUBREAPER = 1, 36
"""Options of prctl(2)."""


def main(lifeline: int, memory: int, command: list[str]) -> int:
    """Run the command; see the module."""
    # Orphans of the engine become our children, so that killing children until there are none ends the whole tree.
    _prctl(_SET_CHILD_SUBREAPER, 1)
    # A process that the server forked may hold the lifeline open: the death of the server is a signal as well.
    _prctl(_SET_PDEATHSIG, signal.SIGTERM)
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    engine = _start(command, lifeline)
    code = _watch(engine, lifeline, woken, memory)
    _kill_all(engine)
    return code


def _start(command: list[str], lifeline: int) -> int:
    engine = os.fork()
    if engine == 0:
        # Should this process itself be killed, the kernel kills the engine.
        _prctl(_SET_PDEATHSIG, signal.SIGKILL)
        os.close(lifeline)
        os.setpgid(0, 0)
        try:
            os.execvp(command[0], command)
        except OSError:
            os._exit(NOT_FOUND)
    # The pipes belong to the engine alone: the server must see their end when the engine closes them.
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    return engine


def _watch(engine: int, lifeline: int, woken: int, memory: int) -> int:
    """The exit code, once the engine ended or has to."""
    while True:
        ready, _, _ = select.select([lifeline, woken], [], [], _SECONDS)
        if lifeline in ready:
            return 128 + signal.SIGKILL
        if woken in ready and signal.SIGTERM in os.read(woken, 64):
            return 128 + signal.SIGTERM
        code = _reap(engine)
        if code is not None:
            return code
        if memory and resident_bytes(engine) > memory:
            return TOO_MUCH_MEMORY


def _reap(engine: int) -> int | None:
    """The engine's exit code, if it ended. Orphans that ended are collected as well."""
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == engine:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else 128 - code
            if pid == 0:
                break
    return None


def _kill_all(engine: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(engine, signal.SIGKILL)
    with suppress(ChildProcessError):
        while True:
            for child in _children(os.getpid()):
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            os.waitpid(-1, 0)


def resident_bytes(pid: int) -> int:
    """Memory of a process and everything below it."""
    return sum(map(_resident, _tree(pid)))


def _tree(pid: int) -> list[int]:
    found = [pid]
    for each in found:
        found.extend(_children(each))
    return found


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError), open(f"/proc/{pid}/task/{thread}/children") as file:
                found.extend(map(int, file.read().split()))
    return found


def _resident(pid: int) -> int:
    with suppress(OSError, IndexError), open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _prctl(option: int, value: int) -> None:
    with suppress(AttributeError):  # another system: the lifeline alone has to do
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
