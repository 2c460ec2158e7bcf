"""replay_execution: what happened under a plan, against what the files are now; the same whenever it is asked."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.packs.workspace.desk import BUILDER, PLANNER, run, sha256
from tests.packs.workspace.office import Office, open_office
from tests.packs.workspace.peer import Peer, approve

from strictwire.canon.digest import digest_bytes
from strictwire.packs.workspace import records
from strictwire.packs.workspace.ledger import STOOD, Change, Traced
from strictwire.packs.workspace.pack import CHANGES
from strictwire.packs.workspace.plans.approval import Approval
from strictwire.packs.workspace.plans.model import Operation, Phase, Plan
from strictwire.packs.workspace.records import Recorded
from strictwire.packs.workspace.retrace import Evidence, retrace

DEATHS = 3


def held(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def test_a_plan_that_was_carried_out_passes_and_replaying_changes_nothing(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_office(tmp_path) as office:
            await office.work()
            before = held(office.root)
            told = await office.ask("replay_execution", plan_hash=office.plan_hash)
            again = await office.review("replay_execution", plan_hash=office.plan_hash)

            assert held(office.root) == before
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


async def replayed(office: Office) -> tuple[str, set[str]]:
    told = await office.ask("replay_execution", plan_hash=office.plan_hash)
    return told["verdict"], {each["code"] for each in told["findings"]}


def drift(office: Office) -> None:
    (office.root / "src/c").write_text("someone else")


def forget_ledger(office: Office) -> None:
    for path in (office.root.parent / "state" / CHANGES).rglob("*.jsonl"):
        path.unlink()


def forge_ledger(office: Office) -> None:
    for path in (office.root.parent / "state" / CHANGES).rglob("*.jsonl"):
        path.write_bytes(path.read_bytes().replace(b"src/b.py", b"src/z.py"))


def forge_record(office: Office) -> None:
    raw = office.log.read_bytes()
    at = raw.index(b'"principal":"builder"', raw.index(b'"tool_name":"move_file"'))
    office.log.write_bytes(raw[:at] + raw[at:].replace(b'"principal":"builder"', b'"principal":"planner"', 1))


def hide_intent(office: Office) -> None:
    office.log.write_bytes(office.log.read_bytes().replace(b'"tool_name":"move_file"', b'"tool_name":"read_file"', 1))


def lose_approval(office: Office) -> None:
    for path in (office.root / "docs/plans").glob("*.approval.json"):
        path.unlink()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("disturb", "verdict", "codes"),
    [
        (drift, "PASS", {"CHANGED_SINCE"}),
        (forget_ledger, "FAIL", {"RECORD_WITHOUT_CHANGE"}),
        (forge_ledger, "FAIL", {"RECORD_WITHOUT_CHANGE", "CHANGE_WITHOUT_RECORD"}),
        (forge_record, "FAIL", {"RECORD_ALTERED"}),
        (hide_intent, "FAIL", {"INTENT_MISSING"}),
        (lose_approval, "FAIL", {"NOT_APPROVED"}),
    ],
)
def test_what_was_disturbed_is_named(
    tmp_path: Path, disturb: Callable[[Office], None], verdict: str, codes: set[str]
) -> None:
    async def use() -> None:
        async with open_office(tmp_path) as office:
            await office.work()
            await office.ask("generate_attestation_bundle", plan_hash=office.plan_hash)
            disturb(office)
            got = await replayed(office)
            assert got[0] == verdict
            assert codes <= got[1]

    run(use())


def test_refusals_are_part_of_the_story_and_break_nothing(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_office(tmp_path, plan={"phase": {"verification_commands": [["false"]]}}) as office:
            base = {"session_id": office.builder, "plan_hash": office.plan_hash, "phase_id": "PHASE_1"}
            got = await office.desk.code(BUILDER, "write_file", path="src/a", content="x", **base)
            assert got[0] == "PREFLIGHT_FAILED"
            assert await replayed(office) == ("PASS", {"POLICY_BLOCKED"})

    run(use())


def test_a_session_is_replayed_for_its_owner_and_for_auditors(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_office(tmp_path) as office:
            await office.work()
            own = await office.ask("replay_execution", of_session=office.builder)
            seen = await office.review("replay_execution", of_session=office.builder)
            assert own == seen
            assert (own["verdict"], own["counts"]["steps"]) == ("PASS", 5)
            asked = {"session_id": office.planner, "of_session": office.builder}
            got = await office.desk.code(PLANNER, "replay_execution", **asked)
            assert got == ("INSUFFICIENT_PERMISSIONS", "not_an_auditor")
            nothing = await office.desk.code(PLANNER, "replay_execution", session_id=office.planner)
            assert nothing == ("MISSING_REQUIRED_FIELD", "plan_hash_or_of_session")
            absent = await office.desk.code(PLANNER, "replay_execution", session_id=office.planner, plan_hash="0" * 64)
            assert absent[0] == "PLAN_NOT_FOUND"

    run(use())


def test_what_is_looked_for_and_told_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def use() -> None:
        async with open_office(tmp_path) as office:
            await office.work()
            with monkeypatch.context() as patched:
                patched.setattr(records, "MAX_SEARCHED", 4)
                told = await office.ask("replay_execution", plan_hash=office.plan_hash)
                assert (told["complete"], told["counts"]["steps"]) == (False, 2)
            with monkeypatch.context() as patched:
                patched.setattr(records, "MAX_EVIDENCE", 4)
                asked = {"session_id": office.builder, "plan_hash": office.plan_hash}
                got = await office.desk.code(BUILDER, "replay_execution", **asked)
                assert got == ("UNKNOWN_TOOL_FAILURE", "too_many")

    run(use())


@pytest.mark.slow
@pytest.mark.clause("S7")
def test_after_deaths_in_the_middle_of_writes_the_replay_tells_what_became_of_each(tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    chance = random.Random(seed)
    print("seed", seed)
    plan_hash = approve(tmp_path)
    file = tmp_path / "work/src/a"
    file.write_bytes(b"0")
    base = {"plan_hash": plan_hash, "phase_id": "PHASE_1", "path": "src/a"}
    for death in range(DEATHS):
        with Peer(tmp_path) as peer:
            session = peer.begin("WINDSURF")
            timer = threading.Timer(chance.uniform(0.0, 0.3), peer.process.kill)
            number = 0
            while True:
                number += 1
                asked = base | {"content": f"{death} {number}" * 5000, "previousHash": sha256(file.read_bytes())}
                if peer.call("write_file", session_id=session, **asked) is None:
                    break
                if number == 1:
                    # The first write also starts what judges content; a death should fall into a write itself.
                    timer.start()
            timer.join()

    with Peer(tmp_path) as peer:
        answer = peer.call("replay_execution", session_id=peer.begin("WINDSURF"), plan_hash=plan_hash)
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
    plan_hash="h", phase_id="PHASE_1", args_digest="d", ended=STOOD, answer=ANSWER,
    files=(Traced(path="src/a", operation="create", before=None, after="1"),),
)  # fmt: skip
APPROVAL = Approval(plan_hash="h", workspace="0" * 64, approver="r", approved_at="2026-01-01T00:00:05Z")
RECORD = {
    "kind": "outcome", "call_id": "1", "tool_name": "write_file", "timestamp": "2026-01-01T00:00:10.000Z",
    "role": "WINDSURF", "plan_hash": "h", "outcome": "ok", "result_digest": digest_bytes(ANSWER.encode()),
    "args_digest": "d",
}  # fmt: skip
INTENT = {"kind": "intent", "call_id": "2", "tool_name": "write_file", "plan_hash": "h", "args_digest": "e"}


def evidence(*given: dict[str, Any], changes: tuple[Change, ...] = (CHANGE,), **more: Any) -> Evidence:
    made = tuple(Recorded(seq=number, line=b"", record=each) for number, each in enumerate(given))
    known = {"plans": {"h": PLAN}, "approvals": {"h": APPROVAL}, "has_intents": False}
    return Evidence(records=made, changes=changes, **(known | more))


MOVED = replace(CHANGE, change="2", files=(Traced(path="src/a", operation="create", before="9", after="2"),), answer="{}")


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
        # A death between the change and its record: the intent is there, and tells whose it is.
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
    assert [each.code for each in retrace(given).findings] == codes
