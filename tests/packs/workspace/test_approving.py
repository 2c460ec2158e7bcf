"""Approving at a terminal: what a person sees, what is signed, and what the audit trail records of it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.packs.workspace.agent import COMMAND, at_terminal
from tests.packs.workspace.harness import plan_arguments
from tests.packs.workspace.sandbox import needs_sandbox
from tests.packs.workspace.server_process import ServerProcess

from strictwire.server.system_user import system_user

pytestmark = pytest.mark.slow

PERSON = f"terminal:{system_user()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """A running server with a plan that waits, and a person at a terminal."""

    process: ServerProcess
    session: str
    plan_hash: str

    @property
    def folder(self) -> Path:
        return self.process.root.parent

    @property
    def plan(self) -> Path:
        return self.process.root / f"docs/plans/{self.plan_hash}.md"

    @property
    def approval(self) -> Path:
        return self.plan.with_suffix(".approval.json")

    def approve(
        self, *more: str, typed: str | None = None, meanwhile: Callable[[], object] = lambda: None, **environment: str
    ) -> tuple[int, str]:
        """Run `strictwire plan approve` in the environment of the server, with changes."""
        own = dict(os.environ) | {"XDG_STATE_HOME": str(self.folder / "xdg")} | environment
        arguments = ["plan", "approve", "--root", str(self.process.root), *more]
        return at_terminal(arguments, own, typed=typed, meanwhile=meanwhile)

    def records(self) -> list[tuple[Any, ...]]:
        """Return kind, principal, plan, outcome and reason of the records that a terminal left."""
        lines = (self.process.state / "audit/audit-log.jsonl").read_bytes().splitlines()
        mine = [each for each in map(json.loads, lines) if each.get("transport") == "terminal"]
        assert {each["tool_name"] for each in mine} <= {"approve_plan"}
        assert {each["workspace_root"] for each in mine} <= {str(self.process.root)}
        return [
            (
                each["kind"],
                each["principal"],
                each["plan_hash"],
                each.get("outcome"),
                (each.get("cause") or {}).get("reason"),
            )
            for each in mine
        ]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with ServerProcess(tmp_path) as process:
        session = process.begin("ANTIGRAVITY")
        yield Desk(process=process, session=session, plan_hash=make_plan(process, session))


def make_plan(process: ServerProcess, session: str, **changes: Any) -> str:
    made = process.call("create_plan", session_id=session, **plan_arguments(**changes))
    assert made is not None
    return str(made["structuredContent"]["plan_hash"])


def strictwire(desk: Desk, *arguments: str, state: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command without a terminal, with the state and the settings of the server."""
    config = ["--config", str(desk.folder / "strictwire.toml")] if arguments[0] == "workspace" else []
    return subprocess.run(
        [*COMMAND, *arguments, "--root", str(desk.process.root), *config],
        env=os.environ | {"XDG_STATE_HOME": str(state or desk.folder / "xdg"), "LOGNAME": "eve"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def files_of(desk: Desk) -> list[Path]:
    """Return all files that the server and the command keep."""
    return [path for path in desk.folder.rglob("*") if path.is_file()]


def is_asked(shown: str) -> bool:
    return "Type the code" in shown


def test_every_decision_of_a_person_is_in_the_trail_with_plan_and_person(desk: Desk) -> None:
    code, shown = desk.approve(typed="yes")
    assert (code, "nothing was done: the code is wrong" in shown, desk.approval.exists()) == (1, True, False), shown
    # The name is that of the operating system user: variables can be set by anyone.
    code, shown = desk.approve(LOGNAME="eve", USER="eve")
    assert (code, f"Recorded in {desk.process.state}/audit" in shown) == (0, True), shown
    typed = re.search(r"Code: (\w+) (\w+)", shown)
    assert typed is not None
    assert not any(re.search(rf"{typed[1]} ?{typed[2]}", path.read_text(errors="replace")) for path in files_of(desk))
    code, again = desk.approve(desk.plan_hash)
    assert (code, "approved already" in again, is_asked(again)) == (1, True, False)

    assert json.loads(desk.approval.read_text())["approver"] == PERSON
    assert desk.records() == [
        ("refusal", PERSON, desk.plan_hash, "error", "code"),
        ("intent", PERSON, desk.plan_hash, None, None),
        ("outcome", PERSON, desk.plan_hash, "ok", None),
        ("refusal", PERSON, desk.plan_hash, "error", "approved"),
    ]
    verify = subprocess.run(
        [*COMMAND, "audit", "verify"],
        env=os.environ | {"XDG_STATE_HOME": str(desk.folder / "xdg")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert verify.returncode == 0, verify.stdout + verify.stderr


def test_an_interrupted_approval_is_recorded_as_a_refusal(desk: Desk) -> None:
    code, shown = desk.approve(typed="\x03")
    assert (code, "nothing was done: interrupted" in shown, desk.approval.exists()) == (1, True, False), shown
    assert desk.records() == [("refusal", PERSON, desk.plan_hash, "error", "interrupted")]


def test_the_author_at_the_terminal_is_refused_before_a_code_is_shown(desk: Desk) -> None:
    draft = desk.folder / "draft.md"
    draft.write_text(strictwire(desk, "plan", "new").stdout)
    made = strictwire(desk, "plan", "new", str(draft))
    code, shown = desk.approve(made.stdout.strip())
    assert (code, "INSUFFICIENT_PERMISSIONS" in shown, is_asked(shown)) == (1, True, False), shown


def test_nothing_is_approved_if_the_trail_cannot_be_opened(desk: Desk) -> None:
    config, wrong = desk.folder / "other.toml", desk.folder / "file"
    wrong.write_text("")
    config.write_text(f'[audit]\nfolder = "{wrong}"\n')
    code, shown = desk.approve("--config", str(config))

    assert (code, is_asked(shown), desk.approval.exists()) == (1, False, False), shown
    assert "the audit trail cannot be written: AUDIT_LOG_FAILED: " in shown
    assert "state: proposed" in shown


def test_nothing_is_approved_if_the_trail_breaks_while_the_person_reads(desk: Desk) -> None:
    audit = desk.process.state / "audit"

    def spoil() -> None:
        audit.rename(audit.with_name("moved"))
        audit.write_text("")

    code, shown = desk.approve(meanwhile=spoil)

    assert (code, is_asked(shown), desk.approval.exists()) == (1, True, False), shown
    assert "the audit trail cannot be written" in shown


def test_another_state_folder_is_noticed_before_a_code_is_shown(desk: Desk) -> None:
    other = desk.folder / "other"
    code, shown = desk.approve(XDG_STATE_HOME=str(other))
    text = " ".join(shown.split())

    assert (code, is_asked(shown), desk.approval.exists()) == (1, False, False), shown
    assert f"the state folder {other}/strictwire has no record of who created this plan" in text
    assert "the same XDG_STATE_HOME as that server" in text
    doctor = strictwire(desk, "workspace", "doctor", state=other)
    assert f"PROBLEM plan     {desk.plan_hash[:12]}: the state folder {other}/strictwire has no record" in doctor.stdout


def test_only_the_text_with_the_hash_is_shown_and_signed(desk: Desk) -> None:
    """A plan file that is swapped before the person reads it, or while, is not approved."""
    real = desk.plan.read_text()
    desk.plan.write_text(real.replace("src/**", "docs/**"))
    code, shown = desk.approve(desk.plan_hash)
    assert (code, is_asked(shown), "PLAN_ENFORCEMENT_FAILED" in shown) == (1, False, True), shown
    desk.plan.write_text(real)
    code, shown = desk.approve(meanwhile=lambda: desk.plan.write_text(real.replace("src/**", "docs/**")))
    assert (code, is_asked(shown), desk.approval.exists()) == (1, True, False), shown

    assert [(kind, outcome, reason) for kind, _, _, outcome, reason in desk.records()] == [
        ("refusal", "error", "hash"),
        ("intent", None, None),
        ("outcome", "error", "hash"),
    ]


def test_of_two_approvals_at_once_one_is_refused(desk: Desk) -> None:
    inner: list[tuple[int, str]] = []
    code, shown = desk.approve(meanwhile=lambda: inner.append(desk.approve()))

    assert [code, inner[0][0]] == [1, 0]
    assert "approved already" in shown


def test_a_code_approves_only_the_plan_it_was_shown_for(desk: Desk) -> None:
    """The code of one prompt is no use in another, also if both wait at the same time."""
    second = make_plan(desk.process, desk.session, title="Another")
    seen: list[str] = []

    def other() -> None:
        code, shown = desk.approve(second, typed="AAAAAA")
        seen.append(shown)
        assert code == 1

    code, shown = desk.approve(desk.plan_hash, meanwhile=other)
    assert code == 0, shown
    assert not desk.plan.with_name(f"{second}.approval.json").exists()
    assert desk.approval.exists()


def test_an_approval_is_no_approval_of_another_plan_or_workspace(desk: Desk) -> None:
    assert desk.approve()[0] == 0
    other = make_plan(desk.process, desk.session, title="Another")
    shutil.copy(desk.approval, desk.plan.with_name(f"{other}.approval.json"))
    builder = desk.process.begin("WINDSURF")
    base = {"session_id": builder, "phase_id": "PHASE_1", "path": "src/a", "content": "x"}
    refused = desk.process.call("write_file", plan_hash=other, **base)
    assert refused is not None
    assert refused["structuredContent"]["error_code"] == "PLAN_NOT_APPROVED"


HOSTILE = "A\x1b[2J\x1b]0;x\x07\u202eB"


def test_a_plan_cannot_change_the_terminal_or_forge_the_prompt(desk: Desk) -> None:
    hostile = make_plan(desk.process, desk.session, title=HOSTILE, scope="Approve this plan?\nCode: AAA AAA")
    code, shown = desk.approve(hostile, typed="AAA AAA")

    assert (code, desk.plan.with_name(f"{hostile}.approval.json").exists()) == (1, False)
    assert {each for each in shown if not each.isprintable()} <= {"\n", "\r"}
    for command in (["plan", "list"], ["workspace", "status"], ["workspace", "report"], ["workspace", "doctor"]):
        printed = strictwire(desk, *command).stdout
        assert hostile[:12] in printed
        assert {each for each in printed if not each.isprintable()} == {"\n"}, command
    assert HOSTILE in strictwire(desk, "plan", "show", hostile).stdout, "a file gets the exact text"


@needs_sandbox
def test_what_a_long_plan_permits_is_shown_again_before_the_code(desk: Desk) -> None:
    paths = [f"src/{number}/**" for number in range(14)]
    scope = "\n".join(f"Line {number}" for number in range(500))
    gates = [["true", "-x", "a b"]]
    code, shown = desk.approve(make_plan(desk.process, desk.session, scope=scope, paths=paths, verification_gates=gates))
    end = shown.replace("\r", "").partition("Approve this plan?")[0].splitlines()[-18:]

    assert code == 0, shown
    assert end[0].startswith("plan ")
    assert end[1:] == [
        "permits  create, delete, modify, move",
        *(f"in       {path}" for path in paths[:12]),
        "in       2 more: read them in the plan",
        'runs     ["true","-x","a b"]',
        f"Recorded in {desk.process.state}/audit",
        "",
    ]
