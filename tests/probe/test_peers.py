"""The probes find known faults of servers on the official SDK and on FastMCP. One test per fault."""

from __future__ import annotations

import sys

import pytest
from tests.probe.peers import (
    ALL_VARIANTS,
    HTTP,
    ON_FASTMCP,
    SDK_HIGH,
    SDK_LOW,
    STDIO,
    differs,
    found_on,
    got,
    passed_on,
    probed,
    probed_with,
)

from strictwire.client import Era
from strictwire.probe.record import ProbeOptions, ProbeReport

pytestmark = pytest.mark.slow

EVERYWHERE = set(ALL_VARIANTS)
ON_STDIO = set(STDIO)
ON_HTTP = set(HTTP)


@pytest.fixture(scope="module")
def high() -> ProbeReport:
    return probed(SDK_HIGH)


@pytest.fixture(scope="module")
def low() -> ProbeReport:
    return probed(SDK_LOW)


@pytest.fixture(scope="module")
def fast() -> ProbeReport:
    return probed(ON_FASTMCP)


@pytest.fixture(scope="module")
def strict_fast() -> ProbeReport:
    return probed(ON_FASTMCP, "--strict", only=["ARGUMENT_INTEGRAL_NUMBER", "ARGUMENT_TEXT_FOR_NUMBER", "OUTPUT_SCHEMA"])


@pytest.fixture(params=["high", "low", "fast"])
def any_report(request: pytest.FixtureRequest) -> ProbeReport:
    report: ProbeReport = request.getfixturevalue(request.param)
    return report


@pytest.mark.parametrize(
    "name",
    [
        "JSON_TRUNCATED",
        "JSON_TRAILING_TEXT",
        "ENVELOPE_BATCH",
        "ENVELOPE_NO_VERSION",
        "ENVELOPE_PARAMS_ARRAY",
        "NUMBER_HUGE_INTEGER",
        "NESTING_300",
    ],
)
def test_01_malformed_lines_get_no_answer_on_stdio(any_report: ProbeReport, name: str) -> None:
    assert {got(any_report, name, variant) for variant in STDIO} == {"no response"}
    assert found_on(any_report, name) >= ON_STDIO
    assert differs(any_report, name) >= {("stdio/modern", "http/modern"), ("stdio/legacy", "http/legacy")}


@pytest.mark.parametrize("name", ["ID_NULL", "ID_BOOLEAN", "ID_FRACTION", "ID_OBJECT"])
def test_02_requests_with_a_bad_id_are_dropped(any_report: ProbeReport, name: str) -> None:
    assert found_on(any_report, name) == {*STDIO, "http/legacy"}
    assert passed_on(any_report, name) == {"http/modern"}
    assert got(any_report, name, "http/legacy") == "HTTP 202, accepted without a response"


def test_03_encodings_are_repaired_or_sniffed(any_report: ProbeReport) -> None:
    assert found_on(any_report, "ENCODING_INVALID_UTF8") == ON_STDIO
    assert {got(any_report, "ENCODING_INVALID_UTF8", variant).split()[0] for variant in STDIO} == {"result"}
    for name in ("ENCODING_BOM", "ENCODING_UTF16"):
        assert "HTTP 200, result" in got(any_report, name, "http/modern")
        assert passed_on(any_report, name) == {"http/legacy"}


@pytest.mark.parametrize("peer", ["high", "low"])
def test_04_three_parsers_have_three_limits(request: pytest.FixtureRequest, peer: str) -> None:
    report: ProbeReport = request.getfixturevalue(peer)

    assert passed_on(report, "NESTING_150") == EVERYWHERE
    assert differs(report, "NESTING_150") == set()
    assert ("http/modern", "http/legacy") in differs(report, "NESTING_300")
    assert "result" in got(report, "NESTING_300", "http/modern")
    # The json module of Python 3.12 and later counts nested calls in C apart from those in Python, up to a larger limit.
    limit_reached = "error -32700" if sys.version_info < (3, 12) else "result"
    assert limit_reached in got(report, "NESTING_1000", "http/modern")


def test_04_fastmcp_parses_over_modern_http_what_breaks_it_inside(fast: ProbeReport) -> None:
    assert "error -32603" in got(fast, "NESTING_300", "http/modern")
    assert "error -32700" in got(fast, "NESTING_300", "http/legacy")


def test_04_one_parser_of_three_takes_a_lone_surrogate(any_report: ProbeReport) -> None:
    assert ("http/modern", "http/legacy") in differs(any_report, "ENCODING_LONE_SURROGATE")
    assert "result" in got(any_report, "ENCODING_LONE_SURROGATE", "http/modern")


@pytest.mark.parametrize(
    "name",
    [
        "KEY_TWICE_METHOD",
        "KEY_TWICE_ID",
        "KEY_TWICE_NAME",
        "KEY_TWICE_ARGUMENT",
        "KEY_TWICE_DEEP",
        "NUMBER_NAN",
        "NUMBER_INFINITY",
        "NUMBER_OVERFLOW",
    ],
)
def test_05_duplicate_keys_and_numbers_that_are_none_are_accepted(any_report: ProbeReport, name: str) -> None:
    assert found_on(any_report, name) == EVERYWHERE


def test_06_stdio_has_no_size_limit(any_report: ProbeReport) -> None:
    assert found_on(any_report, "SIZE_LARGE_REQUEST") == ON_STDIO
    assert {got(any_report, "SIZE_LARGE_REQUEST", variant)[:13] for variant in STDIO} == {"8 MiB: result"}
    assert {got(any_report, "SIZE_LARGE_REQUEST", variant)[:8] for variant in HTTP} == {"HTTP 413"}
    assert found_on(any_report, "SIZE_ENDLESS_LINE") == ON_STDIO
    assert all("memory +3" in got(any_report, "SIZE_ENDLESS_LINE", variant) for variant in STDIO)


def test_07_an_unknown_tool_or_prompt_is_not_an_invalid_parameter(high: ProbeReport, fast: ProbeReport) -> None:
    assert found_on(high, "TOOL_UNKNOWN") == found_on(fast, "TOOL_UNKNOWN") == EVERYWHERE
    assert "tool error" in got(high, "TOOL_UNKNOWN", "stdio/modern")
    assert "tool error" in got(fast, "TOOL_UNKNOWN", "stdio/modern")
    assert "error -32603" in got(high, "PROMPT_UNKNOWN", "stdio/modern")
    assert "error 0" in got(high, "PROMPT_UNKNOWN", "stdio/legacy")
    assert found_on(high, "FORM_ERROR_CODES") == {"stdio/legacy", "http/legacy"}


def test_08_arguments_are_coerced_or_not_validated(
    high: ProbeReport, low: ProbeReport, fast: ProbeReport, strict_fast: ProbeReport
) -> None:
    for report in (high, low, fast):
        assert found_on(report, "ARGUMENT_TEXT_FOR_NUMBER") == EVERYWHERE
        assert found_on(report, "ARGUMENT_TRUE_FOR_NUMBER") == EVERYWHERE
    assert found_on(high, "ARGUMENT_TEXT_FOR_LIST") == EVERYWHERE
    assert found_on(high, "ARGUMENT_UNKNOWN") == found_on(low, "ARGUMENT_UNKNOWN") == EVERYWHERE
    assert found_on(low, "ARGUMENT_CANARY") == EVERYWHERE
    assert found_on(strict_fast, "ARGUMENT_TEXT_FOR_NUMBER") == set()
    assert found_on(strict_fast, "ARGUMENT_INTEGRAL_NUMBER") == EVERYWHERE


def test_09_outputs_break_their_own_schema(
    high: ProbeReport, low: ProbeReport, fast: ProbeReport, strict_fast: ProbeReport
) -> None:
    for report in (high, low, fast, strict_fast):
        assert found_on(report, "OUTPUT_SCHEMA") == EVERYWHERE
    assert "tool ratio: structuredContent/result violates type number" in got(high, "OUTPUT_SCHEMA", "stdio/modern")
    for report in (low, fast, strict_fast):
        assert "tool count: structuredContent/count violates type integer" in got(report, "OUTPUT_SCHEMA", "http/modern")


def test_10_exception_text_and_input_leak(high: ProbeReport, low: ProbeReport, fast: ProbeReport) -> None:
    for name in ("LEAK_PATH", "LEAK_SECRET"):
        assert found_on(fast, name) == EVERYWHERE
        assert found_on(low, name) == {"stdio/legacy", "http/legacy"}
        assert found_on(high, name) == set()
    for report in (high, fast):
        assert found_on(report, "LEAK_INPUT") == found_on(report, "LEAK_VALIDATOR") == EVERYWHERE
    assert found_on(low, "FORM_ERROR_CODES") == {"stdio/legacy", "http/legacy"}


def test_11_a_lone_surrogate_in_a_result_ends_the_stdio_server(high: ProbeReport, fast: ProbeReport) -> None:
    for report in (high, fast):
        for variant in STDIO:
            assert got(report, "OUTPUT_SURVIVED", variant) == (
                "tool surrogate: connection closed (the process ended with exit code 1)"
            )
        assert "http/modern" in passed_on(report, "OUTPUT_SURVIVED")


@pytest.mark.parametrize("command", [SDK_HIGH, ON_FASTMCP], ids=["high", "fast"])
def test_12_a_request_before_the_end_of_input_is_lost_within_fifty_tries(command: list[str]) -> None:
    """A race in the server, so the number of attempts is the limit and not the time."""
    options = ProbeOptions(only=frozenset({"EOF_ANSWERED"}), eras=frozenset({Era.MODERN}), eof_tries=50, eof_seconds=300)

    assert found_on(probed_with(command, options), "EOF_ANSWERED") == {"stdio/modern"}


def test_13_ids_in_flight_are_not_kept_apart(high: ProbeReport, fast: ProbeReport) -> None:
    """The cancelled call gets a response. The other call gets none, unless the cancellation overtakes both."""
    for report in (high, fast):
        assert found_on(report, "FLIGHT_DUPLICATE_ID") == ON_STDIO
        assert got(report, "FLIGHT_DUPLICATE_ID", "stdio/modern") == "id 77 result, id 77 result"
        assert "stdio/modern" in found_on(report, "FLIGHT_CANCEL_BY_TYPE")
        assert got(report, "FLIGHT_CANCEL_BY_TYPE", "stdio/modern") in ("id 1 result", 'id 1 result, id "1" result')


def test_14_a_bogus_cursor_is_ignored_and_the_legacy_code_is_wrong(high: ProbeReport, fast: ProbeReport) -> None:
    for report in (high, fast):
        assert found_on(report, "CURSOR_BOGUS") == EVERYWHERE
        assert found_on(report, "RESOURCE_NOT_FOUND") == {"stdio/legacy", "http/legacy"}
        assert "error -32602" in got(report, "RESOURCE_NOT_FOUND", "stdio/legacy")


def test_15_host_prefixes_content_types_and_useless_sessions(high: ProbeReport) -> None:
    assert passed_on(high, "HOST_FOREIGN") == passed_on(high, "ORIGIN_FOREIGN") == ON_HTTP
    assert found_on(high, "HOST_PREFIX") == ON_HTTP
    assert found_on(high, "CONTENT_TYPE_JSON_PATCH") == {"http/modern"}
    assert found_on(high, "CONTENT_TYPE_CHARSET") == ON_HTTP
    assert found_on(high, "SESSION_ON_REFUSAL") == {"http/legacy"}
    assert passed_on(high, "HEADER_METHOD_OTHER") == {"http/modern"}


def test_16_fastmcp_checks_no_host_or_origin_and_has_no_listen(fast: ProbeReport) -> None:
    assert found_on(fast, "HOST_FOREIGN") == found_on(fast, "ORIGIN_FOREIGN") == ON_HTTP
    assert found_on(fast, "LISTEN") == {"stdio/modern", "http/modern"}
    assert "HTTP 404" in got(fast, "LISTEN", "http/modern")


def test_17_an_object_becomes_its_address(high: ProbeReport, fast: ProbeReport) -> None:
    for report in (high, fast):
        assert found_on(report, "LEAK_ADDRESS") == EVERYWHERE
        assert "object object at 0x" in got(report, "LEAK_ADDRESS", "stdio/modern")
