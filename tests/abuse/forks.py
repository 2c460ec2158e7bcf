"""Verification commands of an approved plan that take processes, memory, disk or output without end, or try to stay."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from strictwire.packs.workspace.preflight import MAX_OUTPUT
from tests.abuse.arena import Arena, Attack
from tests.abuse.governed import open_workspace
from tests.fixtures.live import wait_for


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A shell line; %m stands for a marker that no other process has."""

    line: str
    marker: str


def line(text: str) -> Callable[[Random], Command]:
    """A command that ends, by itself or because of a limit, within seconds."""
    return lambda random: Command(line=text, marker=f"abuse-{random.getrandbits(64):x}")


def check(case: Command, arena: Arena) -> None:
    """The change ends with a result or a refusal, and no process of the command is left."""
    workspace = open_workspace(arena)
    under = workspace.approve([["sh", "-c", case.line.replace("%m", case.marker)]])
    answer = workspace.call("write_file", path="src/x", content="x", **under)
    wait_for(lambda: not _processes(case.marker))
    largest = max(path.stat().st_size for path in workspace.root.rglob("*") if path.is_file())

    assert answer.get("error_code") != "INTERNAL", answer
    assert largest <= MAX_OUTPUT
    assert answer.get("path") == "src/x" or answer.get("error_code") == "PREFLIGHT_FAILED", answer


def _processes(marker: str) -> list[int]:
    """Processes with the marker in their command lines."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                text = Path(entry.path, "cmdline").read_bytes()
            except OSError:
                continue
            if marker.encode() in text:
                found.append(int(entry.name))
    return found


ATTACK = Attack(
    name="forks",
    kinds={
        "fork_bomb": line("f() { f | f & }; f; : %m"),
        "fork_and_wait": line("i=0; while [ $i -lt 500 ]; do (sleep 60; : %m) & i=$((i+1)); done; exit 1"),
        "memory_bomb": line(": %m; tail /dev/zero"),
        "output_flood": line("i=0; while [ $i -lt 20000 ]; do echo %m-%m-%m-%m-%m-%m; i=$((i+1)); done"),
        "disk_flood": line(": %m; head -c 3000000000 /dev/zero > src/zero"),
        "daemon": line("(setsid sh -c 'sleep 60; : %m' &) ; exit 0"),
    },
    check=check,
    lengthy=frozenset({"memory_bomb"}),
)
