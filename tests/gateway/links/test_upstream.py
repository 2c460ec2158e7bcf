"""The processes of an upstream end with it, even if the task that ends them is cancelled."""

from __future__ import annotations

import asyncio
import os

import pytest

from strictwire.client.message import Identity
from strictwire.gateway.links.connector import UpstreamTarget
from strictwire.gateway.links.link import NullListener
from strictwire.gateway.links.stdio_link import StdioLink
from strictwire.gateway.links.upstream import Upstream
from tests.fixtures.guards import PYTHON

STUBBORN = UpstreamTarget(command=(PYTHON, "-S", "-c", "import time; print(flush=True); time.sleep(3600)"))
"""It does not end with its input."""


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
def test_a_process_ends_even_if_its_closing_is_cancelled() -> None:
    async def run() -> tuple[bool, bool]:
        upstream = Upstream(STUBBORN, Identity(name="test", version="1"))
        link = await upstream.session_link(NullListener())
        assert isinstance(link, StdioLink)
        pid = link._process.pid
        closing = asyncio.create_task(link.close())
        await asyncio.sleep(0)
        closing.cancel()
        await asyncio.gather(closing, return_exceptions=True)
        before = is_running(pid)
        await upstream.close()
        return before, is_running(pid)

    assert asyncio.run(run()) == (True, False)
