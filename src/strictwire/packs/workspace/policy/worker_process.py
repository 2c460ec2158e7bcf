"""Worker process of the policy check: `python -I -S worker_process.py ORDER`, started and ended by `worker_pool`.

Parsers and regular expressions are native code and cannot be interrupted, and a few kilobytes can be crafted to keep them
busy for hours or to exhaust the memory. So content from clients is never checked in the server process: a worker can be
killed. ORDER is JSON: `folders` to import from, and `severities` of rules. The worker first writes an empty line when it is
ready; then it reads one request at a time from stdin (see `HEADER`) and writes one line of JSON for each to stdout. It exits
when stdin closes, or when a request exceeds its own time limit, so it ends even if the server has died. From the first
request on it cannot open files or sockets or start programs.
"""

from __future__ import annotations

import json
import signal
import struct
import sys
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, BinaryIO, Final

if TYPE_CHECKING:
    from strictwire.canon.json import JsonObject
    from strictwire.packs.workspace.policy.policy import Policy
    from strictwire.packs.workspace.policy.rule import PolicyFinding

HEADER: Final = struct.Struct("!dIiI")
"""Seconds, then the sizes in bytes of the path, the old content (-1 if there is none) and the new content, which follow."""

MAX_WARNINGS: Final = 100
"""Most findings reported for one file."""

LIMITS: Final = {"AS": 1024**3, "CORE": 0, "FSIZE": 0, "NOFILE": 64, "NPROC": 0}
"""Resource limits. Python and the parsers use a tenth of the address space before any work; the largest file uses about
half."""


def answer(policy: Policy, stdin: BinaryIO) -> JsonObject | None:
    """Check the next request and return the answer; None if stdin is closed."""
    header = stdin.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    seconds, *sizes = HEADER.unpack(header)
    path, old, new = (stdin.read(size) if size >= 0 else None for size in sizes)
    # The default action of SIGALRM ends the process, even while native code runs.
    signal.setitimer(signal.ITIMER_REAL, seconds)
    verdict = policy.check((path or b"").decode(), old=old, new=new or b"")
    signal.setitimer(signal.ITIMER_REAL, 0)
    broken = None if verdict.broken is None else _as_json(verdict.broken)
    return {"broken": broken, "warnings": [_as_json(each) for each in verdict.warnings[:MAX_WARNINGS]]}


def _as_json(finding: PolicyFinding) -> JsonObject:
    """Return a finding without the text of its line, which may contain a secret."""
    return {"rule": finding.rule, "line": finding.line}


def _drop_privileges() -> None:
    """Drop privileges. Systems other than Linux only have the ability to kill the process."""
    if sys.platform == "linux":
        from strictwire.packs.workspace.confine import kernel, landlock, limits, seccomp

        limits.set_limits(LIMITS)
        kernel.drop_privileges()
        with suppress(kernel.Unavailable):
            landlock.restrict(writable=(), readable=())
        with suppress(kernel.Unavailable):
            rules = (*seccomp.NO_NEW_PRIVILEGES, *seccomp.NO_METADATA, *seccomp.NO_PROCESSES, *seccomp.only_sockets())
            seccomp.install(rules)


def _import_from(folders: list[str]) -> None:
    """Append the folders to sys.path, after the standard library. A stub package avoids importing the rest of the pack,
    which halves the start time."""
    sys.path += folders
    package = ModuleType("strictwire.packs.workspace")
    package.__path__ = [str(Path(__file__).parents[1])]
    sys.modules[package.__name__] = package


def main(order: dict[str, Any]) -> None:
    """Serve requests until stdin closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _import_from(order["folders"])
    from strictwire.canon.json import render
    from strictwire.packs.kit.grammars import find_missing
    from strictwire.packs.workspace.policy.policy import Policy
    from strictwire.packs.workspace.policy.rule import Severity

    # This loads every parser, while files can still be opened.
    if find_missing() is not None:
        return
    policy = Policy(severities={rule: Severity(each) for rule, each in order["severities"].items()})
    _drop_privileges()
    line: bytes | None = b""
    while line is not None:
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()
        reply = answer(policy, sys.stdin.buffer)
        line = None if reply is None else render(reply)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
