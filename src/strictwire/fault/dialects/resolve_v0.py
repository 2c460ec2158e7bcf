"""`resolve/v0`: the error object of Context Resolve v0 (R). Six codes, six sentences, nothing else, ever."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.fault.catalogue import RENDERINGS
from strictwire.fault.failure import Facts, Failure
from strictwire.fault.violations import UNKNOWN, Violation, read_violations

MESSAGES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "cache_missing": "Cache does not exist",
        "cache_invalid": "Cache exists but is invalid",
        "invalid_query": "Query is invalid",
        "invalid_budget": "Budget is invalid",
        "io_error": "I/O error occurred",
        "internal_error": "Internal error",
    }
)
"""The six codes with their sentences (R2, R6). Closed: an addition is a new version with a new `$id` (R8)."""

_BY_ARGUMENT: Final = (("budget", "invalid_budget"), ("query", "invalid_query"), ("cache", "cache_missing"))
"""R5, in the order in which arguments are judged."""


def render(failure: Failure, facts: Facts) -> JsonObject:  # noqa: ARG001 - every dialect takes the same two
    """`{"error": {"code", "message"}}`. Depends on nothing but the failure, so it is the same bytes each time (R7)."""
    code = code_of(failure)
    return {"error": {"code": code, "message": MESSAGES[code]}}


def code_of(failure: Failure) -> str:
    """The code; for arguments that do not fit, by the argument (R5)."""
    violations = read_violations(failure) if failure.code == "INVALID_PARAMS" else ()
    return _by_argument(violations) or RENDERINGS[failure.code].resolve


def _by_argument(violations: tuple[Violation, ...]) -> str | None:
    """Budget first, then query and unknown arguments, then cache."""
    names = {"query" if each.keyword in UNKNOWN else each.argument for each in violations}
    return next((code for name, code in _BY_ARGUMENT if name in names), None)
