"""A process that writes to a trail: says `opened`, then the name of each record that was kept. Tests kill it."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from strictwire.audit.event import Call, render_body
from strictwire.fault.failure import Failure
from strictwire.stores.files.config import TrailConfig
from strictwire.stores.files.trail import open_trail
from strictwire.stores.schedule import Mode, Schedule


async def main(root: Path, label: str, count: int, mode: str) -> None:
    trail = TrailConfig(
        folder=root / "audit",
        key_path=root / "keys" / "audit.key",
        mode=Mode(mode),
        rotate_bytes=60_000,
        schedule=Schedule(checkpoint_records=50),
        lock_seconds=30.0,
    )
    recorder = await open_trail(trail)
    print("opened", flush=True)
    names = iter(range(count))

    async def caller() -> None:
        for number in names:
            name = f"{label}-{number}"
            body = render_body(Call(timestamp="T", call_id=name, duration_us=1))
            kept: asyncio.Future[Failure | None] = asyncio.get_running_loop().create_future()
            recorder.append([body], kept.set_result)
            failure = await kept
            # One write: a line of the parent is whole or absent.
            sys.stdout.write(f"{name}\n" if failure is None else f"failed {failure.details['reason']}\n")
            sys.stdout.flush()

    await asyncio.gather(*(caller() for _ in range(8)))
    await recorder.close()


asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]))
