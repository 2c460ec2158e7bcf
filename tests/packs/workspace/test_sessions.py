"""Sessions over the wire: roles, roots, locks and how to unlock."""

from __future__ import annotations

import gc
import itertools
from pathlib import Path
from typing import Any

import pytest
from tests.packs.workspace.harness import (
    BUILDER,
    PLANNER,
    REVIEWER,
    STRANGER,
    Harness,
    ToolRefused,
    open_harness,
    report,
    run,
)

from strictwire.fault.dialects.system_v1 import SYSTEM_ERROR_CODES
from strictwire.fault.invariants import INVARIANTS
from strictwire.packs.workspace.pack import WorkspacePack
from strictwire.packs.workspace.roles import EVERYONE, INVARIANTS_OF, LOCKING, LOCKING_CHANGES, RULES, Role, find_refusal
from strictwire.packs.workspace.session_store import MAX_SESSIONS


def test_a_session_returns_its_resolved_root_and_can_be_ended(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_harness(tmp_path) as harness:
            (tmp_path / "alias").symlink_to(harness.root)
            alias = f"{tmp_path / 'alias'}/"
            begun = await harness.call(PLANNER, "begin_session", workspace_root=alias, role="ANTIGRAVITY")
            handle = begun["session_id"]
            status = await harness.call(PLANNER, "session_status", session_id=handle)

            expected = {
                "session_id": handle,
                "role": "ANTIGRAVITY",
                "workspace_root": str(harness.root),
                "expires_at": "2026-01-01T08:00:00Z",
                "locked": False,
                "lock": None,
            }
            assert begun == expected
            allowed = status.pop("allowed")
            assert status == expected
            assert (allowed["roles"], allowed["folders"]) == ([{"role": "ANTIGRAVITY"}], [{"path": str(harness.root)}])
            assert [each["name"] for each in allowed["programs"]] == ["false", "sh", "sleep", "true"]
            assert all(Path(each["found"]).is_absolute() for each in allowed["programs"])
            assert (allowed["approves"], allowed["audits"]) == (False, False)
            assert allowed["limits"]["command_seconds"] == 120
            assert await harness.call(PLANNER, "end_session", session_id=handle) == {"session_id": handle, "ended": True}
            assert await harness.code(PLANNER, "session_status", session_id=handle) == ("SESSION_NOT_INITIALIZED", None)

    run(use())


@pytest.mark.clause("S9", "S12")
def test_a_tool_without_a_session_is_refused_with_null_session_facts(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_harness(tmp_path) as harness:
            handle = await harness.begin(PLANNER, "ANTIGRAVITY")
            for given in ({}, {"session_id": "no such handle"}):
                with pytest.raises(ToolRefused) as caught:
                    await harness.call(PLANNER, "read_file", path="x", **given)

                envelope = caught.value.envelope
                assert envelope["error_code"] == "SESSION_NOT_INITIALIZED"
                assert envelope["invariant_id"] == "MANDATORY_DIAGNOSTICS"
                assert [envelope[name] for name in ("role", "session_id", "workspace_root")] == [None, None, None]
            assert (await harness.code(REVIEWER, "read_file", path="x", session_id=handle))[0] == "SESSION_NOT_INITIALIZED"
            harness.clock.seconds += 8 * 3600
            assert (await harness.code(PLANNER, "read_file", path="x", session_id=handle))[0] == "SESSION_NOT_INITIALIZED"

    run(use())


@pytest.mark.clause("S12")
def test_every_reason_against_a_session_has_its_code_and_leaves_a_way_out(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_harness(tmp_path) as harness:
            (harness.root / "file").write_text("x")
            (tmp_path / "elsewhere").mkdir()
            (harness.root / "out").symlink_to(tmp_path / "elsewhere")
            roots = {
                "relative": "not_absolute",
                "": "not_absolute",
                "/a\x00b": "not_absolute",
                str(harness.root / "absent"): "absent",
                str(harness.root / "file" / "below"): "not_a_folder",
                str(harness.root / "file"): "not_a_folder",
                str(tmp_path / "elsewhere"): "not_allowed",
                # Outside the roots a caller does not learn what exists.
                str(tmp_path / "elsewhere/absent"): "not_allowed",
                "/etc/passwd": "not_allowed",
                str(harness.root / "out"): "not_allowed",
                str(tmp_path): "not_allowed",
                f"{harness.root}/..": "not_allowed",
            }
            for root, reason in roots.items():
                got = await harness.code(PLANNER, "begin_session", workspace_root=root, role="ANTIGRAVITY")
                assert got == ("SESSION_INITIALIZATION_FAILED", reason), root
            assert await harness.begin(PLANNER, "ANTIGRAVITY")

    run(use())


@pytest.mark.clause("S10", "S12")
def test_a_role_must_be_granted_to_the_principal(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_harness(tmp_path) as harness:
            for principal, role in ((PLANNER, "WINDSURF"), (BUILDER, "ANTIGRAVITY"), (STRANGER, "ANTIGRAVITY")):
                got = await harness.code(principal, "begin_session", workspace_root=str(harness.root), role=role)
                assert got == ("INSUFFICIENT_PERMISSIONS", "role_not_granted")
            got = await harness.code(PLANNER, "begin_session", workspace_root=str(harness.root), role="ADMIN")
            assert got[0] == "INVALID_INPUT_VALUE"

    run(use())


@pytest.mark.clause("S1", "S10")
def test_an_action_outside_the_role_is_unauthorized_and_the_envelope_has_the_session(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_harness(tmp_path) as harness:
            handle = await harness.begin(BUILDER, "WINDSURF")
            with pytest.raises(ToolRefused) as caught:
                await harness.call(BUILDER, "approve_plan", session_id=handle, plan_hash="a" * 64)

            envelope = caught.value.envelope
            assert envelope | {"timestamp": "", "human_message": "", "cause": None} == {
                "error_code": "UNAUTHORIZED_ACTION",
                "human_message": "",
                "role": "WINDSURF",
                "session_id": handle,
                "workspace_root": str(harness.root),
                "tool_name": "approve_plan",
                "invariant_id": "ROLE_SEPARATION",
                "phase_id": None,
                "plan_hash": "a" * 64,
                "cause": None,
                "timestamp": "",
            }
            planner = await harness.begin(PLANNER, "ANTIGRAVITY")
            for tool in ("write_file", "move_file", "delete_file"):
                more = {} if tool == "write_file" else {"previousHash": "b" * 64}
                more |= {"new_path": "y"} if tool == "move_file" else {}
                got = await harness.code(
                    PLANNER, tool, session_id=planner, path="x", plan_hash="a" * 64, phase_id="PHASE_1", **more
                )
                assert got == ("UNAUTHORIZED_ACTION", "role"), tool

    run(use())


@pytest.mark.clause("S11")
def test_a_lock_refuses_changes_outlives_the_session_and_is_removed_by_a_report(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_harness(tmp_path) as harness:
            first = await harness.begin(BUILDER, "WINDSURF")
            assert (await leave(harness, first))[0] == "PATH_TRAVERSAL_BLOCKED"
            status = await harness.call(BUILDER, "session_status", session_id=first)
            assert status["locked"] is True
            assert {name: status["lock"][name] for name in ("code", "tool", "session_id", "at")} == {
                "code": "PATH_TRAVERSAL_BLOCKED",
                "tool": "write_file",
                "session_id": first,
                "at": "2026-01-01T00:00:00Z",
            }
            await harness.call(BUILDER, "end_session", session_id=first)
            second = await harness.begin(BUILDER, "WINDSURF")
            await harness.call(BUILDER, "list_files", session_id=second)
            with pytest.raises(ToolRefused) as caught:
                await harness.call(BUILDER, "write_file", session_id=second, **UNKNOWN_PLAN)
            assert (caught.value.code, caught.value.envelope["invariant_id"]) == ("SESSION_LOCKED", "LOCK_ENFORCED")
            assert "docs/reports/" in caught.value.envelope["human_message"]
            bad = report(second, "PATH_TRAVERSAL_BLOCKED")
            write: dict[str, Any] = {"session_id": second, "path": "docs/reports/one.md"}
            assert await harness.code(BUILDER, "write_file", **write, content=bad) == ("INVALID_INPUT_VALUE", "report")
            assert (await harness.call(BUILDER, "session_status", session_id=second))["locked"] is True

            await harness.call(BUILDER, "write_file", **write, content=report(first, "PATH_TRAVERSAL_BLOCKED"))

            assert (await harness.call(BUILDER, "session_status", session_id=second))["locked"] is False
            assert (await harness.code(BUILDER, "write_file", session_id=second, **UNKNOWN_PLAN))[0] == "PLAN_NOT_FOUND"
            assert (harness.root / "docs/reports/one.md").read_text() == report(first, "PATH_TRAVERSAL_BLOCKED")
            again = report(second, "PATH_TRAVERSAL_BLOCKED")
            assert (await harness.code(BUILDER, "write_file", **write, content=again))[0] == "FILE_ALREADY_EXISTS"

    run(use())


UNKNOWN_PLAN = {"path": "src/a", "content": "x", "plan_hash": "0" * 64, "phase_id": "PHASE_1"}


async def leave(harness: Harness, session: str) -> tuple[str, Any]:
    """Try to write outside the workspace, which locks the session."""
    return await harness.code(BUILDER, "write_file", session_id=session, path="../x", content="x")


@pytest.mark.clause("S11")
def test_a_refused_read_never_locks_a_session(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_harness(tmp_path) as harness:
            handle = await harness.begin(BUILDER, "WINDSURF")
            for path in ("../x", "/etc/passwd", "file:///etc/passwd", "a\x00b", "absent"):
                for tool, more in (("read_file", {}), ("list_files", {}), ("search_text", {"query": "x"})):
                    await harness.code(BUILDER, tool, session_id=handle, path=path, **more)

                    assert (await harness.call(BUILDER, "session_status", session_id=handle))["locked"] is False, path

    run(use())


@pytest.mark.clause("S11")
def test_a_lock_applies_to_one_principal_in_one_role(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_harness(tmp_path) as harness:
            planner, builder = await harness.begin(PLANNER, "ANTIGRAVITY"), await harness.begin(BUILDER, "WINDSURF")
            await leave(harness, builder)

            assert (await harness.call(PLANNER, "session_status", session_id=planner))["locked"] is False
            assert (await harness.call(BUILDER, "session_status", session_id=builder))["locked"] is True

    run(use())


async def begin(harness: Harness, held: dict[str, str]) -> None:
    held["id"] = await harness.begin(BUILDER, "WINDSURF")


async def begin_with_error(harness: Harness, held: dict[str, str]) -> None:
    await harness.code(BUILDER, "begin_session", workspace_root="/", role="WINDSURF")


async def fail_and_lock(harness: Harness, held: dict[str, str]) -> None:
    await leave(harness, held["id"])


async def fail_without_lock(harness: Harness, held: dict[str, str]) -> None:
    await harness.code(BUILDER, "read_file", session_id=held["id"], path="absent")


async def end(harness: Harness, held: dict[str, str]) -> None:
    await harness.connections[BUILDER].call_tool("end_session", {"session_id": held["id"]})


async def expire(harness: Harness, held: dict[str, str]) -> None:
    harness.clock.seconds += 9 * 3600


async def report_with_error(harness: Harness, held: dict[str, str]) -> None:
    await harness.code(BUILDER, "write_file", session_id=held["id"], path="docs/reports/bad.md", content="sorry")


EVENTS = (begin, begin_with_error, fail_and_lock, fail_without_lock, end, expire, report_with_error)


async def find_way_out(harness: Harness, held: dict[str, str], name: int) -> None:
    try:
        status = await harness.call(BUILDER, "session_status", session_id=held["id"])
    except ToolRefused:
        await begin(harness, held)
        status = await harness.call(BUILDER, "session_status", session_id=held["id"])
    if status["locked"]:
        text = report(status["lock"]["session_id"], status["lock"]["code"])
        path = f"docs/reports/{name}.md"
        await harness.call(BUILDER, "write_file", session_id=held["id"], path=path, content=text)
    # A lock would refuse the change before the plan is looked for.
    assert (await harness.code(BUILDER, "write_file", session_id=held["id"], **UNKNOWN_PLAN))[0] == "PLAN_NOT_FOUND"


@pytest.mark.slow
@pytest.mark.clause("S11")
def test_every_reachable_state_has_a_way_out(tmp_path: Path) -> None:
    """Every sequence of up to three events; these reach every state (no session, open or expired; locked or not).

    Afterwards, beginning a session and writing a report, where needed, must make the session usable again.
    """
    sequences = [each for length in range(4) for each in itertools.product(EVENTS, repeat=length)]

    async def use() -> None:
        async with open_harness(tmp_path) as harness:
            for number, sequence in enumerate(sequences):
                held = {"id": "none"}
                for event in sequence:
                    await event(harness, held)
                await find_way_out(harness, held, number)
                await end(harness, held)

    run(use())


def test_the_session_guard_leaves_a_way_out_for_every_role_and_state() -> None:
    """The table alone: a locked session may write a report, read, ask for its status and end."""
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
def test_a_replaced_root_stops_the_session_and_nothing_is_created_in_it(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_harness(tmp_path) as harness:
            handle = await harness.begin(PLANNER, "ANTIGRAVITY")
            harness.root.rename(tmp_path / "moved")
            with pytest.raises(ToolRefused) as caught:
                await harness.call(PLANNER, "list_files", session_id=handle)
            assert caught.value.envelope["invariant_id"] == "WORKSPACE_ROOT_FIXED"
            assert caught.value.code == "INVARIANT_VIOLATION"
            assert not harness.root.exists()
            harness.root.mkdir()
            assert (await harness.code(PLANNER, "list_files", session_id=handle))[0] == "INVARIANT_VIOLATION"
            await harness.call(PLANNER, "end_session", session_id=handle)
            fresh = await harness.begin(PLANNER, "ANTIGRAVITY")
            assert (await harness.call(PLANNER, "session_status", session_id=fresh))["locked"] is False

    run(use())


@pytest.mark.slow
def test_descriptors_of_ended_sessions_are_closed_and_sessions_are_bounded(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_harness(tmp_path) as harness:
            gc.collect()
            before = len(list(Path("/proc/self/fd").iterdir()))
            for _ in range(20):
                handle = await harness.begin(PLANNER, "ANTIGRAVITY")
                await harness.call(PLANNER, "end_session", session_id=handle)
            gc.collect()
            assert len(list(Path("/proc/self/fd").iterdir())) == before
            for _ in range(MAX_SESSIONS):
                await harness.begin(PLANNER, "ANTIGRAVITY")
            got = await harness.code(PLANNER, "begin_session", workspace_root=str(harness.root), role="ANTIGRAVITY")
            assert got == ("SESSION_INITIALIZATION_FAILED", "too_many")
            harness.clock.seconds += 8 * 3600
            assert await harness.begin(PLANNER, "ANTIGRAVITY")

    run(use())
