"""The verbs for people: a plan from a template to an approval, and what is told when something is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.packs.workspace.desk import START

from strictwire.packs.workspace.verbs import (
    FINDINGS,
    Answer,
    Place,
    guarded,
    run_approve,
    run_lint,
    run_list,
    run_new,
    run_show,
    run_status,
)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "work").mkdir()
    return Place(root=tmp_path / "work", key=tmp_path / "state" / "key", now=lambda: START)


def test_a_plan_goes_from_template_to_approval(place: Place) -> None:
    draft = run_new(place, author="terminal:ada", draft=None).stdout
    assert run_lint(place, text=draft, plan_hash=None).exit_code == 0
    plan_hash = run_new(place, author="terminal:ada", draft=draft).stdout.strip()
    line = f"{plan_hash}  proposed        2026-01-08T00:00:00Z Say what this plan is for\n"
    assert run_list(place) == Answer(stdout=line)
    assert run_lint(place, text=None, plan_hash=plan_hash) == Answer(stdout=f"{plan_hash}\n")

    approved = run_approve(place, plan_hash=plan_hash, approver="terminal:ada")

    shown = run_show(place, plan_hash=plan_hash)
    assert approved == Answer(stderr=f"approved {plan_hash} as terminal:ada\n")
    assert shown.stdout == f"PLAN_HASH: {plan_hash}\n{draft}"
    assert shown.stderr == "state: approved; author: terminal:ada; approved by: terminal:ada\n"
    assert "1 approved" in run_status(place).stdout


def test_findings_are_told_by_line_and_nothing_is_kept(place: Place) -> None:
    draft = run_new(place, author="terminal:ada", draft=None).stdout.replace("create, modify", "burn")
    answer = run_new(place, author="terminal:ada", draft=draft)

    assert answer.exit_code == FINDINGS
    assert "PLAN_NOT_ENFORCEABLE" in answer.stdout
    assert not (place.root / "docs").exists()


def test_what_a_crash_left_behind_is_named(place: Place) -> None:
    (place.root / "src").mkdir()
    (place.root / "src/.strictwire-0011").write_text("half")

    answer = run_status(place)

    assert answer.exit_code == FINDINGS
    assert "src/.strictwire-0011" in answer.stdout


def test_a_refusal_is_a_sentence_with_its_code(place: Place) -> None:
    assert guarded(lambda: run_show(place, plan_hash="0" * 64)).exit_code == 1
    assert "PLAN_NOT_FOUND" in guarded(lambda: run_approve(place, plan_hash="0" * 64, approver="x")).stderr


def test_approving_without_a_terminal_is_refused_by_the_command_line(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(place.key.parent))
    command = [sys.executable, "-m", "strictwire.cli.main", "plan", "approve", "0" * 64, "--root", str(place.root)]

    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60)

    assert (done.returncode, done.stderr) == (1, "error: approving needs a person at a terminal\n")
