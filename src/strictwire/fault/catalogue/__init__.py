"""Every code a Failure can have, and how each dialect spells it.

One code is one entry (`protocol`, `calls`, `governed`, `domains`: meaning, blame, stage, retry, text, action) and one
row of the table in `renderings`. A new code needs both; a test fails when one of them is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from strictwire.fault.catalogue.calls import CALL_ENTRIES
from strictwire.fault.catalogue.domains import DOMAIN_ENTRIES
from strictwire.fault.catalogue.entry import Blame, Entry, Stage
from strictwire.fault.catalogue.governed import GOVERNED_ENTRIES
from strictwire.fault.catalogue.protocol import PROTOCOL_ENTRIES
from strictwire.fault.catalogue.renderings import RENDERINGS, Rendering

CATALOGUE: Final[Mapping[str, Entry]] = MappingProxyType(
    {entry.code: entry for entry in (*PROTOCOL_ENTRIES, *CALL_ENTRIES, *GOVERNED_ENTRIES, *DOMAIN_ENTRIES)}
)
"""Code to entry. The only source of codes."""

PROTOCOL_CODES: Final = frozenset(entry.code for entry in PROTOCOL_ENTRIES)
"""What happens before there is a call of a tool: always an error of the profile, never of a tool's dialect."""

__all__ = ["CATALOGUE", "PROTOCOL_CODES", "RENDERINGS", "Blame", "Entry", "Rendering", "Stage"]
