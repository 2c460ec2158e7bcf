"""replay_execution: what happened under a plan, compared with the current files; repeatable."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.packs.workspace.harness import BUILDER, PLANNER, run, sha256
from tests.packs.workspace.project import Project, open_project
from tests.packs.workspace.server_process import ServerProcess, approve

from strictwire.canon.digest import digest_bytes
from strictwire.packs.workspace import records
from strictwire.packs.workspace.ledger import APPLIED, Change, FileRecord
from strictwire.packs.workspace.pack import CHANGES
from strictwire.packs.workspace.plans.approval import Approval
from strictwire.packs.workspace.plans.model import Operation, Phase, Plan
from strictwire.packs.workspace.reconcile import Evidence, reconcile
from strictwire.packs.workspace.records import AuditRecord

DEATHS = 3


def held(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def test_an_executed_plan_passes_and_replay_changes_nothing(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_project(tmp_path) as project:
            await project.work()
            before = held(project.root)
            told = await project.ask("replay_execution", plan_hash=project.plan_hash)
            again = await project.review("replay_execution", plan_hash=project.plan_hash)

            assert held(project.root) == before
            assert told == again
            assert (told["verdict"], told["complete"], told["findings"]) == ("PASS", True, [])
            tools = ["create_plan", "approve_plan", "write_file", "write_file", "move_file", "apply_changes", "delete_file"]
            assert [(each["tool"], each["outcome"]) for each in told["steps"]] == [(tool, "ok") for tool in tools]
            moved = sha256(b"one = 2\n")
            assert told["steps"][4]["files"] == [
                {"path": "src/a.py", "before": moved, "after": None},
                {"path": "src/b.py", "before": None, "after": moved},
            ]
            assert told["files"] == [
                {"path": "src/a.py", "recorded": None, "now": None, "state": "same"},
                {"path": "src/b.py", "recorded": moved, "now": moved, "state": "same"},
                {"path": "src/c", "recorded": sha256(b"c"), "now": sha256(b"c"), "state": "same"},
                {"path": "src/d", "recorded": None, "now": None, "state": "same"},
            ]

    run(use())


async def replayed(project: Project) -> tuple[str, set[str]]:
    told = await project.ask("replay_execution", plan_hash=project.plan_hash)
    return told["verdict"], {each["code"] for each in told["findings"]}


def drift(project: Project) -> None:
    (project.root / "src/c").write_text("someone else")


def forget_ledger(project: Project) -> None:
    for path in (project.root.parent / "state" / CHANGES).rglob("*.jsonl"):
        path.unlink()


def forge_ledger(project: Project) -> None:
    for path in (project.root.parent / "state" / CHANGES).rglob("*.jsonl"):
        path.write_bytes(path.read_bytes().replace(b"src/b.py", b"src/z.py"))


def forge_record(project: Project) -> None:
    raw = project.log.read_bytes()
    at = raw.index(b'"principal":"builder"', raw.index(b'"tool_name":"move_file"'))
    project.log.write_bytes(raw[:at] + raw[at:].replace(b'"principal":"builder"', b'"principal":"planner"', 1))


def hide_intent(project: Project) -> None:
    project.log.write_bytes(project.log.read_bytes().replace(b'"tool_name":"move_file"', b'"tool_name":"read_file"', 1))


def lose_approval(project: Project) -> None:
    for path in (project.root / "docs/plans").glob("*.approval.json"):
        path.unlink()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("disturb", "verdict", "codes"),
    [
        (drift, "PASS", {"CHANGED_SINCE"}),
        (forget_ledger, "FAIL", {"RECORD_WITHOUT_CHANGE"}),
        (forge_ledger, "FAIL", {"RECORD_WITHOUT_CHANGE", "CHANGE_WITHOUT_RECORD"}),
        (forge_record, "FAIL", {"RECORD_ALTERED"}),
        (hide_intent, "FAIL", {"RECORD_ALTERED"}),
        (lose_approval, "FAIL", {"NOT_APPROVED"}),
    ],
)
def test_each_disturbance_is_reported(
    tmp_path: Path, disturb: Callable[[Project], None], verdict: str, codes: set[str]
) -> None:
    async def use() -> None:
        async with open_project(tmp_path) as project:
            await project.work()
            await project.ask("generate_attestation_bundle", plan_hash=project.plan_hash)
            disturb(project)
            got = await replayed(project)
            assert got[0] == verdict
            assert codes <= got[1]

    run(use())


def test_refused_calls_are_steps_of_the_replay_and_not_violations(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_project(tmp_path, plan={"phase": {"verification_commands": [["false"]]}}) as project:
            base = {"session_id": project.builder, "plan_hash": project.plan_hash, "phase_id": "PHASE_1"}
            got = await project.harness.code(BUILDER, "write_file", path="src/a", content="x", **base)
            assert got[0] == "PREFLIGHT_FAILED"
            assert await replayed(project) == ("PASS", {"POLICY_BLOCKED"})

    run(use())


def test_a_session_is_replayed_for_its_owner_and_for_auditors(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_project(tmp_path) as project:
            await project.work()
            own = await project.ask("replay_execution", of_session=project.builder)
            seen = await project.review("replay_execution", of_session=project.builder)
            assert own == seen
            assert (own["verdict"], own["counts"]["steps"]) == ("PASS", 5)
            asked = {"session_id": project.planner, "of_session": project.builder}
            got = await project.harness.code(PLANNER, "replay_execution", **asked)
            assert got == ("INSUFFICIENT_PERMISSIONS", "not_an_auditor")
            nothing = await project.harness.code(PLANNER, "replay_execution", session_id=project.planner)
            assert nothing == ("MISSING_REQUIRED_FIELD", "plan_hash_or_of_session")
            absent = await project.harness.code(PLANNER, "replay_execution", session_id=project.planner, plan_hash="0" * 64)
            assert absent[0] == "PLAN_NOT_FOUND"

    run(use())


def test_search_and_answer_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def use() -> None:
        async with open_project(tmp_path) as project:
            await project.work()
            with monkeypatch.context() as patched:
                patched.setattr(records, "MAX_SEARCHED", 4)
                told = await project.ask("replay_execution", plan_hash=project.plan_hash)
                assert (told["complete"], told["counts"]["steps"]) == (False, 2)
            with monkeypatch.context() as patched:
                patched.setattr(records, "MAX_EVIDENCE", 4)
                asked = {"session_id": project.builder, "plan_hash": project.plan_hash}
                got = await project.harness.code(BUILDER, "replay_execution", **asked)
                assert got == ("UNKNOWN_TOOL_FAILURE", "too_many")

    run(use())


@pytest.mark.slow
@pytest.mark.clause("S7")
def test_the_replay_has_the_outcome_of_every_write_of_killed_processes(tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    chance = random.Random(seed)
    print("seed", seed)
    plan_hash = approve(tmp_path)
    file = tmp_path / "work/src/a"
    file.write_bytes(b"0")
    base = {"plan_hash": plan_hash, "phase_id": "PHASE_1", "path": "src/a"}
    for death in range(DEATHS):
        with ServerProcess(tmp_path) as process:
            session = process.begin("WINDSURF")
            timer = threading.Timer(chance.uniform(0.0, 0.3), process.process.kill)
            number = 0
            while True:
                number += 1
                asked = base | {"content": f"{death} {number}" * 5000, "previousHash": sha256(file.read_bytes())}
                if process.call("write_file", session_id=session, **asked) is None:
                    break
                if number == 1:
                    # The first write also starts the policy worker. The kill should hit the write itself.
                    timer.start()
            timer.join()

    with ServerProcess(tmp_path) as process:
        answer = process.call("replay_execution", session_id=process.begin("WINDSURF"), plan_hash=plan_hash)
    assert answer is not None
    told = answer["structuredContent"]
    cut = [each for each in told["steps"] if each["outcome"] == "unfinished"]
    assert told["verdict"] == "PASS", told["findings"]
    assert {each["code"] for each in told["findings"]} <= {"UNFINISHED_CALL"}
    assert len(cut) <= DEATHS
    assert {each["noted"] for each in cut} <= {"stood", "undone", None}
    assert [each["state"] for each in told["files"]] == ["same"]


PHASE = Phase(title="t", id="PHASE_1", objective="o", allowed=(Operation.CREATE,), outcomes="o", stops="s")
PLAN = Plan(
    title="t", role="WINDSURF", author="a", workspace="0" * 64, created="2026-01-01T00:00:00Z",
    expires="2026-02-01T00:00:00Z", scope="s", phases=(PHASE,), paths=("src/**",), rollback="r",
)  # fmt: skip
ANSWER = '{"path":"src/a"}'
CHANGE = Change(
    change="1", at="2026-01-01T00:00:10Z", session_id="s", principal="p", role="WINDSURF", tool="write_file",
    plan_hash="h", phase_id="PHASE_1", args_digest="d", ended=APPLIED, answer=ANSWER,
    files=(FileRecord(path="src/a", operation="create", before=None, after="1"),),
)  # fmt: skip
APPROVAL = Approval(plan_hash="h", workspace="0" * 64, approver="r", approved_at="2026-01-01T00:00:05Z")
RECORD = {
    "kind": "outcome", "call_id": "1", "tool_name": "write_file", "timestamp": "2026-01-01T00:00:10.000Z",
    "role": "WINDSURF", "plan_hash": "h", "outcome": "ok", "result_digest": digest_bytes(ANSWER.encode()),
    "args_digest": "d",
}  # fmt: skip
INTENT = {"kind": "intent", "call_id": "2", "tool_name": "write_file", "plan_hash": "h", "args_digest": "e"}


def evidence(*given: dict[str, Any], changes: tuple[Change, ...] = (CHANGE,), **more: Any) -> Evidence:
    made = tuple(AuditRecord(seq=number, line=b"", record=each) for number, each in enumerate(given))
    known = {"plans": {"h": PLAN}, "approvals": {"h": APPROVAL}, "has_intents": False}
    return Evidence(records=made, changes=changes, **(known | more))


MOVED = replace(
    CHANGE, change="2", files=(FileRecord(path="src/a", operation="create", before="9", after="2"),), answer="{}"
)


@pytest.mark.parametrize(
    ("given", "codes"),
    [
        (evidence(RECORD), []),
        (evidence(RECORD | {"role": "ANTIGRAVITY"}), ["ROLE_MISMATCH"]),
        (evidence(RECORD | {"timestamp": "2026-01-01T00:00:04.999Z"}), ["NOT_APPROVED"]),
        (evidence(RECORD, approvals={"h": None}), ["NOT_APPROVED"]),
        (evidence(RECORD, plans={"h": None}), ["PLAN_UNREADABLE"]),
        (evidence(RECORD, plans={"h": replace(PLAN, paths=("docs/**",))}), ["OUTSIDE_PLAN"]),
        (evidence(RECORD, changes=()), ["RECORD_WITHOUT_CHANGE"]),
        (evidence(RECORD, has_intents=True), ["INTENT_MISSING"]),
        (evidence(INTENT | {"call_id": "1"}, RECORD, has_intents=True), []),
        (evidence(), ["CHANGE_WITHOUT_RECORD"]),
        (evidence(changes=(replace(CHANGE, ended=None, answer=None),)), []),
        (evidence(INTENT, RECORD), ["UNFINISHED_CALL"]),
        # The process was killed between the change and its record: the intent record identifies the call.
        (evidence(INTENT | {"args_digest": "d"}), ["UNFINISHED_CALL"]),
        (evidence(RECORD | {"args_digest": "other"}), ["CHANGE_WITHOUT_RECORD", "RECORD_WITHOUT_CHANGE"]),
        (evidence(RECORD, {"outcome": "error", "error_code": "POLICY_VIOLATION"}), ["POLICY_BLOCKED"]),
        (evidence(RECORD, {"outcome": "error", "error_code": "INVARIANT_VIOLATION"}), ["INVARIANT_BROKEN"]),
        (evidence(RECORD, {"outcome": "error", "error_code": "HASH_MISMATCH"}), []),
        (
            evidence(RECORD, RECORD | {"result_digest": digest_bytes(b"{}")}, changes=(CHANGE, MOVED)),
            ["CHANGED_BETWEEN"],
        ),
    ],
)
def test_every_finding_has_its_cause(given: Evidence, codes: list[str]) -> None:
    assert [each.code for each in reconcile(given).findings] == codes
