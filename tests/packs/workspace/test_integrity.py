"""verify_workspace_integrity: reports guarantees that no longer hold, and fails only if it cannot check them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.packs.workspace.harness import BUILDER, open_harness, run
from tests.packs.workspace.project import Project, open_project
from tests.stores.trails import remove_folder

from strictwire.packs.workspace import integrity


def lines(project: Project) -> list[bytes]:
    return project.log.read_bytes().splitlines(keepends=True)


def edit_record(project: Project) -> None:
    project.log.write_bytes(project.log.read_bytes().replace(b"builder", b"planner", 1))


def cut_record(project: Project) -> None:
    kept = lines(project)
    project.log.write_bytes(b"".join(kept[:5] + kept[6:]))


def spoil_record(project: Project) -> None:
    kept = lines(project)
    project.log.write_bytes(b"".join([*kept[:5], b"{broken\n", *kept[6:]]))


def cut_end(project: Project) -> None:
    project.log.write_bytes(b"".join(lines(project)[:5]))


def edit_plan(project: Project) -> None:
    path = project.root / f"docs/plans/{project.plan_hash}.md"
    path.write_text(path.read_text().replace("src/**", "**"))


def lose_plan(project: Project) -> None:
    (project.root / f"docs/plans/{project.plan_hash}.md").unlink()


def forge_approval(project: Project) -> None:
    path = project.root / f"docs/plans/{project.plan_hash}.approval.json"
    path.write_text(path.read_text().replace("reviewer", "planner"))


def lose_approval(project: Project) -> None:
    (project.root / f"docs/plans/{project.plan_hash}.approval.json").unlink()


def edit_lock(project: Project) -> None:
    (project.root / "strictwire.lock").write_text("{}")


def move_root(project: Project) -> None:
    project.root.rename(project.root.with_name("away"))
    project.root.mkdir()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("disturb", "invariant", "check"),
    [
        (edit_record, "HASH_CHAIN_INTACT", "trail"),
        (spoil_record, "HASH_CHAIN_INTACT", "trail"),
        (edit_plan, "PLAN_HASH_MATCH", "plans"),
        (lose_plan, "PLAN_IMMUTABLE", "plans"),
        (forge_approval, "PLAN_APPROVED", "plans"),
        (lose_approval, "PLAN_APPROVED", "plans"),
        (edit_lock, "CONTRACT_LOCKED", "own"),
        (move_root, "WORKSPACE_ROOT_FIXED", "root"),
    ],
)
@pytest.mark.clause("S12")
def test_tampering_is_reported_with_its_invariant(
    tmp_path: Path, disturb: Callable[[Project], None], invariant: str, check: str
) -> None:
    async def use() -> None:
        async with open_project(tmp_path) as project:
            (project.root / "strictwire.toml").write_text("")
            await project.work()
            await project.ask("generate_attestation_bundle", plan_hash=project.plan_hash)
            session = await project.harness.begin(BUILDER, "WINDSURF")
            clean = await project.harness.call(BUILDER, "verify_workspace_integrity", session_id=session)
            assert (clean["passed"], clean["complete"], clean["findings"]) == (True, True, [])

            disturb(project)

            told = await project.harness.call(BUILDER, "verify_workspace_integrity", session_id=session)
            assert told["passed"] is False
            assert (invariant, check) in {(each["invariant_id"], each["check"]) for each in told["findings"]}

    run(use())


@pytest.mark.clause("S7")
def test_a_truncated_trail_accepts_no_records_so_no_call_is_answered(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_project(tmp_path) as project:
            await project.work()
            await project.ask("generate_attestation_bundle", plan_hash=project.plan_hash)
            cut_end(project)
            got = await project.harness.code(BUILDER, "verify_workspace_integrity", session_id=project.builder)
            assert got == ("AUDIT_LOG_FAILED", "damaged")

    run(use())


@pytest.mark.parametrize("cut", [cut_record, cut_end])
def test_a_gap_in_the_trail_is_reported_by_its_first_missing_record(tmp_path: Path, cut: Callable[[Project], None]) -> None:
    async def use() -> None:
        async with open_project(tmp_path) as project:
            await project.work()
            await project.ask("generate_attestation_bundle", plan_hash=project.plan_hash)
            cut(project)
            told = [(each.invariant_id, each.subject) for each in integrity.find_in_trail(project.judge())]
            assert told == [("SEQUENCE_CONTINUOUS", "5")]

    run(use())


def test_a_file_edited_by_a_person_is_a_notice(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_project(tmp_path) as project:
            await project.work()
            (project.root / "src/c").write_text("by hand")
            (project.root / "docs/plans/notes.txt").write_text("by hand")
            told = await project.ask("verify_workspace_integrity")
            found = [(each["severity"], each["check"], each["subject"]) for each in told["findings"]]
            assert (told["passed"], told["count"]) == (True, 2)
            assert found == [("notice", "plans", "notes.txt"), ("notice", "files", "src/c")]

    run(use())


def test_a_long_trail_is_verified_over_several_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(integrity, "MAX_CHECKED_RECORDS", 9)

    async def use() -> None:
        async with open_project(tmp_path) as project:
            await project.work()
            judged = []
            told = {"complete": False}
            while not told["complete"]:
                told = await project.ask("verify_workspace_integrity")
                judged.append(told["trail"]["judged"])
            # Each call leaves a record, which the next one verifies too.
            assert judged[:-1] == list(range(9, judged[-1], 9))
            assert judged[-1] == project.judge().size - 1
            assert (await project.ask("verify_workspace_integrity", from_start=True))["trail"]["judged"] == 9

    run(use())


@pytest.mark.clause("S12")
def test_an_unreadable_trail_is_a_failure_and_a_missing_one_a_notice(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_project(tmp_path / "a") as project:
            remove_folder(project.trail.folder)
            got = await project.harness.code(BUILDER, "verify_workspace_integrity", session_id=project.builder)
            assert got[0] == "AUDIT_LOG_FAILED"

    async def without() -> None:
        async with open_harness(tmp_path / "b") as harness:
            session = await harness.begin(BUILDER, "WINDSURF")
            told = await harness.call(BUILDER, "verify_workspace_integrity", session_id=session)
            assert (told["passed"], told["trail"], told["findings"][0]["check"]) == (True, None, "trail")

    for name in "ab":
        (tmp_path / name).mkdir()
    run(use())
    run(without())
