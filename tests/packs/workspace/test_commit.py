"""commit_phase over the wire with a real git: commits exactly the plan's files and runs no hooks or filters."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.packs.workspace.harness import BUILDER, run, sha256
from tests.packs.workspace.project import Project, open_project
from tests.packs.workspace.sandbox import needs_sandbox

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
}


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def start(root: Path) -> None:
    """Create a repository with one commit, hooks and filters that leave a mark if they run, and a staged file."""
    git(root, "init", "-q", "-b", "main")
    (root / "README").write_text("read me\n")
    git(root, "add", "README")
    git(root, "commit", "-q", "-m", "first")
    for name in (
        "pre-commit",
        "commit-msg",
        "post-commit",
        "prepare-commit-msg",
        "reference-transaction",
        "post-index-change",
    ):
        hook = root / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch '{root.parent}/ran-{name}'\nexit 1\n")
        hook.chmod(0o755)
    git(root, "config", "filter.mark.clean", f"sh -c 'touch \"{root.parent}/ran-filter\"; cat'")
    git(root, "config", "core.fsmonitor", f"touch '{root.parent}/ran-fsmonitor'")
    git(root, "config", "commit.gpgSign", "true")
    git(root, "config", "gpg.program", f"touch '{root.parent}/ran-gpg'")
    (root / ".gitattributes").write_text("*.py filter=mark\n")


async def commit(project: Project, **more: Any) -> Any:
    return await project.build("commit_phase", **({"message": "Build the module"} | more))


@needs_sandbox
def test_a_phase_is_committed_with_only_its_files_and_no_hook_runs(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_project(tmp_path, plan={"phase": {"verification_commands": [["true"]]}}) as project:
            root = project.root
            start(root)
            (root / "staged").write_text("by a person")
            git(root, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "add", "staged")
            await project.work()
            (root / "src/b.py").chmod(0o755)
            told = await commit(project)

            assert [path.name for path in tmp_path.iterdir() if path.name.startswith("ran-")] == []
            safe = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
            assert told["commit"] == git(root, "rev-parse", "main")
            assert told["files"] == [
                {"path": "src/a.py", "sha256": None},
                {"path": "src/b.py", "sha256": sha256(b"one = 2\n")},
                {"path": "src/c", "sha256": sha256(b"c")},
                {"path": "src/d", "sha256": None},
            ]
            assert told["preflight"] == [{"command": ["true"], "exit_code": 0}]
            assert git(root, "show", "--format=", "--name-status", "HEAD").splitlines() == ["A\tsrc/b.py", "A\tsrc/c"]
            assert git(root, "ls-tree", "HEAD", "src/b.py").startswith("100755 blob")
            body = git(root, "log", "-1", "--format=%an <%ae> %cI%n%B")
            assert body.splitlines() == [
                "builder <builder@localhost> 2026-01-01T00:00:00+00:00",
                "Build the module",
                "",
                f"Plan-Hash: {project.plan_hash}",
                "Phase-ID: PHASE_1",
                "Approved-By: reviewer",
            ]
            # The file that was staged before is still staged, and the committed files are clean.
            changed = git(root, *safe, "status", "--porcelain", "--", "src", "staged")
            assert changed == "A  staged"
            again = await commit(project)
            assert (again["commit"], again["files"]) == (None, [])

    run(use())


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_a_branch_without_a_commit_gets_its_first_commit(tmp_path: Path, form: str) -> None:
    async def use() -> None:
        async with open_project(tmp_path) as project:
            git(project.root, "init", "-q", "-b", "main", f"--object-format={form}")
            assert (await commit(project))["commit"] is None
            await project.build("write_file", path="src/ä b\tc", content="x")
            told = await commit(project)
            assert git(project.root, "rev-list", "--count", "main") == "1"
            assert (
                git(project.root, "-c", "core.quotePath=false", "ls-tree", "-z", "-r", "--name-only", "main")
                == "src/ä b\tc\0"
            )
            assert told["commit"] == git(project.root, "rev-parse", "HEAD")
            assert git(project.root, "reflog", "--format=%gn %gs").startswith("builder commit: Build the module")
            await project.build("delete_file", path="src/ä b\tc", previousHash=sha256(b"x"))
            await commit(project)
            assert git(project.root, "ls-tree", "-r", "--name-only", "main") == ""

    run(use())


def nothing(_office: Project) -> None:
    pass


def no_repository(project: Project) -> None:
    shutil.rmtree(project.root / ".git")


def elsewhere(project: Project) -> None:
    (project.root / ".git").rename(project.root.parent / "elsewhere")
    (project.root / ".git").symlink_to(project.root.parent / "elsewhere")


def a_file_that_leads_elsewhere(project: Project) -> None:
    shutil.rmtree(project.root / ".git")
    (project.root / ".git").write_text("gitdir: /tmp\n")


def merging(project: Project) -> None:
    (project.root / ".git/MERGE_HEAD").write_text("0" * 40)


def broken(project: Project) -> None:
    shutil.rmtree(project.root / ".git/objects")


def drifted(project: Project) -> None:
    (project.root / "src/c").write_text("someone else")


def back_again(project: Project) -> None:
    (project.root / "src/d").write_text("someone else")


def gone(project: Project) -> None:
    (project.root / "src/c").unlink()


@pytest.mark.slow
@pytest.mark.clause("S12")
@pytest.mark.parametrize(
    ("disturb", "arguments", "code", "reason"),
    [
        (no_repository, {}, "PATH_NOT_FOUND", "not_a_repository"),
        (elsewhere, {}, "PATH_NOT_FOUND", "not_a_repository"),
        (a_file_that_leads_elsewhere, {}, "PATH_NOT_FOUND", "not_a_repository"),
        (merging, {}, "FILE_WRITE_FAILED", "in_the_middle"),
        (broken, {}, "FILE_WRITE_FAILED", "git_failed"),
        (drifted, {}, "HASH_MISMATCH", "changed"),
        (back_again, {}, "HASH_MISMATCH", "changed"),
        (gone, {}, "HASH_MISMATCH", "changed"),
        (nothing, {"phase_id": "PHASE_9"}, "PLAN_SCOPE_VIOLATION", "phase_unknown"),
        (nothing, {"plan_hash": "0" * 64}, "PLAN_NOT_FOUND", None),
        (nothing, {"message": "two\nlines"}, "INVALID_INPUT_VALUE", "message"),
        (nothing, {"message": "  "}, "INVALID_INPUT_VALUE", "message"),
    ],
)
def test_each_reason_against_a_commit_has_its_code_and_leaves_the_branch(
    tmp_path: Path, disturb: Any, arguments: dict[str, Any], code: str, reason: str | None
) -> None:
    async def use() -> None:
        async with open_project(tmp_path) as project:
            git(project.root, "init", "-q", "-b", "main")
            await project.work()
            disturb(project)
            base = {"session_id": project.builder, "plan_hash": project.plan_hash, "phase_id": "PHASE_1", "message": "m"}
            assert await project.harness.code(BUILDER, "commit_phase", **(base | arguments)) == (code, reason)
            assert not (project.root / ".git/refs/heads/main").exists()

    run(use())


@needs_sandbox
@pytest.mark.slow
@pytest.mark.clause("S12")
def test_a_phase_whose_gates_fail_is_not_committed_and_missing_dulwich_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def use() -> None:
        gate = ["sh", "-c", "! test -e stop"]
        async with open_project(tmp_path, plan={"verification_gates": [gate]}) as project:
            git(project.root, "init", "-q", "-b", "main")
            await project.work()
            base = {"session_id": project.builder, "plan_hash": project.plan_hash, "phase_id": "PHASE_1", "message": "m"}
            with monkeypatch.context() as patched:
                patched.setitem(sys.modules, "strictwire.packs.workspace.git.repository", None)
                answer = await project.harness.code(BUILDER, "commit_phase", **base)
                assert answer == ("FILE_WRITE_FAILED", "dulwich_missing")
            (project.root / "stop").touch()
            assert await project.harness.code(BUILDER, "commit_phase", **base) == ("PREFLIGHT_FAILED", "exit_code")
            assert not (project.root / ".git/refs/heads/main").exists()

    run(use())
