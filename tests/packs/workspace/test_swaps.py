"""A process that swaps a folder for a link to the outside, again and again, while a client uses a real server over HTTP."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.packs.workspace.harness import plan_arguments, report
from tests.packs.workspace.hostile_git import git
from tests.packs.workspace.http_server import HttpServer, serve_http

pytestmark = pytest.mark.slow

SECONDS = float(os.environ.get("STRESS_ATTACK_SECONDS", "3"))

SWAP = """
import os, sys
folder, outside = sys.argv[1:]
os.symlink(outside, folder + "-link")
print("ready", flush=True)
while True:
    for old, new in (("", "-real"), ("-link", ""), ("", "-link"), ("-real", "")):
        os.rename(folder + old, folder + new)
"""

ROLES = {"ANTIGRAVITY": ["ada", "eve"], "WINDSURF": ["ada"]}


@contextmanager
def swapping(folder: Path, outside: Path) -> Iterator[None]:
    """Swap a folder for a link while the block runs. It ends in either state."""
    with subprocess.Popen([sys.executable, "-c", SWAP, str(folder), str(outside)], stdout=subprocess.PIPE) as attacker:
        try:
            assert attacker.stdout is not None
            attacker.stdout.readline()
            yield
            assert attacker.poll() is None, "the attacker was active to the end"
        finally:
            attacker.send_signal(signal.SIGKILL)


@contextmanager
def serving(folder: Path, root: Path) -> Iterator[HttpServer]:
    with serve_http(folder, root, owners=("ada", "eve"), roles=ROLES, approvers=["eve"]) as server:
        yield server


def until_end() -> Iterator[int]:
    """Count until the time is over, at least to 50."""
    end, number = time.monotonic() + SECONDS, 0
    while number < 50 or time.monotonic() < end:
        number += 1
        yield number


def files_in(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_no_session_is_opened_outside_the_roots_while_a_folder_on_the_way_is_swapped(tmp_path: Path) -> None:
    """An earlier version opened 6 of 609 sessions outside, in 15 seconds."""
    top, outside = tmp_path / "top", tmp_path / "outside"
    (top / "m/work").mkdir(parents=True)
    (top / "m/work/INSIDE").write_text("")
    (outside / "work").mkdir(parents=True)
    (outside / "work/SECRET").write_text("SECRET")
    met: Counter[str] = Counter()
    with serving(tmp_path, top) as server, swapping(top / "m", outside):
        for _ in until_end():
            begun = server.call("ada", "begin_session", workspace_root=str(top / "m/work"), role="WINDSURF")
            met[begun.get("error_code", "ok")] += 1
            if "error_code" in begun:
                assert begun["error_code"] == "SESSION_INITIALIZATION_FAILED"
                continue
            listed = server.call("ada", "list_files", session_id=begun["session_id"])
            names = {each["path"] for each in listed.get("items", [])}
            assert names <= {"INSIDE"}
            server.call("ada", "end_session", session_id=begun["session_id"])

    print(met)
    assert met["ok"] > 0


def unlock(server: HttpServer, session: str, number: int) -> None:
    lock = server.call("ada", "session_status", session_id=session)["lock"]
    if lock is not None:
        text = report(lock["session_id"], lock["code"])
        server.call("ada", "write_file", session_id=session, path=f"docs/reports/{number}.md", content=text)


def begin_building(server: HttpServer, root: Path) -> tuple[str, dict[str, Any]]:
    """Return a session that may change `src/**`, and the arguments of its changes."""
    ada, eve, builder = (
        server.begin(*who, root) for who in (("ada", "ANTIGRAVITY"), ("eve", "ANTIGRAVITY"), ("ada", "WINDSURF"))
    )
    plan_hash = server.call("ada", "create_plan", session_id=ada, **plan_arguments())["plan_hash"]
    server.call("eve", "approve_plan", session_id=eve, plan_hash=plan_hash)
    return builder, {"session_id": builder, "plan_hash": plan_hash, "phase_id": "PHASE_1"}


def test_no_tool_reads_writes_or_commits_outside_while_a_folder_is_swapped(tmp_path: Path) -> None:
    root, outside = tmp_path / "work", tmp_path / "outside"
    (root / "src/d").mkdir(parents=True)
    outside.mkdir()
    for folder, text in ((root / "src/d", "inside"), (outside, "SECRET")):
        (folder / "f").write_text(text)
    git(root, "init", "-q", "-b", "main")
    with serving(tmp_path, root) as server:
        builder, plan = begin_building(server, root)
        met: Counter[tuple[str, str]] = Counter()

        def call(tool: str, **arguments: Any) -> None:
            answer = server.call("ada", tool, **arguments)
            met[tool, answer.get("error_code", "ok")] += 1
            assert "SECRET" not in json.dumps(answer).replace("query", "")

        with swapping(root / "src/d", outside):
            for number in until_end():
                call("read_file", session_id=builder, path="src/d/f")
                call("list_files", session_id=builder, path="src/d", recursive=True)
                call("search_text", session_id=builder, query="SECRE", include_ignored=True)
                changes = [
                    {"operation": "create", "path": f"{where}/{number}", "content": "x"} for where in ("src", "src/d")
                ]
                call("apply_changes", changes=changes, **plan)
                call("write_file", path=f"src/d/new{number}", content="x", **plan)
                call("commit_phase", message="m", **plan)
                unlock(server, builder, number)

    print(met)
    assert files_in(outside) == {"f": "SECRET"}
    assert {tool for tool, code in met if code == "ok"} >= {"read_file", "search_text"}
    assert "SECRET" not in git(root, "log", "-p", "--all")


@pytest.mark.parametrize("target", [".git/hooks", "docs/plans"])
def test_no_change_reaches_a_protected_folder_through_a_swapped_one(tmp_path: Path, target: str) -> None:
    root = tmp_path / "work"
    (root / "src/d").mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    with serving(tmp_path, root) as server:
        builder, plan = begin_building(server, root)
        before = files_in(root / target)
        with swapping(root / "src/d", root / target):
            for number in until_end():
                server.call("ada", "write_file", path=f"src/d/{number}.md", content="x", **plan)
                change = {"operation": "create", "path": f"src/d/{number}.approval.json", "content": "x"}
                server.call("ada", "apply_changes", changes=[change], **plan)
                unlock(server, builder, number)

    assert files_in(root / target) == before
