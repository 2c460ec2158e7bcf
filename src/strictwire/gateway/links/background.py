"""When the guard tries an upstream again, and the exceptions of tasks that several requests wait for."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from typing import Any, Final

RETRY_SECONDS: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Waits before an upstream, or a subscription to it, is tried again. Half a minute is what a person notices as down."""


def retry_delays() -> Iterator[float]:
    """The waits between attempts, without end."""
    return itertools.chain(RETRY_SECONDS, itertools.repeat(RETRY_SECONDS[-1]))


def retrieve_exception(task: asyncio.Task[Any]) -> None:
    """Mark the exception of a task as seen: every request that waited for it may have been cancelled."""
    if not task.cancelled():
        task.exception()
