"""kill -9 while files are written: every file is the old or the new one, and the trail says which."""

from __future__ import annotations

import os
import random
import threading
import time
from pathlib import Path

import pytest
from tests.packs.workspace.desk import sha256
from tests.packs.workspace.peer import Peer
from tests.packs.workspace.test_stress import approve

from strictwire.canon.digest import digest
from strictwire.stores.files.keys import read_public_key
from strictwire.stores.files.reading import read_trail
from strictwire.stores.files.verify import verify_trail
from strictwire.stores.records import Filters

WRITES = int(os.environ.get("STRESS_WRITES", "200"))
FILES = 8
MOST = 30
"""Writes that a server lives through, at most."""


class Ledger:
    """What the trail says of each write, found by the digest of its arguments."""

    def __init__(self, state: Path) -> None:
        entries = [entry.record for entry in read_trail(state / "audit", Filters(tool="write_file"))]
        self.intents = {each["args_digest"] for each in entries if each["kind"] == "intent"}
        self.outcomes = {each["args_digest"]: each["outcome"] for each in entries if each["kind"] == "outcome"}


@pytest.mark.slow
@pytest.mark.clause("S7")
def test_no_death_tears_a_file_and_the_trail_says_what_became_of_each_write(tmp_path: Path) -> None:
    seed = int(os.environ.get("STRESS_SEED", "0")) or random.randrange(1 << 32)
    chance = random.Random(seed)
    print("seed", seed)
    plan_hash = approve(tmp_path)
    files = [tmp_path / f"work/src/f{number}" for number in range(FILES)]
    for file in files:
        file.write_bytes(b"0" * 50_000)
    held = {file: file.read_bytes() for file in files}
    sent: dict[str, tuple[Path, bytes]] = {}
    fates = {"old": 0, "new": 0}
    while len(sent) < WRITES:
        with Peer(tmp_path) as peer:
            session = peer.begin("WINDSURF")
            base = {"session_id": session, "plan_hash": plan_hash, "phase_id": "PHASE_1"}
            usual = 0.02
            for left in range(chance.randint(1, MOST), -1, -1):
                file = chance.choice(files)
                content = f"{len(sent):010}" * chance.randint(1, 10_000)
                seen = {"path": f"src/{file.name}", "content": content, "previousHash": sha256(held[file])}
                sent[digest(base | seen)] = file, content.encode()
                if left == 0:
                    # Anywhere in a write, however fast this machine is.
                    timer = threading.Timer(chance.uniform(0.0, 1.2 * usual), peer.process.kill)
                    timer.start()
                started = time.monotonic()
                answer = peer.call("write_file", **base, **seen)
                if left == 0:
                    timer.join()
                if answer is None:
                    break
                assert not answer.get("isError"), answer
                held[file], usual = content.encode(), time.monotonic() - started
        last, (file, new) = list(sent.items())[-1]
        ledger = Ledger(peer.state)
        now = file.read_bytes()
        assert now in (held[file], new), "torn"
        assert last not in ledger.outcomes or now == new, "told as done, and not done"
        assert last in ledger.intents or now == held[file], "done without a record before it"
        fates["new" if now == new else "old"] += 1
        held[file] = now
        assert {each: each.read_bytes() for each in files} == held

    ledger = Ledger(peer.state)
    assert set(ledger.outcomes.values()) == {"ok"}
    assert set(ledger.outcomes) <= ledger.intents <= set(sent)
    accounted = {sent[each] for each in ledger.intents}
    assert all((file, data) in accounted for file, data in held.items() if data != b"0" * 50_000)
    with Peer(tmp_path) as peer:
        peer.begin("WINDSURF")
    judged = verify_trail(peer.state / "audit", read_public_key(peer.state / "keys" / "audit.key"))
    assert judged.ok, judged
    print("writes", len(sent), "deaths", sum(fates.values()), "files after the write that was cut off", fates)
