"""Concurrent writes, an attacker who swaps links, and killed processes."""

from __future__ import annotations

import asyncio
import os
import random
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.packs.workspace.harness import (
    BUILDER,
    PLANNER,
    Harness,
    ToolRefused,
    open_harness,
    report,
    sha256,
)
from tests.packs.workspace.server_process import ServerProcess, approve

from strictwire.canon.json import parse_object

PAIRS = int(os.environ.get("STRESS_PAIRS", "100"))
ATTACK_SECONDS = float(os.environ.get("STRESS_ATTACK_SECONDS", "3"))
KILLS = int(os.environ.get("STRESS_KILLS", "4"))


@pytest.mark.slow
@pytest.mark.clause("S12")
def test_of_two_writes_with_the_same_previous_hash_exactly_one_wins(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_harness(tmp_path) as harness:
            (harness.root / "src").mkdir()
            (harness.root / "src/a").write_bytes(b"0")
            planner = await harness.begin(PLANNER, "ANTIGRAVITY")
            base: dict[str, Any] = {"plan_hash": await harness.approved(planner), "phase_id": "PHASE_1", "path": "src/a"}
            base |= {"session_id": await harness.begin(BUILDER, "WINDSURF")}
            seen = sha256(b"0")
            for number in range(PAIRS):
                writes = [
                    harness.connections[BUILDER].call_tool(
                        "write_file", base | {"previousHash": seen, "content": f"{number}{side}"}
                    )
                    for side in "ab"
                ]
                results = await asyncio.gather(*writes)
                won = [each["structuredContent"] for each in results if not each.get("isError")]
                lost = [each["structuredContent"]["error_code"] for each in results if each.get("isError")]
                assert (len(won), lost) == (1, ["HASH_MISMATCH"])
                seen = won[0]["sha256"]
                assert sha256((harness.root / "src/a").read_bytes()) == seen

    asyncio.run(asyncio.wait_for(use(), 600))


async def unlock(harness: Harness, session: str, number: int) -> None:
    lock = (await harness.call(BUILDER, "session_status", session_id=session))["lock"]
    if lock is not None:
        path = f"docs/reports/{number}-{time.monotonic_ns()}.md"
        text = report(lock["session_id"], lock["code"])
        await harness.call(BUILDER, "write_file", session_id=session, path=path, content=text)


@pytest.mark.slow
@pytest.mark.clause("S12")
def test_an_attacker_who_swaps_links_moves_no_byte_across_the_root(tmp_path: Path) -> None:
    """A folder is repeatedly swapped for a link to the outside while files in it are read and written."""
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
        async with open_harness(tmp_path) as harness:
            folder = harness.root / "src/d"
            folder.mkdir(parents=True)
            (folder / "f").write_text("inside")
            planner = await harness.begin(PLANNER, "ANTIGRAVITY")
            base: dict[str, Any] = {"plan_hash": await harness.approved(planner), "phase_id": "PHASE_1"}
            attacker = threading.Thread(target=swap, args=(folder,))
            attacker.start()
            until = time.monotonic() + ATTACK_SECONDS
            number = 0
            try:
                while time.monotonic() < until:
                    session = await harness.begin(BUILDER, "WINDSURF")
                    number += 1
                    for tool, more in (
                        ("read_file", {"path": "src/d/f"}),
                        ("write_file", base | {"path": f"src/d/new{number}", "content": "x"}),
                    ):
                        try:
                            answer = await harness.call(BUILDER, tool, session_id=session, **more)
                            assert answer.get("content") != "SECRET"
                            met["ok"] = met.get("ok", 0) + 1
                        except ToolRefused as exc:
                            met[exc.code] = met.get(exc.code, 0) + 1
                            await unlock(harness, session, number)
                    await harness.call(BUILDER, "end_session", session_id=session)
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


@pytest.mark.slow
@pytest.mark.clause("S7")
def test_a_killed_write_leaves_the_old_or_the_new_file_and_the_trail_has_which(tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    chance = random.Random(seed)
    print("seed", seed)
    plan_hash = approve(tmp_path)
    file = tmp_path / "work/src/a"
    file.write_bytes(b"0" * 200_000)
    writes = 0
    for kill in range(KILLS):
        known = file.read_bytes()
        with ServerProcess(tmp_path) as process:
            session = process.begin("WINDSURF")
            base = {"session_id": session, "path": "src/a", "plan_hash": plan_hash, "phase_id": "PHASE_1"}
            timer = threading.Timer(chance.uniform(0.0, 1.5), process.process.kill)
            timer.start()
            while True:
                writes += 1
                content = f"{kill % 10}{writes:09d}" * 20_000
                answer = process.call("write_file", content=content, previousHash=sha256(known), **base)
                if answer is None:
                    break
                assert not answer.get("isError"), answer
                known = content.encode()
            timer.join()
        now = file.read_bytes()
        assert now in (known, content.encode()), "torn"
        check_trail(process.state, kills=kill + 1, writes=writes)
        for left in file.parent.glob(".strictwire-*"):
            left.unlink()
    print("writes", writes, "kills", KILLS)


def check_trail(state: Path, *, kills: int, writes: int) -> None:
    """Every write has an intent record, and every write that was not interrupted has a correct outcome record."""
    paths = sorted((state / "audit").rglob("audit-log*.jsonl"))
    lines = [line for path in paths for line in path.read_bytes().splitlines() if line.endswith(b"}")]
    mine = [each for each in map(parse_object, lines) if each.get("tool_name") == "write_file"]
    intents = {each["call_id"] for each in mine if each["kind"] == "intent"}
    outcomes = {each["call_id"]: each["outcome"] for each in mine if each["kind"] == "outcome"}

    assert set(outcomes) <= intents
    assert set(outcomes.values()) <= {"ok"}
    assert writes - kills <= len(outcomes) <= len(intents) <= writes
    assert len(intents - outcomes.keys()) <= kills
