"""Stage 1: may the call start at all? Capabilities of the client, and a free place."""

from __future__ import annotations

from strictwire.fault.failure import Failure, fail
from strictwire.pipeline.call import Call, Operation


def admit(operation: Operation, call: Call) -> Failure | None:
    """MISSING_CAPABILITY, or OVERLOADED; on None a place in the gate is taken and must be given back."""
    missing = operation.capabilities - call.capabilities
    if missing:
        return fail("MISSING_CAPABILITY", details={"requiredCapabilities": {name: {} for name in sorted(missing)}})
    if not operation.gate.enter():
        return fail("OVERLOADED")
    return None
