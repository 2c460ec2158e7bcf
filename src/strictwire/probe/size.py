"""Probes of size limits: an oversized request, and a line without an end."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

from strictwire.canon import json
from strictwire.client.errors import ServerGone
from strictwire.client.stdio import StdioProcess
from strictwire.probe.definition import Evaluation, Lane, Probe, ProbeContext, found, passed, skipped
from strictwire.probe.harm import Harm
from strictwire.probe.observation import ResponseKind, observe
from strictwire.probe.record import Transport
from strictwire.probe.wire_stdio import write_all

MIB: Final = 1024 * 1024
_PROC: Final = Path("/proc")
_PAGE: Final = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


async def _large(context: ProbeContext) -> Evaluation:
    raw, well_formed = context.wire.messages.with_raw_value(b'"' + b"a" * context.options.large + b'"')
    seen = await context.wire.send(raw, well_formed)
    is_refused = seen.kind is ResponseKind.ERROR or (seen.kind is ResponseKind.REFUSED and seen.status == 413)
    return passed(seen) if is_refused else found(seen, got=f"{context.options.large // MIB} MiB: {seen.describe()}")


async def _flood(context: ProbeContext) -> Evaluation:
    """Measures the memory of the whole process group, because the server may run under a wrapper such as npx."""
    process = await context.stdio.restart()
    before = _resident(process.pid)
    if before is None:
        return skipped("the memory of another process can only be read on Linux")
    await _pour(process, context.options.flood, context.options.seconds)
    grown = (_resident(process.pid) or 0) - before
    end = await context.stdio.maybe_end(b"a" * context.options.flood)
    if end is not None:
        return found(end, got=f"{context.options.flood // MIB} MiB without a line end: {end.describe()}")
    follow_up = context.wire.messages.harmless_request()
    received = await context.stdio.converse(
        b"\n" + json.render(follow_up) + b"\n", lambda lines: lines.has_response(follow_up["id"])
    )
    responses = len(received.raws)
    got = f"{context.options.flood // MIB} MiB without a line end: memory +{max(0, grown) // MIB} MiB, {responses} responses"
    seen = observe(received.raws[:1])
    is_bounded = (
        grown < context.options.flood // 2 and responses == 2 and not received.closed and seen.kind is ResponseKind.ERROR
    )
    await context.stdio.close()
    return passed(got=got) if is_bounded else found(got=got)


async def _pour(process: StdioProcess, size: int, seconds: float) -> None:
    with contextlib.suppress(ServerGone):
        for _ in range(size // MIB):
            await write_all(process, b"a" * MIB, seconds)


def _resident(group: int) -> int | None:
    """Resident memory of a process group in bytes; None if the system does not tell."""
    if not (_PROC / "self" / "statm").exists():
        return None
    total = 0
    for folder in _PROC.iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                # The command name may contain spaces and brackets; the fields after the last bracket are regular.
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                if int(fields[2]) == group:
                    total += int((folder / "statm").read_text().split()[1]) * _PAGE
    return total


PROBES: Final = (
    Probe(
        id="SIZE_LARGE_REQUEST",
        purpose="Checks that the server limits the size of a request.",
        expected="an error, or HTTP 413",
        why="one client can exhaust the memory of the server",
        run=_large,
        harm=Harm.RESOURCES,
        lane=Lane.PROCESSES,
    ),
    Probe(
        id="SIZE_ENDLESS_LINE",
        purpose="Checks that the server does not buffer a line without an end.",
        expected="bounded memory, one error, and a response to the next request",
        why="a client that never ends its line exhausts the memory of the server",
        run=_flood,
        harm=Harm.RESOURCES,
        lane=Lane.PROCESSES,
        transports=frozenset({Transport.STDIO}),
        compared=False,
    ),
)
