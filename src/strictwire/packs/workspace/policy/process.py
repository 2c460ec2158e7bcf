"""A process that judges content: `python -I -S process.py ORDER`, started and ended by `judges`.

Parsers and patterns run natively and cannot be interrupted, and a few kilobytes can be written so that they run for hours or
take all memory. So nothing that a caller sends is judged inside the server: here it can be killed. ORDER is JSON: `folders`
to import from, `severities` of rules. One request at a time on stdin (see `HEADER`), one line of JSON for it on stdout, and
an empty line first, when the process is ready. It ends with its stdin, or when one request takes longer than the request
says, even if nobody is left to kill it. From the first request on it can open no file and no socket and start no program.
"""

from __future__ import annotations

import json
import signal
import struct
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, BinaryIO, Final

if TYPE_CHECKING:
    from strictwire.canon.json import JsonObject
    from strictwire.packs.workspace.policy.judge import Policy
    from strictwire.packs.workspace.policy.rule import Finding

HEADER: Final = struct.Struct("!dIiI")
"""Seconds; then the bytes of the path, of the old content (-1 if there is none) and of the new, which follow."""

MAX_WARNINGS: Final = 100
"""Findings that are told of one file."""

LIMITS: Final = {"AS": 1024**3, "CORE": 0, "FSIZE": 0, "NOFILE": 64, "NPROC": 0}
"""Resource to what the process gets of it. Of the address space Python and the parsers take a tenth before any work; a file
of the largest size takes a half."""


def answer(policy: Policy, stdin: BinaryIO) -> JsonObject | None:
    """The verdict on the next request; None if there is none."""
    header = stdin.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    seconds, *sizes = HEADER.unpack(header)
    path, old, new = (stdin.read(size) if size >= 0 else None for size in sizes)
    # The default of this signal is death, which comes from the system, whatever a parser is at.
    signal.setitimer(signal.ITIMER_REAL, seconds)
    verdict = policy.judge((path or b"").decode(), old=old, new=new or b"")
    signal.setitimer(signal.ITIMER_REAL, 0)
    broken = None if verdict.broken is None else _as_json(verdict.broken)
    return {"broken": broken, "warnings": [_as_json(each) for each in verdict.warnings[:MAX_WARNINGS]]}


def _as_json(finding: Finding) -> JsonObject:
    """Without the line itself, which may hold a secret."""
    return {"rule": finding.rule, "line": finding.line}


def _give_up_rights() -> None:
    """Where the system is not Linux, what is left is that the process can be killed."""
    if sys.platform == "linux":
        from strictwire.packs.workspace import confine

        confine.set_limits(LIMITS)
        confine.drop_privileges()
        confine.restrict_files([], ["/"])
        confine.refuse_sockets(())


def _import_from(folders: list[str]) -> None:
    """Behind the standard library, and of the pack the rules alone: without the rest a process starts in half the time."""
    sys.path += folders
    package = ModuleType("strictwire.packs.workspace")
    package.__path__ = [str(Path(__file__).parents[1])]
    sys.modules[package.__name__] = package


def main(order: dict[str, Any]) -> None:
    """Serve until stdin ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _import_from(order["folders"])
    from strictwire.canon.json import render
    from strictwire.packs.kit.grammars import find_missing
    from strictwire.packs.workspace.policy.judge import Policy
    from strictwire.packs.workspace.policy.rule import Severity

    # Loads every parser, while files can still be opened.
    if find_missing() is not None:
        return
    policy = Policy(severities={rule: Severity(each) for rule, each in order["severities"].items()})
    _give_up_rights()
    line: bytes | None = b""
    while line is not None:
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()
        told = answer(policy, sys.stdin.buffer)
        line = None if told is None else render(told)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
