"""The SystemError envelope and its four factories (S1 to S5, S9, S12, S13)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from strictwire.canon.json import parse
from strictwire.canon.json import render as render_json
from strictwire.fault.catalogue import CATALOGUE
from strictwire.fault.catalogue.governed import GOVERNED_ENTRIES
from strictwire.fault.dialects.system_v1 import MAX_STACK, SYSTEM_ERROR_CODES, GovernedError, code_of, render
from strictwire.fault.failure import Facts, Refused, fail

Conforms = Callable[[str, Any], list[str]]

ELEVEN = [
    "error_code",
    "human_message",
    "role",
    "session_id",
    "workspace_root",
    "tool_name",
    "invariant_id",
    "phase_id",
    "plan_hash",
    "cause",
    "timestamp",
]

CALL = Facts(
    tool="write_file",
    timestamp="2026-01-19T15:32:10.123Z",
    role="WINDSURF",
    session_id="550e8400-e29b-41d4-a716-446655440000",
    workspace_root="/home/user/project",
    phase_id="PHASE_5A",
    plan_hash="abc123def456",
)


@pytest.mark.clause("S1")
@pytest.mark.parametrize("code", CATALOGUE)
def test_every_failure_is_an_envelope_of_eleven_fields(code: str, conforms: Conforms) -> None:
    envelope = render(fail(code), CALL)

    assert list(envelope) == ELEVEN
    assert conforms("system-error-1.0", envelope) == []


@pytest.mark.clause("S1")
def test_an_envelope_matches_the_document() -> None:
    error = GovernedError.tool_failure(
        "INVALID_PATH",
        CALL,
        human_message="The path is empty",
        cause=ValueError("empty"),
        invariant_id="PATH_WITHIN_WORKSPACE",
    )

    assert error.to_envelope() == {
        "error_code": "INVALID_PATH",
        "human_message": "The path is empty",
        "role": "WINDSURF",
        "session_id": "550e8400-e29b-41d4-a716-446655440000",
        "workspace_root": "/home/user/project",
        "tool_name": "write_file",
        "invariant_id": "PATH_WITHIN_WORKSPACE",
        "phase_id": "PHASE_5A",
        "plan_hash": "abc123def456",
        "cause": {"message": "empty", "code": None, "name": "ValueError"},
        "timestamp": "2026-01-19T15:32:10.123Z",
    }


@pytest.mark.clause("S2")
def test_a_stack_trace_appears_only_if_the_facts_have_one() -> None:
    without = render(fail("INTERNAL_ERROR"), CALL)
    traced = render(fail("INTERNAL_ERROR"), replace(CALL, stack_trace="Traceback\n  line"))

    assert "stack_trace" not in without
    assert traced == without | {"stack_trace": "Traceback\n  line"}


@pytest.mark.clause("S2")
def test_a_stack_trace_is_bounded_and_redacted(conforms: Conforms) -> None:
    trace = "password=hunter2hunter2 " + "x" * 1_000_000
    envelope = render(fail("INTERNAL_ERROR"), replace(CALL, stack_trace=trace))

    assert conforms("system-error-1.0", envelope) == []
    assert len(envelope["stack_trace"]) <= MAX_STACK
    assert "hunter2" not in envelope["stack_trace"]


@pytest.mark.clause("S3")
def test_thirty_five_codes_are_registered_by_family() -> None:
    families: dict[str, int] = {}
    for family in SYSTEM_ERROR_CODES.values():
        families[family] = families.get(family, 0) + 1

    assert families == {
        "session": 3,
        "input": 4,
        "authorization": 3,
        "path": 4,
        "file": 4,
        "patch": 3,
        "plan": 4,
        "policy": 3,
        "governance": 3,
        "audit": 2,
        "generic": 2,
    }
    assert list(SYSTEM_ERROR_CODES) == [entry.code for entry in GOVERNED_ENTRIES]


@pytest.mark.clause("S3")
@pytest.mark.parametrize("code", SYSTEM_ERROR_CODES)
def test_a_registered_code_is_rendered_unchanged(code: str) -> None:
    assert GovernedError.tool_failure(code, CALL).to_envelope()["error_code"] == code


@pytest.mark.clause("S3")
@pytest.mark.parametrize("code", ["NO_SUCH_CODE", "TIMEOUT", ""])
def test_a_code_that_is_not_registered_is_refused_by_every_factory(code: str) -> None:
    for make in (GovernedError.tool_failure, GovernedError.startup_failure):
        with pytest.raises(KeyError):
            make(code, CALL)
    with pytest.raises(KeyError):
        GovernedError.from_unknown(ValueError("x"), CALL, error_code=code)


@pytest.mark.clause("S5")
@pytest.mark.parametrize("thrown", [ValueError("raw"), "text", {"code": 7}, None, 3])
def test_from_unknown_accepts_any_object(thrown: object, conforms: Conforms) -> None:
    envelope = GovernedError.from_unknown(thrown, CALL, error_code="FILE_READ_FAILED").to_envelope()

    assert conforms("system-error-1.0", envelope) == []
    assert envelope["error_code"] == "FILE_READ_FAILED"
    assert envelope["human_message"] == "The file could not be read"


@pytest.mark.clause("S5")
def test_from_unknown_defaults_to_unknown_tool_failure() -> None:
    assert GovernedError.from_unknown(ValueError("x"), CALL).code == "UNKNOWN_TOOL_FAILURE"


@pytest.mark.clause("S5")
def test_from_unknown_keeps_a_failure_and_completes_its_facts() -> None:
    raised = GovernedError.tool_failure("HASH_MISMATCH", Facts(phase_id="PHASE_1"))
    caught = GovernedError.from_unknown(raised, replace(CALL, phase_id=None))

    assert caught.failure == raised.failure
    assert caught.facts == replace(CALL, phase_id="PHASE_1")
    assert GovernedError.from_unknown(Refused(raised.failure), CALL).failure == raised.failure


@pytest.mark.clause("S5")
def test_an_invariant_violation_names_the_invariant() -> None:
    error = GovernedError.invariant_violation("MANDATORY_DIAGNOSTICS", CALL, human_message="Session was not initialized")
    envelope = error.to_envelope()

    assert (envelope["error_code"], envelope["invariant_id"]) == ("INVARIANT_VIOLATION", "MANDATORY_DIAGNOSTICS")
    assert envelope["human_message"] == "Session was not initialized"


@pytest.mark.clause("S12")
def test_an_unknown_invariant_is_refused() -> None:
    with pytest.raises(KeyError):
        GovernedError.invariant_violation("MADE_UP", CALL, human_message="x")


@pytest.mark.clause("S5")
@pytest.mark.clause("S9")
@pytest.mark.clause("S13")
@pytest.mark.parametrize("code", ["BOOTSTRAP_FAILURE", "SELF_AUDIT_FAILURE"])
def test_a_startup_failure_is_an_envelope_without_a_session(code: str, conforms: Conforms) -> None:
    envelope = GovernedError.startup_failure(code, CALL, cause=OSError(13, "denied")).to_envelope()

    assert conforms("system-error-1.0", envelope) == []
    assert envelope["tool_name"] == "startup"
    assert [envelope[name] for name in ("role", "session_id", "workspace_root")] == [None, None, None]


@pytest.mark.clause("S9")
def test_before_a_session_its_fields_are_null_and_those_of_the_caller_are_kept(conforms: Conforms) -> None:
    envelope = render(fail("SESSION_NOT_INITIALIZED"), Facts(tool="read_file", phase_id="PHASE_1", plan_hash="ff00"))

    assert conforms("system-error-1.0", envelope) == []
    assert {name: envelope[name] for name in ("role", "session_id", "workspace_root", "phase_id", "plan_hash")} == {
        "role": None,
        "session_id": None,
        "workspace_root": None,
        "phase_id": "PHASE_1",
        "plan_hash": "ff00",
    }


@pytest.mark.clause("S12")
@pytest.mark.parametrize(
    ("violations", "code"),
    [
        ([("/path", "type")], "INVALID_INPUT_TYPE"),
        ([("", "type")], "INVALID_INPUT_FORMAT"),
        ([("/path", "pattern")], "INVALID_INPUT_FORMAT"),
        ([("/path", "format")], "INVALID_INPUT_FORMAT"),
        ([("/path", "minLength")], "INVALID_INPUT_VALUE"),
        ([("/path", "enum")], "INVALID_INPUT_VALUE"),
        ([("/extra", "additionalProperties")], "INVALID_INPUT_VALUE"),
        ([("/path", "required")], "MISSING_REQUIRED_FIELD"),
        ([("/a", "enum"), ("/b", "pattern"), ("/c", "type"), ("/d", "required")], "MISSING_REQUIRED_FIELD"),
        ([("/a", "enum"), ("/b", "pattern"), ("/c", "type")], "INVALID_INPUT_TYPE"),
        ([("/a", "enum"), ("/b", "pattern")], "INVALID_INPUT_FORMAT"),
        ([], "INVALID_INPUT_VALUE"),
    ],
)
def test_invalid_arguments_get_the_code_of_the_most_severe_violation(violations: list[tuple[str, str]], code: str) -> None:
    listed = [{"path": path, "keyword": keyword} for path, keyword in violations]

    assert code_of(fail("INVALID_PARAMS", details={"violations": listed})) == code


def test_the_message_for_invalid_arguments_is_the_most_severe_violation() -> None:
    wrong = {"path": "/path", "keyword": "type", "expected": "string", "actual": "integer"}

    assert render(fail("INVALID_PARAMS", details={"violations": [wrong]}), CALL)["human_message"] == (
        "path must be string, not integer"
    )


@pytest.mark.clause("S12")
def test_a_denied_role_is_an_unauthorized_action_and_any_other_denial_a_missing_permission() -> None:
    by_role = fail("PERMISSION_DENIED", details={"requiredRoles": ["WINDSURF"]})
    by_tier = fail("PERMISSION_DENIED", details={"requiredTier": "pro", "currentTier": "core"})

    assert (code_of(by_role), code_of(by_tier)) == ("UNAUTHORIZED_ACTION", "INSUFFICIENT_PERMISSIONS")


@pytest.mark.clause("S4")
@pytest.mark.parametrize("cause", [3, 2.5, True, [1, 2]])
def test_a_cause_that_is_neither_string_nor_object_is_wrapped(cause: object) -> None:
    assert GovernedError.from_unknown(cause, CALL).to_envelope()["cause"] == {"value": cause}


@pytest.mark.clause("S4")
def test_an_envelope_is_json_and_reads_back_the_same() -> None:
    envelope = GovernedError.from_unknown({"nested": [b"\x00", {1, 2}]}, CALL).to_envelope()

    assert parse(render_json(envelope)) == envelope


def test_a_governed_error_has_its_registered_code() -> None:
    error = GovernedError.tool_failure("HASH_MISMATCH", CALL)

    assert (error.code, str(error)) == ("HASH_MISMATCH", "HASH_MISMATCH")
