"""How this pack refuses: a code, a sentence that says what to do, and one word for why."""

from __future__ import annotations

from strictwire.canon.json import JsonValue
from strictwire.fault.failure import Refused, fail


def refuse(
    code: str, text: str, reason: str | None = None, *, invariant_id: str | None = None, **more: JsonValue
) -> Refused:
    """A refusal to raise. `system/1.0` has no details, so the reason travels as the cause as well. Raises KeyError."""
    details = more if reason is None else {"reason": reason, **more}
    return Refused(fail(code, text=text, details=details, cause=dict(details) or None, invariant_id=invariant_id))
