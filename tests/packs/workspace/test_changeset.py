"""Change sets: applied completely or not at all, also when refused, failed or interrupted."""

from __future__ import annotations

import random
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.packs.workspace.harness import run, sha256
from tests.packs.workspace.sandbox import needs_sandbox
from tests.packs.workspace.server_process import ServerProcess, approve
from tests.packs.workspace.test_stress import KILLS
from tests.packs.workspace.test_writing import open_builder, snapshot

from strictwire.packs.kit.jail import Jail
from strictwire.packs.workspace.journal import Journals, JournalStep, undo
from strictwire.packs.workspace.path_locks import PathLocks

CHANGES: list[dict[str, Any]] = [
    {"operation": "create", "path": "src/new", "content": "new"},
    {"operation": "modify", "path": "src/a", "content": "A", "previousHash": sha256(b"a")},
    {"operation": "delete", "path": "src/b", "previousHash": sha256(b"b")},
    {"operation": "move", "path": "src/c", "new_path": "src/d", "previousHash": sha256(b"c")},
]


def fill(root: Path) -> None:
    for name in "abc":
        (root / "src" / name).write_text(name)
        (root / "src" / name).chmod(0o640)


@needs_sandbox
def test_a_set_is_applied_as_a_whole(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_builder(tmp_path, phase={"verification_commands": [["true"]]}) as builder:
            fill(builder.root)
            done = await builder.do("apply_changes", changes=CHANGES)

            files = [
                ("src/new", None, b"new"),
                ("src/a", b"a", b"A"),
                ("src/b", b"b", None),
                ("src/c", b"c", None),
                ("src/d", None, b"c"),
            ]
            assert done == {
                "plan_hash": builder.plan_hash,
                "phase_id": "PHASE_1",
                "files": [
                    {"path": path, "previous_sha256": old and sha256(old), "sha256": new and sha256(new)}
                    for path, old, new in files
                ],
                "preflight": [{"command": ["true"], "exit_code": 0}],
            }
            held = {path.name: path.read_bytes() for path in (builder.root / "src").iterdir()}
            assert held == {"new": b"new", "a": b"A", "d": b"c"}
            assert (builder.root / "src/d").stat().st_mode & 0o777 == 0o640

    run(use())


@pytest.mark.clause("S12")
@pytest.mark.parametrize(
    ("last", "code"),
    [
        ({"operation": "create", "path": "src/a2", "content": "x"}, "PREFLIGHT_FAILED"),
        ({"operation": "modify", "path": "src/e", "content": "x", "previousHash": "0" * 64}, "FILE_NOT_FOUND"),
        ({"operation": "modify", "path": "src/kept", "content": "x"}, "MISSING_REQUIRED_FIELD"),
        ({"operation": "create", "path": "src/no/x", "content": "x"}, "PATH_NOT_FOUND"),
        ({"operation": "create", "path": "src/A", "content": "x"}, "INVALID_INPUT_VALUE"),
        ({"operation": "create", "path": "src/kept", "content": "x"}, "FILE_ALREADY_EXISTS"),
        ({"operation": "create", "path": "src/x.py", "content": "breakpoint()\n"}, "POLICY_VIOLATION"),
        ({"operation": "create", "path": "other", "content": "x"}, "PLAN_SCOPE_VIOLATION"),
        ({"operation": "delete", "path": "docs/plans/x", "previousHash": "0" * 64}, "PLAN_SCOPE_VIOLATION"),
        ({"operation": "move", "path": "src/kept", "previousHash": sha256(b"k")}, "MISSING_REQUIRED_FIELD"),
        ({"operation": "create", "path": "src/y"}, "MISSING_REQUIRED_FIELD"),
        ({"operation": "create", "path": "../y", "content": ""}, "PATH_TRAVERSAL_BLOCKED"),
        ({"operation": "delete", "path": "src/kept", "previousHash": "0" * 64}, "HASH_MISMATCH"),
    ],
)
def test_if_one_change_is_refused_none_is_made(tmp_path: Path, last: dict[str, Any], code: str) -> None:
    async def use() -> None:
        async with open_builder(tmp_path, phase={"verification_commands": [["false"]]}) as builder:
            fill(builder.root)
            (builder.root / "src/kept").write_text("k")
            before = snapshot(builder.root)
            assert (await builder.fails("apply_changes", changes=[*CHANGES, last]))[0] == code
            assert snapshot(builder.root) == before
            assert (builder.root / "src/a").stat().st_mode & 0o777 == 0o640
            assert list((tmp_path / "state/workspace/journals").iterdir()) == []

    run(use())


def test_undo_keeps_changes_that_someone_else_made_since(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("theirs")
    (tmp_path / ".strictwire-1").write_text("old")
    (tmp_path / "made").write_text("theirs too")
    steps = [
        JournalStep(path="a", aside=".strictwire-1", old=sha256(b"old"), new=sha256(b"ours")),
        JournalStep(path="made", aside=None, old=None, new=sha256(b"ours")),
    ]

    with Jail(tmp_path) as jail:
        undo(jail, steps)

    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "theirs", "made": "theirs too"}


@dataclass(frozen=True, kw_only=True)
class Home:
    root: str
    identity: tuple[int, int]
    jail: Jail


def test_a_journal_in_use_is_kept_and_an_abandoned_one_is_undone_once(tmp_path: Path) -> None:
    root, away = tmp_path / "work", tmp_path / "away"
    root.mkdir()
    identity = root.stat().st_dev, root.stat().st_ino
    journals, path_locks = Journals(tmp_path / "journals"), PathLocks(tmp_path / "locks")
    steps = [JournalStep(path="made", aside=None, old=None, new=sha256(b"x"))]

    with Jail(root) as jail, journals.writing(Home(root=str(root), identity=identity, jail=jail), steps):
        (root / "made").write_text("x")
        (kept,) = (tmp_path / "journals").iterdir()
        raw = kept.read_bytes()
        assert journals.recover(path_locks) == 0
    assert (root / "made").exists()
    (tmp_path / "journals" / "dead.json").write_bytes(raw)
    root.rename(away)
    assert journals.recover(path_locks) == 0
    away.rename(root)
    assert journals.recover(path_locks, only=(0, 0)) == 0

    assert (journals.recover(path_locks), journals.recover(path_locks)) == (1, 0)
    assert not (root / "made").exists()


@pytest.mark.slow
def test_a_killed_process_leaves_the_whole_change_set_or_none_of_it(tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    chance = random.Random(seed)
    print("seed", seed)
    plan_hash = approve(tmp_path)
    folder = tmp_path / "work/src"
    for number in range(8):
        (folder / f"f{number}").write_bytes(b"0")
    sets = cut = 0
    for _ in range(KILLS + 1):
        cut += len(list((tmp_path / "xdg/strictwire/packs/workspace/journals").glob("*.json")))
        with ServerProcess(tmp_path) as process:
            session = process.begin("WINDSURF")
            # A killed process may leave temporary files, under names that no tool writes; `workspace status` lists them.
            held = {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(".strictwire-")}
            assert set(held) == {f"f{number}" for number in range(8)}
            assert len(set(held.values())) == 1, "half of a set"
            known = held["f0"]
            timer = threading.Timer(chance.uniform(0.0, 0.3), process.process.kill)
            while True:
                sets += 1
                change = {"operation": "modify", "content": str(sets), "previousHash": sha256(known)}
                changes = [change | {"path": f"src/f{number}"} for number in range(8)]
                base = {"session_id": session, "plan_hash": plan_hash, "phase_id": "PHASE_1"}
                answer = process.call("apply_changes", changes=changes, **base)
                if answer is None:
                    break
                assert not answer.get("isError"), answer
                known = str(sets).encode()
                if timer.ident is None:
                    # The first change set also starts the policy worker. The kill should hit the change set itself.
                    timer.start()
            timer.join()
    print("sets", sets, "cut off in the middle", cut)
