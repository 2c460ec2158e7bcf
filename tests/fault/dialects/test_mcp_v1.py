"""Tool failures in `mcp/v1`: two numbers, and the code in the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from strictwire.fault.catalogue import CATALOGUE
from strictwire.fault.dialects.mcp import answer_tool_failure
from strictwire.fault.dialects.mcp_v1 import render
from strictwire.fault.failure import Facts, fail

CALL = Facts(tool="vscode_lsp_hover")


@pytest.mark.parametrize("code", CATALOGUE)
def test_every_failure_is_a_valid_error(code: str, conforms: Callable[[str, Any], list[str]]) -> None:
    assert conforms("mcp-v1-error", render(fail(code), CALL)) == []
    assert conforms("mcp-v1-error", render(fail(code), Facts())) == []


@pytest.mark.clause("G11")
def test_invalid_arguments_are_listed_in_order_without_their_values() -> None:
    violations = [
        {"path": "/uri", "keyword": "pattern", "expected": "^file:"},
        {"path": "/position/line", "keyword": "type", "expected": "integer", "actual": "string"},
        {"path": "/position", "keyword": "required", "schemaPath": "#/required"},
    ]

    assert render(fail("INVALID_PARAMS", details={"violations": violations}), CALL) == {
        "code": -32602,
        "message": "Invalid params",
        "data": {
            "code": "INVALID_PARAMS",
            "tool": "vscode_lsp_hover",
            "issues": [
                {
                    "path": "/position",
                    "keyword": "required",
                    "message": "position is required",
                    "schemaPath": "#/required",
                },
                {"path": "/position/line", "keyword": "type", "message": "position/line must be integer, not string"},
                {"path": "/uri", "keyword": "pattern", "message": "uri violates pattern"},
            ],
        },
    }


@pytest.mark.clause("G11")
@pytest.mark.parametrize("code", ["TIMEOUT", "CAP_EXCEEDED"])
def test_an_exceeded_cap_has_a_message(code: str) -> None:
    assert render(fail(code, text="References exceeded max total"), CALL) == {
        "code": -32603,
        "message": "Internal error",
        "data": {"code": "CAP_EXCEEDED", "message": "References exceeded max total"},
    }


def test_a_language_server_that_is_missing_is_named_with_the_command_that_installs_it() -> None:
    failure = fail("PROVIDER_UNAVAILABLE", text="No engine for go; install one with: x", details={"install": "x"})

    assert render(failure, CALL)["data"] == {
        "code": "PROVIDER_UNAVAILABLE",
        "message": "No engine for go; install one with: x",
    }
    assert render(fail("PROVIDER_UNAVAILABLE", text="secret", details={"reason": "crashed"}), CALL)["data"] == {
        "code": "PROVIDER_UNAVAILABLE"
    }


@pytest.mark.parametrize("code", ["TOOL_FAILED", "INTERNAL", "OUTPUT_INVALID", "AUDIT_UNAVAILABLE"])
def test_an_internal_failure_has_no_text_or_details(code: str) -> None:
    failure = fail(code, text="stack and path", details={"path": "/x"}, cause="Traceback")

    assert render(failure, CALL) == {"code": -32603, "message": "Internal error", "data": {"code": "INTERNAL"}}


@pytest.mark.parametrize(
    ("code", "number"),
    [
        ("CURSOR_INVALID", -32602),
        ("CURSOR_STALE", -32602),
        ("CURSOR_EXPIRED", -32602),
        ("SNAPSHOT_TOO_LARGE", -32602),
        ("URI_INVALID", -32602),
        ("WORKSPACE_DENIED", -32602),
        ("NOT_FOUND", -32603),
        ("PROVIDER_UNAVAILABLE", -32603),
        ("PERMISSION_DENIED", -32603),
        ("OVERLOADED", -32603),
    ],
)
def test_each_code_has_its_number(code: str, number: int) -> None:
    error = render(fail(code), CALL)

    assert (error["code"], error["data"]) == (number, {"code": code})


def test_it_is_sent_as_a_protocol_error() -> None:
    answer = answer_tool_failure(fail("NOT_FOUND"), CALL, "mcp/v1")

    assert (answer.result, answer.error) == (None, render(fail("NOT_FOUND"), CALL))
