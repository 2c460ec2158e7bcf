"""Validation of v0 arguments: budget, query and cache, in that order. Pure.

Over MCP the input schema has checked most of this already. The frozen stdio surface and the command line have no schema.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from strictwire.canon.json import JsonValue
from strictwire.fault.failure import Refused, fail

MAX_QUERY: Final = 65_536
"""Longest query, in characters: far above any real question, and short enough that scoring stays fast."""

MAX_TOOL_BUDGET: Final = (1 << 63) - 1
"""v0 reads the tool's budget as a signed 64-bit integer,"""

MAX_COMMAND_BUDGET: Final = (1 << 64) - 1
"""and the command line's as an unsigned one."""

_BUDGET_TEXT: Final = re.compile(r"\+?[0-9]+", re.ASCII)
_MAX_BUDGET_TEXT: Final = 4096
"""Longest budget text that is parsed; Python's `int` refuses more than 4300 digits."""

_RESOLVE: Final = frozenset({"cache", "query", "budget"})
_INSPECT: Final = frozenset({"cache"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolveRequest:
    """The arguments of one call of context.resolve."""

    cache: str
    query: str
    budget: int


def read_resolve_request(arguments: Mapping[str, JsonValue]) -> ResolveRequest:
    """Validate the arguments of context.resolve. Raises Refused: INVALID_BUDGET, INVALID_QUERY, CACHE_MISSING."""
    budget = arguments.get("budget")
    # `type`, not isinstance: v0 refuses `true`, which is an int in Python, and `3.0`, which is an integer in JSON Schema.
    if type(budget) is not int or not 0 <= budget <= MAX_TOOL_BUDGET:
        raise Refused(fail("INVALID_BUDGET"))
    query = check_query(arguments.get("query"))
    return ResolveRequest(cache=_read_cache(arguments, _RESOLVE), query=query, budget=budget)


def read_cache_name(arguments: Mapping[str, JsonValue]) -> str:
    """Validate the arguments of context.inspect_cache. Raises Refused: INVALID_QUERY, CACHE_MISSING."""
    return _read_cache(arguments, _INSPECT)


def check_query(query: object) -> str:
    """Return the query if it is valid Unicode and not too long. Raises Refused: INVALID_QUERY."""
    if not isinstance(query, str) or len(query) > MAX_QUERY or not _is_unicode(query):
        raise Refused(fail("INVALID_QUERY"))
    return query


def parse_budget(text: str) -> int:
    """Parse the budget of the command line: digits, optionally after a plus sign. Raises Refused: INVALID_BUDGET."""
    if len(text) > _MAX_BUDGET_TEXT or _BUDGET_TEXT.fullmatch(text) is None:
        raise Refused(fail("INVALID_BUDGET"))
    budget = int(text)
    if budget > MAX_COMMAND_BUDGET:
        raise Refused(fail("INVALID_BUDGET"))
    return budget


def _read_cache(arguments: Mapping[str, JsonValue], known: frozenset[str]) -> str:
    if not known >= arguments.keys():
        raise Refused(fail("INVALID_QUERY"))
    cache = arguments.get("cache")
    if not isinstance(cache, str) or not _is_unicode(cache):
        raise Refused(fail("CACHE_MISSING"))
    return cache


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
