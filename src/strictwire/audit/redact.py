"""Redaction of stored values, and the check whether a stored value is unredacted.

The rules are in `fault.redact`, because the cause of a failure is also redacted before it is sent.
"""

from __future__ import annotations

from strictwire.canon.digest import digest
from strictwire.canon.json import JsonValue
from strictwire.fault.redact import redact

__all__ = ["is_whole", "redact"]


def is_whole(stored: JsonValue, original_digest: str | None) -> bool:
    """Whether a stored value equals the original, that is, nothing was redacted. Only then can the call be replayed."""
    return original_digest is not None and digest(stored) == original_digest
