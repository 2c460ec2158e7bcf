"""Sessions over the wire: roles, roots, locks and the way out of them."""

from __future__ import annotations

import gc
import itertools
from pathlib import Path
from typing import Any

import pytest
from tests.packs.workspace.desk import BUILDER, PLANNER, REVIEWER, STRANGER, Desk, ToolRefused, open_desk, report, run

from strictwire.fault.dialects.system_v1 import SYSTEM_ERROR_CODES
from strictwire.fault.invariants import INVARIANTS
from strictwire.packs.workspace.book import MAX_SESSIONS
from strictwire.packs.workspace.pack import WorkspacePack
from strictwire.packs.workspace.roles import EVERYONE, INVARIANTS_OF, LOCKING, LOCKING_CHANGES, RULES, Role, find_refusal


def test_a_session_tells_its_root_with_links_resolved_and_can_be_ended(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_desk(tmp_path) as desk:
            (tmp_path / "alias").symlink_to(desk.root)
            alias = f"{tmp_path / 'alias'}/"
            begun = await desk.call(PLANNER, "begin_session", workspace_root=alias, role="ANTIGRAVITY")
            handle = begun["session_id"]
            status = await desk.call(PLANNER, "session_status", session_id=handle)

            expected = {
                "session_id": handle,
                "role": "ANTIGRAVITY",
                "workspace_root": str(desk.root),
                "expires_at": "2026-01-01T08:00:00Z",
                "locked": False,
                "lock": None,
            }
            assert begun == status == expected
            assert await desk.call(PLANNER, "end_session", session_id=handle) == {"session_id": handle, "ended": True}
            assert await desk.code(PLANNER, "session_status", session_id=handle) == ("SESSION_NOT_INITIALIZED", None)

    run(use())


@pytest.mark.clause("S9", "S12")
def test_a_tool_without_a_session_is_refused_and_knows_no_session(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_desk(tmp_path) as desk:
            handle = await desk.begin(PLANNER, "ANTIGRAVITY")
            for given in ({}, {"session_id": "no such handle"}):
                with pytest.raises(ToolRefused) as caught:
                    await desk.call(PLANNER, "read_file", path="x", **given)

                envelope = caught.value.envelope
                assert envelope["error_code"] == "SESSION_NOT_INITIALIZED"
                assert envelope["invariant_id"] == "MANDATORY_DIAGNOSTICS"
                assert [envelope[name] for name in ("role", "session_id", "workspace_root")] == [None, None, None]
            assert (await desk.code(REVIEWER, "read_file", path="x", session_id=handle))[0] == "SESSION_NOT_INITIALIZED"
            desk.clock.seconds += 8 * 3600
            assert (await desk.code(PLANNER, "read_file", path="x", session_id=handle))[0] == "SESSION_NOT_INITIALIZED"

    run(use())


@pytest.mark.clause("S12")
def test_every_reason_why_a_session_cannot_begin_has_its_code_and_none_is_a_trap(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_desk(tmp_path) as desk:
            (desk.root / "file").write_text("x")
            (tmp_path / "elsewhere").mkdir()
            (desk.root / "out").symlink_to(tmp_path / "elsewhere")
            roots = {
                "relative": "not_absolute",
                "": "not_absolute",
                "/a\x00b": "not_absolute",
                str(desk.root / "absent"): "absent",
                str(desk.root / "file" / "below"): "absent",
                str(desk.root / "file"): "not_a_folder",
                str(tmp_path / "elsewhere"): "not_allowed",
                str(desk.root / "out"): "not_allowed",
                str(tmp_path): "not_allowed",
                f"{desk.root}/..": "not_allowed",
            }
            for root, reason in roots.items():
                got = await desk.code(PLANNER, "begin_session", workspace_root=root, role="ANTIGRAVITY")
                assert got == ("SESSION_INITIALIZATION_FAILED", reason), root
            assert await desk.begin(PLANNER, "ANTIGRAVITY")

    run(use())


@pytest.mark.clause("S10", "S12")
def test_a_role_is_granted_to_principals_and_never_chosen_freely(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_desk(tmp_path) as desk:
            for principal, role in ((PLANNER, "WINDSURF"), (BUILDER, "ANTIGRAVITY"), (STRANGER, "ANTIGRAVITY")):
                got = await desk.code(principal, "begin_session", workspace_root=str(desk.root), role=role)
                assert got == ("INSUFFICIENT_PERMISSIONS", "role_not_granted")
            got = await desk.code(PLANNER, "begin_session", workspace_root=str(desk.root), role="ADMIN")
            assert got[0] == "INVALID_INPUT_VALUE"

    run(use())


@pytest.mark.clause("S1", "S10")
def test_an_action_outside_the_role_is_unauthorized_and_the_envelope_tells_the_session(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_desk(tmp_path) as desk:
            handle = await desk.begin(BUILDER, "WINDSURF")
            with pytest.raises(ToolRefused) as caught:
                await desk.call(BUILDER, "approve_plan", session_id=handle, plan_hash="a" * 64)

            envelope = caught.value.envelope
            assert envelope | {"timestamp": "", "human_message": "", "cause": None} == {
                "error_code": "UNAUTHORIZED_ACTION",
                "human_message": "",
                "role": "WINDSURF",
                "session_id": handle,
                "workspace_root": str(desk.root),
                "tool_name": "approve_plan",
                "invariant_id": "ROLE_SEPARATION",
                "phase_id": None,
                "plan_hash": "a" * 64,
                "cause": None,
                "timestamp": "",
            }
            planner = await desk.begin(PLANNER, "ANTIGRAVITY")
            for tool in ("write_file", "move_file", "delete_file"):
                more = {} if tool == "write_file" else {"previousHash": "b" * 64}
                more |= {"new_path": "y"} if tool == "move_file" else {}
                got = await desk.code(
                    PLANNER, tool, session_id=planner, path="x", plan_hash="a" * 64, phase_id="PHASE_1", **more
                )
                assert got == ("UNAUTHORIZED_ACTION", "role"), tool

    run(use())


@pytest.mark.clause("S11")
def test_a_lock_closes_what_changes_stays_for_the_next_session_and_is_opened_by_a_report(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_desk(tmp_path) as desk:
            first = await desk.begin(PLANNER, "ANTIGRAVITY")
            assert (await desk.code(PLANNER, "read_file", session_id=first, path="../x"))[0] == "PATH_TRAVERSAL_BLOCKED"
            status = await desk.call(PLANNER, "session_status", session_id=first)
            assert status["locked"] is True
            assert {name: status["lock"][name] for name in ("code", "tool", "session_id", "at")} == {
                "code": "PATH_TRAVERSAL_BLOCKED",
                "tool": "read_file",
                "session_id": first,
                "at": "2026-01-01T00:00:00Z",
            }
            await desk.call(PLANNER, "end_session", session_id=first)
            second = await desk.begin(PLANNER, "ANTIGRAVITY")
            await desk.call(PLANNER, "list_files", session_id=second)
            with pytest.raises(ToolRefused) as caught:
                await desk.plan(second)
            assert (caught.value.code, caught.value.envelope["invariant_id"]) == ("SESSION_LOCKED", "LOCK_ENFORCED")
            assert "docs/reports/" in caught.value.envelope["human_message"]
            bad = report(second, "PATH_TRAVERSAL_BLOCKED")
            write: dict[str, Any] = {"session_id": second, "path": "docs/reports/one.md"}
            assert await desk.code(PLANNER, "write_file", **write, content=bad) == ("INVALID_INPUT_VALUE", "report")
            assert (await desk.call(PLANNER, "session_status", session_id=second))["locked"] is True

            await desk.call(PLANNER, "write_file", **write, content=report(first, "PATH_TRAVERSAL_BLOCKED"))

            assert (await desk.call(PLANNER, "session_status", session_id=second))["locked"] is False
            assert await desk.plan(second)
            assert (desk.root / "docs/reports/one.md").read_text() == report(first, "PATH_TRAVERSAL_BLOCKED")
            again = report(second, "PATH_TRAVERSAL_BLOCKED")
            assert (await desk.code(PLANNER, "write_file", **write, content=again))[0] == "FILE_ALREADY_EXISTS"

    run(use())


@pytest.mark.clause("S11")
def test_a_lock_binds_one_principal_in_one_role(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_desk(tmp_path) as desk:
            planner, builder = await desk.begin(PLANNER, "ANTIGRAVITY"), await desk.begin(BUILDER, "WINDSURF")
            await desk.code(BUILDER, "read_file", session_id=builder, path="../x")

            assert (await desk.call(PLANNER, "session_status", session_id=planner))["locked"] is False
            assert (await desk.call(BUILDER, "session_status", session_id=builder))["locked"] is True

    run(use())


async def begin(desk: Desk, held: dict[str, str]) -> None:
    held["id"] = await desk.begin(PLANNER, "ANTIGRAVITY")


async def begin_badly(desk: Desk, held: dict[str, str]) -> None:
    await desk.code(PLANNER, "begin_session", workspace_root="/", role="ANTIGRAVITY")


async def fail_badly(desk: Desk, held: dict[str, str]) -> None:
    await desk.code(PLANNER, "read_file", session_id=held["id"], path="../x")


async def fail_lightly(desk: Desk, held: dict[str, str]) -> None:
    await desk.code(PLANNER, "read_file", session_id=held["id"], path="absent")


async def end(desk: Desk, held: dict[str, str]) -> None:
    await desk.connections[PLANNER].call_tool("end_session", {"session_id": held["id"]})


async def expire(desk: Desk, held: dict[str, str]) -> None:
    desk.clock.seconds += 9 * 3600


async def report_badly(desk: Desk, held: dict[str, str]) -> None:
    await desk.code(PLANNER, "write_file", session_id=held["id"], path="docs/reports/bad.md", content="sorry")


EVENTS = (begin, begin_badly, fail_badly, fail_lightly, end, expire, report_badly)


async def get_out(desk: Desk, held: dict[str, str], name: int) -> None:
    try:
        status = await desk.call(PLANNER, "session_status", session_id=held["id"])
    except ToolRefused:
        await begin(desk, held)
        status = await desk.call(PLANNER, "session_status", session_id=held["id"])
    if status["locked"]:
        text = report(status["lock"]["session_id"], status["lock"]["code"])
        path = f"docs/reports/{name}.md"
        await desk.call(PLANNER, "write_file", session_id=held["id"], path=path, content=text)
    # Creating a plan is what a lock would refuse.
    assert await desk.plan(held["id"])


@pytest.mark.slow
@pytest.mark.clause("S11")
def test_no_state_is_a_trap_whatever_happened_before(tmp_path: Path) -> None:
    """Every sequence of up to three events, which reach every state there is (no session, open or expired; locked or not).

    Afterwards beginning, if need be, and a report, if need be, must help.
    """
    sequences = [each for length in range(4) for each in itertools.product(EVENTS, repeat=length)]

    async def use() -> None:
        async with open_desk(tmp_path) as desk:
            for number, sequence in enumerate(sequences):
                held = {"id": "none"}
                for event in sequence:
                    await event(desk, held)
                await get_out(desk, held, number)
                await end(desk, held)

    run(use())


def test_the_decision_of_the_gate_has_a_way_out_for_every_role_and_state() -> None:
    """The table by itself: whoever is locked may write a report, read, look and leave."""
    for role, is_locked in itertools.product(Role, (False, True)):
        state: dict[str, Any] = {"role": role, "is_locked": is_locked}
        assert find_refusal("write_file", is_report=True, **state) is None
        for tool in ("read_file", "session_status", "end_session", "list_plans"):
            assert find_refusal(tool, is_report=False, **state) is None
        for tool, rule in RULES.items():
            code = find_refusal(tool, is_report=False, **state)
            expected = "SESSION_LOCKED" if is_locked and not rule.stays_open else None
            assert code == (expected if role in rule.roles else "UNAUTHORIZED_ACTION")


def test_the_tables_name_tools_codes_and_invariants_that_exist() -> None:
    assert set(RULES) == set(WorkspacePack.tools) - {"begin_session"}
    assert set(SYSTEM_ERROR_CODES) >= LOCKING | LOCKING_CHANGES | set(INVARIANTS_OF)
    assert set(INVARIANTS) >= set(INVARIANTS_OF.values())
    assert all(rule.roles <= EVERYONE for rule in RULES.values())


@pytest.mark.clause("S12")
def test_a_root_that_is_replaced_ends_the_session_s_work_and_nothing_is_made_in_its_place(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_desk(tmp_path) as desk:
            handle = await desk.begin(PLANNER, "ANTIGRAVITY")
            desk.root.rename(tmp_path / "moved")
            with pytest.raises(ToolRefused) as caught:
                await desk.call(PLANNER, "list_files", session_id=handle)
            assert caught.value.envelope["invariant_id"] == "WORKSPACE_ROOT_FIXED"
            assert caught.value.code == "INVARIANT_VIOLATION"
            assert not desk.root.exists()
            desk.root.mkdir()
            assert (await desk.code(PLANNER, "list_files", session_id=handle))[0] == "INVARIANT_VIOLATION"
            await desk.call(PLANNER, "end_session", session_id=handle)
            fresh = await desk.begin(PLANNER, "ANTIGRAVITY")
            assert (await desk.call(PLANNER, "session_status", session_id=fresh))["locked"] is False

    run(use())


@pytest.mark.slow
def test_descriptors_of_ended_sessions_are_given_back_and_sessions_are_bounded(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_desk(tmp_path) as desk:
            gc.collect()
            before = len(list(Path("/proc/self/fd").iterdir()))
            for _ in range(20):
                handle = await desk.begin(PLANNER, "ANTIGRAVITY")
                await desk.call(PLANNER, "end_session", session_id=handle)
            gc.collect()
            assert len(list(Path("/proc/self/fd").iterdir())) == before
            for _ in range(MAX_SESSIONS):
                await desk.begin(PLANNER, "ANTIGRAVITY")
            got = await desk.code(PLANNER, "begin_session", workspace_root=str(desk.root), role="ANTIGRAVITY")
            assert got == ("SESSION_INITIALIZATION_FAILED", "too_many")
            desk.clock.seconds += 8 * 3600
            assert await desk.begin(PLANNER, "ANTIGRAVITY")

    run(use())
