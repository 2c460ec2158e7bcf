"""The acceptance list of the governed workspace, one test for each of its nine items, over the wire where there is one."""

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
from tests.packs.workspace.desk import BUILDER, ENVELOPE, open_desk, report, run, sha256
from tests.packs.workspace.office import Office, open_office
from tests.stores.trails import remove_folder

from strictwire.audit.event import Call, render_body
from strictwire.canon.json import JsonObject, parse_object
from strictwire.fault.dialects.system_v1 import SYSTEM_ERROR_CODES, GovernedError
from strictwire.fault.failure import Facts
from strictwire.fault.invariants import INVARIANTS
from strictwire.packs.workspace.integrity import find_in_trail
from strictwire.packs.workspace.plans.lint import lint
from strictwire.packs.workspace.verbs import Place, run_new
from strictwire.stores.files.config import TrailConfig, open_writer
from strictwire.stores.files.view import FileTrailView


class Loop(Exception):
    """Its cause is itself."""

    def __init__(self) -> None:
        super().__init__("loop")
        self.__cause__ = self


@pytest.mark.clause("S1", "S4", "S5", "S9", "S14")
def test_acceptance_1_whatever_is_thrown_becomes_one_whole_envelope(tmp_path: Path) -> None:
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
        async with open_desk(tmp_path) as desk:
            asked = {"path": "src/a", "plan_hash": "0" * 64, "phase_id": "PHASE_1", "content": "x"}
            result = await desk.connections[BUILDER].call_tool("write_file", asked)
            before = result["structuredContent"]
            assert [before[name] for name in ("role", "session_id", "workspace_root")] == [None, None, None]
            assert (before["plan_hash"], before["phase_id"]) == ("0" * 64, "PHASE_1")

    run(use())


def body(name: str) -> bytes:
    return render_body(Call(timestamp="2026-01-01T00:00:00.000Z", principal=name, duration_us=1))


@pytest.mark.clause("S7", "S8", "S14")
def test_acceptance_2_every_call_is_recorded_in_a_chain_that_shows_what_was_done_to_it(tmp_path: Path) -> None:
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
        async with open_office(tmp_path) as office:
            await office.build("write_file", path="src/a", content="x")
            secret = {"path": "src/b", "content": "x", "password": "hunter2", "nested": {"api_key": "hunter2"}}
            await office.desk.code(BUILDER, "write_file", session_id=office.builder, **secret)
            await office.desk.code(BUILDER, "write_file", session_id=office.builder, path="../x", content="hunter2")
            raw = office.log.read_bytes()
            records = [parse_object(line) for line in raw.splitlines()]
            assert b"hunter2" not in raw
            outcomes = [
                each["error_code"] for each in records if each.get("tool_name") == "write_file" and "outcome" in each
            ]
            assert outcomes == [None, "INVALID_PARAMS", "PATH_TRAVERSAL_BLOCKED"]
            office.log.write_bytes(raw.replace(b'"principal":"builder"', b'"principal":"planner"', 1))
            finding = office.judge().finding
            assert finding is not None
            first = next(each["seq"] for each in records if each.get("principal") == BUILDER)
            assert finding.record == first
            office.log.write_bytes(raw)
            remove_folder(office.trail.folder)
            assert (await office.desk.code(BUILDER, "session_status", session_id=office.builder))[0] == "AUDIT_LOG_FAILED"

    run(use())


@pytest.mark.clause("S12", "S14")
def test_acceptance_3_no_path_leads_out_and_the_root_is_fixed(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_office(tmp_path) as office:
            (office.root / "src/out").symlink_to(tmp_path)
            for path, code in (
                ("../x", "PATH_TRAVERSAL_BLOCKED"),
                ("src/../../x", "PATH_TRAVERSAL_BLOCKED"),
                ("/etc/passwd", "OUTSIDE_WORKSPACE"),
                ("src/out/x", "OUTSIDE_WORKSPACE"),
            ):
                asked = {"session_id": office.builder, "path": path}
                plan = {"plan_hash": office.plan_hash, "phase_id": "PHASE_1", "content": "x"}
                for tool, more in (("read_file", {}), ("read_file", {}), ("write_file", plan)):
                    assert (await office.desk.code(BUILDER, tool, **asked, **more))[0] == code
                    await unlock(office)
            plans = await office.ask("list_plans")
            assert [each["plan_hash"] for each in plans["plans"]] == [office.plan_hash]
            assert (office.root / f"docs/plans/{office.plan_hash}.md").is_file()
            again = await office.desk.begin(BUILDER, "WINDSURF", office.root / "src" / "..")
            status = await office.desk.call(BUILDER, "session_status", session_id=again)
            assert status["workspace_root"] == str(office.root)

    run(use())


async def unlock(office: Office) -> None:
    status = await office.ask("session_status")
    if status["locked"]:
        number = len(list(office.root.glob("docs/reports/*")))
        text = report(status["lock"]["session_id"], status["lock"]["code"])
        await office.ask("write_file", path=f"docs/reports/{number}.md", content=text)


@pytest.mark.clause("S12", "S14")
def test_acceptance_4_a_plan_is_judged_by_its_form_its_words_its_paths_and_its_hash(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    place = Place(root=tmp_path / "work", key=tmp_path / "key", now=lambda: 1_767_225_600.0)
    draft = run_new(place, author="ada", draft=None).stdout
    plan_hash = run_new(place, author="ada", draft=draft).stdout.strip()
    text = f"PLAN_HASH: {plan_hash}\n{draft}"
    assert lint(text).passed
    assert lint(text).hash == lint(text).hash == plan_hash
    twice = "## Phase: Again\n" + draft.split("## Phase: First phase\n")[1].split("\n\n# ")[0]
    faults: list[tuple[str, str, str]] = [
        ("# Path Allowlist", "# Paths", "PLAN_MISSING_SECTION"),
        ("Objective: Say in words what this phase reaches\n", "", "PLAN_MISSING_FIELD"),
        ("Phase ID: PHASE_1", "Phase ID: phase-1", "PLAN_INVALID_PHASE_ID"),
        ("\n# Path Allowlist", f"\n{twice}\n\n# Path Allowlist", "PLAN_INVALID_PHASE_ID"),
        ("Say in words", "Should possible, say in words", "PLAN_AMBIGUOUS_LANGUAGE"),
        ("Say in words", "Use your judgment and say in words", "PLAN_AMBIGUOUS_LANGUAGE"),
        ("- src/**", "- ../src/**", "PLAN_PATH_ESCAPE"),
        ("- src/**", "- /src/**", "PLAN_PATH_ESCAPE"),
        ("Say in words", "Call `f()` and say in words", "PLAN_NOT_AUDITABLE"),
    ]
    for old, new, code in faults:
        assert code in {each.code for each in lint(text.replace(old, new)).findings}, (old, new)
        assert lint(text.replace(old, new)).hash != plan_hash
    assert {each.code for each in lint(text, expected_hash="0" * 64).findings} == {"PLAN_HASH_MISMATCH"}

    async def use() -> None:
        async with open_office(tmp_path / "office") as office:
            path = office.root / f"docs/plans/{office.plan_hash}.md"
            other = path.with_name("0" * 64 + ".md")
            shutil.copy(path, other)
            base = {"session_id": office.builder, "phase_id": "PHASE_1", "path": "src/a", "content": "x"}
            for named, code in (("1" * 64, "PLAN_NOT_FOUND"), ("0" * 64, "PLAN_ENFORCEMENT_FAILED")):
                assert (await office.desk.code(BUILDER, "write_file", **base, plan_hash=named))[0] == code
                await unlock(office)

    (tmp_path / "office").mkdir()
    run(use())


@pytest.mark.clause("S12", "S14")
def test_acceptance_5_a_write_passes_every_gate_or_leaves_no_trace(tmp_path: Path) -> None:
    phase = {"verification_commands": [["sh", "-c", "! grep -q broken src/* 2>/dev/null"]]}

    async def use() -> None:
        artifact = {"required_intent_artifacts": ["docs/intent.md"]}
        async with open_office(tmp_path, plan={"phase": phase | artifact}) as office:
            file = office.root / "src/a.js"
            file.write_bytes(b"ok();\r\n")
            base = {"session_id": office.builder, "plan_hash": office.plan_hash, "phase_id": "PHASE_1", "path": "src/a.js"}
            base |= {"previousHash": sha256(b"ok();\r\n")}

            async def fails(**more: Any) -> str:
                code = (await office.desk.code(BUILDER, "write_file", **(base | more)))[0]
                assert file.read_bytes() == b"ok();\r\n"
                await unlock(office)
                return code

            assert await fails(content="ok(1);\n") == "PLAN_SCOPE_VIOLATION", "the intent artifact is missing"
            (office.root / "docs/intent.md").write_text("Why.\n")
            assert await fails(content="try { ok() } catch (e) {}\n") == "POLICY_VIOLATION"
            assert await fails(content="/* eslint-disable */\nok();\n") == "POLICY_VIOLATION"
            assert await fails(content="function f() { throw new Error('not implemented') }\n") == "POLICY_VIOLATION"
            assert await fails(content="broken();\n") == "PREFLIGHT_FAILED"
            assert await fails(content="x", previousHash="0" * 64) == "HASH_MISMATCH"
            assert await fails(content="x", plan_hash="0" * 64) == "PLAN_NOT_FOUND"
            assert await fails(patch="garbage", content=None) == "INVALID_INPUT_TYPE"
            told = await office.build("write_file", path="src/a.js", content="ok(2);\n", previousHash=sha256(b"ok();\r\n"))
            assert file.read_bytes() == b"ok(2);\n"
            assert told["preflight"][0]["exit_code"] == 0

    run(use())


@pytest.mark.clause("S11", "S14")
def test_acceptance_6_a_failure_locks_a_report_unlocks_and_work_goes_on(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_office(tmp_path) as office:
            await office.desk.code(BUILDER, "read_file", session_id=office.builder, path="../x")
            base = {"session_id": office.builder, "plan_hash": office.plan_hash, "phase_id": "PHASE_1"}
            shut = await office.desk.code(BUILDER, "write_file", **base, path="src/a", content="x")
            assert shut[0] == "SESSION_LOCKED"
            elsewhere = await office.desk.code(BUILDER, "write_file", **base, path="src/docs/reports/x.md", content="x")
            assert elsewhere[0] == "SESSION_LOCKED"
            for tool in ("session_status", "list_files", "list_plans", "read_prompt", "read_audit_log"):
                await office.ask(tool)
            await unlock(office)
            await office.build("write_file", path="src/a", content="x")

    run(use())


@pytest.mark.clause("S14")
def test_acceptance_7_replay_and_verification_pass_what_is_clean_name_what_is_not_and_change_nothing(tmp_path: Path) -> None:
    def held(root: Path) -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}

    async def use() -> None:
        async with open_office(tmp_path) as office:
            await office.work()
            before = held(office.root)
            replayed = await office.ask("replay_execution", plan_hash=office.plan_hash)
            verified = await office.ask("verify_workspace_integrity")
            assert (replayed["verdict"], verified["passed"], held(office.root)) == ("PASS", True, before)
            raw = office.log.read_bytes()
            lines = raw.splitlines(keepends=True)
            spoilt: list[tuple[Callable[[], bytes], str]] = [
                (lambda: raw.replace(b"builder", b"planner", 1), "HASH_CHAIN_INTACT"),
                (lambda: b"".join([*lines[:4], *lines[5:]]), "SEQUENCE_CONTINUOUS"),
                (lambda: b"".join([*lines[:4], b"{\n", *lines[5:]]), "HASH_CHAIN_INTACT"),
            ]
            for spoil, invariant in spoilt:
                office.log.write_bytes(spoil())
                assert [each.invariant_id for each in find_in_trail(office.judge())] == [invariant]
            office.log.write_bytes(raw)
            await office.desk.code(
                BUILDER, "write_file", session_id=office.builder, plan_hash=office.plan_hash, phase_id="PHASE_1",
                path="src/x.py", content="breakpoint()\n",
            )  # fmt: skip
            blocked = await office.ask("replay_execution", plan_hash=office.plan_hash)
            assert [each["code"] for each in blocked["findings"]] == ["POLICY_BLOCKED"]
            assert blocked["verdict"] == "PASS"

    run(use())


@pytest.mark.clause("S14")
def test_acceptance_8_a_bundle_is_the_same_for_the_same_evidence_and_shows_every_alteration(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_office(tmp_path) as office:
            await office.work()
            made = await office.ask("generate_attestation_bundle", plan_hash=office.plan_hash)
            again = await office.ask("generate_attestation_bundle", plan_hash=office.plan_hash)
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
                told = await office.ask("verify_attestation_bundle", bundle=json.dumps(each))
                assert (told["passed"], told["problem"]["check"]) == (False, check)
            for form, start in (("json", "{"), ("markdown", "# Attestation ")):
                shown = await office.ask("export_attestation_bundle", bundle=made["bundle"], format=form)
                assert shown["content"].startswith(start)
            remove_folder(office.trail.folder)
            asked = {"session_id": office.builder, "plan_hash": office.plan_hash}
            assert (await office.desk.code(BUILDER, "generate_attestation_bundle", **asked))[0] == "AUDIT_LOG_FAILED"

    run(use())


@pytest.mark.slow
@pytest.mark.clause("S3", "S13", "S14")
def test_acceptance_9_ids_and_codes_are_fixed_and_a_server_that_cannot_keep_its_promises_does_not_start(
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
