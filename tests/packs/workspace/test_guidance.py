"""What a refusal tells a client over HTTP: that the session is locked and how to unlock it, and what this caller may use."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import pytest
from tests.packs.workspace.agent import COMMAND, report_from
from tests.packs.workspace.harness import plan_arguments
from tests.packs.workspace.http_server import HttpServer, serve_http
from tests.packs.workspace.sandbox import needs_sandbox
from tests.packs.workspace.server_process import ServerProcess

from strictwire.packs.workspace.roles import LOCKING, LOCKING_CHANGES

pytestmark = pytest.mark.slow

ROLES = {"ANTIGRAVITY": ["ada", "eve"], "WINDSURF": ["bob"]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Office:
    """A team: ada plans, bob executes, eve approves. zoe has a token and no role."""

    server: HttpServer
    root: Path

    def approved(self, **changes: Any) -> str:
        """Return an approved plan of ada."""
        ada, eve = (self.server.begin(name, "ANTIGRAVITY", self.root) for name in ("ada", "eve"))
        made = self.server.call("ada", "create_plan", session_id=ada, **plan_arguments(**changes))["plan_hash"]
        self.server.call("eve", "approve_plan", session_id=eve, plan_hash=made)
        return str(made)


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    root = tmp_path / "top/work"
    (root / "src").mkdir(parents=True)
    owners = ("ada", "bob", "eve", "zoe")
    with serve_http(tmp_path, root.parent, owners=owners, roles=ROLES, approvers=["eve"], commands=["false"]) as server:
        yield Office(server=server, root=root)


# --- Locks


def edit_the_plan(office: Office, plan_hash: str) -> None:
    plan = office.root / f"docs/plans/{plan_hash}.md"
    plan.write_text(plan.read_text().replace("src/**", "**"))


def replace_the_root(office: Office, _plan_hash: str) -> None:
    office.root.rename(office.root.with_name("moved"))
    (office.root / "src").mkdir(parents=True)


def put_the_root_back(office: Office) -> None:
    if office.root.with_name("moved").exists():
        office.root.rename(office.root.with_name("new"))
        office.root.with_name("moved").rename(office.root)


FAILURES: Final[Mapping[str, tuple[dict[str, Any], str, Callable[[Office, str], object]]]] = MappingProxyType(
    {
        "PATH_TRAVERSAL_BLOCKED": ({}, "src/../a", lambda *_: None),
        "OUTSIDE_WORKSPACE": ({}, "/etc/x", lambda *_: None),
        "INVARIANT_VIOLATION": ({}, "src/a", replace_the_root),
        "PLAN_SCOPE_VIOLATION": ({}, "other", lambda *_: None),
        "PLAN_ENFORCEMENT_FAILED": ({}, "src/a", edit_the_plan),
        "PREFLIGHT_FAILED": ({"verification_gates": [["false"]]}, "src/a", lambda *_: None),
    }
)
"""Code to the plan, the path that is written and what happens before."""


def test_every_code_that_locks_is_tried_here() -> None:
    assert FAILURES.keys() == LOCKING | LOCKING_CHANGES


@needs_sandbox
@pytest.mark.clause("S11", "S12")
@pytest.mark.parametrize("code", FAILURES)
def test_a_failure_that_locks_says_so_and_how_to_unlock(office: Office, code: str) -> None:
    plan, path, prepare = FAILURES[code]
    plan_hash = office.approved(**plan)
    session = office.server.begin("bob", "WINDSURF", office.root)
    prepare(office, plan_hash)
    base = {"session_id": session, "plan_hash": plan_hash, "phase_id": "PHASE_1", "content": "x"}
    failed = office.server.call("bob", "write_file", path=path, **base)
    put_the_root_back(office)

    assert failed["error_code"] == code
    assert f"The session is locked because write_file failed with {code}. To unlock, write_file" in failed["human_message"]
    assert (failed["cause"]["lock"]["code"], failed["cause"]["lock"]["session_id"]) == (code, session)
    status = office.server.call("bob", "session_status", session_id=session)
    assert status["lock"]["how_to_unlock"] in failed["human_message"]
    content = report_from(failed["human_message"])
    told = office.server.call("bob", "write_file", session_id=session, path="docs/reports/a.md", content=content)
    assert "error_code" not in told, told
    assert office.server.call("bob", "session_status", session_id=session)["locked"] is False


def test_a_failure_that_does_not_lock_does_not_mention_a_lock(office: Office) -> None:
    session = office.server.begin("bob", "WINDSURF", office.root)
    failed = office.server.call("bob", "read_file", session_id=session, path="/etc/passwd")

    assert (failed["error_code"], "locked" in failed["human_message"]) == ("OUTSIDE_WORKSPACE", False)
    assert office.server.call("bob", "session_status", session_id=session)["locked"] is False


# --- Approvals


def test_a_single_person_learns_how_to_approve(tmp_path: Path) -> None:
    with ServerProcess(tmp_path) as process:
        session = process.begin("ANTIGRAVITY")
        made = process.call("create_plan", session_id=session, **plan_arguments())
        assert made is not None
        told = process.call("approve_plan", session_id=session, plan_hash=made["structuredContent"]["plan_hash"])
        assert told is not None

    envelope = told["structuredContent"]
    assert (envelope["error_code"], envelope["cause"]) == ("INSUFFICIENT_PERMISSIONS", {"reason": "not_an_approver"})
    assert "a person at a terminal with `strictwire plan approve`" in envelope["human_message"]


# --- Roots and roles


def test_a_refused_root_or_role_comes_with_what_this_caller_may_use(office: Office) -> None:
    def begin(owner: str, role: str, root: str) -> Any:
        told = office.server.call(owner, "begin_session", workspace_root=root, role=role)
        return told["error_code"], told["human_message"], told["cause"]

    top = str(office.root.parent)
    text = "workspace_root is not in an allowed folder; cause.allowed lists them"
    outside = ("SESSION_INITIALIZATION_FAILED", text, {"reason": "not_allowed", "allowed": [top]})
    assert begin("bob", "WINDSURF", "/srv") == outside
    # What exists outside is not disclosed: a file, a folder and nothing look the same.
    for root in ("/etc/passwd", "/etc/passwd/x", "/absent", "/root/.ssh", f"{top}/.."):
        assert begin("bob", "WINDSURF", root) == outside
    assert begin("bob", "ANTIGRAVITY", "/srv") == (
        "INSUFFICIENT_PERMISSIONS",
        "This caller may not take the role ANTIGRAVITY; it may take WINDSURF",
        {"reason": "role_not_granted", "allowed": ["WINDSURF"]},
    )
    code, message, cause = begin("zoe", "WINDSURF", "/srv")
    assert (code, cause) == ("INSUFFICIENT_PERMISSIONS", {"reason": "role_not_granted", "allowed": []})
    assert message.endswith("no role is granted to it; ask the operator")


# --- Settings


def test_the_doctor_names_a_server_that_runs_with_other_settings(tmp_path: Path) -> None:
    config = tmp_path / "strictwire.toml"

    def doctor(process: ServerProcess) -> list[str]:
        process.begin("WINDSURF")
        done = subprocess.run(
            [*COMMAND, "workspace", "doctor", "--root", str(process.root), "--config", str(config)],
            env=os.environ | {"XDG_STATE_HOME": str(tmp_path / "xdg")},
            capture_output=True,
            text=True,
            check=False,
        )
        return [line for line in done.stdout.splitlines() if line.split()[1] == "settings"]

    with ServerProcess(tmp_path) as process:
        assert doctor(process) == []
        config.write_text(config.read_text().replace('["true"]', '["true", "false"]'))
        text = f"the server with pid {process.process.pid} runs with other settings"
        assert doctor(process) == [f"PROBLEM settings {text}: restart it, or name its file with --config"]
    with ServerProcess(tmp_path) as process:
        assert doctor(process) == []
