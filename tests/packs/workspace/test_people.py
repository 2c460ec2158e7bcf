"""For people: what a plan changed as a patch that applies, who is in a workspace, and a bundle judged at the terminal."""

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
from tests.packs.workspace.desk import BUILDER, START, run, sha256
from tests.packs.workspace.office import Office, open_office
from tests.packs.workspace.peer import Peer, approve

from strictwire.packs.workspace.diff import net_changes, render_net
from strictwire.packs.workspace.ledger import STOOD, UNDONE, Change, Traced
from strictwire.packs.workspace.pack import CONTENTS, KEY, ROSTER
from strictwire.packs.workspace.roster import read_roster
from strictwire.packs.workspace.verbs import Answer, Place, guarded, run_diff, run_status
from strictwire.stores.files.view import FileTrailView


def place(office: Office) -> Place:
    state = office.root.parent / "state"
    return Place(root=office.root, key=state / KEY, now=lambda: START, state=state, trail=FileTrailView(office.trail))


def snapshot(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted((root / "src").rglob("*")) if path.is_file()}


def test_the_diff_of_a_plan_is_a_patch_that_makes_the_new_files_from_the_old(tmp_path: Path) -> None:
    async def use() -> Any:
        async with open_office(tmp_path) as office:
            root = office.root
            (root / "src/old.txt").write_bytes(b"one\ntwo\r\nthree")
            (root / "src/gone.txt").write_bytes(b"bye\n")
            shutil.copytree(root / "src", tmp_path / "before" / "src")
            content = "one\nTWO\u2028\nthree\nfour"
            await office.build("write_file", path="src/old.txt", content=content, previousHash=sha256(b"one\ntwo\r\nthree"))
            await office.build("delete_file", path="src/gone.txt", previousHash=sha256(b"bye\n"))
            await office.work()
            answer = run_diff(place(office), plan_hash=office.plan_hash)
            return answer, snapshot(root), run_diff(place(office), plan_hash=office.plan_hash, is_each=True)

    net, after, each = run(use())
    patch = ["patch", "-p1", "--binary", "-E", "-s"]
    subprocess.run(patch, input=net.stdout.encode(), cwd=tmp_path / "before", check=True)

    assert snapshot(tmp_path / "before") == after
    assert "src/d" not in net.stdout
    assert [line for line in each.stdout.splitlines() if line.startswith("# ")] == [
        f"# 2026-01-01T00:00:00Z PHASE_1 {tool} by builder"
        for tool in ("write_file", "delete_file", "write_file", "write_file", "move_file", "apply_changes", "delete_file")
    ]


def test_what_is_not_text_or_was_not_kept_is_told_in_a_line(tmp_path: Path) -> None:
    async def use() -> tuple[Answer, Answer]:
        async with open_office(tmp_path) as office:
            await office.build("write_file", path="src/bin", content="AP8=", encoding="base64")
            made = await office.build("write_file", path="src/a", content="1\n")
            await office.build("write_file", path="src/a", content="2\n", previousHash=made["sha256"])
            full = run_diff(place(office), plan_hash=office.plan_hash, is_each=True)
            shutil.rmtree(tmp_path / "state" / CONTENTS)
            return full, run_diff(place(office), plan_hash=office.plan_hash, is_each=True)

    full, bare = run(use())

    assert f"# src/bin: not text, no file -> {sha256(bytes([0, 255]))}\n" in full.stdout
    assert f"# src/a: the content with SHA-256 {sha256(b'1' + bytes([10]))} was not kept\n" in bare.stdout


def test_a_plan_without_changes_and_one_that_is_not_there_are_told_apart(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_office(tmp_path) as office:
            assert run_diff(place(office), plan_hash=office.plan_hash).stderr == "nothing was changed under this plan\n"
            answer = guarded(lambda: run_diff(place(office), plan_hash="0" * 64))
            assert (answer.exit_code, "PLAN_NOT_FOUND" in answer.stderr) == (1, True)

    run(use())


BASE = Change(
    change="1", at="2026-01-01T00:00:00Z", session_id="s", principal="p", role="WINDSURF", tool="write_file",
    plan_hash="h", phase_id="PHASE_1", args_digest="d", files=(), ended=STOOD,
)  # fmt: skip


def changed(path: str, before: str | None, after: str | None, ended: str = STOOD) -> Change:
    return replace(BASE, files=(Traced(path=path, operation="modify", before=before, after=after),), ended=ended)


def test_the_net_change_runs_from_the_first_to_the_last_and_tells_what_others_did_between() -> None:
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
        async with open_office(tmp_path) as office:
            await office.desk.code(BUILDER, "read_file", session_id=office.builder, path="../x")
            lines = run_status(place(office)).stdout.splitlines()
            sessions = [line for line in lines if line.startswith("session")]
            assert len(sessions) == 4
            told = f"session  {office.builder[:8]}… WINDSURF    builder, until 2026-01-01T08:00:00Z, pid {os.getpid()}"
            assert told in sessions
            assert not any(office.builder in line for line in lines)
            assert (
                "lock     WINDSURF    builder: read_file failed with PATH_TRAVERSAL_BLOCKED at 2026-01-01T00:00:00Z" in lines
            )
            assert [line for line in lines if line.startswith("open")] == [
                f"open     {office.plan_hash}  approved        2026-01-08T00:00:00Z A module"
            ]
            records = [line for line in lines if line.startswith("record")]
            assert records[0].endswith("read_file PATH_TRAVERSAL_BLOCKED by builder")
            await office.ask("end_session")
            assert len(read_roster(tmp_path / "state" / ROSTER, str(office.root)).sessions) == 3

    run(use())
    assert list((tmp_path / "state" / ROSTER).iterdir()) == []


@pytest.mark.slow
def test_a_process_that_died_is_in_no_workspace_any_more_and_the_principal_of_stdio_is_the_user(tmp_path: Path) -> None:
    import pwd

    user = pwd.getpwuid(os.getuid()).pw_name
    with Peer(tmp_path, USER="somebody", LOGNAME="somebody") as peer:
        session = peer.begin("WINDSURF")
        roster = peer.state / "packs" / ROSTER
        told = read_roster(roster, str(peer.root)).sessions
        assert [(each["principal"], each["pid"]) for each in told] == [(user, peer.process.pid)]
        page = peer.call("read_audit_log", session_id=session)
        assert page is not None
        assert {each["principal"] for each in page["structuredContent"]["items"]} == {user}

    assert read_roster(roster, str(peer.root)).sessions == ()
    assert list(roster.glob("*.json")) != []


@pytest.mark.slow
def test_the_verbs_find_what_a_server_of_the_same_user_keeps(tmp_path: Path) -> None:
    plan_hash = approve(tmp_path)
    env = os.environ | {"XDG_STATE_HOME": str(tmp_path / "xdg")}
    with Peer(tmp_path) as peer:
        base = {"plan_hash": plan_hash, "phase_id": "PHASE_1", "path": "src/a.txt"}
        assert peer.call("write_file", session_id=peer.begin("WINDSURF"), content="one\n", **base) is not None
        status, diff = (
            subprocess.run(
                [sys.executable, "-m", "strictwire.cli.main", *verb, "--root", str(peer.root)],
                capture_output=True, text=True, env=env, check=True, timeout=60,
            ).stdout
            for verb in (("workspace", "status"), ("plan", "diff", plan_hash))
        )  # fmt: skip

    assert diff == "--- /dev/null\n+++ b/src/a.txt\n@@ -0,0 +1 @@\n+one\n"
    starts = [line.split()[0] for line in status.splitlines()]
    assert starts[:6] == ["root", "id", "key", "plans", "reports", "open"]
    assert {"session", "record"} <= set(starts)


@pytest.mark.slow
def test_a_bundle_is_judged_at_the_command_line_and_what_is_wrong_is_named(tmp_path: Path) -> None:
    async def use() -> str:
        async with open_office(tmp_path) as office:
            await office.work()
            made = await office.ask("generate_attestation_bundle", plan_hash=office.plan_hash)
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
