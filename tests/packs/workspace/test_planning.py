"""Plans over the wire: created, linted, approved by another principal, and refused if anything is wrong with them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.packs.workspace.harness import (
    BUILDER,
    PLANNER,
    REVIEWER,
    Harness,
    ToolRefused,
    open_harness,
    plan_arguments,
    run,
    sha256,
)

from strictwire.packs.workspace.plans.plan_markdown import read_plan, render_plan, split_hash
from strictwire.packs.workspace.plans.scope import workspace_id


async def write(harness: Harness, handle: str, plan_hash: str, path: str = "src/a.py", **more: Any) -> tuple[str, Any]:
    arguments = {"content": "x\n", "phase_id": "PHASE_1", "make_folders": True} | more
    return await harness.code(BUILDER, "write_file", session_id=handle, plan_hash=plan_hash, path=path, **arguments)


def test_a_plan_is_created_listed_read_linted_and_approved_by_another_principal(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_harness(tmp_path) as harness:
            planner, reviewer = await harness.begin(PLANNER, "ANTIGRAVITY"), await harness.begin(REVIEWER, "ANTIGRAVITY")
            assert await harness.call(PLANNER, "list_plans", session_id=planner) == {"count": 0, "plans": []}
            made = await harness.call(PLANNER, "create_plan", session_id=planner, **plan_arguments())
            plan_hash, text = made["plan_hash"], made["content"]
            summary = {
                "plan_hash": plan_hash,
                "title": "A module",
                "role": "WINDSURF",
                "author": PLANNER,
                "expires_at": "2026-01-08T00:00:00Z",
                "state": "proposed",
                "approver": None,
            }
            assert (harness.root / made["path"]).read_text() == text
            assert made["path"] == f"docs/plans/{plan_hash}.md"
            assert sha256(text.partition("\n")[2].encode()) == plan_hash
            assert await harness.call(PLANNER, "list_plans", session_id=planner) == {"count": 1, "plans": [summary]}
            assert await harness.call(PLANNER, "read_plan", session_id=planner, plan_hash=plan_hash) == summary | {
                "content": text
            }
            passed = {"passed": True, "plan_hash": plan_hash, "findings": []}
            assert await harness.call(PLANNER, "lint_plan", session_id=planner, plan_hash=plan_hash) == passed
            assert await harness.call(PLANNER, "lint_plan", session_id=planner, content=text) == passed
            assert await harness.plan(planner) == plan_hash

            approval = await harness.call(REVIEWER, "approve_plan", session_id=reviewer, plan_hash=plan_hash)

            expected = {
                "plan_hash": plan_hash,
                "workspace": workspace_id(str(harness.root)),
                "approver": REVIEWER,
                "approved_at": "2026-01-01T00:00:00Z",
            }
            assert approval == expected
            kept = json.loads((harness.root / f"docs/plans/{plan_hash}.approval.json").read_text())
            assert {name: kept[name] for name in expected} == expected
            listed = await harness.call(PLANNER, "list_plans", session_id=planner)
            assert listed["plans"] == [summary | {"state": "approved", "approver": REVIEWER}]
            again = await harness.code(REVIEWER, "approve_plan", session_id=reviewer, plan_hash=plan_hash)
            assert again == ("FILE_ALREADY_EXISTS", "approved")

    run(use())


@pytest.mark.clause("S12")
def test_approval_requires_a_grant_and_another_author(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_harness(tmp_path, approvers=[REVIEWER]) as harness:
            planner, reviewer = await harness.begin(PLANNER, "ANTIGRAVITY"), await harness.begin(REVIEWER, "ANTIGRAVITY")
            plan_hash = await harness.plan(planner)
            got = await harness.code(PLANNER, "approve_plan", session_id=planner, plan_hash=plan_hash)
            assert got == ("INSUFFICIENT_PERMISSIONS", "not_an_approver")
            own = await harness.call(REVIEWER, "create_plan", session_id=reviewer, **plan_arguments())
            got = await harness.code(REVIEWER, "approve_plan", session_id=reviewer, plan_hash=own["plan_hash"])
            assert got == ("INSUFFICIENT_PERMISSIONS", "own_plan")
            assert (await harness.code(REVIEWER, "approve_plan", session_id=reviewer, plan_hash="0" * 64))[
                0
            ] == "PLAN_NOT_FOUND"

    run(use())


@pytest.mark.clause("S12")
def test_every_reason_why_a_plan_cannot_be_used_has_its_code(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_harness(tmp_path) as harness:
            planner, builder = await harness.begin(PLANNER, "ANTIGRAVITY"), await harness.begin(BUILDER, "WINDSURF")
            assert (await write(harness, builder, "0" * 64))[0] == "PLAN_NOT_FOUND"
            proposed = await harness.plan(planner, title="Nobody has approved it")
            assert (await write(harness, builder, proposed))[0] == "PLAN_NOT_APPROVED"
            other_role = await harness.approved(planner, title="For planners", role="ANTIGRAVITY")
            assert await write(harness, builder, other_role) == ("ROLE_MISMATCH", "plan_role")
            approved = await harness.approved(planner)
            assert not (harness.root / "src").exists()

            file = harness.root / f"docs/plans/{approved}.md"
            good = file.read_text()
            file.write_text(good.replace("src/**", "**"))
            assert await write(harness, builder, approved) == ("PLAN_ENFORCEMENT_FAILED", "hash")
            file.write_text(good.replace("\n", "\r\n"))
            assert await write(harness, builder, approved) == ("SESSION_LOCKED", "locked")
            file.write_text(good)
            assert not (harness.root / "src").exists()

    run(use())


@pytest.mark.clause("S12")
@pytest.mark.parametrize("reason", ["hash", "other_workspace", "expired", "lint"])
def test_an_unusable_plan_is_reported_with_its_reason(tmp_path: Path, reason: str) -> None:
    async def use() -> None:
        async with open_harness(tmp_path) as harness:
            planner, builder = await harness.begin(PLANNER, "ANTIGRAVITY"), await harness.begin(BUILDER, "WINDSURF")
            plan_hash = await harness.approved(planner, expires_in_hours=1)
            file = harness.root / f"docs/plans/{plan_hash}.md"
            plan, _ = read_plan(file.read_text())
            assert plan is not None
            if reason == "hash":
                file.write_text(file.read_text() + " ")
            if reason == "expired":
                harness.clock.seconds += 3600
            if reason in ("other_workspace", "lint"):
                wrong = {"workspace": "f" * 64} if reason == "other_workspace" else {"role": "ADMIN"}
                text = render_plan(replace(plan, **wrong))
                plan_hash = str(split_hash(text)[0])
                (harness.root / f"docs/plans/{plan_hash}.md").write_text(text)

            assert await write(harness, builder, plan_hash) == ("PLAN_ENFORCEMENT_FAILED", reason)
            shown = await harness.call(PLANNER, "read_plan", session_id=planner, plan_hash=plan_hash)
            assert shown["state"] == reason
            assert not (harness.root / "src").exists()

    run(use())


def test_an_approval_is_valid_only_as_signed_for_this_plan_by_this_server(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_harness(tmp_path) as harness:
            planner, builder = await harness.begin(PLANNER, "ANTIGRAVITY"), await harness.begin(BUILDER, "WINDSURF")
            approved, other = await harness.approved(planner), await harness.plan(planner, title="Another")
            file = harness.root / f"docs/plans/{approved}.approval.json"
            good = file.read_bytes()
            forged = json.loads(good)
            bad = {
                "another plan's": (other, good),
                "another approver": (approved, json.dumps(forged | {"approver": "mallory"}).encode()),
                "another plan named": (other, json.dumps(forged | {"plan_hash": other}).encode()),
                "no signature": (approved, json.dumps({k: v for k, v in forged.items() if k != "signature"}).encode()),
                "an odd signature": (approved, json.dumps(forged | {"signature": 7}).encode()),
                "more members": (approved, json.dumps(forged | {"x": "y"}).encode()),
                "not JSON": (approved, b"yes"),
                "empty": (approved, b""),
            }
            for why, (plan_hash, raw) in bad.items():
                (harness.root / f"docs/plans/{plan_hash}.approval.json").write_bytes(raw)
                assert (await write(harness, builder, plan_hash))[0] == "PLAN_NOT_APPROVED", why
            reviewer = await harness.begin(REVIEWER, "ANTIGRAVITY")
            await harness.call(REVIEWER, "approve_plan", session_id=reviewer, plan_hash=approved)
            assert file.read_bytes() == good

    run(use())


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"scope": "Fine\n# Path Allowlist\n- **"}, "INVALID_INPUT_VALUE"),
        ({"rollback": "# Forbidden Actions"}, "INVALID_INPUT_VALUE"),
        ({"paths": ["none"]}, "INVALID_INPUT_VALUE"),
        ({"paths": ["../x"]}, "PLAN_ENFORCEMENT_FAILED"),
        ({"phase": {"objective": "You should try to do it"}}, "PLAN_ENFORCEMENT_FAILED"),
        ({"phase": {"phase_id": "one"}}, "PLAN_ENFORCEMENT_FAILED"),
        ({"phase": {"required_intent_artifacts": ["a, b"]}}, "INVALID_INPUT_VALUE"),
        ({"phase": {"allowed_operations": ["burn"]}}, "INVALID_INPUT_VALUE"),
    ],
)
def test_a_plan_that_parses_differently_from_its_arguments_is_never_written(
    tmp_path: Path, changes: dict[str, Any], code: str
) -> None:
    async def use() -> None:
        async with open_harness(tmp_path) as harness:
            planner = await harness.begin(PLANNER, "ANTIGRAVITY")
            with pytest.raises(ToolRefused) as caught:
                await harness.plan(planner, **changes)
            assert caught.value.code == code
            assert not (harness.root / "docs").exists()
            assert (await harness.call(PLANNER, "session_status", session_id=planner))["locked"] is False

    run(use())
