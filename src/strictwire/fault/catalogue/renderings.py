"""The table of spellings: how each dialect spells each code, one line per code.

`=` means the code itself, and in the column `legacy` the number to its left. For invalid arguments and denied permissions,
some dialects choose a more specific code from the details of the failure; the table has the code without details.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

_NAMES: Final = """
code                          mcp               mcp/v1            resolve/v0     system/1.0
HTTP_MALFORMED                =                 INVALID_PARAMS    invalid_query  INVALID_INPUT_FORMAT
PATH_UNKNOWN                  =                 INVALID_PARAMS    invalid_query  INVALID_INPUT_VALUE
HTTP_METHOD_DENIED            =                 INVALID_PARAMS    invalid_query  INVALID_INPUT_VALUE
HOST_DENIED                   =                 PERMISSION_DENIED cache_missing  INSUFFICIENT_PERMISSIONS
ORIGIN_DENIED                 =                 PERMISSION_DENIED cache_missing  INSUFFICIENT_PERMISSIONS
UNAUTHENTICATED               =                 PERMISSION_DENIED cache_missing  INSUFFICIENT_PERMISSIONS
UNSUPPORTED_MEDIA_TYPE        =                 INVALID_PARAMS    invalid_query  INVALID_INPUT_FORMAT
NOT_ACCEPTABLE                =                 INVALID_PARAMS    invalid_query  INVALID_INPUT_FORMAT
REQUEST_TOO_LARGE             =                 INVALID_PARAMS    invalid_query  INVALID_INPUT_VALUE
NOT_JSON                      =                 INVALID_PARAMS    invalid_query  INVALID_INPUT_FORMAT
NOT_A_REQUEST                 =                 INVALID_PARAMS    invalid_query  INVALID_INPUT_FORMAT
DUPLICATE_ID                  =                 INVALID_PARAMS    invalid_query  INVALID_INPUT_VALUE
SESSION_REQUIRED              =                 INVALID_PARAMS    invalid_query  SESSION_NOT_INITIALIZED
SESSION_UNKNOWN               =                 INVALID_PARAMS    invalid_query  SESSION_NOT_INITIALIZED
HEADER_MISMATCH               =                 INVALID_PARAMS    invalid_query  INVALID_INPUT_VALUE
UNSUPPORTED_VERSION           =                 INVALID_PARAMS    invalid_query  INVALID_INPUT_VALUE
METHOD_NOT_FOUND              =                 INVALID_PARAMS    invalid_query  INVALID_INPUT_VALUE
MALFORMED_PARAMS              =                 INVALID_PARAMS    invalid_query  INVALID_INPUT_FORMAT
INVALID_CURSOR                =                 CURSOR_INVALID    invalid_query  INVALID_INPUT_VALUE
STATE_REJECTED                =                 INVALID_PARAMS    invalid_query  INVALID_INPUT_VALUE
TASK_UNKNOWN                  =                 NOT_FOUND         invalid_query  INVALID_INPUT_VALUE
UNKNOWN_TOOL                  =                 INVALID_PARAMS    invalid_query  INVALID_INPUT_VALUE
UNKNOWN_PROMPT                =                 INVALID_PARAMS    invalid_query  INVALID_INPUT_VALUE
RESOURCE_NOT_FOUND            =                 NOT_FOUND         cache_missing  FILE_NOT_FOUND
MISSING_CAPABILITY            =                 INVALID_PARAMS    invalid_query  INVALID_INPUT_VALUE
OVERLOADED                    =                 =                 io_error       UNKNOWN_TOOL_FAILURE
RATE_LIMITED                  OVERLOADED        OVERLOADED        io_error       UNKNOWN_TOOL_FAILURE
PERMISSION_DENIED             =                 =                 cache_missing  INSUFFICIENT_PERMISSIONS
INVALID_PARAMS                =                 =                 invalid_query  INVALID_INPUT_VALUE
TIMEOUT                       =                 CAP_EXCEEDED      internal_error UNKNOWN_TOOL_FAILURE
CANCELLED                     =                 INTERNAL          internal_error UNKNOWN_TOOL_FAILURE
ANSWER_INVALID                =                 INVALID_PARAMS    invalid_query  INVALID_INPUT_VALUE
ANSWER_DECLINED               =                 INTERNAL          internal_error UNKNOWN_TOOL_FAILURE
TOOL_FAILED                   =                 INTERNAL          internal_error UNKNOWN_TOOL_FAILURE
CONFLICT                      =                 INVALID_PARAMS    cache_invalid  HASH_MISMATCH
UNAVAILABLE                   =                 PROVIDER_UNAVAILABLE io_error    UNKNOWN_TOOL_FAILURE
OUTPUT_INVALID                =                 INTERNAL          internal_error INTERNAL_ERROR
CAP_EXCEEDED                  =                 =                 internal_error UNKNOWN_TOOL_FAILURE
AUDIT_UNAVAILABLE             =                 INTERNAL          io_error       AUDIT_LOG_FAILED
INTERNAL                      =                 =                 internal_error INTERNAL_ERROR
SESSION_NOT_INITIALIZED       =                 PERMISSION_DENIED internal_error =
SESSION_LOCKED                =                 PERMISSION_DENIED internal_error =
SESSION_INITIALIZATION_FAILED =                 WORKSPACE_DENIED  cache_missing  =
INVALID_INPUT_TYPE            INVALID_PARAMS    INVALID_PARAMS    invalid_query  =
INVALID_INPUT_FORMAT          INVALID_PARAMS    INVALID_PARAMS    invalid_query  =
INVALID_INPUT_VALUE           INVALID_PARAMS    INVALID_PARAMS    invalid_query  =
MISSING_REQUIRED_FIELD        INVALID_PARAMS    INVALID_PARAMS    invalid_query  =
UNAUTHORIZED_ACTION           PERMISSION_DENIED PERMISSION_DENIED cache_missing  =
INSUFFICIENT_PERMISSIONS      PERMISSION_DENIED PERMISSION_DENIED cache_missing  =
ROLE_MISMATCH                 =                 PERMISSION_DENIED cache_missing  =
INVALID_PATH                  =                 URI_INVALID       cache_missing  =
PATH_NOT_FOUND                =                 NOT_FOUND         cache_missing  =
PATH_TRAVERSAL_BLOCKED        =                 WORKSPACE_DENIED  cache_missing  =
OUTSIDE_WORKSPACE             =                 WORKSPACE_DENIED  cache_missing  =
FILE_NOT_FOUND                =                 NOT_FOUND         cache_missing  =
FILE_ALREADY_EXISTS           =                 INVALID_PARAMS    io_error       =
FILE_READ_FAILED              =                 INTERNAL          io_error       =
FILE_WRITE_FAILED             =                 INTERNAL          io_error       =
PATCH_INVALID                 =                 INVALID_PARAMS    invalid_query  =
PATCH_APPLY_FAILED            =                 INVALID_PARAMS    io_error       =
HASH_MISMATCH                 =                 CURSOR_STALE      cache_invalid  =
PLAN_NOT_FOUND                =                 NOT_FOUND         cache_missing  =
PLAN_NOT_APPROVED             =                 PERMISSION_DENIED cache_missing  =
PLAN_ENFORCEMENT_FAILED       =                 PERMISSION_DENIED cache_invalid  =
PLAN_SCOPE_VIOLATION          =                 PERMISSION_DENIED cache_missing  =
POLICY_VIOLATION              =                 PERMISSION_DENIED cache_missing  =
RUST_POLICY_VIOLATION         =                 PERMISSION_DENIED cache_missing  =
PREFLIGHT_FAILED              =                 INTERNAL          internal_error =
INVARIANT_VIOLATION           =                 INTERNAL          internal_error =
BOOTSTRAP_FAILURE             =                 INTERNAL          internal_error =
SELF_AUDIT_FAILURE            =                 INTERNAL          internal_error =
AUDIT_LOG_FAILED              AUDIT_UNAVAILABLE INTERNAL          io_error       =
AUDIT_LOCK_FAILED             AUDIT_UNAVAILABLE INTERNAL          io_error       =
INTERNAL_ERROR                INTERNAL          INTERNAL          internal_error =
UNKNOWN_TOOL_FAILURE          TOOL_FAILED       INTERNAL          internal_error =
CACHE_MISSING                 =                 NOT_FOUND         cache_missing  PATH_NOT_FOUND
CACHE_INVALID                 =                 INTERNAL          cache_invalid  FILE_READ_FAILED
INVALID_QUERY                 =                 INVALID_PARAMS    invalid_query  INVALID_INPUT_VALUE
INVALID_BUDGET                =                 INVALID_PARAMS    invalid_budget INVALID_INPUT_VALUE
IO_ERROR                      =                 INTERNAL          io_error       FILE_READ_FAILED
CURSOR_INVALID                =                 =                 invalid_query  INVALID_INPUT_VALUE
CURSOR_STALE                  =                 =                 cache_invalid  HASH_MISMATCH
CURSOR_EXPIRED                =                 =                 cache_missing  INVALID_INPUT_VALUE
SNAPSHOT_TOO_LARGE            =                 =                 internal_error UNKNOWN_TOOL_FAILURE
URI_INVALID                   =                 =                 cache_missing  INVALID_PATH
WORKSPACE_DENIED              =                 =                 cache_missing  OUTSIDE_WORKSPACE
NOT_FOUND                     =                 =                 cache_missing  FILE_NOT_FOUND
PROVIDER_UNAVAILABLE          =                 =                 io_error       UNKNOWN_TOOL_FAILURE
UNITY_ERROR                   =                 NOT_FOUND         io_error       FILE_READ_FAILED
UPSTREAM_GONE                 =                 PROVIDER_UNAVAILABLE io_error    UNKNOWN_TOOL_FAILURE
UPSTREAM_BROKE                =                 INTERNAL          internal_error UNKNOWN_TOOL_FAILURE
UPSTREAM_ERROR                =                 INTERNAL          internal_error UNKNOWN_TOOL_FAILURE
CONTRACT_CHANGED              =                 PERMISSION_DENIED cache_invalid  POLICY_VIOLATION
"""
"""The dialects that name their codes."""

_NUMBERS: Final = """
code                          rpc    legacy canonical          editor http exit
HTTP_MALFORMED                -32600 =      INVALID_ENVELOPE   -32600 400  2
PATH_UNKNOWN                  -32600 =      INVALID_ENVELOPE   -32600 404  2
HTTP_METHOD_DENIED            -32600 =      INVALID_ENVELOPE   -32600 405  2
HOST_DENIED                   -32600 =      INVALID_ENVELOPE   -32600 421  1
ORIGIN_DENIED                 -32600 =      INVALID_ENVELOPE   -32600 403  1
UNAUTHENTICATED               -32600 =      INVALID_ENVELOPE   -32600 401  1
UNSUPPORTED_MEDIA_TYPE        -32600 =      INVALID_ENVELOPE   -32600 415  2
NOT_ACCEPTABLE                -32600 =      INVALID_ENVELOPE   -32600 406  2
REQUEST_TOO_LARGE             -32600 =      INVALID_ENVELOPE   -32600 413  2
NOT_JSON                      -32700 =      INVALID_ENVELOPE   -32700 400  2
NOT_A_REQUEST                 -32600 =      INVALID_ENVELOPE   -32600 400  2
DUPLICATE_ID                  -32600 =      INVALID_ENVELOPE   -32600 400  2
SESSION_REQUIRED              -32600 =      INVALID_ENVELOPE   -32600 400  2
SESSION_UNKNOWN               -32600 =      INVALID_ENVELOPE   -32600 404  2
HEADER_MISMATCH               -32020 -32600 INVALID_ENVELOPE   -32600 400  2
UNSUPPORTED_VERSION           -32022 -32602 INVALID_ENVELOPE   -32600 400  2
METHOD_NOT_FOUND              -32601 =      INVALID_ENVELOPE   -32601 404  2
MALFORMED_PARAMS              -32602 =      INVALID_ENVELOPE   -32602 400  2
INVALID_CURSOR                -32602 =      INVALID_ENVELOPE   -32602 400  2
STATE_REJECTED                -32602 =      INVALID_ENVELOPE   -32602 400  2
TASK_UNKNOWN                  -32602 =      INVALID_ENVELOPE   -32602 404  2
UNKNOWN_TOOL                  -32602 =      TOOL_NOT_FOUND     -32001 404  2
UNKNOWN_PROMPT                -32602 =      INVALID_ENVELOPE   -32602 404  2
RESOURCE_NOT_FOUND            -32602 -32002 INVALID_ENVELOPE   -32602 404  1
MISSING_CAPABILITY            -32021 -32602 INTERNAL_ERROR     -32000 400  2
OVERLOADED                    -32603 =      INTERNAL_ERROR     -32000 503  1
RATE_LIMITED                  -32603 =      INTERNAL_ERROR     -32000 429  1
PERMISSION_DENIED             -32603 =      INTERNAL_ERROR     -32005 403  1
INVALID_PARAMS                -32602 =      INVALID_TOOL_INPUT -32002 422  2
TIMEOUT                       -32603 =      INTERNAL_ERROR     -32003 504  1
CANCELLED                     -32603 =      INTERNAL_ERROR     -32000 500  1
ANSWER_INVALID                -32602 =      INTERNAL_ERROR     -32000 400  2
ANSWER_DECLINED               -32603 =      INTERNAL_ERROR     -32000 400  1
TOOL_FAILED                   -32603 =      INTERNAL_ERROR     -32000 500  1
CONFLICT                      -32603 =      INTERNAL_ERROR     -32000 409  1
UNAVAILABLE                   -32603 =      INTERNAL_ERROR     -32000 503  1
OUTPUT_INVALID                -32603 =      INTERNAL_ERROR     -32603 500  1
CAP_EXCEEDED                  -32603 =      INTERNAL_ERROR     -32000 500  1
AUDIT_UNAVAILABLE             -32603 =      INTERNAL_ERROR     -32603 503  1
INTERNAL                      -32603 =      INTERNAL_ERROR     -32603 500  1
SESSION_NOT_INITIALIZED       -32603 =      INTERNAL_ERROR     -32000 409  1
SESSION_LOCKED                -32603 =      INTERNAL_ERROR     -32000 423  1
SESSION_INITIALIZATION_FAILED -32603 =      INTERNAL_ERROR     -32000 422  1
INVALID_INPUT_TYPE            -32602 =      INVALID_TOOL_INPUT -32002 422  2
INVALID_INPUT_FORMAT          -32602 =      INVALID_TOOL_INPUT -32002 422  2
INVALID_INPUT_VALUE           -32602 =      INVALID_TOOL_INPUT -32002 422  2
MISSING_REQUIRED_FIELD        -32602 =      INVALID_TOOL_INPUT -32002 422  2
UNAUTHORIZED_ACTION           -32603 =      INTERNAL_ERROR     -32005 403  1
INSUFFICIENT_PERMISSIONS      -32603 =      INTERNAL_ERROR     -32005 403  1
ROLE_MISMATCH                 -32603 =      INTERNAL_ERROR     -32005 403  1
INVALID_PATH                  -32602 =      INVALID_TOOL_INPUT -32000 422  1
PATH_NOT_FOUND                -32603 =      INTERNAL_ERROR     -32000 404  1
PATH_TRAVERSAL_BLOCKED        -32602 =      INVALID_TOOL_INPUT -32000 422  1
OUTSIDE_WORKSPACE             -32602 =      INVALID_TOOL_INPUT -32000 422  1
FILE_NOT_FOUND                -32603 =      INTERNAL_ERROR     -32000 404  1
FILE_ALREADY_EXISTS           -32603 =      INTERNAL_ERROR     -32000 409  1
FILE_READ_FAILED              -32603 =      INTERNAL_ERROR     -32000 500  1
FILE_WRITE_FAILED             -32603 =      INTERNAL_ERROR     -32000 500  1
PATCH_INVALID                 -32602 =      INVALID_TOOL_INPUT -32000 422  1
PATCH_APPLY_FAILED            -32603 =      INTERNAL_ERROR     -32000 409  1
HASH_MISMATCH                 -32603 =      INTERNAL_ERROR     -32000 409  1
PLAN_NOT_FOUND                -32603 =      INTERNAL_ERROR     -32000 404  1
PLAN_NOT_APPROVED             -32603 =      INTERNAL_ERROR     -32005 403  1
PLAN_ENFORCEMENT_FAILED       -32603 =      INTERNAL_ERROR     -32005 403  1
PLAN_SCOPE_VIOLATION          -32603 =      INTERNAL_ERROR     -32005 403  1
POLICY_VIOLATION              -32603 =      INTERNAL_ERROR     -32005 403  1
RUST_POLICY_VIOLATION         -32603 =      INTERNAL_ERROR     -32005 403  1
PREFLIGHT_FAILED              -32603 =      INTERNAL_ERROR     -32000 422  1
INVARIANT_VIOLATION           -32603 =      INTERNAL_ERROR     -32603 500  1
BOOTSTRAP_FAILURE             -32603 =      INTERNAL_ERROR     -32603 503  1
SELF_AUDIT_FAILURE            -32603 =      INTERNAL_ERROR     -32603 503  1
AUDIT_LOG_FAILED              -32603 =      INTERNAL_ERROR     -32603 503  1
AUDIT_LOCK_FAILED             -32603 =      INTERNAL_ERROR     -32603 503  1
INTERNAL_ERROR                -32603 =      INTERNAL_ERROR     -32603 500  1
UNKNOWN_TOOL_FAILURE          -32603 =      INTERNAL_ERROR     -32000 500  1
CACHE_MISSING                 -32603 =      INTERNAL_ERROR     -32000 404  1
CACHE_INVALID                 -32603 =      INTERNAL_ERROR     -32000 500  1
INVALID_QUERY                 -32602 =      INVALID_TOOL_INPUT -32002 422  2
INVALID_BUDGET                -32602 =      INVALID_TOOL_INPUT -32002 422  2
IO_ERROR                      -32603 =      INTERNAL_ERROR     -32000 503  1
CURSOR_INVALID                -32602 =      INVALID_TOOL_INPUT -32000 422  1
CURSOR_STALE                  -32602 =      INTERNAL_ERROR     -32000 409  1
CURSOR_EXPIRED                -32602 =      INTERNAL_ERROR     -32000 410  1
SNAPSHOT_TOO_LARGE            -32602 =      INTERNAL_ERROR     -32000 500  1
URI_INVALID                   -32602 =      INVALID_TOOL_INPUT -32000 422  1
WORKSPACE_DENIED              -32602 =      INVALID_TOOL_INPUT -32000 403  1
NOT_FOUND                     -32602 =      INTERNAL_ERROR     -32000 404  1
PROVIDER_UNAVAILABLE          -32603 =      INTERNAL_ERROR     -32000 502  1
UNITY_ERROR                   -32603 =      INTERNAL_ERROR     -32004 404  1
UPSTREAM_GONE                 -32603 =      INTERNAL_ERROR     -32000 502  1
UPSTREAM_BROKE                -32603 =      INTERNAL_ERROR     -32000 502  1
UPSTREAM_ERROR                -32603 =      INTERNAL_ERROR     -32000 502  1
CONTRACT_CHANGED              -32603 =      INTERNAL_ERROR     -32005 403  1
"""
"""The dialects that number them: JSON-RPC errors of MCP in 2026-07-28 and before, of `canonical` (by its name) and of
`editor/0.1`; the HTTP status of the condition itself; the exit code of a command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """One line of the table."""

    mcp: str
    mcp_v1: str
    resolve: str
    system: str
    rpc: int
    """The protocol error of MCP from 2026-07-28 on."""
    rpc_legacy: int
    """The protocol error of MCP before 2026-07-28."""
    canonical: str
    editor: int
    http: int
    exit: int


def _read(table: str) -> dict[str, list[str]]:
    _, *lines = table.strip().splitlines()
    return {code: cells for code, *cells in map(str.split, lines)}


def _rendering(code: str, names: list[str], numbers: list[str]) -> Rendering:
    mcp, mcp_v1, resolve, system = (code if cell == "=" else cell for cell in names)
    rpc, legacy, canonical, editor, http, exit_code = numbers
    return Rendering(
        mcp=mcp,
        mcp_v1=mcp_v1,
        resolve=resolve,
        system=system,
        rpc=int(rpc),
        rpc_legacy=int(rpc if legacy == "=" else legacy),
        canonical=canonical,
        editor=int(editor),
        http=int(http),
        exit=int(exit_code),
    )


def _join(names: dict[str, list[str]], numbers: dict[str, list[str]]) -> dict[str, Rendering]:
    return {code: _rendering(code, cells, numbers[code]) for code, cells in names.items()}


RENDERINGS: Final[Mapping[str, Rendering]] = MappingProxyType(_join(_read(_NAMES), _read(_NUMBERS)))
"""Spellings by code."""
