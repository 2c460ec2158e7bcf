"""Every probe, in the order they run: bytes, names, calls, flight, size, HTTP; last those that read all answers."""

from __future__ import annotations

from typing import Final

from strictwire.probe import arguments, flight, leaks, malformed, methods, outputs, size, sweep, web
from strictwire.probe.bench import Probe

PROBES: Final[tuple[Probe, ...]] = (
    *malformed.PROBES,
    *methods.PROBES,
    *outputs.PROBES,
    *arguments.PROBES,
    *flight.PROBES,
    *size.PROBES,
    *web.PROBES,
    *sweep.PROBES,
    *leaks.PROBES,
)
