"""HTTP statuses, headers and problem bodies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from strictwire.fault.catalogue import CATALOGUE
from strictwire.fault.dialects.http import headers_of, render, rpc_status_of, status_of
from strictwire.fault.failure import Facts, fail

MODERN = Facts(revision="2026-07-28")
LEGACY = Facts(revision="2025-11-25")


@pytest.mark.parametrize("code", CATALOGUE)
def test_every_failure_is_a_valid_problem(code: str, conforms: Callable[[str, Any], list[str]]) -> None:
    assert conforms("problem-1", render(fail(code, details={"x": 1}), Facts())) == []


def test_a_problem_has_the_message_and_the_code() -> None:
    assert render(fail("OVERLOADED", text="Busy", details={"retryAfterMs": 1500}), Facts()) == {
        "type": "urn:strictwire:failure:OVERLOADED",
        "title": "Too many calls are running",
        "status": 503,
        "detail": "Busy",
        "code": "OVERLOADED",
        "retryable": True,
        "details": {"retryAfterMs": 1500},
    }


@pytest.mark.parametrize(
    ("code", "modern", "legacy"),
    [
        ("NOT_JSON", 400, 400),
        ("NOT_A_REQUEST", 400, 400),
        ("REQUEST_TOO_LARGE", 413, 413),
        ("METHOD_NOT_FOUND", 404, 200),
        ("MALFORMED_PARAMS", 400, 200),
        ("UNKNOWN_TOOL", 400, 200),
        ("RESOURCE_NOT_FOUND", 400, 200),
        ("HEADER_MISMATCH", 400, 400),
        ("UNSUPPORTED_VERSION", 400, 400),
        ("MISSING_CAPABILITY", 400, 200),
        ("SESSION_UNKNOWN", 404, 404),
        ("ORIGIN_DENIED", 403, 403),
        ("INTERNAL", 200, 200),
    ],
)
def test_a_protocol_error_has_the_status_of_its_era(code: str, modern: int, legacy: int) -> None:
    assert (rpc_status_of(fail(code), MODERN), rpc_status_of(fail(code), LEGACY)) == (modern, legacy)


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("HOST_DENIED", 421),
        ("ORIGIN_DENIED", 403),
        ("UNAUTHENTICATED", 401),
        ("NOT_ACCEPTABLE", 406),
        ("UNSUPPORTED_MEDIA_TYPE", 415),
        ("HTTP_METHOD_DENIED", 405),
        ("PATH_UNKNOWN", 404),
        ("RATE_LIMITED", 429),
        ("OVERLOADED", 503),
    ],
)
def test_a_failure_of_http_has_its_own_status(code: str, status: int) -> None:
    assert status_of(fail(code)) == status


@pytest.mark.parametrize(
    ("code", "details", "headers"),
    [
        ("OVERLOADED", {}, {"Retry-After": "1"}),
        ("RATE_LIMITED", {"retryAfterMs": 1001}, {"Retry-After": "2"}),
        ("RATE_LIMITED", {"retryAfterMs": -5}, {"Retry-After": "1"}),
        ("UNAUTHENTICATED", {}, {"WWW-Authenticate": "Bearer"}),
        ("HTTP_METHOD_DENIED", {}, {"Allow": "POST"}),
        ("HTTP_METHOD_DENIED", {"allow": ["POST", "GET", "x\r\nSet-Cookie: a"]}, {"Allow": "POST, GET"}),
        ("NOT_JSON", {}, {}),
    ],
)
def test_a_status_has_its_required_headers(code: str, details: dict[str, Any], headers: dict[str, str]) -> None:
    assert headers_of(fail(code, details=details)) == headers
