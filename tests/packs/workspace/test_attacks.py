"""Attacks on a governed workspace over HTTP by a caller with every role: `mallory` plans, builds and approves.

`rita` is an honest reviewer who approves what she is shown.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.packs.workspace.harness import plan_arguments, report
from tests.packs.workspace.hostile_git import PLAIN, git
from tests.packs.workspace.http_server import HttpServer, serve_http
from tests.packs.workspace.sandbox import needs_sandbox

from strictwire.audit.chain import GENESIS, seal_batch
from strictwire.canon.json import parse_object, render

pytestmark = pytest.mark.slow


@dataclass(slots=True, kw_only=True)
class Attack:
    """Mallory with a server and sessions in one root."""

    server: HttpServer
    top: Path
    """The allowed folder. The workspace is `top/a`."""
    root: Path
    sessions: dict[tuple[str, str], str] = field(default_factory=dict)

    def call(self, tool: str, /, *, who: str = "mallory", role: str = "WINDSURF", **more: Any) -> Any:
        key = (who, role)
        if key not in self.sessions:
            self.sessions[key] = self.server.begin(who, role, self.root)
        return self.server.call(who, tool, session_id=self.sessions[key], **more)

    def approved(self, **changes: Any) -> str:
        """Have a plan approved by rita."""
        made = self.call("create_plan", role="ANTIGRAVITY", **plan_arguments(**changes))
        self.call("approve_plan", who="rita", role="ANTIGRAVITY", plan_hash=made["plan_hash"])
        return str(made["plan_hash"])

    def write(self, plan_hash: str, path: str, content: str = "x", **more: Any) -> Any:
        base = {"plan_hash": plan_hash, "phase_id": "PHASE_1", "path": path, "content": content}
        return self.call("write_file", **base, make_folders=True, **more)


@pytest.fixture
def attack(tmp_path: Path) -> Iterator[Attack]:
    top = tmp_path / "top"
    (top / "a/src").mkdir(parents=True)
    git(top / "a", "init", "-q", "-b", "main")
    everyone = {"ANTIGRAVITY": ["mallory", "rita"], "WINDSURF": ["mallory"]}
    with serve_http(
        tmp_path, top, owners=("mallory", "rita"), roles=everyone, approvers=["mallory", "rita"], commands=["sh"]
    ) as server:
        yield Attack(server=server, top=top, root=top / "a")


def in_shell(line: str) -> dict[str, Any]:
    return {"phase": {"verification_commands": [["sh", "-c", line]]}}


def forged(plan: str, *, author: str) -> tuple[str, str]:
    """Return a plan for all files in the name of another author, and its hash."""
    body = plan.split("\n", 1)[1].replace("Author: mallory", f"Author: {author}").replace("src/**", "**")
    plan_hash = hashlib.sha256(body.encode()).hexdigest()
    return plan_hash, f"PLAN_HASH: {plan_hash}\n{body}"


def files_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


# Repositories that make commit_phase run a program or write outside the workspace.


def run_filter_of_a_racy_entry(root: Path, outside: Path) -> None:
    (root / ".gitattributes").write_text("*.txt filter=x\n")
    (root / "a.txt").write_text("a")
    # An entry from the future always counts as changed meanwhile, so git reads the file again through the filter.
    os.utime(root / "a.txt", (2**31, 2**31))
    git(root, "add", "a.txt")
    git(root, "config", "filter.x.process", f"touch {outside}/ran; false")
    git(root, "config", "filter.x.clean", f"touch {outside}/ran; cat")


def fetch_a_missing_commit(root: Path, outside: Path) -> None:
    for name, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "evil",
        "remote.evil.promisor": "true",
        "remote.evil.url": f"ext::sh -c touch% {outside}/ran",
        "protocol.ext.allow": "always",
    }.items():
        git(root, "config", name, value)
    (root / ".git/refs/heads/main").write_text("1" * 40 + "\n")


def lead_the_branch_outside(root: Path, outside: Path) -> None:
    (root / ".git/refs/heads/out").symlink_to(outside)
    (root / ".git/HEAD").write_text("ref: refs/heads/out/ran\n")


def lead_the_objects_outside(root: Path, outside: Path) -> None:
    shutil.rmtree(root / ".git/objects")
    (root / ".git/objects").symlink_to(outside)


@pytest.mark.parametrize(
    "prepare", [run_filter_of_a_racy_entry, fetch_a_missing_commit, lead_the_branch_outside, lead_the_objects_outside]
)
def test_a_commit_runs_nothing_of_the_repository_and_writes_nothing_outside(
    attack: Attack, tmp_path: Path, prepare: Any
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    plan_hash = attack.approved()
    attack.write(plan_hash, "src/x.py", "x = 1\n")
    prepare(attack.root, outside)
    attack.call("commit_phase", plan_hash=plan_hash, phase_id="PHASE_1", message="m")

    assert files_below(outside) == set()


# Verification commands that plant a plan with a forged author, for its real author to approve.


def test_no_command_can_plant_a_plan_in_the_name_of_another(attack: Attack) -> None:
    # The hash is in the first line of the plan, after the 11 bytes of "PLAN_HASH: ".
    place = "cp src/f docs/plans/$(head -c 75 src/f | tail -c 64).md"
    line = f"mv docs d && mkdir -p docs/reports && cp -r d/plans docs/ && {place}"
    plan_hash = attack.approved(**in_shell(line))
    plan = (attack.root / f"docs/plans/{plan_hash}.md").read_text()
    forged_hash, text = forged(plan, author="rita")
    attack.write(plan_hash, "src/f", text)
    approved = attack.call("approve_plan", role="ANTIGRAVITY", plan_hash=forged_hash)
    attack.write(forged_hash, "anywhere", "mine")

    assert "approver" not in approved
    assert not (attack.root / "anywhere").exists()
    assert not (attack.root / f"docs/plans/{forged_hash}.md").exists()


def test_a_plan_that_was_not_created_through_the_server_cannot_be_approved(attack: Attack) -> None:
    plan_hash = attack.approved()
    plan = (attack.root / f"docs/plans/{plan_hash}.md").read_text()
    forged_hash, text = forged(plan, author="rita")
    (attack.root / f"docs/plans/{forged_hash}.md").write_text(text)
    approved = attack.call("approve_plan", role="ANTIGRAVITY", plan_hash=forged_hash)

    assert (approved.get("error_code"), approved.get("cause")) == ("PLAN_ENFORCEMENT_FAILED", {"reason": "author"})
    assert not (attack.root / f"docs/plans/{forged_hash}.approval.json").exists()


# Roots from which a protected folder has another path.


@pytest.mark.parametrize(
    ("root", "path", "target"),
    [
        ("a/.git", "hooks/pre-commit", "a/.git/hooks/pre-commit"),
        ("a/.git/hooks", "pre-commit", "a/.git/hooks/pre-commit"),
        ("a/docs", "plans/x.md", "a/docs/plans/x.md"),
        ("a/docs/plans", "x.md", "a/docs/plans/x.md"),
        ("", "a/docs/plans/x.md", "a/docs/plans/x.md"),
        ("", "a/docs/reports/x.md", "a/docs/reports/x.md"),
        ("", "a/.git/hooks/pre-commit", "a/.git/hooks/pre-commit"),
        ("", "a/strictwire.toml", "a/strictwire.toml"),
    ],
)
def test_no_choice_of_the_root_opens_a_protected_folder(attack: Attack, root: str, path: str, target: str) -> None:
    attack.approved()
    chosen = attack.top / root
    inside = Attack(server=attack.server, top=attack.top, root=chosen)
    begun = attack.server.call("mallory", "begin_session", workspace_root=str(chosen), role="WINDSURF")
    if "session_id" in begun and begun["session_id"] is not None:
        plan_hash = inside.approved(paths=["**"])
        refused = inside.write(plan_hash, path)
        assert refused.get("error_code") == "PLAN_SCOPE_VIOLATION"
    else:
        assert begun["error_code"] == "SESSION_INITIALIZATION_FAILED"

    assert not (attack.top / target).exists()


# Verification commands that change metadata outside the workspace, plant settings and hooks, or gain capabilities.


@pytest.mark.parametrize(
    "line",
    [
        "chmod 0644 $KEY",
        "touch -d 2001-01-01 $KEY",
        "python3 -c \"import os; os.setxattr('$KEY', 'user.x', b'x')\"",
        "echo x > strictwire.toml",
        "mkdir .strictwire; echo x > .strictwire/x",
        "mkdir -p src/b/.git/hooks; echo x > src/b/.git/hooks/pre-commit",
        "echo x > .git/hooks/pre-commit",
        "git init -q src/c",
        "unshare -U true && touch src/namespace",
        "unshare -Urm sh -c 'umount .git; echo x > .git/hooks/pre-commit'",
        "echo x > /dev/shm/strictwire-attack",
        "mv .git g && mkdir -p .git/hooks && echo x > .git/hooks/pre-commit",
        "mv docs d; mkdir -p docs/plans; echo x > docs/plans/x.md",
    ],
)
def test_a_command_changes_nothing_but_files_of_the_workspace(attack: Attack, tmp_path: Path, line: str) -> None:
    key = attack.server.state / "workspace/keys/approval.key"
    plan_hash = attack.approved(**in_shell(f"KEY={key}; {line}; true"))
    before, status = planted(attack.root), key.stat()
    attack.write(plan_hash, "src/x")

    after = key.stat()
    assert (after.st_mode, after.st_mtime_ns, after.st_ctime_ns) == (status.st_mode, status.st_mtime_ns, status.st_ctime_ns)
    assert stat.S_IMODE(after.st_mode) == 0o600
    assert planted(attack.root) == before
    assert not (attack.root / "src/namespace").exists()
    assert not Path("/dev/shm/strictwire-attack").exists()


def planted(root: Path) -> set[str]:
    """Return the paths that git or strictwire would use."""
    names = {".git", ".strictwire", "strictwire.toml", "strictwire.lock", "docs"}
    return {path for path in files_below(root) if names & set(path.split("/"))}


@needs_sandbox
def test_what_a_command_planted_is_set_aside_and_named(attack: Attack) -> None:
    plan_hash = attack.approved(**in_shell("echo x > strictwire.toml"))
    failed = attack.write(plan_hash, "src/x")

    assert failed["error_code"] == "PREFLIGHT_FAILED"
    assert failed["cause"]["reason"] == "protected"
    assert list(failed["cause"]["renamed"]) == ["strictwire.toml"]
    aside = attack.root / failed["cause"]["renamed"]["strictwire.toml"]
    assert aside.read_text() == "x\n"
    assert not (attack.root / "src/x").exists()
    status = attack.call("session_status")
    text = report(status["lock"]["session_id"], "PREFLIGHT_FAILED")
    assert "error_code" not in attack.call("write_file", path="docs/reports/1.md", content=text)
    assert attack.call("session_status")["locked"] is False


# Files in the audit folder that pass for a part of the log and hide the real records.


def test_a_planted_log_file_is_not_shown_as_records(attack: Attack) -> None:
    assert "error_code" not in attack.call("session_status")
    folder = attack.server.state.parent / "audit"
    *_, last = (folder / "audit-log.jsonl").read_bytes().splitlines()
    kept = {name: value for name, value in parse_object(last).items() if name not in ("seq", "prev", "tag")}
    bodies = [render({**kept, "tool_name": "never_called"})] * 100
    # Named as the newest file of the log.
    (folder / "audit-log-000000000900.jsonl").write_bytes(seal_batch(bodies, first=900, head=GENESIS).lines)
    shown = attack.call("read_audit_log")

    assert "never_called" not in str(shown)
    assert shown["error_code"] == "AUDIT_LOG_FAILED"


def test_plain_git_does_what_commit_phase_does_not(tmp_path: Path) -> None:
    """The repository of the first attack is hostile: plain git runs its filter."""
    root, outside = tmp_path / "a", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    git(root, "init", "-q", "-b", "main")
    run_filter_of_a_racy_entry(root, outside)
    entry = b"100644 " + b"1" * 40 + b"\tb.txt\n"
    subprocess.run(
        ["git", "update-index", "--index-info"], cwd=root, env=PLAIN, input=entry, capture_output=True, check=False
    )

    assert files_below(outside) == {"ran"}


# Keys and logs that the settings place outside the state folder.


@needs_sandbox
def test_no_command_and_no_session_reads_the_audit_key_wherever_it_is(tmp_path: Path) -> None:
    top, keys, trail = tmp_path / "top", tmp_path / "keys", tmp_path / "top/trail"
    (top / "a/src").mkdir(parents=True)
    keys.mkdir(mode=0o700)
    roles = {"ANTIGRAVITY": ["mallory", "rita"], "WINDSURF": ["mallory"]}
    more = f'[audit]\nkey = "{keys}/audit.key"\nfolder = "{trail}"\n'
    with serve_http(
        tmp_path, tmp_path, owners=("mallory", "rita"), roles=roles, approvers=["rita"], commands=["sh"], more=more
    ) as server:
        attack = Attack(server=server, top=top, root=top / "a")
        # In base64: a key as it stands would be redacted.
        plan_hash = attack.approved(
            **in_shell(f"base64 {keys}/audit.key; base64 {trail}/audit-log.jsonl; ls {trail}; false")
        )
        failed = attack.write(plan_hash, "src/x")
        begun = [
            server.call("mallory", "begin_session", workspace_root=str(root), role="ANTIGRAVITY")["cause"]["reason"]
            for root in (keys, trail, top, tmp_path)
        ]

    assert failed["error_code"] == "PREFLIGHT_FAILED"
    assert {line.rpartition(": ")[2] for line in failed["cause"]["output"].splitlines()} == {"Permission denied"}
    assert begun == ["protected"] * 4
