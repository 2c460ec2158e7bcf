"""commit_phase over the wire with a real git: exactly the plan's files, nothing that a repository has set up to run."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.packs.workspace.desk import BUILDER, run, sha256
from tests.packs.workspace.office import Office, open_office

from strictwire.packs.workspace import git as git_module

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
    """A repository with one commit, hooks and filters that leave a mark where they run, and something staged."""
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


async def commit(office: Office, **more: Any) -> Any:
    return await office.build("commit_phase", **({"message": "Build the module"} | more))


def test_a_phase_is_committed_with_its_files_alone_and_no_hook_runs(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_office(tmp_path, plan={"phase": {"verification_commands": [["true"]]}}) as office:
            root = office.root
            start(root)
            (root / "staged").write_text("by a person")
            git(root, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "add", "staged")
            await office.work()
            (root / "src/b.py").chmod(0o755)
            told = await commit(office)

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
                f"Plan-Hash: {office.plan_hash}",
                "Phase-ID: PHASE_1",
                "Approved-By: reviewer",
            ]
            # What a person had staged stays staged, and the committed files are clean.
            changed = git(root, *safe, "status", "--porcelain", "--", "src", "staged")
            assert changed == "A  staged"
            again = await commit(office)
            assert (again["commit"], again["files"]) == (None, [])

    run(use())


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_a_branch_without_a_commit_gets_its_first(tmp_path: Path, form: str) -> None:
    async def use() -> None:
        async with open_office(tmp_path) as office:
            git(office.root, "init", "-q", "-b", "main", f"--object-format={form}")
            assert (await commit(office))["commit"] is None
            await office.build("write_file", path="src/ä b\tc", content="x")
            told = await commit(office)
            assert git(office.root, "rev-list", "--count", "main") == "1"
            assert (
                git(office.root, "-c", "core.quotePath=false", "ls-tree", "-z", "-r", "--name-only", "main")
                == "src/ä b\tc\0"
            )
            assert told["commit"] == git(office.root, "rev-parse", "HEAD")
            assert git(office.root, "reflog", "--format=%gn %gs").startswith("builder commit: Build the module")
            await office.build("delete_file", path="src/ä b\tc", previousHash=sha256(b"x"))
            await commit(office)
            assert git(office.root, "ls-tree", "-r", "--name-only", "main") == ""

    run(use())


def nothing(_office: Office) -> None:
    pass


def no_repository(office: Office) -> None:
    shutil.rmtree(office.root / ".git")


def elsewhere(office: Office) -> None:
    (office.root / ".git").rename(office.root.parent / "elsewhere")
    (office.root / ".git").symlink_to(office.root.parent / "elsewhere")


def a_file_that_leads_elsewhere(office: Office) -> None:
    shutil.rmtree(office.root / ".git")
    (office.root / ".git").write_text("gitdir: /tmp\n")


def merging(office: Office) -> None:
    (office.root / ".git/MERGE_HEAD").write_text("0" * 40)


def broken(office: Office) -> None:
    shutil.rmtree(office.root / ".git/objects")


def drifted(office: Office) -> None:
    (office.root / "src/c").write_text("someone else")


def back_again(office: Office) -> None:
    (office.root / "src/d").write_text("someone else")


def gone(office: Office) -> None:
    (office.root / "src/c").unlink()


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
def test_what_keeps_a_commit_from_being_made_has_its_code_and_leaves_the_branch(
    tmp_path: Path, disturb: Any, arguments: dict[str, Any], code: str, reason: str | None
) -> None:
    async def use() -> None:
        async with open_office(tmp_path) as office:
            git(office.root, "init", "-q", "-b", "main")
            await office.work()
            disturb(office)
            base = {"session_id": office.builder, "plan_hash": office.plan_hash, "phase_id": "PHASE_1", "message": "m"}
            assert await office.desk.code(BUILDER, "commit_phase", **(base | arguments)) == (code, reason)
            assert not (office.root / ".git/refs/heads/main").exists()

    run(use())


@pytest.mark.slow
@pytest.mark.clause("S12")
def test_a_phase_whose_gates_fail_is_not_committed_and_git_that_is_missing_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def use() -> None:
        gate = ["sh", "-c", "! test -e stop"]
        async with open_office(tmp_path, plan={"verification_gates": [gate]}) as office:
            git(office.root, "init", "-q", "-b", "main")
            await office.work()
            base = {"session_id": office.builder, "plan_hash": office.plan_hash, "phase_id": "PHASE_1", "message": "m"}
            with monkeypatch.context() as patched:
                patched.setattr(git_module, "_PATH", str(tmp_path))
                assert await office.desk.code(BUILDER, "commit_phase", **base) == ("FILE_WRITE_FAILED", "git_missing")
            (office.root / "stop").touch()
            assert await office.desk.code(BUILDER, "commit_phase", **base) == ("PREFLIGHT_FAILED", "exit_code")
            assert not (office.root / ".git/refs/heads/main").exists()

    run(use())
