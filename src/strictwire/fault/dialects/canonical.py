"""`canonical`: the four errors of the `envelope/v1` profile, and the class that maps their names (V8, V9, V16)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.fault.catalogue import RENDERINGS
from strictwire.fault.failure import Facts, Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    http: int
    rpc: int
    message: str


_TABLE: Final[Mapping[str, _Row]] = MappingProxyType(
    {
        "INVALID_ENVELOPE": _Row(http=400, rpc=-32600, message="Invalid MCP envelope"),
        "INVALID_TOOL_INPUT": _Row(http=422, rpc=-32602, message="Invalid tool input"),
        "TOOL_NOT_FOUND": _Row(http=404, rpc=-32001, message="Unknown tool"),
        "INTERNAL_ERROR": _Row(http=500, rpc=-32603, message="Internal error"),
    }
)

CANONICAL_CODES: Final = tuple(_TABLE)
"""The four names."""


class CanonicalError:
    """Maps error names to HTTP statuses and JSON-RPC errors."""

    @staticmethod
    def to_http_status(code: str) -> int:
        """The HTTP status. Raises KeyError for an unknown name."""
        return _TABLE[code].http

    @staticmethod
    def to_jsonrpc_error(code: str) -> JsonObject:
        """Exactly `{code, message}`, a new value on each call. Raises KeyError for an unknown name."""
        row = _TABLE[code]
        return {"code": row.rpc, "message": row.message}


def name_of(failure: Failure) -> str:
    """The name of the error for a failure."""
    return RENDERINGS[failure.code].canonical


def status_of(failure: Failure) -> int:
    """The HTTP status for a failure."""
    return CanonicalError.to_http_status(name_of(failure))


def render(failure: Failure, facts: Facts) -> JsonObject:  # noqa: ARG001 - every dialect has the same signature
    """The `error` member of a response."""
    return CanonicalError.to_jsonrpc_error(name_of(failure))
