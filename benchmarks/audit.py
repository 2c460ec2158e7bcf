"""What the audit trail costs: verification against bare hashing, and recording in each mode.

    python benchmarks/audit.py [folder]

Everything is measured in one run, side by side, and the median of several rounds is given; ratios matter, figures are the
machine's. The folder should be on the disk that is meant: memory file systems make syncs free.
"""

from __future__ import annotations

import asyncio
import hashlib
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from strictwire.audit.event import Call, End, Origin, render_body
from strictwire.audit.recorder import Recorder
from strictwire.stores.jsonl import Mode, Trail, open_log, open_recorder
from strictwire.stores.memory import NoRecorder
from strictwire.stores.trail.judge import verify_trail
from strictwire.stores.trail.keys import read_public_key

RECORDS = 200_000
ROUNDS = 5
CALLS = 16_000
IN_FLIGHT = 32
WORK_SECONDS = 30e-6
"""What a small call costs a server besides its record, spent here in a loop: about 33,000 calls a second."""

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


def bench_verify(root: Path) -> None:
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


async def run_calls(recorder: Recorder, in_flight: int, calls: int) -> float:
    numbers = iter(range(calls))

    async def caller() -> None:
        for _ in numbers:
            busy_until = time.perf_counter() + WORK_SECONDS
            while time.perf_counter() < busy_until:
                pass
            failure = await recorder.record(event())
            assert failure is None

    started = time.perf_counter()
    await asyncio.gather(*(caller() for _ in range(in_flight)))
    return calls / (time.perf_counter() - started)


async def bench_modes(root: Path, in_flight: int, calls: int) -> None:
    rates: dict[str, list[float]] = {"off": [], "batched": [], "sync": []}
    for turn in range(ROUNDS):
        rates["off"].append(await run_calls(NoRecorder(), in_flight, calls))
        for mode in (Mode.BATCHED, Mode.SYNC):
            recorder = await open_recorder(trail_in(root / f"{mode}-{in_flight}-{turn}", mode))
            rates[mode.value].append(await run_calls(recorder, in_flight, calls))
            await recorder.close()
    off = statistics.median(rates["off"])
    print(f"calls with {WORK_SECONDS * 1e6:.0f} us of other work, {in_flight} in flight:")
    for name, measured in rates.items():
        rate = statistics.median(measured)
        print(f"  {name:8} {rate:9,.0f} calls/s  {rate / off:6.1%} of off")


def main() -> None:
    base = sys.argv[1] if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory(dir=base) as folder:
        bench_verify(Path(folder) / "verify")
        asyncio.run(bench_modes(Path(folder), IN_FLIGHT, CALLS))
        asyncio.run(bench_modes(Path(folder), 1, CALLS // 16))


if __name__ == "__main__":
    main()
