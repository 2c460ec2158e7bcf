"""Creates the failures of this pack: a code, a message that says what to do, and a machine-readable reason."""

from __future__ import annotations

from strictwire.canon.json import JsonValue
from strictwire.fault.failure import Refused, fail


def refuse(
    code: str, text: str, reason: str | None = None, *, invariant_id: str | None = None, **more: JsonValue
) -> Refused:
    """Return a refusal to raise. The reason is also put into the cause, because `system/1.0` has no details. Raises KeyError
    for an unknown code."""
    details = more if reason is None else {"reason": reason, **more}
    return Refused(fail(code, text=text, details=details, cause=dict(details) or None, invariant_id=invariant_id))
