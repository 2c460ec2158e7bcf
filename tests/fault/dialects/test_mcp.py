"""Failures in the official MCP protocol, in both eras."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from strictwire.canon.json import render as render_json
from strictwire.fault.catalogue import CATALOGUE
from strictwire.fault.dialects import system_v1
from strictwire.fault.dialects.mcp import TOOL_DIALECTS, answer_tool_failure, render, render_error
from strictwire.fault.failure import Facts, fail

Conforms = Callable[[str, Any], list[str]]

MODERN = Facts(tool="echo", revision="2026-07-28")
LEGACY = replace(MODERN, revision="2025-11-25")


@pytest.mark.parametrize("code", CATALOGUE)
def test_every_failure_is_a_valid_envelope_and_a_valid_error(code: str, conforms: Conforms) -> None:
    assert conforms("mcp-failure-1", render(fail(code), MODERN)) == []
    assert conforms("mcp-error-1", render_error(fail(code), MODERN)) == []
    assert conforms("mcp-error-1", render_error(fail(code), LEGACY)) == []


def test_an_envelope_has_the_message_and_the_action() -> None:
    failure = fail("CAP_EXCEEDED", details={"limitBytes": 10}, invariant_id="OUTPUT_FITS_CONTRACT", cause="hidden")

    assert render(failure, MODERN) == {
        "error": {
            "code": "CAP_EXCEEDED",
            "message": "The result exceeds a size limit",
            "action": "Request less: a narrower query or a smaller page.",
            "retryable": False,
            "details": {"limitBytes": 10},
            "invariantId": "OUTPUT_FITS_CONTRACT",
        }
    }


def test_the_message_names_an_invalid_argument() -> None:
    violations = [
        {"path": "/b", "keyword": "type", "expected": "integer", "actual": "string"},
        {"path": "/a", "keyword": "required"},
    ]
    error = render(fail("INVALID_PARAMS", details={"violations": violations}), MODERN)["error"]

    assert error["message"] == "Arguments do not match the input schema: a is required (and 1 more)"
    assert error["details"] == {"violations": violations}


@pytest.mark.parametrize(
    ("facts", "number"),
    [(MODERN, -32602), (LEGACY, -32002), (replace(MODERN, revision="2024-11-05"), -32002)],
)
def test_a_missing_resource_has_the_number_of_its_era_and_the_uri_in_its_data(facts: Facts, number: int) -> None:
    assert render_error(fail("RESOURCE_NOT_FOUND", details={"uri": "file:///x"}), facts) == {
        "code": number,
        "message": "Resource not found",
        "data": {"code": "RESOURCE_NOT_FOUND", "uri": "file:///x"},
    }


@pytest.mark.parametrize(
    ("code", "details", "modern", "legacy"),
    [
        ("HEADER_MISMATCH", {}, -32020, -32600),
        ("MISSING_CAPABILITY", {"requiredCapabilities": {"sampling": {}}}, -32021, -32602),
        ("UNSUPPORTED_VERSION", {"supported": ["2026-07-28"], "requested": "1900-01-01"}, -32022, -32602),
    ],
)
def test_the_three_numbers_of_2026_carry_the_data_of_the_specification(
    code: str, details: dict[str, Any], modern: int, legacy: int
) -> None:
    errors = [render_error(fail(code, details=details), facts) for facts in (MODERN, LEGACY)]

    assert [error["code"] for error in errors] == [modern, legacy]
    assert [error["data"] for error in errors] == [{"code": code, **details}] * 2


@pytest.mark.parametrize("code", CATALOGUE)
def test_nothing_of_2026_is_in_the_legacy_zone(code: str) -> None:
    assert not -32019 <= render_error(fail(code), MODERN)["code"] <= -32000


def test_other_details_of_a_protocol_error_are_in_data_details() -> None:
    assert render_error(fail("NOT_JSON", details={"reason": "syntax"}), MODERN) == {
        "code": -32700,
        "message": "Parse error",
        "data": {"code": "NOT_JSON", "details": {"reason": "syntax"}},
    }


@pytest.mark.clause("S1")
def test_a_tool_failure_is_the_envelope_and_one_text_item_with_the_same_bytes() -> None:
    answer = answer_tool_failure(fail("HASH_MISMATCH"), MODERN, "system/1.0")
    envelope = system_v1.render(fail("HASH_MISMATCH"), MODERN)

    assert answer.error is None
    assert answer.result == {
        "content": [{"type": "text", "text": render_json(envelope).decode()}],
        "structuredContent": envelope,
        "isError": True,
    }


@pytest.mark.parametrize("dialect", TOOL_DIALECTS)
@pytest.mark.parametrize("code", CATALOGUE)
def test_every_code_can_be_sent_in_every_tool_dialect(code: str, dialect: str) -> None:
    answer = answer_tool_failure(fail(code), MODERN, dialect)

    assert (answer.result is None) != (answer.error is None)


@pytest.mark.parametrize("dialect", ["canonical", "editor/0.1", "http", ""])
def test_a_dialect_that_no_tool_can_declare_is_refused(dialect: str) -> None:
    """MCP 2026-07-28 does not allow their numbers; these dialects belong to the profiles of the same names."""
    with pytest.raises(KeyError):
        answer_tool_failure(fail("INTERNAL"), MODERN, dialect)
