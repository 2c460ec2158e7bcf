"""read_audit_log over the wire, from a real trail: own records, pages, filters, limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.packs.workspace.harness import BUILDER, PLANNER, STRANGER, open_harness, run
from tests.packs.workspace.project import Project, open_project

from strictwire.audit.event import Call, render_body
from strictwire.packs.workspace import records
from strictwire.stores.files.config import open_writer


async def everything(project: Project, **more: Any) -> list[Any]:
    """Return the records of all pages, newest first."""
    page = await project.ask("read_audit_log", **more)
    items = page["items"]
    while page["nextCursor"] is not None:
        page = await project.ask("read_audit_log", **more, cursor=page["nextCursor"])
        items += page["items"]
    return items


@pytest.mark.clause("S8")
def test_a_caller_sees_its_own_records_newest_first_with_session_role_workspace_plan_and_phase(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_project(tmp_path) as project:
            await project.ask("list_files")
            await project.build("write_file", path="src/a", content="x")
            items = (await project.ask("read_audit_log"))["items"]

            assert {each["principal"] for each in items} == {BUILDER}
            assert [each["seq"] for each in items] == sorted((each["seq"] for each in items), reverse=True)
            outcome, intent, listed, begun = items[:4]
            shared = ("role", "session_id", "workspace_root")
            assert [listed[name] for name in shared] == ["WINDSURF", project.builder, str(project.root)]
            assert [each["kind"] for each in (outcome, intent)] == ["outcome", "intent"]
            told = {
                name: outcome[name] for name in ("role", "session_id", "workspace_root", "plan_hash", "phase_id", "outcome")
            }
            assert told == {
                "role": "WINDSURF",
                "session_id": project.builder,
                "workspace_root": str(project.root),
                "plan_hash": project.plan_hash,
                "phase_id": "PHASE_1",
                "outcome": "ok",
            }
            assert (intent["call_id"], intent["plan_hash"]) == (outcome["call_id"], project.plan_hash)
            assert (begun["tool_name"], begun["session_id"]) == ("begin_session", project.builder)

    run(use())


def test_pages_return_every_record_once_even_while_new_ones_are_written(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_project(tmp_path) as project:
            await project.work()
            once = [each["seq"] for each in await everything(project)]
            paged = [each["seq"] for each in await everything(project, pageSize=2)]

            # Each page is a call with its own record, which is newer than all records in the pages.
            assert paged[1:] == once
            assert len(set(paged)) == len(paged)

    run(use())


def test_all_filters_must_match(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_project(tmp_path) as project:
            await project.work()
            await project.harness.code(BUILDER, "read_file", session_id=project.builder, path="none")
            asked: list[tuple[dict[str, Any], set[tuple[Any, Any]]]] = [
                ({"tool": "move_file"}, {("move_file", "intent"), ("move_file", "outcome")}),
                ({"tool": "move_file", "kind": "outcome"}, {("move_file", "outcome")}),
                ({"code": "FILE_NOT_FOUND"}, {("read_file", "call")}),
                ({"plan_hash": "0" * 64}, set()),
                ({"of_session": project.planner}, set()),
                ({"since": "2026-01-01T00:00:00.001Z"}, set()),
                ({"until": "2026-01-01T00:00:00.000Z"}, set()),
            ]
            for filters, expected in asked:
                found = {(each["tool_name"], each["kind"]) for each in await everything(project, **filters)}
                assert found == expected, filters
            failed = (await everything(project, code="FILE_NOT_FOUND"))[0]
            assert '"code":"ENOENT"' in failed["cause"]

    run(use())


@pytest.mark.clause("S12")
def test_records_of_others_are_for_auditors_and_only_of_the_workspace(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_project(tmp_path) as project:
            await project.harness.code(STRANGER, "begin_session", workspace_root=str(project.root), role="WINDSURF")
            got = await project.harness.code(BUILDER, "read_audit_log", session_id=project.builder, scope="workspace")
            assert got == ("INSUFFICIENT_PERMISSIONS", "not_an_auditor")

            items = (await project.review("read_audit_log", scope="workspace"))["items"]
            assert {each["principal"] for each in items} == {PLANNER, BUILDER, "reviewer"}
            assert {each["workspace_root"] for each in items} == {str(project.root)}

    run(use())


def test_a_page_scans_a_bounded_number_of_records_and_the_cursor_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "MAX_SCANNED", 40)

    async def use() -> None:
        async with open_project(tmp_path) as project:
            log = open_writer(project.trail)
            noise = Call(timestamp="2026-01-01T00:00:00.000Z", principal="other", duration_us=1)
            log.append([render_body(noise)] * 100)
            log.close()
            page = await project.ask("read_audit_log")
            assert (page["items"], page["scanned"]) == ([], 40)
            assert page["nextCursor"] is not None
            assert "begin_session" in {each["tool_name"] for each in await everything(project)}

    run(use())


@pytest.mark.clause("S12")
def test_a_cursor_of_another_request_is_refused_and_a_missing_trail_is_reported(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_project(tmp_path) as project:
            cursor = (await project.ask("read_audit_log", pageSize=1))["nextCursor"]
            asked = {"session_id": project.builder, "cursor": cursor, "tool": "read_file"}
            assert (await project.harness.code(BUILDER, "read_audit_log", **asked))[0] == "INVALID_INPUT_VALUE"

    async def without() -> None:
        async with open_harness(tmp_path / "other") as harness:
            session = await harness.begin(BUILDER, "WINDSURF")
            assert await harness.code(BUILDER, "read_audit_log", session_id=session) == ("AUDIT_LOG_FAILED", "off")

    run(use())
    (tmp_path / "other").mkdir()
    run(without())
