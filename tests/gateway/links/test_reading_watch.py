"""A process that does not read its input: callers wait, then it is ended, and another is started."""

from __future__ import annotations

import asyncio
import sys

import pytest

from strictwire.client.errors import ClientError, ServerGone
from strictwire.client.message import Era
from strictwire.client.stdio import StdioProcess
from strictwire.gateway.links import reading_watch, stdio_link
from strictwire.gateway.links.link import NullListener
from strictwire.gateway.links.stdio_link import StdioLink
from tests.fixtures.live import PATIENCE

pytestmark = pytest.mark.slow

MEGABYTE = 1024 * 1024
LINE = b'{"jsonrpc":"2.0","method":"notifications/x","params":{"text":"' + b"x" * MEGABYTE + b'"}}'

DEAF = "import time; time.sleep(600)"
SLOW = "import sys\nfor _ in sys.stdin.buffer: sys.stdout.write('read\\n'); sys.stdout.flush()"


async def open_link(code: str, ends: list[ClientError]) -> tuple[StdioLink, StdioProcess]:
    process = await StdioProcess.start([sys.executable, "-c", code])
    return StdioLink(process, era=Era.LEGACY, listener=NullListener(), on_end=ends.append), process


async def send_all(link: StdioLink, number: int) -> list[object]:
    async with asyncio.timeout(PATIENCE):
        return list(await asyncio.gather(*(link.send(LINE) for _ in range(number)), return_exceptions=True))


def test_a_process_that_reads_nothing_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_watch, "READ_SECONDS", 0.05)

    async def run() -> tuple[set[type], int, int | None]:
        ends: list[ClientError] = []
        link, process = await open_link(DEAF, ends)
        sent = await send_all(link, 3)
        await link.close()
        return set(map(type, sent)), len(ends), process.exit_code

    kinds, ends, code = asyncio.run(run())
    assert (kinds, ends, code is not None) == ({ServerGone}, 1, True)


def test_a_process_with_more_unread_than_allowed_is_ended_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio_link, "MAX_UNSENT", 2 * MEGABYTE)

    async def run() -> tuple[set[type], int]:
        ends: list[ClientError] = []
        link, _ = await open_link(DEAF, ends)
        sent = await send_all(link, 5)
        await link.close()
        return set(map(type, sent)), len(ends)

    assert asyncio.run(run()) == ({ServerGone}, 1)


def test_a_process_that_reads_slowly_gets_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_watch, "READ_SECONDS", 2.0)

    async def run() -> tuple[list[object], list[ClientError]]:
        ends: list[ClientError] = []
        link, _ = await open_link(SLOW, ends)
        sent = await send_all(link, 8)
        is_alive = list(ends)
        await link.close()
        return sent, is_alive

    assert asyncio.run(run()) == ([None] * 8, [])
