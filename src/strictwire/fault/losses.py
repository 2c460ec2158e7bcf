"""Which fields of a failure each dialect carries, so that a client knows what it can rely on after reading."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from strictwire.fault.dialects.index import DIALECTS, HTTP, PROTOCOL


class Carried(StrEnum):
    """How much of a field a dialect carries."""

    WHOLE = "whole"
    """A client reads back the original value, within the bounds of `plain`."""
    PARTLY = "partly"
    """Different values may render to the same JSON."""
    LOST = "lost"
    """The value does not influence the JSON."""


FIELDS: Final = ("code", "stage", "blame", "retryable", "text", "details", "invariant_id", "cause", "own_code", "action")
"""The fields of a Failure in declaration order."""


def _row(**kept: Carried) -> Mapping[str, Carried]:
    return MappingProxyType({name: kept.get(name, Carried.LOST) for name in FIELDS})


CARRIED: Final[Mapping[str, Mapping[str, Carried]]] = MappingProxyType(
    {
        PROTOCOL: _row(
            code=Carried.WHOLE,
            retryable=Carried.WHOLE,
            text=Carried.WHOLE,
            details=Carried.WHOLE,
            own_code=Carried.WHOLE,
            action=Carried.WHOLE,
        ),
        "mcp": _row(
            code=Carried.PARTLY,
            retryable=Carried.WHOLE,
            text=Carried.PARTLY,
            details=Carried.WHOLE,
            invariant_id=Carried.WHOLE,
            own_code=Carried.WHOLE,
            action=Carried.WHOLE,
        ),
        "mcp/v1": _row(code=Carried.PARTLY, text=Carried.PARTLY, details=Carried.PARTLY),
        "resolve/v0": _row(code=Carried.PARTLY, details=Carried.PARTLY),
        "system/1.0": _row(
            code=Carried.PARTLY,
            text=Carried.PARTLY,
            details=Carried.PARTLY,
            invariant_id=Carried.WHOLE,
            cause=Carried.WHOLE,
        ),
        "canonical": _row(code=Carried.PARTLY),
        "editor/0.1": _row(code=Carried.PARTLY, text=Carried.PARTLY, details=Carried.PARTLY, own_code=Carried.PARTLY),
        HTTP: _row(code=Carried.WHOLE, retryable=Carried.WHOLE, text=Carried.WHOLE, details=Carried.WHOLE),
    }
)
"""How much of each field each dialect carries."""


def render_losses() -> str:
    """The table as Markdown."""
    head = ["| dialect | " + " | ".join(FIELDS) + " |", "|---" * (len(FIELDS) + 1) + "|"]
    rows = [f"| `{name}` | " + " | ".join(CARRIED[name][field] for field in FIELDS) + " |" for name in DIALECTS]
    return "\n".join(head + rows) + "\n"
