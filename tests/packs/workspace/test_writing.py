"""Writing over the wire: under an approved plan, against the expected content, atomic, verified or undone."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.packs.workspace.harness import BUILDER, PLANNER, Harness, open_harness, report, run, sha256
from tests.packs.workspace.sandbox import needs_sandbox

from strictwire.audit.recorder import Done
from strictwire.canon.json import parse_object
from strictwire.fault.failure import fail
from strictwire.stores.memory.recorder import MemoryRecorder

EMPTY = sha256(b"")
SEEN = {"previousHash": EMPTY}
SCOPE = "PLAN_SCOPE_VIOLATION"
MISSING = "MISSING_REQUIRED_FIELD"


@dataclass(slots=True, kw_only=True)
class Builder:
    """A client in the role WINDSURF with one approved plan."""

    harness: Harness
    session: str
    plan_hash: str

    @property
    def root(self) -> Path:
        return self.harness.root

    def arguments(self, more: dict[str, Any]) -> dict[str, Any]:
        return {"session_id": self.session, "plan_hash": self.plan_hash, "phase_id": "PHASE_1"} | more

    async def do(self, tool: str, **more: Any) -> Any:
        return await self.harness.call(BUILDER, tool, **self.arguments(more))

    async def fails(self, tool: str, **more: Any) -> tuple[str, Any]:
        """Return the failure. A lock is removed again, so that the next failure can be tested."""
        got = await self.harness.code(BUILDER, tool, **self.arguments(more))
        status = await self.harness.call(BUILDER, "session_status", session_id=self.session)
        if status["locked"]:
            lock = status["lock"]
            path = f"docs/reports/{len(list(self.root.glob('docs/reports/*')))}.md"
            text = report(lock["session_id"], lock["code"])
            await self.harness.call(BUILDER, "write_file", session_id=self.session, path=path, content=text)
        return got


@asynccontextmanager
async def open_builder(folder: Path, *, recorder: MemoryRecorder | None = None, **plan: Any) -> AsyncIterator[Builder]:
    async with open_harness(folder, recorder=recorder) as harness:
        (harness.root / "src").mkdir()
        planner = await harness.begin(PLANNER, "ANTIGRAVITY")
        plan_hash = await harness.approved(planner, **plan)
        yield Builder(harness=harness, session=await harness.begin(BUILDER, "WINDSURF"), plan_hash=plan_hash)


def told(builder: Builder, operation: str, path: str, **more: Any) -> dict[str, Any]:
    plan = {"plan_hash": builder.plan_hash, "phase_id": "PHASE_1"}
    warnings = {"warnings": []} if operation in ("create", "modify") else {}
    told = {"operation": operation, "path": path, "previous_sha256": None, "preflight": []}
    return told | plan | warnings | more


def test_a_file_is_created_changed_patched_moved_and_deleted(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_builder(tmp_path) as builder:
            file = builder.root / "src/a.py"
            made = await builder.do("write_file", path="src/a.py", content="one\ntwo\n")
            assert made == told(builder, "create", "src/a.py", sha256=sha256(b"one\ntwo\n"), size=8)
            file.chmod(0o755)
            changed = await builder.do("write_file", path="./src/a.py", content="ONE\r\ntwo\n", previousHash=made["sha256"])
            before = {"previous_sha256": made["sha256"]}
            assert changed == told(builder, "modify", "src/a.py", sha256=sha256(b"ONE\r\ntwo\n"), size=9, **before)
            patch = "@@ -2 +2 @@\n-two\n+TWO\n"
            patched = await builder.do("write_file", path="src/a.py", patch=patch, previousHash=changed["sha256"])
            assert file.read_bytes() == b"ONE\r\nTWO\n"
            assert file.stat().st_mode & 0o777 == 0o755
            moved = await builder.do("move_file", path="src/a.py", new_path="src/b.py", previousHash=patched["sha256"])
            same = {"previous_sha256": patched["sha256"]}
            expected = told(builder, "move", "src/a.py", new_path="src/b.py", sha256=patched["sha256"], size=9, **same)
            assert (moved, file.exists()) == (expected, False)
            gone = await builder.do("delete_file", path="src/b.py", previousHash=patched["sha256"])
            assert gone == told(builder, "delete", "src/b.py", **same)
            assert list((builder.root / "src").iterdir()) == []

            coded = b64encode(b"\x00\xff").decode()
            await builder.do("write_file", path="src/x/y/z.bin", content=coded, encoding="base64", make_folders=True)
            assert (builder.root / "src/x/y/z.bin").read_bytes() == b"\x00\xff"

    run(use())


@pytest.mark.clause("S12")
def test_every_code_of_a_write_has_its_own_cause_and_nothing_is_changed(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_builder(tmp_path, forbidden_actions=[{"operation": "delete", "pattern": "src/keep"}]) as builder:
            outside = tmp_path / "outside"
            outside.mkdir()
            (outside / "f").write_text("o")
            (builder.root / "src/keep").write_bytes(b"")
            (builder.root / "src/folder").mkdir()
            (builder.root / "src/out").symlink_to(outside)
            (builder.root / "src/in").symlink_to("keep")
            (builder.root / "src/bin").write_bytes(b"\xff")
            (builder.root / "other").write_bytes(b"")
            os.mkfifo(builder.root / "src/fifo")
            before = snapshot(builder.root)
            patch = {"path": "src/keep", "previousHash": EMPTY}
            good = "@@ -0,0 +1 @@\n+x\n"
            binary = {"path": "src/bin", "previousHash": sha256(b"\xff")}
            causes: list[tuple[str, dict[str, Any], tuple[str, Any]]] = [
                ("write_file", {"path": "src/new"}, (MISSING, "content_or_patch")),
                ("write_file", {"path": "src/new", "content": "", "patch": good}, (MISSING, "content_or_patch")),
                ("write_file", {"path": "src/new", "patch": good}, (MISSING, "previousHash")),
                ("write_file", {"path": "src/n", "content": "?", "encoding": "base64"}, ("INVALID_INPUT_FORMAT", "base64")),
                ("write_file", {"path": "src/keep", "content": "x"}, ("FILE_ALREADY_EXISTS", None)),
                ("write_file", {"path": "src/KEEP", "content": "x"}, ("FILE_ALREADY_EXISTS", "case")),
                ("write_file", {"path": "src/keep", "content": "x", "previousHash": "0" * 64}, ("HASH_MISMATCH", "changed")),
                ("write_file", {"path": "src/new", "content": "x", "previousHash": "0" * 64}, ("FILE_NOT_FOUND", None)),
                ("write_file", {"path": "src/no/x", "content": "x"}, ("PATH_NOT_FOUND", None)),
                ("write_file", {"path": "src/keep/x", "content": "x", "make_folders": True}, ("PATH_NOT_FOUND", None)),
                ("write_file", {"path": "src/folder", "content": "x"}, ("FILE_ALREADY_EXISTS", None)),
                ("write_file", {"path": "src/folder/", "content": "x"}, ("FILE_WRITE_FAILED", None)),
                ("write_file", {"path": "src/fifo", "content": "x"}, ("FILE_ALREADY_EXISTS", None)),
                ("write_file", {"path": "src/out/f", "content": "x"}, ("OUTSIDE_WORKSPACE", None)),
                ("write_file", {"path": "src/in", "content": "x", **SEEN}, ("FILE_WRITE_FAILED", None)),
                ("write_file", {"path": "../f", "content": "x"}, ("PATH_TRAVERSAL_BLOCKED", None)),
                ("write_file", {"path": "/f", "content": "x"}, ("OUTSIDE_WORKSPACE", None)),
                ("write_file", {"path": "", "content": "x"}, ("INVALID_PATH", None)),
                ("write_file", patch | {"patch": "nonsense"}, ("PATCH_INVALID", "malformed")),
                ("write_file", patch | {"patch": "@@ -1 +1 @@\n-a\n+b\n"}, ("PATCH_APPLY_FAILED", "rejected")),
                ("write_file", binary | {"patch": good}, ("PATCH_APPLY_FAILED", "not_utf8")),
                ("write_file", {"path": "other", "content": "x"}, (SCOPE, "path_not_listed")),
                ("write_file", {"path": "src/x", "content": "x", "phase_id": "PHASE_2"}, (SCOPE, "phase_unknown")),
                ("delete_file", {"path": "src/keep", **SEEN}, (SCOPE, "operation_forbidden")),
                ("delete_file", {"path": "src/bin", **SEEN}, ("HASH_MISMATCH", "changed")),
                ("delete_file", {"path": "src/none", **SEEN}, ("FILE_NOT_FOUND", None)),
                ("delete_file", {"path": "src/in", **SEEN}, ("FILE_WRITE_FAILED", None)),
                ("move_file", {"path": "src/keep", "new_path": "src/bin", **SEEN}, ("FILE_ALREADY_EXISTS", None)),
                ("move_file", {"path": "src/keep", "new_path": "src/BIN", **SEEN}, ("FILE_ALREADY_EXISTS", "case")),
                ("move_file", {"path": "src/keep", "new_path": "else", **SEEN}, (SCOPE, "path_not_listed")),
                ("move_file", {"path": "src/keep", "new_path": "src/no/x", **SEEN}, ("PATH_NOT_FOUND", None)),
            ]  # fmt: skip
            for tool, arguments, (code, reason) in causes:
                got = await builder.fails(tool, **arguments)
                assert got[0] == code, (tool, arguments, got)
                assert reason is None or got[1] == reason, (tool, arguments, got)
                assert snapshot(builder.root) == before, (tool, arguments)
            assert (outside / "f").read_text() == "o"

    run(use())


def snapshot(root: Path) -> dict[str, Any]:
    """Return everything below, except reports."""
    found = [path for path in root.rglob("*") if "reports" not in path.parts]
    return {str(path): path.read_bytes() if path.is_file() else path.is_symlink() for path in found}


@pytest.mark.clause("S11", "S12")
@pytest.mark.parametrize(
    "path",
    [
        "docs/plans/x.md", "DOCS/Plans/x.md", "docs/reports/sub/x.md", "docs/reports/x.txt", ".git/hooks/pre-commit",
        "src/.git/config", ".strictwire/x", "strictwire.toml", "src/audit-log.jsonl", "docs", "src/.strictwire-0",
    ],
)  # fmt: skip
def test_no_plan_permits_writing_plans_reports_logs_and_own_files(tmp_path: Path, path: str) -> None:
    async def use() -> None:
        async with open_builder(tmp_path, paths=["**"]) as builder:
            (builder.root / "victim").write_bytes(b"")
            got = await builder.fails("write_file", path=path, content="x", make_folders=True)
            assert got == ("PLAN_SCOPE_VIOLATION", "guarded")
            got = await builder.fails("move_file", path="victim", new_path=path, previousHash=EMPTY)
            assert got == ("PLAN_SCOPE_VIOLATION", "guarded")
            assert not (builder.root / path).is_file()

    run(use())


@needs_sandbox
@pytest.mark.slow
@pytest.mark.clause("S12")
@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (["false"], "exit_code"),
        (["sh", "-c", "echo spoiled > src/a; cat src/a; exit 3"], "exit_code"),
    ],
)
def test_a_change_that_fails_its_verification_is_undone_to_the_byte(tmp_path: Path, command: list[str], reason: str) -> None:
    old = b"\xffold\r\n"

    async def use() -> None:
        async with open_builder(tmp_path, phase={"verification_commands": [["true"], command]}) as builder:
            file = builder.root / "src/a"
            file.write_bytes(old)
            file.chmod(0o640)
            before = snapshot(builder.root)
            made = {"path": "src/deep/er/b", "content": "new", "make_folders": True}
            moved = {"path": "src/a", "new_path": "src/c"}
            for tool, arguments in (
                ("write_file", {"path": "src/a", "content": "new", "previousHash": sha256(old)}),
                ("write_file", made),
                ("delete_file", {"path": "src/a", "previousHash": sha256(old)}),
                ("move_file", moved | {"previousHash": sha256(old)}),
            ):
                if "sh" in command and tool != "write_file":
                    continue
                if "sh" in command and arguments is made:
                    continue
                assert await builder.fails(tool, **arguments) == ("PREFLIGHT_FAILED", reason), tool
                assert snapshot(builder.root) == before, tool
                assert file.stat().st_mode & 0o777 == 0o640

    run(use())


@needs_sandbox
def test_successful_commands_are_reported_and_run_in_the_workspace_with_a_minimal_environment(tmp_path: Path) -> None:
    check = ["sh", "-c", 'test -f src/a && test -z "$SECRET" && test "$HOME" != /root']

    async def use() -> None:
        async with open_builder(
            tmp_path, phase={"verification_commands": [check]}, verification_gates=[["true"]]
        ) as builder:
            done = await builder.do("write_file", path="src/a", content="x")
            assert done["preflight"] == [{"command": check, "exit_code": 0}, {"command": ["true"], "exit_code": 0}]

    os.environ["SECRET"] = "s"
    try:
        run(use())
    finally:
        del os.environ["SECRET"]


def test_a_required_intent_artifact_must_exist_first(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_builder(tmp_path, phase={"required_intent_artifacts": ["src/intent.md"]}) as builder:
            got = await builder.fails("write_file", path="src/a", content="x")
            assert got == ("PLAN_SCOPE_VIOLATION", "artifact_missing")
            (builder.root / "src/intent.md").write_text("why")
            await builder.do("write_file", path="src/a", content="x")

    run(use())


def test_a_hard_link_is_replaced_and_its_other_name_keeps_its_bytes(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_builder(tmp_path) as builder:
            outside = tmp_path / "outside"
            outside.write_text("kept")
            (builder.root / "src/a").hardlink_to(outside)
            await builder.do("write_file", path="src/a", content="new", previousHash=sha256(b"kept"))
            assert (outside.read_text(), (builder.root / "src/a").read_text()) == ("kept", "new")

    run(use())


@pytest.mark.clause("S7", "S8", "S9")
def test_a_change_is_recorded_before_and_after_with_its_plan_and_phase(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_builder(tmp_path) as builder:
            start = len(builder.harness.recorder.records)
            await builder.do("write_file", path="src/a", content="x")
            await builder.fails("write_file", path="src/a", content="x")
            records = [each for each in builder.harness.recorder.records[start:] if each["tool_name"] == "write_file"]
            assert [each["kind"] for each in records] == ["intent", "outcome", "intent", "outcome"]
            assert {(each["plan_hash"], each["phase_id"]) for each in records} == {(builder.plan_hash, "PHASE_1")}
            end = records[-1]
            assert (end["error_code"], end["envelope"]["plan_hash"], end["envelope"]["session_id"]) == (
                "FILE_ALREADY_EXISTS",
                builder.plan_hash,
                builder.session,
            )

    run(use())


class FailingRecorder(MemoryRecorder):
    """Refuses records of one kind, once that is set."""

    refused: str | None = None

    def append(self, bodies: Sequence[bytes], done: Done) -> None:
        if self.refused is not None and any(parse_object(body)["kind"] == self.refused for body in bodies):
            done(fail("AUDIT_UNAVAILABLE"))
        else:
            super().append(bodies, done)


@pytest.mark.clause("S7")
@pytest.mark.parametrize(("refused", "is_written"), [("intent", False), ("outcome", True)])
def test_without_an_intent_record_there_is_no_change_and_without_an_outcome_record_no_answer(
    tmp_path: Path, refused: str, is_written: bool
) -> None:
    recorder = FailingRecorder()

    async def use() -> None:
        async with open_builder(tmp_path, recorder=recorder) as builder:
            recorder.refused = refused
            got = await builder.harness.code(BUILDER, "write_file", **builder.arguments({"path": "src/a", "content": "x"}))
            assert got[0] == "AUDIT_LOG_FAILED"
            assert (builder.root / "src/a").exists() is is_written

    run(use())
