"""What the audit trail keeps of a value: the redactor of failures, and proof that a stored value is still whole.

The rules live in `fault.redact`, because a failure's cause passes them on its way to the wire too.
"""

from __future__ import annotations

from strictwire.canon.digest import digest
from strictwire.canon.json import JsonValue
from strictwire.fault.redact import redact

__all__ = ["is_whole", "redact"]


def is_whole(stored: JsonValue, original_digest: str | None) -> bool:
    """Whether a stored value is the original, not a redacted copy: then it can be sent again."""
    return original_digest is not None and digest(stored) == original_digest
