"""Starts coroutines as tasks: eagerly where Python can (3.12 and later), in the next turn of the event loop before that.

An eager task runs its first step at once. Most messages and most handlers never wait, so they end inside the call that
started them, and the event loop never sees them.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeAlias

StartTask: TypeAlias = Callable[[Coroutine[Any, Any, Any]], asyncio.Task[Any]]
"""Starts a coroutine. The task may be done already."""


def task_starter() -> StartTask:
    """How tasks are started on the running event loop."""
    loop = asyncio.get_running_loop()
    if sys.version_info >= (3, 12):
        return partial(asyncio.Task, loop=loop, eager_start=True)
    return loop.create_task
