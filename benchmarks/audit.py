"""What the audit trail costs: verification against bare hashing, and recording in each mode.

    python -m benchmarks.audit [folder]

Everything is measured in one run, side by side, and the median of several rounds is given; ratios matter, figures are the
machine's. The folder should be on the disk that is meant: memory file systems make syncs free.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.fixture import write_fixture
from strictwire.audit.event import Call, End, Origin, render_body
from strictwire.stores.jsonl import JsonlRecorder, Mode, Trail, open_log, open_recorder
from strictwire.stores.trail.judge import verify_trail
from strictwire.stores.trail.keys import read_public_key

RECORDS = 200_000
ROUNDS = 5
CALLS = 16_000
IN_FLIGHT = 32
DIGEST = "sha256:" + "0123456789abcdef" * 4
ORIGIN = Origin(
    principal="alice",
    session_id="6d0c2b5e-5f0a-4f6e-9d59-0a7f3c1f2b11",
    transport="http",
    profile="mcp",
    method="tools/call",
    tool_name="add",
    contract=DIGEST,
    policy="1",
    args_digest=DIGEST,
)


def event() -> Call:
    return Call(timestamp="2026-01-01T00:00:00.000Z", origin=ORIGIN, end=End(duration_us=25, result_digest=DIGEST))


def trail_in(root: Path, mode: Mode = Mode.SYNC) -> Trail:
    return Trail(folder=root / "audit", key_path=root / "keys" / "audit.key", mode=mode)


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def bench_verify(root: Path) -> float:
    trail = trail_in(root)
    log = open_log(trail)
    for _ in range(RECORDS // 1_000):
        log.append_unsynced([render_body(event())] * 1_000)
        if log.unsigned >= trail.schedule.checkpoint_records:
            log.sign()
    log.sign()
    log.close()
    key = read_public_key(trail.key_path)
    files = sorted(trail.folder.glob("audit-log*.jsonl"))

    def hash_only() -> None:
        for path in files:
            with path.open("rb") as lines:
                for line in lines:
                    hashlib.sha256(line).digest()

    def verify() -> None:
        assert verify_trail(trail.folder, key, anchor=trail.anchor_path).signed == RECORDS

    pairs = [(seconds(hash_only), seconds(verify)) for _ in range(ROUNDS)]
    bare, whole = (statistics.median(side) for side in zip(*pairs, strict=True))
    ratio = statistics.median(after / before for before, after in pairs)
    size = sum(path.stat().st_size for path in files)
    print(
        f"verify: {RECORDS:,} records, {size / 1e6:.0f} MB: {RECORDS / whole:,.0f} records/s, {size / whole / 1e6:.0f} MB/s"
    )
    print(f"  hashing each line only: {RECORDS / bare:,.0f} records/s; verify takes {ratio:.2f} times as long (at most 8)")
    return ratio


class StdioServer:
    """A strictwire server in a process of its own, with a window of requests in flight."""

    def __init__(self, root: Path, mode: str) -> None:
        root.mkdir(parents=True)
        tools = write_fixture(root / "tools.json")
        audit = {"MODE": mode, "FOLDER": str(root / "audit"), "KEY": str(root / "keys" / "audit.key")}
        environment = {f"STRICTWIRE_AUDIT_{name}": value for name, value in audit.items()}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.servers.ours", "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **environment, "BENCH_TOOLS": str(tools)},
            cwd=Path(__file__).parent.parent,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        self._rest = b""
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self._send({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello})
        self._answers(1)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def calls_a_second(self, in_flight: int, calls: int) -> float:
        """Keep so many calls in flight until so many are answered; every answer is checked."""
        parameters = {"name": "add", "arguments": {"a": 1, "b": 2}}
        call = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "tools/call", "params": parameters})
        head, tail = (part.encode() for part in call.split('"id": 0'))
        lines = [b'%b"id": %d%b\n' % (head, number, tail) for number in range(calls)]
        started = time.perf_counter()
        sent, answered = in_flight, 0
        os.write(self._in, b"".join(lines[:sent]))
        while answered < calls:
            got = self._answers(1)
            assert all(b'"sum":3' in answer for answer in got)
            answered += len(got)
            more = lines[sent : sent + len(got)]
            sent += len(more)
            if more:
                os.write(self._in, b"".join(more))
        return calls / (time.perf_counter() - started)

    def close(self) -> None:
        """End of input: the server stops by itself."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)

    def _send(self, message: dict[str, object]) -> None:
        os.write(self._in, json.dumps(message).encode() + b"\n")

    def _answers(self, least: int) -> list[bytes]:
        while self._rest.count(b"\n") < least:
            block = os.read(self._out, 1 << 16)
            assert block, "the server went away"
            self._rest += block
        *lines, self._rest = self._rest.split(b"\n")
        return lines


def bench_modes(root: Path, in_flight: int, calls: int) -> float:
    """All three modes side by side: servers live at the same time and take turns. Returns what `sync` has of `off`."""
    servers = {mode: StdioServer(root / f"{mode}-{in_flight}", mode) for mode in ("off", "batched", "sync")}
    rates: dict[str, list[float]] = {mode: [] for mode in servers}
    for _ in range(ROUNDS + 1):
        for mode, server in servers.items():
            rates[mode].append(server.calls_a_second(in_flight, calls))
    for server in servers.values():
        server.close()
    rounds = list(zip(*(measured[1:] for measured in rates.values()), strict=True))
    print(f"stdio server, small call, {in_flight} in flight:")
    for place, mode in enumerate(rates):
        rate = statistics.median(turn[place] for turn in rounds)
        part = statistics.median(turn[place] / turn[0] for turn in rounds)
        print(f"  {mode:8} {rate:9,.0f} calls/s  {part:6.1%} of off")
    return float(statistics.median(turn[-1] / turn[0] for turn in rounds))


async def bench_recorder(root: Path, in_flight: int, records: int) -> None:
    """The recorder alone, without a server around it."""
    for mode in Mode:
        recorder = await open_recorder(trail_in(root / f"recorder-{mode}", mode))
        numbers = iter(range(records))

        async def caller(recorder: JsonlRecorder = recorder, numbers: Iterator[int] = numbers) -> None:
            for _ in numbers:
                assert await recorder.record(event()) is None

        started = time.perf_counter()
        await asyncio.gather(*(caller() for _ in range(in_flight)))
        rate = records / (time.perf_counter() - started)
        await recorder.close()
        print(f"recorder alone, {mode}, {in_flight} in flight: {rate:,.0f} records/s")


def main() -> int:
    """Exit code 1: a figure was not reached."""
    base = sys.argv[1] if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory(dir=base) as folder:
        slower = bench_verify(Path(folder) / "verify")
        asyncio.run(bench_recorder(Path(folder), IN_FLIGHT, CALLS))
        share = bench_modes(Path(folder), IN_FLIGHT, CALLS)
        bench_modes(Path(folder), 1, CALLS // 8)
    missed = [f"verify: {slower:.2f}, at most 8"] * (slower > 8) + [f"sync: {share:.1%} of off, at least 60%"] * (
        share < 0.6
    )
    print("\n".join(["missed:", *missed] if missed else ["every figure was reached"]))
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
