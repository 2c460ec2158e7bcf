"""The codes and numbers of each dialect, and the catalogue code that a reader maps each one to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from strictwire.fault.catalogue import RENDERINGS, Rendering
from strictwire.fault.dialects.editor_v01 import KINDS
from strictwire.fault.dialects.index import HTTP, PROTOCOL

Spelling: TypeAlias = str | int

_STANDARD: Final[Mapping[Spelling, str]] = MappingProxyType(
    {
        -32700: "NOT_JSON",
        -32600: "NOT_A_REQUEST",
        -32601: "METHOD_NOT_FOUND",
        -32602: "MALFORMED_PARAMS",
        -32603: "INTERNAL",
    }
)
"""The standard JSON-RPC error codes."""


def _identity(column: Callable[[Rendering], str]) -> dict[Spelling, str]:
    return {column(row): column(row) for row in RENDERINGS.values()}


NATIVE: Final[Mapping[str, Mapping[Spelling, str]]] = MappingProxyType(
    {
        PROTOCOL: {
            **_STANDARD,
            -32002: "RESOURCE_NOT_FOUND",
            -32020: "HEADER_MISMATCH",
            -32021: "MISSING_CAPABILITY",
            -32022: "UNSUPPORTED_VERSION",
        },
        "mcp": _identity(lambda row: row.mcp),
        "mcp/v1": _identity(lambda row: row.mcp_v1),
        "resolve/v0": {
            "cache_missing": "CACHE_MISSING",
            "cache_invalid": "CACHE_INVALID",
            "invalid_query": "INVALID_QUERY",
            "invalid_budget": "INVALID_BUDGET",
            "io_error": "IO_ERROR",
            "internal_error": "INTERNAL",
        },
        "system/1.0": _identity(lambda row: row.system),
        "canonical": {
            "INVALID_ENVELOPE": "NOT_A_REQUEST",
            "INVALID_TOOL_INPUT": "INVALID_PARAMS",
            "TOOL_NOT_FOUND": "UNKNOWN_TOOL",
            "INTERNAL_ERROR": "INTERNAL",
            -32600: "NOT_A_REQUEST",
            -32602: "INVALID_PARAMS",
            -32001: "UNKNOWN_TOOL",
            -32603: "INTERNAL",
        },
        "editor/0.1": {**_STANDARD, **{number: kind.code for number, kind in KINDS.items()}},
        HTTP: {code: code for code in RENDERINGS},
    }
)
"""For each dialect, its spellings and the catalogue code of each."""

_COLUMNS: Final[Mapping[str, Callable[[str, Rendering], Spelling]]] = MappingProxyType(
    {
        PROTOCOL: lambda _, row: row.rpc,
        "mcp": lambda _, row: row.mcp,
        "mcp/v1": lambda _, row: row.mcp_v1,
        "resolve/v0": lambda _, row: row.resolve,
        "system/1.0": lambda _, row: row.system,
        "canonical": lambda _, row: row.canonical,
        "editor/0.1": lambda _, row: row.editor,
        HTTP: lambda code, _: code,
    }
)


def spell(code: str, dialect: str) -> Spelling:
    """How a dialect spells a catalogue code without details. Raises KeyError if the code or the dialect is unknown."""
    return _COLUMNS[dialect](code, RENDERINGS[code])
