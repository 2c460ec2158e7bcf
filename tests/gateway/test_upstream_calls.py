"""The contract in front of an upstream: what is refused before a call, what after it, and what is recorded."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from strictwire.canon.json import parse_object
from strictwire.gateway.options import Mode, RelayOptions
from tests.fixtures.live import legacy, modern
from tests.gateway.driver import SHORT, Client, fake, guarded, outcome


def call(era: str, number: int, name: str, arguments: Any) -> bytes:
    params = {"name": name, "arguments": arguments}
    return modern(number, "tools/call", params) if era == "modern" else legacy(number, "tools/call", params)


async def opened(client: Client, era: str) -> Client:
    if era == "legacy":
        await client.open_session()
    return client


@pytest.mark.parametrize("era", ["modern", "legacy"])
@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("act", {"x": 1}, {"y": 1}),
        ("act", {"x": "1"}, "INVALID_PARAMS"),
        ("act", {}, "INVALID_PARAMS"),
        ("act", {"x": 1, "z": 2}, "INVALID_PARAMS"),
        ("act", [1], "MALFORMED_PARAMS"),
        ("other", {}, "UNKNOWN_TOOL"),
    ],
)
def test_arguments_are_checked_before_the_upstream_gets_them(name: str, arguments: Any, expected: object, era: str) -> None:
    async def run() -> object:
        async with guarded(fake("good")) as client:
            return outcome(await (await opened(client, era)).ask(call(era, 1, name, arguments)))

    assert asyncio.run(run()) == expected


@pytest.mark.parametrize("mode", [Mode.OBSERVE, Mode.WARN])
def test_without_enforcement_everything_is_relayed(mode: Mode, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="strictwire.guard")

    async def run() -> list[object]:
        async with guarded(fake("wrong_structured"), replace(SHORT, mode=mode)) as client:
            return [
                outcome(await client.ask(call("modern", 1, "act", {"x": "1"}))),
                outcome(await client.ask(call("modern", 2, "act", {"x": 1}))),
            ]

    relayed = {"y": "secret value"}

    assert asyncio.run(run()) == [relayed, relayed]
    assert [record.args[2] for record in caplog.records if "relayed" in record.msg] == [  # type: ignore[index]
        "INVALID_PARAMS",
        "OUTPUT_INVALID",
        "OUTPUT_INVALID",
    ]


def test_a_refused_result_is_not_shown_to_the_client() -> None:
    async def run() -> dict[str, Any]:
        async with guarded(fake("wrong_structured")) as client:
            return await client.act()

    assert "secret value" not in str(asyncio.run(run()))


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_a_call_that_is_not_read_only_has_its_intent_recorded_first(era: str) -> None:
    async def run() -> list[tuple[object, ...]]:
        async with guarded(fake("good")) as client:
            await (await opened(client, era)).act(era)
            bodies = [parse_object(line) for line in client.recorder.lines]
            return [(body.get("kind"), body.get("tool_name"), body.get("transport")) for body in bodies]

    assert asyncio.run(run()) == [("intent", "act", "memory"), ("outcome", "act", "memory")]


def test_the_record_holds_the_error_code_of_the_upstream() -> None:
    async def run() -> tuple[object, object]:
        async with guarded(fake("leaks_in_error")) as client:
            await client.act()
            body = parse_object(client.recorder.lines[-1])
            return body.get("error_code"), body["envelope"]["code"]

    assert asyncio.run(run()) == ("UPSTREAM_ERROR", 4711)


def test_without_a_record_nothing_is_called() -> None:
    from strictwire.fault.failure import fail

    async def run() -> object:
        async with guarded(fake("good")) as client:
            client.recorder.failure = fail("AUDIT_UNAVAILABLE")
            return outcome(await client.act())

    assert asyncio.run(run()) == "AUDIT_UNAVAILABLE"


@pytest.mark.slow
def test_calls_beyond_the_concurrency_limit_are_refused_at_once() -> None:
    async def run() -> list[object]:
        async with guarded(fake("never_answers"), replace(SHORT, concurrency=1)) as client:
            answers = await asyncio.gather(*(client.act(request_id=number) for number in range(2)))
            return sorted(str(outcome(answer)) for answer in answers)

    assert asyncio.run(run()) == ["OVERLOADED", "TIMEOUT"]


def test_masking_can_be_switched_off() -> None:
    async def run() -> str:
        async with guarded(fake("leaks_in_error"), RelayOptions(mask=False)) as client:
            return str((await client.act())["error"]["message"])

    assert asyncio.run(run()) == "failed at /srv/app/private/db.py with password=hunter2secret"
