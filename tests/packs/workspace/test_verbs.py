"""The commands: a plan from a template to its approval, and their error messages."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.packs.workspace.harness import START

from strictwire.fault.failure import Refused
from strictwire.packs.workspace.verbs import (
    FINDINGS,
    CommandContext,
    CommandResult,
    find_plan,
    run_approve,
    run_command,
    run_lint,
    run_list,
    run_new,
    run_show,
    run_status,
)


@pytest.fixture
def context(tmp_path: Path) -> CommandContext:
    (tmp_path / "work").mkdir()
    return CommandContext(root=tmp_path / "work", state=tmp_path / "state", now=lambda: START)


def test_a_plan_goes_from_template_to_approval(context: CommandContext) -> None:
    draft = run_new(context, author="terminal:ada", draft=None).stdout
    assert run_lint(context, text=draft, plan_hash=None).exit_code == 0
    plan_hash = run_new(context, author="terminal:ada", draft=draft).stdout.strip()
    line = f"{plan_hash}  proposed        2026-01-08T00:00:00Z Describe the purpose of this plan\n"
    assert run_list(context) == CommandResult(stdout=line)
    assert run_lint(context, text=None, plan_hash=plan_hash) == CommandResult(stdout=f"{plan_hash}\n")

    own = run_command(lambda: run_approve(context, plan_hash=plan_hash, approver="terminal:ada"))
    approved = run_approve(context, plan_hash=plan_hash, approver="terminal:bob")

    shown = run_show(context, plan_hash=plan_hash)
    assert (own.exit_code, "The author of a plan cannot approve it; someone other" in own.stderr) == (1, True)
    assert approved == CommandResult(stderr=f"approved {plan_hash} as terminal:bob\n")
    assert shown.stdout == f"PLAN_HASH: {plan_hash}\n{draft}"
    assert shown.stderr == "state: approved; author: terminal:ada; approved by: terminal:bob\n"
    assert "1 approved" in run_status(context).stdout


def test_findings_are_reported_by_line_and_nothing_is_saved(context: CommandContext) -> None:
    draft = run_new(context, author="terminal:ada", draft=None).stdout.replace("create, modify", "burn")
    answer = run_new(context, author="terminal:ada", draft=draft)

    assert answer.exit_code == FINDINGS
    assert "PLAN_NOT_ENFORCEABLE" in answer.stdout
    assert not (context.root / "docs").exists()


def test_files_left_by_a_crash_are_reported(context: CommandContext) -> None:
    (context.root / "src").mkdir()
    (context.root / "src/.strictwire-0011").write_text("half")

    answer = run_status(context)

    assert answer.exit_code == FINDINGS
    assert "src/.strictwire-0011" in answer.stdout


def test_a_refusal_is_an_error_message_with_its_code(context: CommandContext) -> None:
    assert run_command(lambda: run_show(context, plan_hash="0" * 64)).exit_code == 1
    assert "PLAN_NOT_FOUND" in run_command(lambda: run_approve(context, plan_hash="0" * 64, approver="x")).stderr


def test_approving_without_a_terminal_is_refused_by_the_command_line(
    context: CommandContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = context.state / "xdg"
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    served = replace(context, state=state / "strictwire" / "packs", now=time.time)
    draft = run_new(served, author="terminal:ada", draft=None).stdout
    plan_hash = run_new(served, author="terminal:ada", draft=draft).stdout.strip()

    def approve(given: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "strictwire.cli.main", "plan", "approve", given, "--root", str(context.root)]
        # A new session has no controlling terminal, wherever the tests run.
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60,
            start_new_session=True,
        )  # fmt: skip
        return done.returncode, done.stderr

    assert approve(plan_hash[:8]) == (1, "error: this needs a person at a terminal (UNAUTHORIZED_ACTION)\n")
    code, message = approve("zzzz")
    assert (code, "PLAN_NOT_FOUND" in message) == (1, True)


def test_the_plan_that_waits_is_found_without_its_hash_if_it_is_the_only_one(context: CommandContext) -> None:
    with pytest.raises(Refused, match="PLAN_NOT_FOUND"):
        find_plan(context, None)
    draft = run_new(context, author="terminal:ada", draft=None).stdout
    first = run_new(context, author="terminal:ada", draft=draft).stdout.strip()
    assert find_plan(context, None) == find_plan(context, first[:4]) == first
    run_new(context, author="terminal:ada", draft=draft.replace("the purpose", "another purpose"))

    with pytest.raises(Refused) as caught:
        find_plan(context, None)

    assert "2 plans: give more of the hash" in caught.value.failure.text
    run_approve(context, plan_hash=first, approver="terminal:eve")
    assert find_plan(context, None) != first
