"""Notifications of servers: routed to their request, limited in number, and harmless if a callback fails."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from strictwire.canon.json import JsonObject
from strictwire.client.channel import Callbacks
from strictwire.client.inbox import BURST, Inbox, RequestTimeout


def progress(token: object) -> JsonObject:
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": 1}}  # type: ignore[dict-item]


def test_progress_goes_to_its_request_and_everything_else_to_the_callback() -> None:
    async def main() -> tuple[list[Any], list[Any]]:
        others: list[Any] = []
        mine: list[Any] = []
        inbox = Inbox(Callbacks(on_notification=lambda message, _: others.append(message["params"]["progressToken"])))
        notify = inbox.callbacks.on_notification
        with inbox.progress(1, lambda params: mine.append(params["progressToken"])):
            for token in (1, "1", 2, [1], None):
                notify(progress(token), b"")
        notify(progress(1), b"")
        return mine, others

    assert asyncio.run(main()) == ([1], ["1", 2, [1], None, 1])


def test_a_flood_is_cut_off() -> None:
    async def main() -> int:
        seen: list[bytes] = []
        notify = Inbox(Callbacks(on_notification=lambda _, raw: seen.append(raw))).callbacks.on_notification
        for _ in range(2 * BURST):
            notify(progress(1), b"")
        return len(seen)

    assert BURST <= asyncio.run(main()) < 2 * BURST


def test_a_callback_that_raises_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def fail(_message: JsonObject, _raw: bytes) -> None:
        raise ZeroDivisionError

    async def main() -> None:
        Inbox(Callbacks(on_notification=fail)).callbacks.on_notification(progress(1), b"")

    asyncio.run(main())

    assert "a callback raised for notifications/progress" in caplog.text


def test_a_time_limit_stands_still_while_any_question_is_answered() -> None:
    async def main() -> tuple[float | None, float]:
        limit = RequestTimeout(100)
        async with limit.timeout:
            limit.suspend()
            limit.suspend()
            limit.resume()
            suspended = limit.timeout.when()
            limit.resume()
            ends = limit.timeout.when()
        assert ends is not None
        return suspended, ends - asyncio.get_running_loop().time()

    suspended, left = asyncio.run(main())

    assert suspended is None
    assert 90 < left <= 100
