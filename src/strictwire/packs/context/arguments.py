"""What callers may ask of v0: budget, query and cache, judged in that order. Pure.

Over MCP the schema has judged most of this already; the frozen surface and the command line come here directly.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from strictwire.canon.json import JsonValue
from strictwire.fault.failure import Refused, fail

MAX_QUERY: Final = 65_536
"""Characters of a query: far above any question, far below what scoring would feel."""

MAX_TOOL_BUDGET: Final = (1 << 63) - 1
MAX_COMMAND_BUDGET: Final = (1 << 64) - 1

_BUDGET_TEXT: Final = re.compile(r"\+?[0-9]+", re.ASCII)
_MAX_BUDGET_TEXT: Final = 4096
_RESOLVE: Final = frozenset({"cache", "query", "budget"})
_INSPECT: Final = frozenset({"cache"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One call of context.resolve."""

    cache: str
    query: str
    budget: int


def read_question(arguments: Mapping[str, JsonValue]) -> Question:
    """The arguments of context.resolve. Raises Refused: INVALID_BUDGET, INVALID_QUERY, CACHE_MISSING."""
    budget = arguments.get("budget")
    # `type`, not isinstance: `true` is no budget; and `3.0`, which a schema calls an integer, is none in v0.
    if type(budget) is not int or not 0 <= budget <= MAX_TOOL_BUDGET:
        raise Refused(fail("INVALID_BUDGET"))
    query = check_query(arguments.get("query"))
    return Question(cache=_read_cache(arguments, _RESOLVE), query=query, budget=budget)


def read_cache_name(arguments: Mapping[str, JsonValue]) -> str:
    """The arguments of context.inspect_cache. Raises Refused: INVALID_QUERY, CACHE_MISSING."""
    return _read_cache(arguments, _INSPECT)


def check_query(query: object) -> str:
    """The query, if it is text that JSON can carry and not too long. Raises Refused: INVALID_QUERY."""
    if not isinstance(query, str) or len(query) > MAX_QUERY or not _is_unicode(query):
        raise Refused(fail("INVALID_QUERY"))
    return query


def parse_budget(text: str) -> int:
    """A budget as the command line takes it: digits, with a plus at most. Raises Refused: INVALID_BUDGET."""
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
