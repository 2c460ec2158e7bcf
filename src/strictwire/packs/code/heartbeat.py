"""Progress of calls that take long: an engine that indexes says nothing, and clients give up on silent calls."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from strictwire.contract.handler import CallContext

INTERVAL: Final = 2.0
"""Seconds between two messages, and before the first: most calls end before it."""


@contextmanager
def heartbeat(call: CallContext, interval: float = INTERVAL) -> Iterator[None]:
    """Reports the seconds that have passed for as long as the block runs. Costs a timer and no task."""
    loop = asyncio.get_running_loop()
    beats = 0
    timer: asyncio.TimerHandle

    def beat() -> None:
        nonlocal beats, timer
        beats += 1
        call.progress(beats * interval, None, "Waiting for the engine")
        timer = loop.call_later(interval, beat)

    timer = loop.call_later(interval, beat)
    try:
        yield
    finally:
        timer.cancel()
