"""Runs the main coroutine of a process, and ends the process even if a handler ignores its cancellation.

`asyncio.run` waits for every task without a limit. One handler that swallows CancelledError would keep the process alive
after SIGTERM, until a supervisor kills it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Coroutine
from typing import Final

GRACE_SECONDS: Final = 5.0
"""How long cancelled handlers may clean up. Supervisors send SIGKILL after 10 seconds (Docker) or more."""

log = logging.getLogger("strictwire.server")


def run_main(main: Coroutine[None, None, None]) -> None:
    """Run `main` to its end. What it opened is closed by then; handlers that are left have no call to answer."""
    asyncio.run(_run_and_leave(main))


async def _run_and_leave(main: Coroutine[None, None, None]) -> None:
    try:
        await main
    finally:
        await _end_handlers()


async def _end_handlers() -> None:
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    deaf = (await asyncio.wait(left, timeout=GRACE_SECONDS))[1] if left else set()
    if deaf:
        log.warning("%d handlers ignored their cancellation for %g s; ending without them", len(deaf), GRACE_SECONDS)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
