"""commit_phase over HTTP in repositories that make plain git run a program: none runs, and nothing is written outside."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.packs.workspace.harness import plan_arguments
from tests.packs.workspace.hostile_git import HOSTILE, PLAIN, Hostile, git, program_in, start
from tests.packs.workspace.http_server import HttpServer, serve_http

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[HttpServer, Path]]:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "top").mkdir()
    roles = {"ANTIGRAVITY": ["ada", "rita"], "WINDSURF": ["ada"]}
    with serve_http(folder, folder / "top", owners=("ada", "rita"), roles=roles, approvers=["rita"]) as server:
        yield server, folder / "top"


def plain_git_runs_it(hostile: Hostile, root: Path, folder: Path) -> bool:
    """Run the trigger in a copy of the repository."""
    shutil.copytree(root, folder / "copy", symlinks=True)
    subprocess.run(
        ["git", *hostile.trigger],
        cwd=folder / "copy",
        env=PLAIN,
        input=b"protocol=https\nhost=example.org\n\n",
        capture_output=True,
        check=False,
        timeout=120,
    )
    shutil.rmtree(folder / "copy")
    mark = folder / "outside/ran"
    ran = mark.exists()
    mark.unlink(missing_ok=True)
    return ran


def test_there_are_at_least_thirty_hostile_configurations() -> None:
    assert len({each.name for each in HOSTILE}) == len(HOSTILE) >= 30


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda each: each.name)
def test_what_plain_git_runs_a_commit_does_not(served: tuple[HttpServer, Path], tmp_path: Path, hostile: Hostile) -> None:
    server, top = served
    root = top / hostile.name.replace(" ", "-")
    (root / "src").mkdir(parents=True)
    start(root, program_in(tmp_path / "outside"), hostile)
    assert plain_git_runs_it(hostile, root, tmp_path)

    planner, rita = server.begin("ada", "ANTIGRAVITY", root), server.begin("rita", "ANTIGRAVITY", root)
    builder = server.begin("ada", "WINDSURF", root)
    plan_hash = server.call("ada", "create_plan", session_id=planner, **plan_arguments())["plan_hash"]
    server.call("rita", "approve_plan", session_id=rita, plan_hash=plan_hash)
    under = {"session_id": builder, "plan_hash": plan_hash, "phase_id": "PHASE_1"}
    server.call("ada", "write_file", path="src/new.py", content="new = 1\n", **under)
    made = server.call("ada", "commit_phase", message="m", **under)
    for session, owner in ((planner, "ada"), (rita, "rita"), (builder, "ada")):
        server.call(owner, "end_session", session_id=session)

    assert {path.name for path in (tmp_path / "outside").iterdir()} == {"run"}
    assert {path.name for path in tmp_path.iterdir()} == {"outside"}
    if hostile.is_usable:
        safe = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false")
        assert git(root, *safe, "rev-parse", "HEAD") == made["commit"]
        assert git(root, *safe, "ls-tree", "-r", "--name-only", "HEAD", "src") == "src/new.py"
    else:
        assert made["error_code"] == "FILE_WRITE_FAILED"
        assert made["cause"]["reason"] == "git_failed"
