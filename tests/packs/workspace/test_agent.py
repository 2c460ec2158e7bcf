"""From nothing to a governed, committed change in a real project, by an agent that follows only what the server says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.packs.workspace.agent import COMMAND, Agent, HttpConnection, StdioConnection, at_terminal
from tests.packs.workspace.sandbox import needs_sandbox

PROJECT = Path(__file__).parents[3]


def make_project(folder: Path) -> Path:
    """Make a git repository with a part of this project, and a virtual environment and a build folder that are ignored."""
    root = folder / "project"
    for part in ("src/strictwire/canon", "tests/canon", "docs/AUDIT.md", "pyproject.toml", "README.md"):
        source, target = PROJECT / part, root / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    (root / ".gitignore").write_text("build/\n.venv/\nstrictwire.toml\n")
    (root / "build").mkdir()
    (root / "build/out.py").write_text("generated = 1\n")
    (root / ".venv/bin").mkdir(parents=True)
    (root / ".venv/pyvenv.cfg").write_text(f"home = {Path(sys.executable).resolve().parent}\n")
    (root / ".venv/bin/python").symlink_to(Path(sys.executable).resolve())
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "Begin"]):
        git(root, *command)
    return root


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    done = subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout


def strictwire(environment: Mapping[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], env=dict(environment), capture_output=True, text=True, check=False, timeout=120
    )


def own_state(folder: Path) -> dict[str, str]:
    return dict(os.environ) | {"XDG_STATE_HOME": str(folder / "state")}


def work(planner: Agent, builder: Agent, root: Path) -> str:
    """Plan and execute one change, with the mistakes of an agent. Returns the commit."""
    planner.begin("ANTIGRAVITY")
    listed = planner.call("list_files", path=str(root), recursive=True, pageSize=1000)
    names = [each["path"] for each in listed["items"]]
    assert "src/strictwire/canon/json.py" in names
    assert [name for name in names if name.startswith((".git/", ".venv", "build"))] == []
    found = planner.call("search_text", query="def render_canonical", path=root.as_uri())
    assert [each["path"] for each in found["items"]] == ["src/strictwire/canon/jcs.py"]
    gates = [["bash", "-m", "compileall", "-q", "src"]]
    plan_hash = planner.call("create_plan", title="Greet", verification_gates=gates)["plan_hash"]
    builder.begin("WINDSURF")
    plan: dict[str, Any] = {"plan_hash": plan_hash, "phase_id": "PHASE_1"}
    made = builder.call("write_file", path=str(root / "src/greet/hello.py"), content='GREETING = "hello"\n', **plan)
    assert made["path"] == "src/greet/hello.py"
    builder.call("write_file", path="src/greet/hello.py", content='GREETING = "hi"\n', **plan)
    builder.call("write_file", path="README2.md", content="Read me\n", **plan)
    return str(builder.call("commit_phase", message="Greet", **plan)["commit"])


def check_result(root: Path, commit: str) -> None:
    assert git(root, "rev-parse", "HEAD").strip() == commit
    assert git(root, "show", "--format=", "--name-only", "HEAD").split() == ["src/README2.md", "src/greet/hello.py"]
    assert "Plan-Hash: " in git(root, "log", "-1", "--format=%B")
    assert (root / "src/greet/hello.py").read_text() == 'GREETING = "hi"\n'


@needs_sandbox
@pytest.mark.slow
@pytest.mark.clause("S12")
def test_one_person_gets_from_nothing_to_a_governed_commit_over_stdio(tmp_path: Path) -> None:
    """The commands of docs/WORKSPACE.md after the installation: init, connect the agent, approve."""
    root, environment = make_project(tmp_path), own_state(tmp_path)

    made = strictwire(environment, "workspace", "init", "--root", str(root))
    assert (made.returncode, "mcpServers" in made.stdout) == (0, True), made.stderr
    doctor = strictwire(environment, "workspace", "doctor", "--root", str(root))
    assert doctor.returncode == 0, doctor.stdout

    def approve(_plan_hash: str) -> None:
        code, shown = at_terminal(["plan", "approve", "--root", str(root)], environment)
        assert code == 0, shown

    with StdioConnection(root / "strictwire.toml", environment) as connection:
        hello, listed = connection.opening
        assert hello["serverInfo"]["name"] == "strictwire"
        assert "begin_session as ANTIGRAVITY" in hello["instructions"]
        assert len(listed["tools"]) == 23
        planner, builder = (Agent(connection=connection, root=root, approve=approve) for _ in range(2))
        commit = work(planner, builder, root)

    check_result(root, commit)
    refusals = [code for _, code in (*planner.calls, *builder.calls) if code != "ok"]
    assert refusals == [
        "MISSING_REQUIRED_FIELD",
        "PLAN_ENFORCEMENT_FAILED",
        "PLAN_NOT_APPROVED",
        "PATH_NOT_FOUND",
        "FILE_ALREADY_EXISTS",
        "PLAN_SCOPE_VIOLATION",
        "SESSION_LOCKED",
    ]
    report = strictwire(environment, "workspace", "report", "--root", str(root))
    assert report.returncode == 0, report.stdout + report.stderr
    assert re.search(r"src/greet/hello\.py  none -> [0-9a-f]{12}", report.stdout)
    assert re.search(r"PASS: \d+ records included in the checkpoint over \d+ records", report.stdout)


@needs_sandbox
@pytest.mark.slow
def test_a_team_gets_from_nothing_to_a_governed_commit_over_http(tmp_path: Path) -> None:
    root, environment = make_project(tmp_path), own_state(tmp_path)
    team = ["--planner", "ada", "--builder", "bob", "--approver", "eve"]
    made = strictwire(environment, "workspace", "init", "--root", str(root), *team)
    tokens = dict(re.findall(r"^  (\w+): (\S+)$", made.stdout, re.MULTILINE))
    assert sorted(tokens) == ["ada", "bob", "eve"]
    assert not any(token in (root / "strictwire.toml").read_text() for token in tokens.values())

    command = [*COMMAND, "serve", "--http", "127.0.0.1:0", "--config", str(root / "strictwire.toml")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stderr is not None
            port = int(process.stderr.readline().rsplit(":", 1)[1].split("/")[0])
            hint = process.stderr.readline() + process.stderr.readline()
            assert "$TOKEN" in hint

            def agent(name: str) -> Agent:
                return Agent(connection=HttpConnection(port=port, token=tokens[name]), root=root, approve=approve)

            def approve(plan_hash: str) -> None:
                reviewer = agent("eve")
                reviewer.begin("ANTIGRAVITY")
                assert plan_hash in reviewer.call("read_plan", plan_hash=plan_hash)["content"]
                reviewer.call("approve_plan", plan_hash=plan_hash)

            commit = work(agent("ada"), agent("bob"), root)
        finally:
            process.terminate()

    check_result(root, commit)
