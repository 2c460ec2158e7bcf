"""The revisions of MCP as data: what changes between them, so that no code asks for a date."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

MODERN: Final = "2026-07-28"
LATEST_LEGACY: Final = "2025-11-25"
ASSUMED: Final = "2025-03-26"
"""What a legacy HTTP request without a version header speaks, by the specification."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """What one revision has."""

    name: str
    modern: bool = False
    batches: bool = False
    """Receiving JSON-RPC batches is required."""
    structured: bool = True
    """`outputSchema`, `structuredContent`, `title` and resource links exist."""
    audio: bool = True
    annotations: bool = True
    icons: bool = True
    elicitation: bool = True
    resumable: bool = False
    """Streams start with an event that has an id, so that a client can come back to them."""


_TABLE: Final = (
    Revision(name="2024-11-05", structured=False, audio=False, annotations=False, icons=False, elicitation=False),
    Revision(name="2025-03-26", batches=True, structured=False, icons=False, elicitation=False),
    Revision(name="2025-06-18", icons=False),
    Revision(name=LATEST_LEGACY, resumable=True),
    Revision(name=MODERN, modern=True),
)

REVISIONS: Final[Mapping[str, Revision]] = MappingProxyType({revision.name: revision for revision in _TABLE})
"""Every revision spoken, oldest first."""

LEGACY_NAMES: Final = tuple(name for name, revision in REVISIONS.items() if not revision.modern)
MODERN_NAMES: Final = tuple(name for name, revision in REVISIONS.items() if revision.modern)


def negotiate_legacy(requested: object) -> Revision:
    """The revision of a new legacy session: the one asked for, or our latest legacy one."""
    known = isinstance(requested, str) and requested in LEGACY_NAMES
    return REVISIONS[str(requested) if known else LATEST_LEGACY]
