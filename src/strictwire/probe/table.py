"""All probes in the order in which they run. The last ones check all responses of the earlier ones."""

from __future__ import annotations

from typing import Final

from strictwire.probe import arguments, envelopes, http_layer, in_flight, leaks, malformed, methods, outputs, size
from strictwire.probe.definition import Probe

PROBES: Final[tuple[Probe, ...]] = (
    *malformed.PROBES,
    *methods.PROBES,
    *outputs.PROBES,
    *arguments.PROBES,
    *in_flight.PROBES,
    *size.PROBES,
    *http_layer.PROBES,
    *envelopes.PROBES,
    *leaks.PROBES,
)
