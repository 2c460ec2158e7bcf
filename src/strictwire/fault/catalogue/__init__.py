"""The catalogue: every failure code, and how each dialect spells it.

Each code has one entry (in `protocol`, `calls`, `governed` or `domains`: meaning, blame, stage, retry, text, action) and
one row of the table in `renderings`. A new code needs both; a test fails if one is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from strictwire.fault.catalogue.calls import CALL_ENTRIES
from strictwire.fault.catalogue.domains import DOMAIN_ENTRIES
from strictwire.fault.catalogue.entry import Blame, CatalogueEntry, Stage
from strictwire.fault.catalogue.governed import GOVERNED_ENTRIES
from strictwire.fault.catalogue.protocol import PROTOCOL_ENTRIES
from strictwire.fault.catalogue.renderings import RENDERINGS, Rendering

CATALOGUE: Final[Mapping[str, CatalogueEntry]] = MappingProxyType(
    {entry.code: entry for entry in (*PROTOCOL_ENTRIES, *CALL_ENTRIES, *GOVERNED_ENTRIES, *DOMAIN_ENTRIES)}
)
"""Entries by code. The only place that defines codes."""

PROTOCOL_CODES: Final = frozenset(entry.code for entry in PROTOCOL_ENTRIES)
"""Codes for failures before a tool call exists: rendered as protocol errors of the profile, never in a tool's dialect."""

__all__ = ["CATALOGUE", "PROTOCOL_CODES", "RENDERINGS", "Blame", "CatalogueEntry", "Rendering", "Stage"]
