"""The error object of Context Resolve v0 (R)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from strictwire.canon.json import render as render_json
from strictwire.fault.catalogue import CATALOGUE
from strictwire.fault.dialects.mcp import answer_tool_failure
from strictwire.fault.dialects.resolve_v0 import MESSAGES, code_of, render
from strictwire.fault.failure import Facts, fail

Conforms = Callable[[str, Any], list[str]]


def violation(argument: str, keyword: str) -> dict[str, str]:
    return {"path": f"/{argument}", "keyword": keyword}


@pytest.mark.clause("R1")
@pytest.mark.clause("R2")
@pytest.mark.parametrize("code", CATALOGUE)
def test_every_failure_is_one_closed_error_object_with_one_of_six_codes(code: str, conforms: Conforms) -> None:
    body = render(fail(code, text="/etc/passwd", details={"path": "/etc"}, cause="secret"), Facts(tool="context.resolve"))

    assert conforms("error-v0", body) == []
    assert list(body) == ["error"]
    assert list(body["error"]) == ["code", "message"]


@pytest.mark.clause("R6")
def test_the_six_messages_are_those_of_the_document() -> None:
    assert dict(MESSAGES) == {
        "cache_missing": "Cache does not exist",
        "cache_invalid": "Cache exists but is invalid",
        "invalid_query": "Query is invalid",
        "invalid_budget": "Budget is invalid",
        "io_error": "I/O error occurred",
        "internal_error": "Internal error",
    }


@pytest.mark.clause("R6")
@pytest.mark.parametrize("code", CATALOGUE)
def test_text_details_and_cause_never_appear(code: str) -> None:
    failure = fail(code, text="/home/me deadbeef", details={"hash": "deadbeef"}, cause={"message": "Traceback"})

    assert render(failure, Facts()) == render(fail(code), Facts())


@pytest.mark.clause("R4")
@pytest.mark.parametrize(
    ("code", "rendered"),
    [
        ("CACHE_MISSING", "cache_missing"),
        ("CACHE_INVALID", "cache_invalid"),
        ("IO_ERROR", "io_error"),
        ("INTERNAL", "internal_error"),
        ("INVALID_QUERY", "invalid_query"),
        ("INVALID_BUDGET", "invalid_budget"),
    ],
)
def test_each_condition_has_its_code(code: str, rendered: str) -> None:
    assert render(fail(code), Facts()) == {"error": {"code": rendered, "message": MESSAGES[rendered]}}


@pytest.mark.clause("R5")
@pytest.mark.parametrize(
    ("violations", "rendered"),
    [
        ([violation("budget", "type")], "invalid_budget"),
        ([violation("budget", "required")], "invalid_budget"),
        ([violation("budget", "minimum")], "invalid_budget"),
        ([violation("query", "type")], "invalid_query"),
        ([violation("query", "maxLength")], "invalid_query"),
        ([violation("cache", "required")], "cache_missing"),
        ([violation("cache", "type")], "cache_missing"),
        ([violation("unheard", "additionalProperties")], "invalid_query"),
        ([violation("cache", "type"), violation("query", "type"), violation("budget", "type")], "invalid_budget"),
        ([violation("cache", "type"), violation("query", "type")], "invalid_query"),
        ([violation("cache", "type"), violation("unheard", "additionalProperties")], "invalid_query"),
        ([violation("budget", "type"), violation("unheard", "additionalProperties")], "invalid_budget"),
        ([{"path": "", "keyword": "type"}], "invalid_query"),
        ([], "invalid_query"),
    ],
)
def test_invalid_arguments_get_the_code_of_the_argument(violations: list[dict[str, str]], rendered: str) -> None:
    assert code_of(fail("INVALID_PARAMS", details={"violations": violations})) == rendered


@pytest.mark.clause("R7")
@pytest.mark.parametrize("code", CATALOGUE)
def test_the_bytes_do_not_depend_on_the_call(code: str) -> None:
    here = Facts(tool="context.resolve", timestamp="2026-01-19T15:32:10.123Z", session_id="a", stack_trace="Traceback")

    assert render_json(render(fail(code), here)) == render_json(render(fail(code), Facts()))


@pytest.mark.clause("R3")
@pytest.mark.parametrize("code", CATALOGUE)
def test_over_mcp_the_result_contains_only_the_error_object(code: str) -> None:
    answer = answer_tool_failure(fail(code), Facts(), "resolve/v0")
    envelope = render(fail(code), Facts())

    assert answer.error is None
    assert answer.result == {
        "content": [{"type": "text", "text": render_json(envelope).decode()}],
        "structuredContent": envelope,
        "isError": True,
    }
