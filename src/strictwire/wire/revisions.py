"""The supported revisions of MCP and their features, as a table. Code checks a feature, never a date."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

MODERN: Final = "2026-07-28"
"""The stateless revision: no sessions, no handshake."""

LATEST_LEGACY: Final = "2025-11-25"
"""The newest revision with sessions, which `initialize` opens."""

ASSUMED: Final = "2025-03-26"
"""The revision of a legacy HTTP request without the header MCP-Protocol-Version, as the specification says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """The features of one revision."""

    name: str
    modern: bool = False
    batches: bool = False
    """A server must accept JSON-RPC batches."""
    structured: bool = True
    """`outputSchema`, `structuredContent`, `title` and resource links exist."""
    audio: bool = True
    annotations: bool = True
    icons: bool = True
    elicitation: bool = True
    resumable: bool = False
    """Event streams start with an event that has an id, so that a client can resume them."""


_TABLE: Final = (
    Revision(name="2024-11-05", structured=False, audio=False, annotations=False, icons=False, elicitation=False),
    Revision(name="2025-03-26", batches=True, structured=False, icons=False, elicitation=False),
    Revision(name="2025-06-18", icons=False),
    Revision(name=LATEST_LEGACY, resumable=True),
    Revision(name=MODERN, modern=True),
)

REVISIONS: Final[Mapping[str, Revision]] = MappingProxyType({revision.name: revision for revision in _TABLE})
"""All supported revisions by name, oldest first."""

LEGACY_NAMES: Final = tuple(name for name, revision in REVISIONS.items() if not revision.modern)
MODERN_NAMES: Final = tuple(name for name, revision in REVISIONS.items() if revision.modern)


def negotiate_legacy(requested: object) -> Revision:
    """The revision of a new legacy session: the requested one if it is supported, otherwise the latest legacy revision."""
    known = isinstance(requested, str) and requested in LEGACY_NAMES
    return REVISIONS[str(requested) if known else LATEST_LEGACY]
