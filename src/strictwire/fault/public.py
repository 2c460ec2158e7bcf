"""The parts of a failure that every dialect may show, made safe to send: text and details."""

from __future__ import annotations

from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.fault.catalogue import CATALOGUE
from strictwire.fault.failure import Failure
from strictwire.fault.plain import plain, plain_text

MAX_TOOL_NAME: Final = 200
"""Characters of a tool's name that are repeated to whoever asked for it (A.2)."""

MAX_INVARIANT: Final = 100
"""Characters of an invariant's id; ours are far shorter, others may come from elsewhere."""


def public_text(failure: Failure) -> str:
    """The sentence of the failure, or of its code where it brings none."""
    usual = CATALOGUE[failure.code].text
    return usual if failure.text == usual else plain_text(failure.text) or usual


def public_details(failure: Failure) -> JsonObject:
    """The details as JSON within bounds; a fresh value."""
    if not failure.details:
        return {}
    details = plain(dict(failure.details))
    return details if isinstance(details, dict) else {}


def invariant_id(failure: Failure) -> str | None:
    """Which invariant broke; None if none did."""
    return plain_text(failure.invariant_id or "", MAX_INVARIANT) or None


def tool_name(name: str) -> str:
    """A tool's name as it is repeated to the caller."""
    return plain_text(name.strip(), MAX_TOOL_NAME)


def joined(phrase: str, more: str) -> str:
    """`phrase: more`, within the bounds of a text; the phrase alone if there is no more."""
    return plain_text(f"{phrase}: {more}") if more else phrase
