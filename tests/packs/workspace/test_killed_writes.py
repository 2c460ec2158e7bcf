"""kill -9 during writes: every file has the old or the new content, and the trail shows which."""

from __future__ import annotations

import os
import random
import threading
import time
from pathlib import Path

import pytest
from tests.packs.workspace.harness import sha256
from tests.packs.workspace.server_process import ServerProcess, approve

from strictwire.canon.digest import digest
from strictwire.stores.files.keys import read_public_key
from strictwire.stores.files.reading import read_trail
from strictwire.stores.files.verify import verify_trail
from strictwire.stores.records import Filters

WRITES = int(os.environ.get("STRESS_WRITES", "200"))
FILES = 8
MAX_WRITES = 30
"""Most writes before a server is killed."""


class WriteRecords:
    """The trail's records of each write, found by the digest of its arguments."""

    def __init__(self, state: Path) -> None:
        entries = [entry.record for entry in read_trail(state / "audit", Filters(tool="write_file"))]
        self.intents = {each["args_digest"] for each in entries if each["kind"] == "intent"}
        self.outcomes = {each["args_digest"]: each["outcome"] for each in entries if each["kind"] == "outcome"}


@pytest.mark.slow
@pytest.mark.clause("S7")
def test_a_killed_process_never_tears_a_file_and_the_trail_has_the_outcome_of_each_write(tmp_path: Path) -> None:
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
        with ServerProcess(tmp_path) as process:
            session = process.begin("WINDSURF")
            base = {"session_id": session, "plan_hash": plan_hash, "phase_id": "PHASE_1"}
            usual = 0.02
            for left in range(chance.randint(1, MAX_WRITES), -1, -1):
                file = chance.choice(files)
                content = f"{len(sent):010}" * chance.randint(1, 10_000)
                seen = {"path": f"src/{file.name}", "content": content, "previousHash": sha256(held[file])}
                sent[digest(base | seen)] = file, content.encode()
                if left == 0:
                    # At a random point of the write, relative to how long a write takes on this machine.
                    timer = threading.Timer(chance.uniform(0.0, 1.2 * usual), process.process.kill)
                    timer.start()
                started = time.monotonic()
                answer = process.call("write_file", **base, **seen)
                if left == 0:
                    timer.join()
                if answer is None:
                    break
                assert not answer.get("isError"), answer
                held[file], usual = content.encode(), time.monotonic() - started
        last, (file, new) = list(sent.items())[-1]
        records = WriteRecords(process.state)
        now = file.read_bytes()
        assert now in (held[file], new), "torn"
        assert last not in records.outcomes or now == new, "told as done, and not done"
        assert last in records.intents or now == held[file], "done without a record before it"
        fates["new" if now == new else "old"] += 1
        held[file] = now
        assert {each: each.read_bytes() for each in files} == held

    records = WriteRecords(process.state)
    assert set(records.outcomes.values()) == {"ok"}
    assert set(records.outcomes) <= records.intents <= set(sent)
    accounted = {sent[each] for each in records.intents}
    assert all((file, data) in accounted for file, data in held.items() if data != b"0" * 50_000)
    with ServerProcess(tmp_path) as process:
        process.begin("WINDSURF")
    judged = verify_trail(process.state / "audit", read_public_key(process.state / "keys" / "audit.key"))
    assert judged.ok, judged
    print("writes", len(sent), "deaths", sum(fates.values()), "files after the write that was cut off", fates)
