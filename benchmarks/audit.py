"""The cost of the audit trail: verification relative to hashing only, and recording in each mode.

    python -m benchmarks.audit [folder]

All variants take turns in one run, and medians over several rounds are printed. Ratios are comparable between machines,
absolute figures are not. The folder should be on a real disk: on an in-memory file system, a sync costs nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from benchmarks.drive import Load, Pipes, Sockets
from benchmarks.fixture import add_calls
from benchmarks.messages import CallStream, Revision
from benchmarks.peers import OURS, Contender
from strictwire.audit.event import Call, render_body
from strictwire.fault.failure import Failure
from strictwire.stores.files.config import TrailConfig, open_writer
from strictwire.stores.files.keys import read_public_key
from strictwire.stores.files.trail import FileTrail, open_trail
from strictwire.stores.files.verify import verify_trail
from strictwire.stores.schedule import Mode

RECORDS = 200_000
ROUNDS = 5
RECORDED = 16_000
IN_FLIGHT = 32
SECONDS = 0.4
DIGEST = "sha256:" + "0123456789abcdef" * 4


def event() -> Call:
    return Call(
        timestamp="2026-01-01T00:00:00.000Z",
        principal="alice",
        session_id="6d0c2b5e-5f0a-4f6e-9d59-0a7f3c1f2b11",
        transport="http",
        profile="mcp",
        method="tools/call",
        tool_name="add",
        contract=DIGEST,
        policy="1",
        args_digest=DIGEST,
        duration_us=25,
        result_digest=DIGEST,
    )


def trail_in(root: Path, mode: Mode = Mode.SYNC) -> TrailConfig:
    return TrailConfig(folder=root / "audit", key_path=root / "keys" / "audit.key", mode=mode)


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def bench_verify(root: Path) -> float:
    trail = trail_in(root)
    log = open_writer(trail)
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
    print(f"  hashing each line only: {RECORDS / bare:,.0f} records/s; verify takes {ratio:.2f} times as long (goal: ≤ 8)")
    return ratio


def bench_modes(*, http: bool, in_flight: int) -> float:
    """Measure all three modes in alternation. Returns the rate of `sync` as a share of `off`."""
    rates: dict[str, list[float]] = {mode: [] for mode in ("off", "batched", "sync")}
    with ExitStack() as stack:
        clients = {mode: _open(stack, replace(OURS, audit=mode), http=http) for mode in rates}
        for _ in range(ROUNDS + 1):
            for mode, client in clients.items():
                measured = client.drive(CallStream(add_calls(), Revision.LEGACY), Load(in_flight=in_flight, seconds=SECONDS))
                rates[mode].append(measured.rate)
    rounds = list(zip(*(measured[1:] for measured in rates.values()), strict=True))
    print(f"{'HTTP, connections' if http else 'stdio, calls in flight'}: {in_flight}")
    for index, mode in enumerate(rates):
        rate = statistics.median(turn[index] for turn in rounds)
        part = statistics.median(turn[index] / turn[0] for turn in rounds)
        print(f"  {mode:8} {rate:9,.0f} calls/s  {part:6.1%} of off")
    return float(statistics.median(turn[-1] / turn[0] for turn in rounds))


def _open(stack: ExitStack, contender: Contender, *, http: bool) -> Pipes | Sockets:
    running = stack.enter_context(contender.serve(http=http))
    if not http:
        return Pipes(running, Revision.LEGACY)
    sockets = Sockets(running, Revision.LEGACY)
    stack.callback(sockets.close)
    return sockets


async def bench_recorder(root: Path, in_flight: int, records: int) -> None:
    """Measure the recorder without a server."""
    for mode in Mode:
        recorder = await open_trail(trail_in(root / f"recorder-{mode}", mode))
        numbers = iter(range(records))

        async def caller(recorder: FileTrail = recorder, numbers: Iterator[int] = numbers) -> None:
            for _ in numbers:
                done: asyncio.Future[Failure | None] = asyncio.get_running_loop().create_future()
                recorder.append([render_body(event())], done.set_result)
                assert await done is None

        started = time.perf_counter()
        await asyncio.gather(*(caller() for _ in range(in_flight)))
        rate = records / (time.perf_counter() - started)
        await recorder.close()
        print(f"recorder only, {mode}, {in_flight} in flight: {rate:,.0f} records/s")


def main() -> int:
    """Run everything. Returns 1 if a goal is missed."""
    base = sys.argv[1] if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory(dir=base) as folder:
        slower = bench_verify(Path(folder) / "verify")
        asyncio.run(bench_recorder(Path(folder), IN_FLIGHT, RECORDED))
    shares = {
        f"{'HTTP' if http else 'stdio'}, {in_flight} in flight": bench_modes(http=http, in_flight=in_flight)
        for in_flight in (IN_FLIGHT, 1)
        for http in (True, False)
    }
    missed = [f"verify takes {slower:.2f} times as long; goal: at most 8"] * (slower > 8)
    missed += [
        f"{name}: sync reaches {share:.1%} of off; goal: at least 40%"
        for name, share in shares.items()
        if share < 0.4 and name.endswith(f"{IN_FLIGHT} in flight")
    ]
    print("\n".join(["missed:", *missed] if missed else ["all goals reached"]))
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
