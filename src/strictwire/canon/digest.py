"""Digests over canonical JSON."""

from __future__ import annotations

import hashlib
from typing import Final

from strictwire.canon.json import JsonValue, render_sorted

PREFIX: Final = "sha256:"
"""Digests name their algorithm, so that a later one can stand beside it."""


def sha256(*parts: bytes) -> bytes:
    """The SHA-256 of the concatenation of some bytes."""
    return hashlib.sha256(b"".join(parts)).digest()


def digest_bytes(raw: bytes) -> str:
    """The digest of exact bytes."""
    return PREFIX + hashlib.sha256(raw).hexdigest()


def digest(value: JsonValue) -> str:
    """The digest of a value: equal values have equal digests whatever their member order."""
    return digest_bytes(render_sorted(value))
