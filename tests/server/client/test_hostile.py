"""Servers that break the protocol, flood, stall or end: the client gets an error of the right kind, in bounded time."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from strictwire import Client, Stdio
from strictwire.client.errors import ClientError, NotUnderstood, OutputInvalid, ServerGone, TimedOut, TooLarge

HOSTILE = Path(__file__).parents[2] / "client" / "servers" / "hostile.py"

CASES: dict[str, tuple[type[ClientError], str]] = {
    "other_id": (TimedOut, "TIMEOUT"),
    "duplicate_keys": (NotUnderstood, "UPSTREAM_BROKE"),
    "result_and_error": (NotUnderstood, "UPSTREAM_BROKE"),
    "error_without_code": (NotUnderstood, "UPSTREAM_BROKE"),
    "result_is_a_list": (NotUnderstood, "UPSTREAM_BROKE"),
    "huge": (TooLarge, "CAP_EXCEEDED"),
    "endless_progress": (TimedOut, "TIMEOUT"),
    "drip": (TimedOut, "TIMEOUT"),
    "silent": (TimedOut, "TIMEOUT"),
    "exits": (ServerGone, "UPSTREAM_GONE"),
    "no_content": (NotUnderstood, "UPSTREAM_BROKE"),
    "content_is_text": (NotUnderstood, "UPSTREAM_BROKE"),
    "content_without_type": (NotUnderstood, "UPSTREAM_BROKE"),
    "image_is_not_base64": (NotUnderstood, "UPSTREAM_BROKE"),
    "is_error_is_text": (NotUnderstood, "UPSTREAM_BROKE"),
    "unknown_result_type": (NotUnderstood, "UPSTREAM_BROKE"),
    "asks_undeclared": (NotUnderstood, "UPSTREAM_BROKE"),
    "asks_for_ever": (NotUnderstood, "UPSTREAM_BROKE"),
    "asks_nothing": (NotUnderstood, "UPSTREAM_BROKE"),
    "asks_too_much": (NotUnderstood, "UPSTREAM_BROKE"),
    "breaks_its_schema": (OutputInvalid, "OUTPUT_INVALID"),
    "forgets_structured": (OutputInvalid, "OUTPUT_INVALID"),
}
"""What the server does, the exception, and the code of its failure."""

SLOW = dict.fromkeys(("endless_progress", "drip"), pytest.mark.slow)
"""Servers that do not notice the end of their input, and are ended by a signal after two seconds."""


async def act(behaviour: str, seconds: float) -> ClientError:
    client = Client(Stdio([sys.executable, str(HOSTILE), behaviour]), on_elicit=lambda _: {})
    async with asyncio.timeout(30), client:
        await client.list_tools()
        with pytest.raises(ClientError) as caught:
            await client.call_tool("act", timeout=seconds, on_progress=lambda _: None)
    return caught.value


@pytest.mark.parametrize("behaviour", [pytest.param(each, marks=SLOW.get(each, ())) for each in CASES])
def test_a_hostile_server_is_an_error_of_the_right_kind(behaviour: str) -> None:
    kind, code = CASES[behaviour]

    error = asyncio.run(act(behaviour, 0.3 if kind is TimedOut else 20))

    assert (type(error), error.failure.code) == (kind, code)
    assert error.action


def test_a_server_that_ended_is_reported_with_its_exit_code_and_last_words() -> None:
    error = asyncio.run(act("exits", 20))

    assert isinstance(error, ServerGone)
    assert (error.exit_code, error.stderr, str(error)) == (7, b"the last words", "the server exited 7")


def test_a_flood_of_requests_is_answered_in_part_and_the_call_succeeds() -> None:
    async def main() -> object:
        async with asyncio.timeout(30), Client(Stdio([sys.executable, str(HOSTILE), "floods_requests"])) as client:
            return (await client.call_tool("act", returns=dict[str, int]))["n"]

    assert asyncio.run(main()) == 1
