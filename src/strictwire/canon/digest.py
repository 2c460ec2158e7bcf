"""SHA-256 digests of bytes and of JSON values."""

from __future__ import annotations

import hashlib
from typing import Final

from strictwire.canon.json import JsonValue, render_sorted

PREFIX: Final = "sha256:"
"""A digest starts with the name of its algorithm, so that another algorithm can be added later."""


def sha256(*parts: bytes) -> bytes:
    """The raw SHA-256 of the concatenated parts."""
    return hashlib.sha256(b"".join(parts)).digest()


def digest_bytes(raw: bytes) -> str:
    """The digest of bytes as they are."""
    return PREFIX + hashlib.sha256(raw).hexdigest()


def digest(value: JsonValue) -> str:
    """The digest of a JSON value. It does not depend on the member order."""
    return digest_bytes(render_sorted(value))
