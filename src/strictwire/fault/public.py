"""The public parts of a failure, bounded and redacted, for every dialect: text, details, names."""

from __future__ import annotations

from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.fault.catalogue import CATALOGUE
from strictwire.fault.failure import Failure
from strictwire.fault.plain import plain, plain_text

MAX_TOOL_NAME: Final = 200
"""Longest tool name, in characters, that a failure repeats to the caller."""

MAX_INVARIANT: Final = 100
"""Longest invariant id in characters. Ours are shorter; a failure read from another server may have any."""


MAX_CODE: Final = 100
"""Longest code of an author in characters. Ours are shorter; a failure read from another server may have any."""


def public_text(failure: Failure) -> str:
    """The message of the failure, or the default of its code."""
    default = CATALOGUE[failure.code].text
    return default if failure.text == default else plain_text(failure.text) or default


def public_details(failure: Failure) -> JsonObject:
    """The details as bounded JSON; a new value on each call."""
    if not failure.details:
        return {}
    details = plain(dict(failure.details))
    return details if isinstance(details, dict) else {}


def public_code(failure: Failure, code: str) -> str:
    """The author's own code, or `code`."""
    return code if failure.own_code is None else plain_text(failure.own_code, MAX_CODE) or code


def public_action(failure: Failure, code: str) -> str:
    """What the client should do: the author's words, or those of `code`."""
    return CATALOGUE[code].action if failure.action is None else plain_text(failure.action) or CATALOGUE[code].action


def invariant_id(failure: Failure) -> str | None:
    """The id of the violated invariant, or None."""
    return plain_text(failure.invariant_id or "", MAX_INVARIANT) or None


def tool_name(name: str) -> str:
    """A tool name, bounded and redacted."""
    return plain_text(name.strip(), MAX_TOOL_NAME)


def joined(phrase: str, more: str) -> str:
    """`phrase: more`, bounded; only the phrase if `more` is empty."""
    return plain_text(f"{phrase}: {more}") if more else phrase
