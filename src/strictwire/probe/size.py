"""Probes of size: a request that is too large, and a line that never ends."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

from strictwire.canon import json
from strictwire.client.errors import ServerGone
from strictwire.client.stdio import StdioProcess
from strictwire.probe.bench import Bench, Judged, Probe, found, passed, skipped
from strictwire.probe.observation import Kind, observe
from strictwire.probe.record import Transport
from strictwire.probe.wire_stdio import write_all

MIB: Final = 1024 * 1024
_PROC: Final = Path("/proc")
_PAGE: Final = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


async def _large(bench: Bench) -> Judged:
    raw, twin = bench.wire.speaker.carrying(b'"' + b"a" * bench.options.large + b'"')
    seen = await bench.wire.send(raw, twin)
    is_refused = seen.kind is Kind.ERROR or (seen.kind is Kind.REFUSED and seen.status == 413)
    return passed(seen) if is_refused else found(seen, got=f"{bench.options.large // MIB} MiB: {seen.describe()}")


async def _flood(bench: Bench) -> Judged:
    """Growth of the whole process group: wrappers such as npx are not the server."""
    process = await bench.stdio.restart()
    before = _resident(process.pid)
    if before is None:
        return skipped("memory of another process can only be read on Linux")
    await _pour(process, bench.options.flood, bench.options.seconds)
    grown = (_resident(process.pid) or 0) - before
    behind = bench.wire.speaker.harmless()
    heard = await bench.stdio.converse(b"\n" + json.render(behind) + b"\n", lambda it: it.has_answer(behind["id"]))
    answers = len(heard.raws)
    got = f"{bench.options.flood // MIB} MiB without a line end: memory +{max(0, grown) // MIB} MiB, {answers} answers"
    seen = observe(heard.raws[:1])
    is_bounded = grown < bench.options.flood // 2 and answers == 2 and not heard.closed and seen.kind is Kind.ERROR
    await bench.stdio.close()
    return passed(got=got) if is_bounded else found(got=got)


async def _pour(process: StdioProcess, size: int, seconds: float) -> None:
    with contextlib.suppress(ServerGone):
        for _ in range(size // MIB):
            await write_all(process, b"a" * MIB, seconds)


def _resident(group: int) -> int | None:
    """Bytes of memory that the processes of a group hold; None where this cannot be known."""
    if not (_PROC / "self" / "statm").exists():
        return None
    total = 0
    for place in _PROC.iterdir():
        if place.name.isdigit():
            with contextlib.suppress(OSError):
                # The command's name may hold spaces and brackets; what follows the last one is regular.
                fields = (place / "stat").read_text().rpartition(")")[2].split()
                if int(fields[2]) == group:
                    total += int((place / "statm").read_text().split()[1]) * _PAGE
    return total


PROBES: Final = (
    Probe(
        id="SIZE_LARGE_REQUEST",
        purpose="Checks that a request has a limit.",
        expected="an error, or HTTP 413",
        why="one caller can take the memory of all",
        judge=_large,
    ),
    Probe(
        id="SIZE_ENDLESS_LINE",
        purpose="Checks that a line without an end is not kept.",
        expected="memory does not grow with it, one error, and the next request is answered",
        why="a writer that never ends its line fills the memory of the server",
        judge=_flood,
        transports=frozenset({Transport.STDIO}),
        compared=False,
    ),
)
