"""The ledger and the archive: changes are recorded before and after, and contents kept while there is space."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from tests.packs.workspace.harness import START, sha256

from strictwire.canon.digest import digest
from strictwire.fault.failure import Refused
from strictwire.packs.workspace import ledger as ledger_module
from strictwire.packs.workspace.archive import MAX_KEPT, Archive
from strictwire.packs.workspace.ledger import APPLIED, UNDONE, Change, FileChange, FileRecord, Ledger, resolve_unfinished
from strictwire.packs.workspace.plans.model import Operation
from strictwire.packs.workspace.plans.scope import workspace_id
from strictwire.packs.workspace.refusal import refuse
from strictwire.packs.workspace.roles import Role
from strictwire.packs.workspace.session_store import Session

PLAN = "a" * 64
ARGUMENTS = {"plan_hash": PLAN, "phase_id": "PHASE_1"}
HOME = workspace_id("/work")


class Who:
    id, principal, role, root = "s", "builder", Role.WINDSURF, "/work"


WHO = cast("Session", Who())
TOUCH = FileChange(path="src/a", operation=Operation.MODIFY, old=b"old", new=b"new")
NOTED = Change(
    change="", at="2026-01-01T00:00:00Z", session_id="s", principal="builder", role="WINDSURF", tool="write_file",
    plan_hash=PLAN, phase_id="PHASE_1", args_digest=digest(ARGUMENTS),
    files=(FileRecord(path="src/a", operation="modify", before=sha256(b"old"), after=sha256(b"new")),),
)  # fmt: skip


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "changes", Archive(tmp_path / "contents", limit=1000), now=lambda: START)


def read(ledger: Ledger) -> list[Any]:
    """Return the changes without their ids."""
    changes = ledger.read(HOME, PLAN)
    assert len({each.change for each in changes}) == len(changes)
    return [(each.ended, each.answer, each.files) for each in changes]


def note(ledger: Ledger, raises: BaseException | None = None) -> None:
    with ledger.record(WHO, ARGUMENTS, "write_file", [TOUCH]) as entry:
        if raises is not None:
            raise raises
        entry.complete({"path": "src/a"})


def test_a_change_is_recorded_with_its_outcome(ledger: Ledger) -> None:
    note(ledger)
    for raised in (refuse("PREFLIGHT_FAILED", "x"), KeyboardInterrupt()):
        with pytest.raises(type(raised)):
            note(ledger, raised)
    with pytest.raises(Refused):
        note(ledger, refuse("INVARIANT_VIOLATION", "could not be undone"))

    assert read(ledger) == [
        (APPLIED, '{"path":"src/a"}', NOTED.files),
        (UNDONE, None, NOTED.files),
        (UNDONE, None, NOTED.files),
        (None, None, NOTED.files),
    ]
    assert ledger.plans(HOME) == [PLAN]
    assert ledger.archive.maybe_get(sha256(b"old")) == b"old"


def test_a_torn_line_loses_only_that_line(ledger: Ledger, tmp_path: Path) -> None:
    note(ledger)
    path = tmp_path / "changes" / HOME / f"{PLAN}.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    note(ledger)

    assert [each[0] for each in read(ledger)] == [None, APPLIED]


def test_foreign_lines_are_skipped(ledger: Ledger, tmp_path: Path) -> None:
    note(ledger)
    path = tmp_path / "changes" / HOME / f"{PLAN}.jsonl"
    with path.open("ab") as file:
        file.write(b'?\n{"kind":"begin"}\n{"kind":"begin","files":[1],"change":"x"}\n{"kind":"end","change":"y"}\n')

    assert [each[0] for each in read(ledger)] == [APPLIED]
    assert ledger.read(HOME, "b" * 64) == ()


def test_a_change_that_cannot_be_recorded_is_not_made(ledger: Ledger, tmp_path: Path) -> None:
    (tmp_path / "changes" / HOME).write_text("in the way")

    with pytest.raises(OSError, match="exists"), ledger.record(WHO, ARGUMENTS, "write_file", [TOUCH]):
        pytest.fail("the change was begun")


def test_the_outcome_of_an_interrupted_change_comes_from_a_later_change_or_the_file() -> None:
    def change(path: str, before: str, after: str, ended: str | None) -> Change:
        return replace(NOTED, files=(FileRecord(path=path, operation="modify", before=before, after=after),), ended=ended)

    changes = (
        change("a", "1", "2", None),
        change("a", "2", "3", APPLIED),
        change("b", "1", "2", None),
        change("b", "1", "3", UNDONE),
        change("c", "1", "2", None),
    )
    now = {"a": "9", "b": "1", "c": "9"}

    assert [each.ended for each in resolve_unfinished(changes, now.get)] == [APPLIED, APPLIED, UNDONE, UNDONE, None]


def test_more_changes_than_the_limit_are_refused(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    note(ledger)
    note(ledger)
    monkeypatch.setattr(ledger_module, "MAX_CHANGES", 1)

    with pytest.raises(Refused) as caught:
        ledger.read(HOME, PLAN)
    assert caught.value.failure.code == "CAP_EXCEEDED"


def test_the_archive_drops_the_least_recently_used_content(tmp_path: Path) -> None:
    archive = Archive(tmp_path, limit=1000)
    for number in range(5):
        archive.put(b"%d" % number * 200)
        os.utime(next(tmp_path.glob(f"??/{sha256(b'%d' % number * 200)}")), (number, number))
    archive.put(b"0" * 200)
    archive.put(b"5" * 200)

    kept = [number for number in range(6) if archive.maybe_get(sha256(b"%d" % number * 200)) is not None]
    assert kept == [0, 3, 4, 5]
    assert Archive(tmp_path, limit=1000).maybe_get(sha256(b"5" * 200)) == b"5" * 200


def test_the_archive_checks_hashes_and_keeps_nothing_too_large(tmp_path: Path) -> None:
    archive = Archive(tmp_path, limit=1 << 30)
    archive.put(b"true")
    archive.put(None)
    archive.put(b"x" * (MAX_KEPT + 1))
    kept = list(tmp_path.glob("??/*"))
    kept[0].write_bytes(b"false")
    none = Archive(tmp_path / "none", limit=0)
    none.put(b"x")

    assert len(kept) == 1
    assert archive.maybe_get(sha256(b"true")) is None
    assert not (tmp_path / "none").exists()
