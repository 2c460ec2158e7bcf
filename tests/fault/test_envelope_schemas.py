"""The published envelope schemas: valid, closed where the contract says so, and consistent with the catalogue."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from strictwire.canon.json import parse_object
from strictwire.fault.catalogue import CATALOGUE
from strictwire.fault.dialects.canonical import CANONICAL_CODES
from strictwire.fault.dialects.system_v1 import SYSTEM_ERROR_CODES
from strictwire.fault.spellings import NATIVE

FOLDER = Path(__file__).parents[2] / "schemas" / "envelopes"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))

Conforms = Callable[[str, Any], list[str]]


def load(name: str) -> dict[str, Any]:
    return parse_object((FOLDER / f"{name}.json").read_bytes())


@pytest.mark.clause("G1")
@pytest.mark.parametrize("name", NAMES)
def test_every_schema_names_its_dialect_and_itself_and_compiles(name: str) -> None:
    schema = load(name)

    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"]
    jsonschema_rs.meta.validate(schema)


def test_every_envelope_has_a_published_schema() -> None:
    assert NAMES == [
        "canonical-error",
        "editor-error-0.1",
        "editor-request-0.1",
        "editor-response-0.1",
        "envelope-request-v1",
        "envelope-response-v1",
        "envelope-tool-io-v1",
        "error-v0",
        "mcp-error-1",
        "mcp-failure-1",
        "mcp-v1-error",
        "problem-1",
        "run-log-event-1",
        "system-error-1.0",
    ]


@pytest.mark.clause("R8")
def test_error_v0_never_changes() -> None:
    """A change needs a new version with a new `$id` in a new file; this file is never edited."""
    raw = (FOLDER / "error-v0.json").read_bytes()

    assert hashlib.sha256(raw).hexdigest() == "69619013fef6575c79afdb1b91ee4fc72c3db58f89fce79226c94232c9d11112"
    assert load("error-v0")["$id"] == "https://context.dev/schemas/mcp/error-v0.json"


@pytest.mark.clause("R1")
@pytest.mark.parametrize(
    "body",
    [
        {"error": {"code": "cache_invalid", "message": "Cache exists but is invalid", "details": {}}},
        {"documents": [], "error": {"code": "internal_error", "message": "Internal error"}},
        {"error": {"code": "other", "message": "x"}},
        {"error": {"code": "io_error", "message": ""}},
        {"error": {"code": "io_error"}},
    ],
)
def test_error_v0_rejects_what_the_document_forbids(body: dict[str, Any], conforms: Conforms) -> None:
    assert conforms("error-v0", body) != []


def test_the_enums_in_the_schemas_match_the_catalogue() -> None:
    mcp, protocol, problem = load("mcp-failure-1"), load("mcp-error-1"), load("problem-1")
    listed = {
        "mcp": mcp["properties"]["error"]["properties"]["code"]["anyOf"][0]["enum"],
        "protocol": protocol["properties"]["data"]["properties"]["code"]["anyOf"][0]["enum"],
        "problem": problem["properties"]["code"]["enum"],
        "mcp/v1": load("mcp-v1-error")["properties"]["data"]["properties"]["code"]["enum"],
        "system": load("system-error-1.0")["properties"]["error_code"]["enum"],
        "run log": load("run-log-event-1")["properties"]["error"]["oneOf"][1]["properties"]["code"]["enum"],
    }

    assert {name: set(codes) for name, codes in listed.items()} == {
        "mcp": set(NATIVE["mcp"]),
        "protocol": set(CATALOGUE),
        "problem": set(CATALOGUE),
        "mcp/v1": set(NATIVE["mcp/v1"]),
        "system": set(SYSTEM_ERROR_CODES),
        "run log": set(CANONICAL_CODES),
    }


@pytest.mark.clause("S1")
@pytest.mark.parametrize("missing", load("system-error-1.0")["required"])
def test_an_envelope_without_one_of_its_fields_is_not_valid(missing: str, conforms: Conforms) -> None:
    whole = dict.fromkeys(load("system-error-1.0")["required"]) | {
        "error_code": "INTERNAL_ERROR",
        "human_message": "Internal error",
        "tool_name": "t",
        "timestamp": "2026-01-19T15:32:10.123Z",
    }
    short = {name: value for name, value in whole.items() if name != missing}

    assert conforms("system-error-1.0", whole) == []
    assert conforms("system-error-1.0", short) != []
    assert conforms("system-error-1.0", whole | {"extra": 1}) != []


REQUEST = {"id": "1", "jsonrpc": "2.0", "method": "tools/call", "params": {}}


@pytest.mark.clause("V1")
@pytest.mark.clause("V5")
def test_a_request_of_envelope_v1_needs_four_members_and_may_have_more(conforms: Conforms) -> None:
    assert conforms("envelope-request-v1", REQUEST | {"extra": 1, "params": {"tool": "x", "more": 2}}) == []
    for name in REQUEST:
        assert conforms("envelope-request-v1", {key: value for key, value in REQUEST.items() if key != name}) != []


@pytest.mark.clause("V2")
@pytest.mark.clause("V3")
@pytest.mark.clause("V4")
@pytest.mark.parametrize(
    "wrong",
    [
        {"id": ""},
        {"id": 1},
        {"id": None},
        {"jsonrpc": "1.0"},
        {"method": ""},
        {"method": " "},
        {"params": "x"},
        {"params": []},
    ],
)
def test_a_request_of_envelope_v1_is_refused(wrong: dict[str, Any], conforms: Conforms) -> None:
    assert conforms("envelope-request-v1", REQUEST | wrong) != []


@pytest.mark.parametrize(
    ("response", "valid"),
    [
        ({"jsonrpc": "2.0", "id": "1", "result": {"tool": "t", "output": {}}}, True),
        ({"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "Invalid MCP envelope"}}, True),
        ({"jsonrpc": "2.0", "id": None, "result": {}}, False),
        ({"jsonrpc": "2.0", "id": "1"}, False),
        ({"jsonrpc": "2.0", "id": "1", "error": {"code": -32600, "message": "Invalid MCP envelope", "data": 1}}, False),
        ({"jsonrpc": "2.0", "id": "1", "error": {"code": -32600, "message": "Internal error"}}, False),
        (
            {"jsonrpc": "2.0", "id": "1", "result": {}, "error": {"code": -32600, "message": "Invalid MCP envelope"}},
            False,
        ),
    ],
)
def test_a_response_of_envelope_v1_is_a_result_or_one_of_four_errors(
    response: dict[str, Any], valid: bool, conforms: Conforms
) -> None:
    assert (conforms("envelope-response-v1", response) == []) is valid


@pytest.mark.clause("V6")
def test_tool_input_and_output_are_objects_of_the_tool_asked_for(conforms: Conforms) -> None:
    """The placeholder stands for the tool's name; here it is used literally."""
    tool = "{{tool_id}}"

    assert conforms("envelope-tool-io-v1", {"tool": tool, "input": {}}) == []
    assert conforms("envelope-tool-io-v1", {"tool": tool, "output": {}}) == []
    assert conforms("envelope-tool-io-v1", {"tool": "other", "input": {}}) != []
    assert conforms("envelope-tool-io-v1", {"tool": tool, "output": []}) != []
    assert conforms("envelope-tool-io-v1", {"tool": tool}) != []


CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"tool": "project.info", "arguments": {}}}


@pytest.mark.clause("E1")
@pytest.mark.clause("E2")
@pytest.mark.clause("E3")
@pytest.mark.parametrize(
    ("change", "valid"),
    [
        ({}, True),
        ({"id": "req-001"}, True),
        ({"id": 1.5}, True),
        ({"method": "tools/list", "params": {"category": "scene"}}, True),
        ({"method": "tools/describe", "params": {"tool": "project.info"}}, True),
        ({"method": "server/info", "params": {}}, True),
        ({"id": None}, False),
        ({"jsonrpc": "1.0"}, False),
        ({"method": "tools/other"}, False),
        ({"params": {"tool": "project.info"}}, False),
        ({"params": {"tool": "project.info", "arguments": []}}, False),
        ({"method": "tools/describe", "params": {}}, False),
    ],
)
def test_a_request_of_the_editor_is_one_of_four(change: dict[str, Any], valid: bool, conforms: Conforms) -> None:
    assert (conforms("editor-request-0.1", CALL | change) == []) is valid


LISTED = {
    "id": "project.info",
    "name": "Project Info",
    "description": "d",
    "category": "project",
    "safetyLevel": "read-only",
    "tier": "core",
}


@pytest.mark.parametrize(
    "result",
    [
        {"tool": "project.info", "output": {}},
        {"tool": "project.info", "output": {}, "diagnostics": ["Scan stopped"]},
        {"tools": [LISTED]},
        {"tool": LISTED | {"inputs": {}, "outputs": {}, "notes": ""}},
        {"serverVersion": "0.1.0", "unityVersion": "6", "platform": "Linux", "enabledToolCategories": [], "tier": "core"},
    ],
)
def test_a_response_of_the_editor_is_the_result_of_a_method(result: dict[str, Any], conforms: Conforms) -> None:
    response = {"jsonrpc": "2.0", "id": 1, "result": result}

    assert conforms("editor-response-0.1", response) == []
    assert conforms("editor-response-0.1", {"jsonrpc": "2.0", "id": 1, "result": result | {"extra": 1}}) != []
    assert conforms("editor-response-0.1", response | {"error": {"code": -32603, "message": "Internal error"}}) != []


@pytest.mark.clause("V12")
@pytest.mark.clause("V13")
def test_an_event_of_a_run_log_has_its_eleven_fields(conforms: Conforms) -> None:
    event = {
        "ts": "2026-01-19T15:32:10.123Z",
        "requestId": "r",
        "traceId": "t",
        "spanId": "s",
        "transport": "http",
        "route": "/rpc/envelope",
        "method": "tools/call",
        "status": "invalid_envelope",
        "durationMs": 0,
        "error": {"code": "INVALID_ENVELOPE", "message": "Invalid MCP envelope"},
        "metadata": {"schemaVersion": "0.1.0", "deterministic": True},
    }

    assert conforms("run-log-event-1", event) == []
    assert conforms("run-log-event-1", event | {"error": None}) == []
    for name in event:
        assert conforms("run-log-event-1", {key: value for key, value in event.items() if key != name}) != []
    assert conforms("run-log-event-1", event | {"metadata": {"deterministic": True}}) != []
