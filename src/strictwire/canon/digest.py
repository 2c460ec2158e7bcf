"""Digests over canonical JSON."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Final

from strictwire.canon.json import JsonValue, render_sorted
from strictwire.native import speed

PREFIX: Final = "sha256:"
"""Digests name their algorithm, so that a later one can stand beside it."""


def sha256_in_python(*parts: bytes) -> bytes:
    """The SHA-256 of some bytes one after the other."""
    return hashlib.sha256(b"".join(parts)).digest()


sha256: Final[Callable[..., bytes]] = getattr(speed, "sha256", sha256_in_python)
"""`sha256_in_python`, by whoever is faster on short ones."""


def digest_bytes(raw: bytes) -> str:
    """The digest of exact bytes."""
    return PREFIX + sha256(raw).hex()


def digest(value: JsonValue) -> str:
    """The digest of a value: equal values have equal digests whatever their member order."""
    return digest_bytes(render_sorted(value))
