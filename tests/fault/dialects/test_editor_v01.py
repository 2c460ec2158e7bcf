"""The error object of EditorMCP (E7, E8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from strictwire.fault.catalogue import CATALOGUE
from strictwire.fault.dialects.editor_v01 import render
from strictwire.fault.failure import Facts, fail

Conforms = Callable[[str, Any], list[str]]

SCENE = Facts(tool="scene.hierarchy.dump")


@pytest.mark.clause("E7")
@pytest.mark.parametrize("code", CATALOGUE)
def test_every_failure_is_a_valid_error(code: str, conforms: Conforms) -> None:
    assert conforms("editor-error-0.1", render(fail(code), SCENE)) == []
    assert conforms("editor-error-0.1", render(fail(code), Facts())) == []


@pytest.mark.clause("E7")
@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("NOT_JSON", {"code": -32700, "message": "Parse error"}),
        ("NOT_A_REQUEST", {"code": -32600, "message": "Invalid Request"}),
        ("METHOD_NOT_FOUND", {"code": -32601, "message": "Method not found"}),
        ("MALFORMED_PARAMS", {"code": -32602, "message": "Invalid params"}),
        ("INTERNAL", {"code": -32603, "message": "Internal error"}),
    ],
)
def test_json_rpc_codes_have_no_data(code: str, error: dict[str, Any]) -> None:
    assert render(fail(code, text="more", details={"x": 1}), SCENE) == error


@pytest.mark.clause("E7")
@pytest.mark.parametrize(
    ("code", "number", "kind"),
    [
        ("TOOL_FAILED", -32000, "execution"),
        ("UNKNOWN_TOOL", -32001, "not_found"),
        ("INVALID_PARAMS", -32002, "validation"),
        ("TIMEOUT", -32003, "timeout"),
        ("UNITY_ERROR", -32004, "unity"),
        ("PERMISSION_DENIED", -32005, "permission"),
    ],
)
def test_editor_codes_have_an_error_type_and_details(code: str, number: int, kind: str) -> None:
    error = render(fail(code), SCENE)

    assert error["code"] == number
    assert error["data"]["errorType"] == kind
    assert isinstance(error["data"]["details"], dict)
    assert error["data"]["tool"] == "scene.hierarchy.dump"


@pytest.mark.clause("E8")
def test_a_missing_parameter_is_rendered_as_in_the_document() -> None:
    failure = fail("INVALID_PARAMS", details={"violations": [{"path": "/scenePath", "keyword": "required"}]})

    assert render(failure, SCENE) == {
        "code": -32002,
        "message": "Invalid tool arguments: scenePath is required",
        "data": {
            "tool": "scene.hierarchy.dump",
            "errorType": "validation",
            "details": {"missingParameters": ["scenePath"]},
        },
    }


@pytest.mark.clause("E8")
def test_violations_are_grouped_into_three_lists() -> None:
    violations = [
        {"path": "/depth", "keyword": "maximum", "expected": "10"},
        {"path": "/position/line", "keyword": "type", "expected": "integer", "actual": "string"},
        {"path": "/scenePath", "keyword": "required"},
        {"path": "/extra", "keyword": "additionalProperties"},
    ]

    assert render(fail("INVALID_PARAMS", details={"violations": violations}), SCENE)["data"]["details"] == {
        "missingParameters": ["scenePath"],
        "typeMismatches": [{"parameter": "position/line", "expected": "integer", "actual": "string"}],
        "constraintViolations": [
            {"parameter": "depth", "keyword": "maximum"},
            {"parameter": "extra", "keyword": "additionalProperties"},
        ],
    }


@pytest.mark.clause("E7")
def test_an_unknown_tool_is_named_and_has_no_details() -> None:
    assert render(fail("UNKNOWN_TOOL"), Facts(tool="invalid.tool.id")) == {
        "code": -32001,
        "message": "Tool not found: invalid.tool.id",
        "data": {"tool": "invalid.tool.id", "errorType": "not_found", "details": {}},
    }


@pytest.mark.clause("E8")
def test_a_timeout_has_the_limit_and_the_tool() -> None:
    failure = fail("TIMEOUT", details={"timeoutMs": 30_000, "tool": "scene.hierarchy.dump", "other": 1})

    assert render(failure, SCENE)["data"]["details"] == {"timeoutMs": 30_000, "tool": "scene.hierarchy.dump"}


@pytest.mark.clause("E8")
def test_a_denied_tier_has_the_required_and_the_current_tier() -> None:
    failure = fail("PERMISSION_DENIED", details={"requiredTier": "pro", "currentTier": "core"})

    assert render(failure, SCENE) == {
        "code": -32005,
        "message": "Permission denied",
        "data": {
            "tool": "scene.hierarchy.dump",
            "errorType": "permission",
            "details": {"requiredTier": "pro", "currentTier": "core"},
        },
    }


@pytest.mark.clause("E8")
def test_a_unity_error_has_its_message_and_context() -> None:
    failure = fail("UNITY_ERROR", text="Scene file not found", details={"scenePath": "Assets/Scenes/Missing.unity"})

    assert render(failure, SCENE) == {
        "code": -32004,
        "message": "Unity Editor error: Scene file not found",
        "data": {
            "tool": "scene.hierarchy.dump",
            "errorType": "unity",
            "details": {"unityError": "Scene file not found", "scenePath": "Assets/Scenes/Missing.unity"},
        },
    }


@pytest.mark.clause("E7")
def test_a_code_without_an_editor_code_is_in_the_details() -> None:
    assert render(fail("OVERLOADED", details={"retryAfterMs": 5}), Facts()) == {
        "code": -32000,
        "message": "Tool execution failed: Too many calls are running",
        "data": {"errorType": "execution", "details": {"code": "OVERLOADED", "retryAfterMs": 5}},
    }


def test_tool_failed_is_not_repeated_in_the_details() -> None:
    assert render(fail("TOOL_FAILED"), Facts())["message"] == "Tool execution failed"
