"""Stage 3: do the arguments fit the input schema? Nothing is coerced, filled in or dropped."""

from __future__ import annotations

from strictwire.contract.conform import Violation
from strictwire.fault.failure import Failure, fail
from strictwire.pipeline.call import Call, Operation


def accept(operation: Operation, call: Call) -> Failure | None:
    """INVALID_PARAMS with what does not fit."""
    if operation.accepts is None or operation.accepts.accepts(call.arguments):
        return None
    return misfit(operation.accepts.find_violations(call.arguments))


def misfit(violations: tuple[Violation, ...]) -> Failure:
    """The failure of arguments that do not fit."""
    return fail("INVALID_PARAMS", details={"violations": [each.as_details() for each in violations]})
