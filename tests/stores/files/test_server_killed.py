"""kill -9 of a real server under load: every answer that left has its records, and the log verifies every time."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from strictwire.canon.digest import digest
from strictwire.stores.files.disk import FolderDisk
from strictwire.stores.files.keys import read_public_key
from strictwire.stores.files.verify import verify_trail
from tests.stores.trails import records_of, trail_in

SERVER = Path(__file__).parent.parent / "served.py"
SEED = 20260116
KILLS = 50
IN_FLIGHT = 32
TOOLS = ("look", "change")
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


class Session:
    """A server process and a client that keeps calls in flight."""

    def __init__(self, root: Path, first: int) -> None:
        trail = trail_in(root)
        audit = {"MODE": "sync", "FOLDER": str(trail.folder), "KEY": str(trail.key_path), "ROTATE_BYTES": "200000"}
        self._process = subprocess.Popen(
            [sys.executable, str(SERVER), "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **{f"STRICTWIRE_AUDIT_{name}": value for name, value in audit.items()}},
            bufsize=0,
        )
        self._next = first
        self.answered: list[int] = []
        self._send({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": HELLO})
        assert b'"hello"' in self._process.stdout.readline()
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def load(self, answers: int) -> None:
        for _ in range(IN_FLIGHT):
            self._call()
        for _ in range(answers):
            self._take(self._process.stdout.readline())
            self._call()

    def kill(self) -> int:
        """End it; what it had still written counts as answered. Returns the next free number."""
        self._process.send_signal(signal.SIGKILL)
        for line in self._process.stdout:
            if line.endswith(b"\n"):
                self._take(line)
        self._process.wait(10)
        self._process.stdout.close()
        self._process.stdin.close()
        return self._next

    def _call(self) -> None:
        parameters = {"name": TOOLS[self._next % 2], "arguments": {"number": self._next}}
        self._send({"jsonrpc": "2.0", "id": self._next, "method": "tools/call", "params": parameters})
        self._next += 1

    def _send(self, message: object) -> None:
        self._process.stdin.write(json.dumps(message).encode() + b"\n")

    def _take(self, line: bytes) -> None:
        answer = json.loads(line)
        assert answer["result"]["structuredContent"] == {"result": answer["id"]}
        self.answered.append(answer["id"])


def _expected(numbers: list[int]) -> Counter[tuple[str, str]]:
    """Kind and argument digest of the records that these calls must have."""
    kinds = {"look": ("call",), "change": ("intent", "outcome")}
    return Counter((kind, digest({"number": number})) for number in numbers for kind in kinds[TOOLS[number % 2]])


@pytest.mark.slow
@pytest.mark.clause("S7")
def test_a_server_killed_fifty_times_under_load_has_lost_no_answered_call(tmp_path: Path):
    dice = random.Random(SEED)
    print("seed", SEED)
    trail = trail_in(tmp_path)
    answered: list[int] = []
    number = 0
    for _ in range(KILLS):
        session = Session(tmp_path, number)
        session.load(dice.randrange(0, 150))
        number = session.kill()
        answered += session.answered
        verdict = verify_trail(trail.folder, read_public_key(trail.key_path), anchor=trail.anchor_path)

        assert verdict.finding is None, verdict.finding
    kept = Counter((record["kind"], record.get("args_digest")) for record in records_of(FolderDisk(trail.folder)))

    assert not _expected(answered) - kept
