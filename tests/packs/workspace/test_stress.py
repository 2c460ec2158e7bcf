"""Many at once, an attacker beside, and deaths in between."""

from __future__ import annotations

import asyncio
import os
import random
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.packs.workspace.desk import BUILDER, PLANNER, Desk, ToolRefused, open_desk, plan_arguments, report, sha256
from tests.packs.workspace.peer import Peer

from strictwire.canon.json import parse_object
from strictwire.packs.kit.jail import Jail
from strictwire.packs.workspace.pack import KEY
from strictwire.packs.workspace.plans.approval import open_sealing
from strictwire.packs.workspace.plans.shelf import Shelf
from strictwire.packs.workspace.verbs import Folder

PAIRS = int(os.environ.get("STRESS_PAIRS", "100"))
ATTACK_SECONDS = float(os.environ.get("STRESS_ATTACK_SECONDS", "3"))
DEATHS = int(os.environ.get("STRESS_DEATHS", "4"))


@pytest.mark.slow
@pytest.mark.clause("S12")
def test_of_two_writes_with_the_same_previous_hash_exactly_one_wins(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_desk(tmp_path) as desk:
            (desk.root / "src").mkdir()
            (desk.root / "src/a").write_bytes(b"0")
            planner = await desk.begin(PLANNER, "ANTIGRAVITY")
            base: dict[str, Any] = {"plan_hash": await desk.approved(planner), "phase_id": "PHASE_1", "path": "src/a"}
            base |= {"session_id": await desk.begin(BUILDER, "WINDSURF")}
            seen = sha256(b"0")
            for number in range(PAIRS):
                writes = [
                    desk.connections[BUILDER].call_tool(
                        "write_file", base | {"previousHash": seen, "content": f"{number}{side}"}
                    )
                    for side in "ab"
                ]
                results = await asyncio.gather(*writes)
                won = [each["structuredContent"] for each in results if not each.get("isError")]
                lost = [each["structuredContent"]["error_code"] for each in results if each.get("isError")]
                assert (len(won), lost) == (1, ["HASH_MISMATCH"])
                seen = won[0]["sha256"]
                assert sha256((desk.root / "src/a").read_bytes()) == seen

    asyncio.run(asyncio.wait_for(use(), 600))


async def unlock(desk: Desk, session: str, number: int) -> None:
    lock = (await desk.call(BUILDER, "session_status", session_id=session))["lock"]
    if lock is not None:
        path = f"docs/reports/{number}-{time.monotonic_ns()}.md"
        text = report(lock["session_id"], lock["code"])
        await desk.call(BUILDER, "write_file", session_id=session, path=path, content=text)


@pytest.mark.slow
@pytest.mark.clause("S12")
def test_an_attacker_who_swaps_links_gets_no_byte_across_the_border(tmp_path: Path) -> None:
    """A folder is swapped for a link to outside, over and over, while files in it are read and written."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f").write_text("SECRET")
    stop = threading.Event()

    def swap(folder: Path) -> None:
        (folder.parent / "link").symlink_to(outside)
        while not stop.is_set():
            for old, new in (("d", "real"), ("link", "d"), ("d", "link"), ("real", "d")):
                (folder.parent / old).rename(folder.parent / new)

    async def use() -> dict[str, int]:
        met: dict[str, int] = {}
        async with open_desk(tmp_path) as desk:
            folder = desk.root / "src/d"
            folder.mkdir(parents=True)
            (folder / "f").write_text("inside")
            planner = await desk.begin(PLANNER, "ANTIGRAVITY")
            base: dict[str, Any] = {"plan_hash": await desk.approved(planner), "phase_id": "PHASE_1"}
            attacker = threading.Thread(target=swap, args=(folder,))
            attacker.start()
            until = time.monotonic() + ATTACK_SECONDS
            number = 0
            try:
                while time.monotonic() < until:
                    session = await desk.begin(BUILDER, "WINDSURF")
                    number += 1
                    for tool, more in (
                        ("read_file", {"path": "src/d/f"}),
                        ("write_file", base | {"path": f"src/d/new{number}", "content": "x"}),
                    ):
                        try:
                            answer = await desk.call(BUILDER, tool, session_id=session, **more)
                            assert answer.get("content") != "SECRET"
                            met["ok"] = met.get("ok", 0) + 1
                        except ToolRefused as exc:
                            met[exc.code] = met.get(exc.code, 0) + 1
                            await unlock(desk, session, number)
                    await desk.call(BUILDER, "end_session", session_id=session)
            finally:
                stop.set()
                attacker.join()
        return met

    met = asyncio.run(asyncio.wait_for(use(), ATTACK_SECONDS + 60))

    print(met)
    assert sorted(path.name for path in outside.iterdir()) == ["f"]
    assert (outside / "f").read_text() == "SECRET"
    assert met["ok"] > 0
    assert set(met) <= {
        "ok",
        "OUTSIDE_WORKSPACE",
        "PATH_NOT_FOUND",
        "FILE_NOT_FOUND",
        "FILE_READ_FAILED",
        "FILE_WRITE_FAILED",
    }


def approve(folder: Path) -> str:
    """A plan, approved as by a person at the terminal."""
    with Peer(folder) as peer:
        planner = peer.begin("ANTIGRAVITY")
        made = peer.call("create_plan", session_id=planner, **plan_arguments())
        assert made is not None
        plan_hash = str(made["structuredContent"]["plan_hash"])
        with Jail(peer.root) as jail:
            shelf = Shelf(open_sealing(peer.state / "packs" / KEY), now=time.time)
            shelf.approve(Folder(root=str(peer.root), jail=jail), plan_hash, approver="terminal:test")
    return plan_hash


@pytest.mark.slow
@pytest.mark.clause("S7")
def test_a_death_during_a_write_leaves_the_old_or_the_new_file_and_the_trail_says_which(tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    chance = random.Random(seed)
    print("seed", seed)
    plan_hash = approve(tmp_path)
    file = tmp_path / "work/src/a"
    file.write_bytes(b"0" * 200_000)
    writes = 0
    for death in range(DEATHS):
        known = file.read_bytes()
        with Peer(tmp_path) as peer:
            session = peer.begin("WINDSURF")
            base = {"session_id": session, "path": "src/a", "plan_hash": plan_hash, "phase_id": "PHASE_1"}
            timer = threading.Timer(chance.uniform(0.0, 1.5), peer.process.kill)
            timer.start()
            while True:
                writes += 1
                content = f"{death % 10}{writes:09d}" * 20_000
                answer = peer.call("write_file", content=content, previousHash=sha256(known), **base)
                if answer is None:
                    break
                assert not answer.get("isError"), answer
                known = content.encode()
            timer.join()
        now = file.read_bytes()
        assert now in (known, content.encode()), "torn"
        check_trail(peer.state, deaths=death + 1, writes=writes)
        for left in file.parent.glob(".strictwire-*"):
            left.unlink()
    print("writes", writes, "deaths", DEATHS)


def check_trail(state: Path, *, deaths: int, writes: int) -> None:
    """Every write has its intent; all but those that a death cut off have their outcome, and it is the truth."""
    paths = sorted((state / "audit").rglob("audit-log*.jsonl"))
    lines = [line for path in paths for line in path.read_bytes().splitlines() if line.endswith(b"}")]
    mine = [each for each in map(parse_object, lines) if each.get("tool_name") == "write_file"]
    intents = {each["call_id"] for each in mine if each["kind"] == "intent"}
    outcomes = {each["call_id"]: each["outcome"] for each in mine if each["kind"] == "outcome"}

    assert set(outcomes) <= intents
    assert set(outcomes.values()) <= {"ok"}
    assert writes - deaths <= len(outcomes) <= len(intents) <= writes
    assert len(intents - outcomes.keys()) <= deaths
