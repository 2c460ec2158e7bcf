"""Opens one connection for each variant, and explains why a variant cannot be tested."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from strictwire.client.errors import CannotReach, ClientError, ServerGone, TimedOut
from strictwire.fault.redact import redact_text
from strictwire.probe.record import ProbeOptions, Transport, Variant
from strictwire.probe.wire_http import HttpWire
from strictwire.probe.wire_stdio import StdioWire

AnyWire: TypeAlias = StdioWire | HttpWire

ERA_SECONDS: Final = 3.0
"""Wait for the other era once one has responded on the same transport: some servers never respond to an unknown method."""

MAX_STDERR_LINES: Final = 12
"""Lines of stderr that a report shows: enough for the end of a traceback."""


def make_wire(variant: Variant, options: ProbeOptions) -> AnyWire:
    """A connection that is not open yet. Raises CannotReach if the URL is invalid."""
    return StdioWire(variant, options) if variant.transport is Transport.STDIO else HttpWire(variant, options)


async def open_variants(
    variants: Sequence[Variant], options: ProbeOptions, seconds: float
) -> tuple[Mapping[Variant, AnyWire], Mapping[Variant, str]]:
    """The open connections, and the reasons why the others are not."""
    transports = [[each for each in variants if each.transport is transport] for transport in Transport]
    opened = await asyncio.gather(*(_open_eras(each, options, seconds) for each in transports if each))
    outcomes = {variant: outcome for eras in opened for variant, outcome in eras.items()}
    wires = {variant: outcomes[variant] for variant in variants}
    return (
        {variant: wire for variant, wire in wires.items() if not isinstance(wire, str)},
        {variant: reason for variant, reason in wires.items() if isinstance(reason, str)},
    )


async def _open_eras(variants: Sequence[Variant], options: ProbeOptions, seconds: float) -> Mapping[Variant, AnyWire | str]:
    """Open the eras of one transport at the same time."""
    tasks = {asyncio.create_task(_open(variant, options)): variant for variant in variants}
    end = asyncio.get_running_loop().time() + seconds
    pending = set(tasks)
    while pending and (left := end - asyncio.get_running_loop().time()) > 0:
        done, pending = await asyncio.wait(pending, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        if any(not isinstance(task.result(), str) for task in done):
            end = min(end, asyncio.get_running_loop().time() + ERA_SECONDS)
    for task in pending:
        task.cancel()
    await asyncio.gather(*pending, return_exceptions=True)
    late = "no response to the first request in time"
    return {variant: late if task in pending else task.result() for task, variant in tasks.items()}


async def _open(variant: Variant, options: ProbeOptions) -> AnyWire | str:
    try:
        wire = make_wire(variant, options)
    except CannotReach as exc:
        return str(exc)
    try:
        await wire.open()
    except ClientError as exc:
        reason = f"{exc}{_stderr_of(exc, wire)}"
        await wire.close()
        return reason
    except asyncio.CancelledError:
        await wire.close()
        raise
    return wire


def _stderr_of(exc: ClientError, wire: AnyWire) -> str:
    """What the server wrote to stderr, if it ended or did not respond."""
    if isinstance(exc, ServerGone):
        return quote_stderr(exc.stderr)
    return quote_stderr(wire.stderr_tail) if isinstance(exc, TimedOut) and isinstance(wire, StdioWire) else ""


def quote_stderr(stderr: bytes) -> str:
    """Lines that quote stderr; empty if there is nothing to quote."""
    lines = stderr_lines(stderr)
    return "".join(f"\n  | {line}" for line in ["stderr of the server:", *lines]) if lines else ""


def stderr_lines(stderr: bytes) -> list[str]:
    """The last lines of stderr, without secrets."""
    return redact_text(stderr.decode("utf-8", "replace")).strip().splitlines()[-MAX_STDERR_LINES:]
