"""The JSON-RPC error numbers of MCP, which differ between the eras."""

from __future__ import annotations

from typing import Final

from strictwire.fault.catalogue import RENDERINGS
from strictwire.fault.failure import Facts, Failure

FIRST_MODERN: Final = "2026-07-28"
"""The first revision with the new allocation of numbers. Revisions are ISO dates, so they compare as strings."""


def number_of(failure: Failure, facts: Facts) -> int:
    """The JSON-RPC code of a protocol error in the revision of the connection."""
    row = RENDERINGS[failure.code]
    return row.rpc if is_modern(facts) else row.rpc_legacy


def is_modern(facts: Facts) -> bool:
    """Whether the revision of the connection is 2026-07-28 or later."""
    return facts.revision >= FIRST_MODERN
