"""`resolve/v0`: the error object of Context Resolve v0 (clauses R1 to R8). Exactly six codes, each with a fixed message."""

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
"""The six codes and their messages (R2, R6). Closed: an addition needs a new version with a new `$id` (R8)."""

_BY_ARGUMENT: Final = (("budget", "invalid_budget"), ("query", "invalid_query"), ("cache", "cache_missing"))
"""The code for each invalid argument, in the order of precedence (R5)."""


def render(failure: Failure, facts: Facts) -> JsonObject:  # noqa: ARG001 - every dialect has the same signature
    """`{"error": {"code", "message"}}`. Depends only on the failure, so equal failures give equal bytes (R7)."""
    code = code_of(failure)
    return {"error": {"code": code, "message": MESSAGES[code]}}


def code_of(failure: Failure) -> str:
    """The code of a failure; for invalid arguments, by the argument (R5)."""
    violations = read_violations(failure) if failure.code == "INVALID_PARAMS" else ()
    return _by_argument(violations) or RENDERINGS[failure.code].resolve


def _by_argument(violations: tuple[Violation, ...]) -> str | None:
    """The code of the invalid argument with the highest precedence. Unknown arguments count as `query`."""
    names = {"query" if each.keyword in UNKNOWN else each.argument for each in violations}
    return next((code for name, code in _BY_ARGUMENT if name in names), None)
