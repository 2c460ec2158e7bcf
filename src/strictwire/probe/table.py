"""All probes in the order in which they run. The last ones check all responses of the earlier ones."""

from __future__ import annotations

from typing import Final

from strictwire.probe import arguments, envelopes, http_layer, in_flight, leaks, life, malformed, methods, outputs, size
from strictwire.probe.definition import Probe

PROBES: Final[tuple[Probe, ...]] = (
    *malformed.PROBES,
    *methods.PROBES,
    *outputs.PROBES,
    *arguments.PROBES,
    *size.PROBES,
    *in_flight.PROBES,
    *http_layer.PROBES,
    *envelopes.PROBES,
    *leaks.PROBES,
    *life.PROBES,
)
