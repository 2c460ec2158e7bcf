"""Commands: the diff of a plan as a patch that applies, the status of a workspace, and the check of a bundle."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.packs.workspace.harness import BUILDER, START, run, sha256
from tests.packs.workspace.project import Project, open_project
from tests.packs.workspace.server_process import ServerProcess, approve

from strictwire.packs.workspace.diff import net_changes, render_net
from strictwire.packs.workspace.ledger import APPLIED, UNDONE, Change, FileRecord
from strictwire.packs.workspace.pack import CONTENTS, PRESENCE
from strictwire.packs.workspace.presence import read_presence
from strictwire.packs.workspace.verbs import CommandContext, CommandResult, run_command, run_diff, run_status
from strictwire.stores.files.view import FileTrailView


def context(project: Project) -> CommandContext:
    state = project.root.parent / "state"
    return CommandContext(root=project.root, now=lambda: START, state=state, trail=FileTrailView(project.trail))


def snapshot(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted((root / "src").rglob("*")) if path.is_file()}


def test_the_diff_of_a_plan_is_a_patch_from_the_old_files_to_the_new(tmp_path: Path) -> None:
    async def use() -> Any:
        async with open_project(tmp_path) as project:
            root = project.root
            (root / "src/old.txt").write_bytes(b"one\ntwo\r\nthree")
            (root / "src/gone.txt").write_bytes(b"bye\n")
            shutil.copytree(root / "src", tmp_path / "before" / "src")
            content = "one\nTWO\u2028\nthree\nfour"
            await project.build("write_file", path="src/old.txt", content=content, previousHash=sha256(b"one\ntwo\r\nthree"))
            await project.build("delete_file", path="src/gone.txt", previousHash=sha256(b"bye\n"))
            await project.work()
            answer = run_diff(context(project), plan_hash=project.plan_hash)
            return answer, snapshot(root), run_diff(context(project), plan_hash=project.plan_hash, is_each=True)

    net, after, each = run(use())
    patch = ["patch", "-p1", "--binary", "-E", "-s"]
    subprocess.run(patch, input=net.stdout.encode(), cwd=tmp_path / "before", check=True)

    assert snapshot(tmp_path / "before") == after
    assert "src/d" not in net.stdout
    assert [line for line in each.stdout.splitlines() if line.startswith("# ")] == [
        f"# 2026-01-01T00:00:00Z PHASE_1 {tool} by builder"
        for tool in ("write_file", "delete_file", "write_file", "write_file", "move_file", "apply_changes", "delete_file")
    ]


def test_binary_and_missing_contents_are_reported_in_a_line(tmp_path: Path) -> None:
    async def use() -> tuple[CommandResult, CommandResult]:
        async with open_project(tmp_path) as project:
            await project.build("write_file", path="src/bin", content="AP8=", encoding="base64")
            made = await project.build("write_file", path="src/a", content="1\n")
            await project.build("write_file", path="src/a", content="2\n", previousHash=made["sha256"])
            full = run_diff(context(project), plan_hash=project.plan_hash, is_each=True)
            shutil.rmtree(tmp_path / "state" / CONTENTS)
            return full, run_diff(context(project), plan_hash=project.plan_hash, is_each=True)

    full, bare = run(use())

    assert f"# src/bin: not text, no file -> {sha256(bytes([0, 255]))}\n" in full.stdout
    assert f"# src/a: the content with SHA-256 {sha256(b'1' + bytes([10]))} is not available\n" in bare.stdout


def test_a_plan_without_changes_and_a_missing_plan_differ(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_project(tmp_path) as project:
            assert (
                run_diff(context(project), plan_hash=project.plan_hash).stderr == "no files were changed under this plan\n"
            )
            answer = run_command(lambda: run_diff(context(project), plan_hash="0" * 64))
            assert (answer.exit_code, "PLAN_NOT_FOUND" in answer.stderr) == (1, True)

    run(use())


BASE = Change(
    change="1", at="2026-01-01T00:00:00Z", session_id="s", principal="p", role="WINDSURF", tool="write_file",
    plan_hash="h", phase_id="PHASE_1", args_digest="d", files=(), ended=APPLIED,
)  # fmt: skip


def changed(path: str, before: str | None, after: str | None, ended: str = APPLIED) -> Change:
    return replace(BASE, files=(FileRecord(path=path, operation="modify", before=before, after=after),), ended=ended)


def test_the_net_change_spans_first_to_last_and_marks_changes_by_others() -> None:
    data = {sha256(each): each for each in (b"1\n", b"2\n", b"3\n", b"4\n")}
    one, two, three, four = data
    changes = [changed("a", one, two), changed("a", three, four), changed("b", one, two), changed("b", two, one)]
    changes += [changed("c", one, two, UNDONE)]

    assert [(each.path, each.before, each.after, each.is_shared) for each in net_changes(changes)] == [
        ("a", one, four, True)
    ]
    assert render_net([changed("a\x1b[0m", one, two)], data.get).startswith("--- a/a\\x1b[0m\n+++ b/a\\x1b[0m\n")


def test_the_status_shows_sessions_locks_open_plans_and_the_last_records(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_project(tmp_path) as project:
            await project.harness.code(BUILDER, "write_file", session_id=project.builder, path="../x", content="x")
            lines = run_status(context(project)).stdout.splitlines()
            sessions = [line for line in lines if line.startswith("session")]
            assert len(sessions) == 4
            told = f"session  {project.builder[:8]}… WINDSURF    builder, until 2026-01-01T08:00:00Z, pid {os.getpid()}"
            assert told in sessions
            assert not any(project.builder in line for line in lines)
            assert (
                "lock     WINDSURF    builder: write_file failed with PATH_TRAVERSAL_BLOCKED at 2026-01-01T00:00:00Z"
                in lines
            )
            assert [line for line in lines if line.startswith("open")] == [
                f"open     {project.plan_hash}  approved        2026-01-08T00:00:00Z A module"
            ]
            records = [line for line in lines if line.startswith("record")]
            assert records[0].endswith("write_file PATH_TRAVERSAL_BLOCKED by builder")
            await project.ask("end_session")
            assert len(read_presence(tmp_path / "state" / PRESENCE, str(project.root))) == 3

    run(use())
    assert list((tmp_path / "state" / PRESENCE).iterdir()) == []


@pytest.mark.slow
def test_a_dead_process_has_no_sessions_and_the_stdio_principal_is_the_user(tmp_path: Path) -> None:
    import pwd

    user = pwd.getpwuid(os.getuid()).pw_name
    with ServerProcess(tmp_path, USER="somebody", LOGNAME="somebody") as process:
        session = process.begin("WINDSURF")
        roster = process.state / "packs" / PRESENCE
        told = read_presence(roster, str(process.root))
        assert [(each["principal"], each["pid"]) for each in told] == [(user, process.process.pid)]
        page = process.call("read_audit_log", session_id=session)
        assert page is not None
        assert {each["principal"] for each in page["structuredContent"]["items"]} == {user}

    assert read_presence(roster, str(process.root)) == []
    assert list(roster.glob("*.json")) != []


@pytest.mark.slow
def test_the_commands_find_the_state_of_a_server_of_the_same_user(tmp_path: Path) -> None:
    plan_hash = approve(tmp_path)
    env = os.environ | {"XDG_STATE_HOME": str(tmp_path / "xdg")}
    with ServerProcess(tmp_path) as process:
        base = {"plan_hash": plan_hash, "phase_id": "PHASE_1", "path": "src/a.txt"}
        assert process.call("write_file", session_id=process.begin("WINDSURF"), content="one\n", **base) is not None
        status, diff = (
            subprocess.run(
                [sys.executable, "-m", "strictwire.cli.main", *verb, "--root", str(process.root)],
                capture_output=True, text=True, env=env, check=True, timeout=60,
            ).stdout
            for verb in (("workspace", "status"), ("plan", "diff", plan_hash))
        )  # fmt: skip

    assert diff == "--- /dev/null\n+++ b/src/a.txt\n@@ -0,0 +1 @@\n+one\n"
    starts = [line.split()[0] for line in status.splitlines()]
    assert starts[:6] == ["root", "id", "key", "plans", "reports", "open"]
    assert {"session", "record"} <= set(starts)


@pytest.mark.slow
def test_a_bundle_is_checked_on_the_command_line_and_its_problem_is_named(tmp_path: Path) -> None:
    async def use() -> str:
        async with open_project(tmp_path) as project:
            await project.work()
            made = await project.ask("generate_attestation_bundle", plan_hash=project.plan_hash)
            return str(made["bundle"])

    bundle = json.loads(run(use()))
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(bundle))
    bundle["approval"]["approver"] = "mallory"
    bad.write_text(json.dumps(bundle))
    command = [sys.executable, "-m", "strictwire.cli.main", "workspace", "check"]
    keys = ["--workspace-key", bundle["keys"]["workspace"], "--audit-key", str(tmp_path / "keys" / "audit.key.pub")]

    done = [
        subprocess.run([*command, str(path), *keys], capture_output=True, text=True, check=False) for path in (good, bad)
    ]

    assert [each.returncode for each in done] == [0, 100]
    assert done[0].stdout.startswith(f"ok: bundle {bundle['bundle_id']}")
    assert done[1].stdout.startswith("BROKEN: APPROVAL")
