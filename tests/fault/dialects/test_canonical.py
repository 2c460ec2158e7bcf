"""The four canonical errors (V8, V9)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from strictwire.fault.catalogue import CATALOGUE
from strictwire.fault.dialects.canonical import CANONICAL_CODES, CanonicalError, render, status_of
from strictwire.fault.failure import Facts, fail

TABLE = [
    ("INVALID_ENVELOPE", 400, -32600, "Invalid MCP envelope"),
    ("INVALID_TOOL_INPUT", 422, -32602, "Invalid tool input"),
    ("TOOL_NOT_FOUND", 404, -32001, "Unknown tool"),
    ("INTERNAL_ERROR", 500, -32603, "Internal error"),
]


@pytest.mark.clause("V8")
@pytest.mark.parametrize(("code", "status", "number", "message"), TABLE)
def test_the_four_codes_are_exactly_those_of_the_table(code: str, status: int, number: int, message: str) -> None:
    assert CanonicalError.to_http_status(code) == status
    assert CanonicalError.to_jsonrpc_error(code) == {"code": number, "message": message}


@pytest.mark.clause("V8")
def test_there_are_exactly_four_codes() -> None:
    assert list(CANONICAL_CODES) == [row[0] for row in TABLE]


@pytest.mark.clause("V8")
@pytest.mark.parametrize("code", CANONICAL_CODES)
def test_each_call_returns_a_new_value(code: str) -> None:
    spoilt = CanonicalError.to_jsonrpc_error(code)
    spoilt["message"] = "changed"

    assert CanonicalError.to_jsonrpc_error(code) != spoilt


@pytest.mark.clause("V9")
@pytest.mark.parametrize("code", ["", "invalid_envelope", "TIMEOUT", "NO_SUCH_CODE"])
def test_an_unknown_code_is_a_key_error_in_both(code: str) -> None:
    with pytest.raises(KeyError):
        CanonicalError.to_http_status(code)
    with pytest.raises(KeyError):
        CanonicalError.to_jsonrpc_error(code)


@pytest.mark.clause("V8")
@pytest.mark.parametrize("code", CATALOGUE)
def test_every_failure_is_one_of_the_four(code: str, conforms: Callable[[str, Any], list[str]]) -> None:
    error = render(fail(code, text="secret", details={"x": 1}), Facts(tool="t"))

    assert conforms("canonical-error", error) == []
    assert status_of(fail(code)) in (400, 404, 422, 500)
