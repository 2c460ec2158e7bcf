"""The acceptance list of the governed workspace: one test for each of its nine items, over the wire where possible."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.packs.workspace.harness import BUILDER, ENVELOPE, open_harness, report, run, sha256
from tests.packs.workspace.project import Project, open_project
from tests.packs.workspace.sandbox import needs_sandbox
from tests.stores.trails import remove_folder

from strictwire.audit.event import Call, render_body
from strictwire.canon.json import JsonObject, parse_object
from strictwire.fault.dialects.system_v1 import SYSTEM_ERROR_CODES, GovernedError
from strictwire.fault.failure import Facts
from strictwire.fault.invariants import INVARIANTS
from strictwire.packs.workspace.integrity import find_in_trail
from strictwire.packs.workspace.plans.lint import lint
from strictwire.packs.workspace.verbs import CommandContext, run_new
from strictwire.stores.files.config import TrailConfig, open_writer
from strictwire.stores.files.view import FileTrailView


class Loop(Exception):
    """An exception that is its own cause."""

    def __init__(self) -> None:
        super().__init__("loop")
        self.__cause__ = self


@pytest.mark.clause("S1", "S4", "S5", "S9", "S14")
def test_acceptance_1_every_exception_becomes_one_complete_envelope(tmp_path: Path) -> None:
    facts = Facts(tool="write_file", session_id="s", role="WINDSURF", workspace_root="/w", phase_id="PHASE_1", plan_hash="h")
    cyclic: dict[str, Any] = {}
    cyclic["self"] = cyclic
    for thrown in (ValueError("x"), "text", {"a": 1}, None, 7, float("nan"), b"\xff", object(), cyclic, Loop()):
        envelope = GovernedError.from_unknown(thrown, facts).to_envelope()
        assert set(envelope) == ENVELOPE
        assert json.loads(json.dumps(envelope, allow_nan=False)) == envelope
        assert (envelope["phase_id"], envelope["plan_hash"], envelope["session_id"]) == ("PHASE_1", "h", "s")
    told = [GovernedError.from_unknown(each, facts).to_envelope()["cause"] for each in (None, "text", {"a": 1})]
    assert told == [None, "text", {"a": 1}]
    assert GovernedError.from_unknown(ValueError("x"), facts).to_envelope()["cause"] == {
        "message": "x",
        "code": None,
        "name": "ValueError",
    }
    kept = GovernedError.invariant_violation("PLAN_APPROVED", facts).to_envelope()
    assert (kept["error_code"], kept["invariant_id"]) == ("INVARIANT_VIOLATION", "PLAN_APPROVED")
    bare = GovernedError.startup_failure("BOOTSTRAP_FAILURE", facts).to_envelope()
    nulls = [bare[name] for name in ("role", "session_id", "workspace_root")]
    assert (bare["tool_name"], nulls) == ("startup", [None, None, None])
    with pytest.raises(KeyError):
        GovernedError.tool_failure("NOT_REGISTERED", facts)

    async def use() -> None:
        async with open_harness(tmp_path) as harness:
            asked = {"path": "src/a", "plan_hash": "0" * 64, "phase_id": "PHASE_1", "content": "x"}
            result = await harness.connections[BUILDER].call_tool("write_file", asked)
            before = result["structuredContent"]
            assert [before[name] for name in ("role", "session_id", "workspace_root")] == [None, None, None]
            assert (before["plan_hash"], before["phase_id"]) == ("0" * 64, "PHASE_1")

    run(use())


def body(name: str) -> bytes:
    return render_body(Call(timestamp="2026-01-01T00:00:00.000Z", principal=name, duration_us=1))


@pytest.mark.clause("S7", "S8", "S14")
def test_acceptance_2_every_call_is_recorded_in_a_tamper_evident_chain(tmp_path: Path) -> None:
    shared = TrailConfig(folder=tmp_path / "deep" / "shared", key_path=tmp_path / "shared.key", lock_seconds=30.0)
    open_writer(shared).close()
    assert FileTrailView(shared).judge(limit=10).size == 0

    def work(name: str) -> None:
        log = open_writer(shared)
        for _ in range(50):
            log.append_unsynced([body(name)])
        log.close()

    workers = [threading.Thread(target=work, args=(f"worker {number}",)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    judged = FileTrailView(shared).judge(limit=1000)
    assert (judged.size, judged.finding) == (200, None)
    seqs = [parse_object(line)["seq"] for line in FileTrailView(shared).lines_back()]
    assert seqs == list(range(199, -1, -1))

    async def use() -> None:
        async with open_project(tmp_path) as project:
            await project.build("write_file", path="src/a", content="x")
            secret = {"path": "src/b", "content": "x", "password": "hunter2", "nested": {"api_key": "hunter2"}}
            await project.harness.code(BUILDER, "write_file", session_id=project.builder, **secret)
            await project.harness.code(BUILDER, "write_file", session_id=project.builder, path="../x", content="hunter2")
            raw = project.log.read_bytes()
            records = [parse_object(line) for line in raw.splitlines()]
            assert b"hunter2" not in raw
            outcomes = [
                each["error_code"] for each in records if each.get("tool_name") == "write_file" and "outcome" in each
            ]
            assert outcomes == [None, "INVALID_INPUT_VALUE", "PATH_TRAVERSAL_BLOCKED"]
            project.log.write_bytes(raw.replace(b'"principal":"builder"', b'"principal":"planner"', 1))
            finding = project.judge().finding
            assert finding is not None
            first = next(each["seq"] for each in records if each.get("principal") == BUILDER)
            assert finding.record == first
            project.log.write_bytes(raw)
            remove_folder(project.trail.folder)
            assert (await project.harness.code(BUILDER, "session_status", session_id=project.builder))[
                0
            ] == "AUDIT_LOG_FAILED"

    run(use())


@pytest.mark.clause("S12", "S14")
def test_acceptance_3_no_path_leads_outside_and_the_root_is_fixed(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_project(tmp_path) as project:
            (project.root / "src/out").symlink_to(tmp_path)
            for path, code in (
                ("../x", "PATH_TRAVERSAL_BLOCKED"),
                ("src/../../x", "PATH_TRAVERSAL_BLOCKED"),
                ("/etc/passwd", "OUTSIDE_WORKSPACE"),
                ("src/out/x", "OUTSIDE_WORKSPACE"),
            ):
                asked = {"session_id": project.builder, "path": path}
                plan = {"plan_hash": project.plan_hash, "phase_id": "PHASE_1", "content": "x"}
                for tool, more in (("read_file", {}), ("read_file", {}), ("write_file", plan)):
                    assert (await project.harness.code(BUILDER, tool, **asked, **more))[0] == code
                    await unlock(project)
            plans = await project.ask("list_plans")
            assert [each["plan_hash"] for each in plans["plans"]] == [project.plan_hash]
            assert (project.root / f"docs/plans/{project.plan_hash}.md").is_file()
            again = await project.harness.begin(BUILDER, "WINDSURF", project.root / "src" / "..")
            status = await project.harness.call(BUILDER, "session_status", session_id=again)
            assert status["workspace_root"] == str(project.root)

    run(use())


async def unlock(project: Project) -> None:
    status = await project.ask("session_status")
    if status["locked"]:
        number = len(list(project.root.glob("docs/reports/*")))
        text = report(status["lock"]["session_id"], status["lock"]["code"])
        await project.ask("write_file", path=f"docs/reports/{number}.md", content=text)


@pytest.mark.clause("S12", "S14")
def test_acceptance_4_a_plan_is_checked_by_form_wording_paths_and_hash(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    place = CommandContext(root=tmp_path / "work", state=tmp_path / "state", now=lambda: 1_767_225_600.0)
    draft = run_new(place, author="ada", draft=None).stdout
    plan_hash = run_new(place, author="ada", draft=draft).stdout.strip()
    text = f"PLAN_HASH: {plan_hash}\n{draft}"
    assert lint(text).passed
    assert lint(text).hash == lint(text).hash == plan_hash
    twice = "## Phase: Again\n" + draft.split("## Phase: First phase\n")[1].split("\n\n# ")[0]
    faults: list[tuple[str, str, str]] = [
        ("# Path Allowlist", "# Paths", "PLAN_MISSING_SECTION"),
        ("Objective: Describe in words what this phase achieves\n", "", "PLAN_MISSING_FIELD"),
        ("Phase ID: PHASE_1", "Phase ID: phase-1", "PLAN_INVALID_PHASE_ID"),
        ("\n# Path Allowlist", f"\n{twice}\n\n# Path Allowlist", "PLAN_INVALID_PHASE_ID"),
        ("Describe in words", "Should possible, describe in words", "PLAN_AMBIGUOUS_LANGUAGE"),
        ("Describe in words", "Use your judgment and describe in words", "PLAN_AMBIGUOUS_LANGUAGE"),
        ("- src/**", "- ../src/**", "PLAN_PATH_ESCAPE"),
        ("- src/**", "- /src/**", "PLAN_PATH_ESCAPE"),
        ("Describe in words", "Call `f()` and describe in words", "PLAN_NOT_AUDITABLE"),
    ]
    for old, new, code in faults:
        assert code in {each.code for each in lint(text.replace(old, new)).findings}, (old, new)
        assert lint(text.replace(old, new)).hash != plan_hash
    assert {each.code for each in lint(text, expected_hash="0" * 64).findings} == {"PLAN_HASH_MISMATCH"}

    async def use() -> None:
        async with open_project(tmp_path / "project") as project:
            path = project.root / f"docs/plans/{project.plan_hash}.md"
            other = path.with_name("0" * 64 + ".md")
            shutil.copy(path, other)
            base = {"session_id": project.builder, "phase_id": "PHASE_1", "path": "src/a", "content": "x"}
            for named, code in (("1" * 64, "PLAN_NOT_FOUND"), ("0" * 64, "PLAN_ENFORCEMENT_FAILED")):
                assert (await project.harness.code(BUILDER, "write_file", **base, plan_hash=named))[0] == code
                await unlock(project)

    (tmp_path / "project").mkdir()
    run(use())


@needs_sandbox
@pytest.mark.clause("S12", "S14")
def test_acceptance_5_a_write_passes_every_check_or_leaves_no_trace(tmp_path: Path) -> None:
    phase = {"verification_commands": [["sh", "-c", "! grep -q broken src/* 2>/dev/null"]]}

    async def use() -> None:
        artifact = {"required_intent_artifacts": ["docs/intent.md"]}
        async with open_project(tmp_path, plan={"phase": phase | artifact}) as project:
            file = project.root / "src/a.js"
            file.write_bytes(b"ok();\r\n")
            base = {"session_id": project.builder, "plan_hash": project.plan_hash, "phase_id": "PHASE_1", "path": "src/a.js"}
            base |= {"previousHash": sha256(b"ok();\r\n")}

            async def fails(**more: Any) -> str:
                code = (await project.harness.code(BUILDER, "write_file", **(base | more)))[0]
                assert file.read_bytes() == b"ok();\r\n"
                await unlock(project)
                return code

            assert await fails(content="ok(1);\n") == "PLAN_SCOPE_VIOLATION", "the intent artifact is missing"
            (project.root / "docs/intent.md").write_text("Why.\n")
            assert await fails(content="try { ok() } catch (e) {}\n") == "POLICY_VIOLATION"
            assert await fails(content="/* eslint-disable */\nok();\n") == "POLICY_VIOLATION"
            assert await fails(content="function f() { throw new Error('not implemented') }\n") == "POLICY_VIOLATION"
            assert await fails(content="broken();\n") == "PREFLIGHT_FAILED"
            assert await fails(content="x", previousHash="0" * 64) == "HASH_MISMATCH"
            assert await fails(content="x", plan_hash="0" * 64) == "PLAN_NOT_FOUND"
            assert await fails(patch="garbage", content=None) == "INVALID_INPUT_TYPE"
            told = await project.build("write_file", path="src/a.js", content="ok(2);\n", previousHash=sha256(b"ok();\r\n"))
            assert file.read_bytes() == b"ok(2);\n"
            assert told["preflight"][0]["exit_code"] == 0

    run(use())


@pytest.mark.clause("S11", "S14")
def test_acceptance_6_a_failure_locks_a_report_unlocks_and_work_continues(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_project(tmp_path) as project:
            await project.harness.code(BUILDER, "write_file", session_id=project.builder, path="../x", content="x")
            base = {"session_id": project.builder, "plan_hash": project.plan_hash, "phase_id": "PHASE_1"}
            shut = await project.harness.code(BUILDER, "write_file", **base, path="src/a", content="x")
            assert shut[0] == "SESSION_LOCKED"
            elsewhere = await project.harness.code(BUILDER, "write_file", **base, path="src/docs/reports/x.md", content="x")
            assert elsewhere[0] == "SESSION_LOCKED"
            for tool in ("session_status", "list_files", "list_plans", "read_prompt", "read_audit_log"):
                await project.ask(tool)
            await unlock(project)
            await project.build("write_file", path="src/a", content="x")

    run(use())


@pytest.mark.clause("S14")
def test_acceptance_7_replay_and_verification_pass_or_report_findings_and_change_nothing(tmp_path: Path) -> None:
    def held(root: Path) -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}

    async def use() -> None:
        async with open_project(tmp_path) as project:
            await project.work()
            before = held(project.root)
            replayed = await project.ask("replay_execution", plan_hash=project.plan_hash)
            verified = await project.ask("verify_workspace_integrity")
            assert (replayed["verdict"], verified["passed"], held(project.root)) == ("PASS", True, before)
            raw = project.log.read_bytes()
            lines = raw.splitlines(keepends=True)
            spoilt: list[tuple[Callable[[], bytes], str]] = [
                (lambda: raw.replace(b"builder", b"planner", 1), "HASH_CHAIN_INTACT"),
                (lambda: b"".join([*lines[:4], *lines[5:]]), "SEQUENCE_CONTINUOUS"),
                (lambda: b"".join([*lines[:4], b"{\n", *lines[5:]]), "HASH_CHAIN_INTACT"),
            ]
            for spoil, invariant in spoilt:
                project.log.write_bytes(spoil())
                assert [each.invariant_id for each in find_in_trail(project.judge())] == [invariant]
            project.log.write_bytes(raw)
            await project.harness.code(
                BUILDER, "write_file", session_id=project.builder, plan_hash=project.plan_hash, phase_id="PHASE_1",
                path="src/x.py", content="breakpoint()\n",
            )  # fmt: skip
            blocked = await project.ask("replay_execution", plan_hash=project.plan_hash)
            assert [each["code"] for each in blocked["findings"]] == ["POLICY_BLOCKED"]
            assert blocked["verdict"] == "PASS"

    run(use())


@pytest.mark.clause("S14")
def test_acceptance_8_a_bundle_is_deterministic_and_detects_every_alteration(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_project(tmp_path) as project:
            await project.work()
            made = await project.ask("generate_attestation_bundle", plan_hash=project.plan_hash)
            again = await project.ask("generate_attestation_bundle", plan_hash=project.plan_hash)
            assert made["bundle_id"] == again["bundle_id"]
            bundle = json.loads(made["bundle"])
            altered: list[tuple[JsonObject, str]] = [
                (bundle | {"signature": "AAAA"}, "SIGNATURE"),
                ({name: value for name, value in bundle.items() if name != "signature"}, "FORMAT"),
                (bundle | {"bundle_id": "0" * 64}, "BUNDLE_ID"),
                (bundle | {"files": []}, "FILES"),
                (bundle | {"records": bundle["records"][:-1]}, "CHANGE"),
            ]
            for each, check in altered:
                told = await project.ask("verify_attestation_bundle", bundle=json.dumps(each))
                assert (told["passed"], told["problem"]["check"]) == (False, check)
            for form, start in (("json", "{"), ("markdown", "# Attestation ")):
                shown = await project.ask("export_attestation_bundle", bundle=made["bundle"], format=form)
                assert shown["content"].startswith(start)
            remove_folder(project.trail.folder)
            asked = {"session_id": project.builder, "plan_hash": project.plan_hash}
            assert (await project.harness.code(BUILDER, "generate_attestation_bundle", **asked))[0] == "AUDIT_LOG_FAILED"

    run(use())


@pytest.mark.slow
@pytest.mark.clause("S3", "S13", "S14")
def test_acceptance_9_ids_and_codes_are_fixed_and_a_server_that_fails_its_checks_does_not_start(
    tmp_path: Path,
) -> None:
    assert len(SYSTEM_ERROR_CODES) == 35
    assert all(name == name.upper() and meaning.endswith(".") for name, meaning in INVARIANTS.items())
    (tmp_path / "strictwire.toml").write_text('[packs.workspace]\nroots = ["relative"]\n')
    command = [sys.executable, "-m", "strictwire.cli.main", "serve", "--stdio", "--pack", "workspace", "--config"]
    done = subprocess.run(
        [*command, str(tmp_path / "strictwire.toml")],
        input=b"", capture_output=True, env={"XDG_STATE_HOME": str(tmp_path / "xdg"), "HOME": str(tmp_path)}, check=False,
    )  # fmt: skip
    envelope = json.loads(done.stderr.splitlines()[-1])

    assert (done.returncode, envelope["error_code"], envelope["tool_name"]) == (1, "BOOTSTRAP_FAILURE", "startup")
    assert set(envelope) == ENVELOPE
