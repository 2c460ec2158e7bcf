"""verify_workspace_integrity: a report of what no longer holds, and a failure only if it could not look."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.packs.workspace.desk import BUILDER, open_desk, run
from tests.packs.workspace.office import Office, open_office
from tests.stores.trails import remove_folder

from strictwire.packs.workspace import integrity


def lines(office: Office) -> list[bytes]:
    return office.log.read_bytes().splitlines(keepends=True)


def edit_record(office: Office) -> None:
    office.log.write_bytes(office.log.read_bytes().replace(b"builder", b"planner", 1))


def cut_record(office: Office) -> None:
    kept = lines(office)
    office.log.write_bytes(b"".join(kept[:5] + kept[6:]))


def spoil_record(office: Office) -> None:
    kept = lines(office)
    office.log.write_bytes(b"".join([*kept[:5], b"{broken\n", *kept[6:]]))


def cut_end(office: Office) -> None:
    office.log.write_bytes(b"".join(lines(office)[:5]))


def edit_plan(office: Office) -> None:
    path = office.root / f"docs/plans/{office.plan_hash}.md"
    path.write_text(path.read_text().replace("src/**", "**"))


def lose_plan(office: Office) -> None:
    (office.root / f"docs/plans/{office.plan_hash}.md").unlink()


def forge_approval(office: Office) -> None:
    path = office.root / f"docs/plans/{office.plan_hash}.approval.json"
    path.write_text(path.read_text().replace("reviewer", "planner"))


def lose_approval(office: Office) -> None:
    (office.root / f"docs/plans/{office.plan_hash}.approval.json").unlink()


def edit_lock(office: Office) -> None:
    (office.root / "strictwire.lock").write_text("{}")


def move_root(office: Office) -> None:
    office.root.rename(office.root.with_name("away"))
    office.root.mkdir()


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
def test_what_was_tampered_with_is_reported_with_its_invariant(
    tmp_path: Path, disturb: Callable[[Office], None], invariant: str, check: str
) -> None:
    async def use() -> None:
        async with open_office(tmp_path) as office:
            (office.root / "strictwire.toml").write_text("")
            await office.work()
            await office.ask("generate_attestation_bundle", plan_hash=office.plan_hash)
            session = await office.desk.begin(BUILDER, "WINDSURF")
            clean = await office.desk.call(BUILDER, "verify_workspace_integrity", session_id=session)
            assert (clean["passed"], clean["complete"], clean["findings"]) == (True, True, [])

            disturb(office)

            told = await office.desk.call(BUILDER, "verify_workspace_integrity", session_id=session)
            assert told["passed"] is False
            assert (invariant, check) in {(each["invariant_id"], each["check"]) for each in told["findings"]}

    run(use())


@pytest.mark.clause("S7")
def test_a_trail_that_lost_its_end_takes_no_more_records_so_no_call_is_answered(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_office(tmp_path) as office:
            await office.work()
            await office.ask("generate_attestation_bundle", plan_hash=office.plan_hash)
            cut_end(office)
            got = await office.desk.code(BUILDER, "verify_workspace_integrity", session_id=office.builder)
            assert got == ("AUDIT_LOG_FAILED", "damaged")

    run(use())


@pytest.mark.parametrize("cut", [cut_record, cut_end])
def test_a_gap_in_the_trail_is_told_by_the_first_record_that_is_missing(
    tmp_path: Path, cut: Callable[[Office], None]
) -> None:
    async def use() -> None:
        async with open_office(tmp_path) as office:
            await office.work()
            await office.ask("generate_attestation_bundle", plan_hash=office.plan_hash)
            cut(office)
            told = [(each.invariant_id, each.subject) for each in integrity.find_in_trail(office.judge())]
            assert told == [("SEQUENCE_CONTINUOUS", "5")]

    run(use())


def test_what_people_change_is_a_notice(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_office(tmp_path) as office:
            await office.work()
            (office.root / "src/c").write_text("by hand")
            (office.root / "docs/plans/notes.txt").write_text("by hand")
            told = await office.ask("verify_workspace_integrity")
            found = [(each["severity"], each["check"], each["subject"]) for each in told["findings"]]
            assert (told["passed"], told["count"]) == (True, 2)
            assert found == [("notice", "plans", "notes.txt"), ("notice", "files", "src/c")]

    run(use())


def test_a_long_trail_is_judged_over_several_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(integrity, "MAX_JUDGED", 9)

    async def use() -> None:
        async with open_office(tmp_path) as office:
            await office.work()
            judged = []
            told = {"complete": False}
            while not told["complete"]:
                told = await office.ask("verify_workspace_integrity")
                judged.append(told["trail"]["judged"])
            # Each call leaves a record, which the next one judges too.
            assert judged[:-1] == list(range(9, judged[-1], 9))
            assert judged[-1] == office.judge().size - 1
            assert (await office.ask("verify_workspace_integrity", from_start=True))["trail"]["judged"] == 9

    run(use())


@pytest.mark.clause("S12")
def test_a_trail_that_cannot_be_read_is_a_failure_and_none_at_all_a_notice(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_office(tmp_path / "a") as office:
            remove_folder(office.trail.folder)
            got = await office.desk.code(BUILDER, "verify_workspace_integrity", session_id=office.builder)
            assert got[0] == "AUDIT_LOG_FAILED"

    async def without() -> None:
        async with open_desk(tmp_path / "b") as desk:
            session = await desk.begin(BUILDER, "WINDSURF")
            told = await desk.call(BUILDER, "verify_workspace_integrity", session_id=session)
            assert (told["passed"], told["trail"], told["findings"][0]["check"]) == (True, None, "trail")

    for name in "ab":
        (tmp_path / name).mkdir()
    run(use())
    run(without())
