"""Counts malformed input and commits one Flood record per interval, through the `append` of any store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from strictwire.audit.event import Flood, render_body
from strictwire.audit.flood import FloodGauge
from strictwire.audit.recorder import Done
from strictwire.fault.failure import Failure


class FloodCounter:
    """The counts since the last Flood record. Lives on one event loop."""

    def __init__(
        self, append: Callable[[Sequence[bytes], Done], None], *, interval: float, stamp: Callable[[], str]
    ) -> None:
        self._append = append
        self._interval = interval
        self._stamp = stamp
        self._loop = asyncio.get_running_loop()
        self._gauge = FloodGauge()
        self._timer: asyncio.TimerHandle | None = None

    def count(self, kind: str) -> None:
        """Add one. The first after a record starts the interval."""
        if self._gauge.is_empty:
            self._gauge.open(self._stamp())
            self._start_timer()
        self._gauge.count(kind)

    def flush(self) -> None:
        """Commit the counts now, if there are any."""
        self._stop_timer()
        flood = self._gauge.drain(self._stamp())
        if flood is not None:
            self._append([render_body(flood)], lambda failure: self._settle(flood, failure))

    def _settle(self, flood: Flood, failure: Failure | None) -> None:
        """Add counts that could not be recorded to the next record."""
        if failure is not None:
            self._gauge.put_back(flood)
            self._start_timer()

    def _start_timer(self) -> None:
        self._stop_timer()
        self._timer = self._loop.call_later(self._interval, self.flush)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
