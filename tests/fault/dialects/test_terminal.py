"""What a person reads, and the exit code of a command."""

from __future__ import annotations

import pytest

from strictwire.fault.catalogue import CATALOGUE
from strictwire.fault.dialects.terminal import exit_code, render_text
from strictwire.fault.failure import Facts, fail


def test_a_failure_is_told_with_what_to_do_next() -> None:
    violations = [{"path": "/budget", "keyword": "minimum"}, {"path": "/query", "keyword": "required"}]
    failure = fail("INVALID_PARAMS", details={"violations": violations})

    assert render_text(failure, Facts(tool="context.resolve")) == (
        "error INVALID_PARAMS (context.resolve): Arguments do not fit the input schema\n"
        "  - query is required\n"
        "  - budget breaks minimum\n"
        "  next: Correct the arguments that are named and call again."
    )


def test_a_broken_invariant_is_named() -> None:
    assert "  invariant: WRITE_ATOMIC\n" in render_text(fail("INVARIANT_VIOLATION", invariant_id="WRITE_ATOMIC"), Facts())


def test_nothing_in_a_failure_can_move_the_cursor() -> None:
    text = render_text(fail("TOOL_FAILED", text="\x1b[2Jgone\nnew\u202eline"), Facts(tool="a\x07b"))

    assert text == "error TOOL_FAILED (a b):  [2Jgone new line\n  next: " + CATALOGUE["TOOL_FAILED"].action


@pytest.mark.clause("S13")
@pytest.mark.parametrize("code", ["BOOTSTRAP_FAILURE", "SELF_AUDIT_FAILURE"])
def test_a_server_that_cannot_start_exits_with_one(code: str) -> None:
    assert exit_code(fail(code)) == 1


def test_a_command_that_was_not_well_formed_exits_with_two() -> None:
    assert exit_code(fail("INVALID_PARAMS")) == 2
