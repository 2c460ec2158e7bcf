"""Failures as text for the terminal, and exit codes."""

from __future__ import annotations

import pytest

from strictwire.fault.catalogue import CATALOGUE
from strictwire.fault.dialects.terminal import exit_code, render_text
from strictwire.fault.failure import Facts, fail


def test_a_failure_is_printed_with_what_to_do_next() -> None:
    violations = [{"path": "/budget", "keyword": "minimum"}, {"path": "/query", "keyword": "required"}]
    failure = fail("INVALID_PARAMS", details={"violations": violations})

    assert render_text(failure, Facts(tool="context.resolve")) == (
        "error INVALID_PARAMS (context.resolve): Arguments do not match the input schema\n"
        "  - query is required\n"
        "  - budget violates minimum\n"
        "  next: Correct the named arguments and call again."
    )


def test_a_violated_invariant_is_named() -> None:
    assert "  invariant: WRITE_ATOMIC\n" in render_text(fail("INVARIANT_VIOLATION", invariant_id="WRITE_ATOMIC"), Facts())


def test_control_characters_are_shown_as_escapes() -> None:
    text = render_text(fail("TOOL_FAILED", text="\x1b[2Jgone\nnew\u202eline"), Facts(tool="a\x07b"))

    assert (
        text
        == "error TOOL_FAILED (a\\u0007b): \\u001b[2Jgone\\u000anew\\u202eline\n  next: " + CATALOGUE["TOOL_FAILED"].action
    )


@pytest.mark.clause("S13")
@pytest.mark.parametrize("code", ["BOOTSTRAP_FAILURE", "SELF_AUDIT_FAILURE"])
def test_a_start_up_failure_exits_with_1(code: str) -> None:
    assert exit_code(fail(code)) == 1


def test_wrong_usage_exits_with_2() -> None:
    assert exit_code(fail("INVALID_PARAMS")) == 2
