"""A client of a legacy session in front of an upstream that is only stateless."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from strictwire.canon.json import render
from strictwire.gateway.bridges import to_modern
from strictwire.gateway.links.connector import UpstreamTarget
from strictwire.gateway.options import RelayOptions
from tests.fixtures.live import HERE, INITIALIZED, initialize, legacy
from tests.gateway.bridges.test_to_legacy import MISBEHAVIOURS
from tests.gateway.driver import Client, fake, guarded, outcome
from tests.gateway.links.test_stdio_link import EXPECTED, FINE

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
SAMPLED = {"role": "assistant", "content": {"type": "text", "text": "x"}, "model": "m"}
SDK = UpstreamTarget(command=(sys.executable, str(HERE / "one_era_sdk.py"), "modern", "--stdio"))


def modern_only(name: str, marker: Path | None = None) -> UpstreamTarget:
    return replace(fake(name, marker), env={**os.environ, "ONLY_ERA": "modern"})


async def asked(client: Client, count: int = 1) -> list[dict[str, Any]]:
    """Wait for so many messages of the upstream."""
    async with asyncio.timeout(15):
        while len(client.heard.messages) < count:
            client.heard.arrived.clear()
            await client.heard.arrived.wait()
    return client.heard.messages


def answer_to(question: dict[str, Any], **member: Any) -> bytes:
    return render({"jsonrpc": "2.0", "id": question["id"], **member})


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_session_of_every_legacy_revision_is_opened(revision: str) -> None:
    async def run() -> list[object]:
        async with guarded(modern_only("good")) as client:
            opened = await client.ask(initialize(revision))
            await client.send(INITIALIZED)
            pong = await client.ask(legacy(1, "ping"))
            return [opened["result"], pong["result"], outcome(await client.act("legacy", 2))]

    opened, pong, called = asyncio.run(run())

    server = {"name": "upstream", "version": "0"}
    assert opened == {"protocolVersion": revision, "capabilities": {"tools": {}}, "serverInfo": server}
    assert (pong, called) == ({}, FINE)


def test_results_carry_nothing_of_the_stateless_era() -> None:
    async def run() -> dict[str, Any]:
        async with guarded(modern_only("good")) as client:
            await client.open_session()
            return await client.act("legacy", 2)

    content = [{"type": "text", "text": "fine"}]

    assert asyncio.run(run()) == {"jsonrpc": "2.0", "id": 2, "result": {"content": content, "structuredContent": {"y": 1}}}


def test_the_guard_remembers_that_an_upstream_has_no_sessions() -> None:
    async def run() -> list[object]:
        async with guarded(modern_only("good")) as client:
            upstream = client.endpoint.backend.calls.upstream  # type: ignore[attr-defined]
            before = upstream.has_sessions
            await client.open_session()
            await client.open_session()
            return [before, upstream.has_sessions, outcome(await client.act("legacy"))]

    assert asyncio.run(run()) == [True, False, FINE]


def test_a_client_is_not_asked_what_it_did_not_declare() -> None:
    async def run() -> list[object]:
        async with guarded(modern_only("asks_in_rounds")) as client:
            await client.open_session(capabilities={"elicitation": {}})
            return [outcome(await client.act("legacy")), client.heard.messages]

    assert asyncio.run(run()) == ["UPSTREAM_BROKE", []]


def test_the_number_of_rounds_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(to_modern, "MAX_ROUNDS", 3)

    async def run() -> list[object]:
        async with guarded(modern_only("asks_in_rounds")) as client:
            await client.open_session(capabilities={"sampling": {}})
            running = asyncio.create_task(client.act("legacy"))
            for count in (1, 2, 3):
                await client.send(answer_to((await asked(client, count))[-1], result=SAMPLED))
            return [outcome(await running), len(client.heard.messages)]

    assert asyncio.run(run()) == ["UPSTREAM_BROKE", 3]


def test_a_state_that_a_client_invents_does_not_reach_the_upstream() -> None:
    """Nobody sealed it: sessions have no rounds."""

    async def run() -> object:
        async with guarded(modern_only("tells_params")) as client:
            await client.open_session()
            forged = {"name": "act", "arguments": {"x": 1}, "requestState": "forged", "inputResponses": {}}
            return outcome(await client.ask(legacy(1, "tools/call", forged)))

    assert asyncio.run(run()) == {"y": 1, "seen": ["_meta", "arguments", "name"]}


def test_an_error_of_the_client_ends_the_call_with_that_error() -> None:
    async def run() -> dict[str, Any]:
        async with guarded(modern_only("asks_in_rounds")) as client:
            await client.open_session(capabilities={"sampling": {}})
            running = asyncio.create_task(client.act("legacy"))
            question = (await asked(client))[0]
            await client.send(answer_to(question, error={"code": -1, "message": "User rejected"}))
            return await running

    assert asyncio.run(run()) == {"jsonrpc": "2.0", "id": "r", "error": {"code": -1, "message": "User rejected"}}


def test_a_question_is_cancelled_with_its_call() -> None:
    async def run() -> list[object]:
        async with guarded(modern_only("asks_in_rounds")) as client:
            await client.open_session(capabilities={"sampling": {}})
            running = asyncio.create_task(client.act("legacy", 7))
            question = (await asked(client))[0]
            await client.send(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}')
            await asyncio.wait({running})
            withdrawn = (await asked(client, 2))[1]
            late = await client.send(answer_to(question, result=SAMPLED))
            return [running.cancelled(), withdrawn["params"]["requestId"] == question["id"], late.body]

    assert asyncio.run(run()) == [True, True, None]


@pytest.mark.parametrize("params", [{"level": "loud"}, {}])
def test_a_level_that_does_not_exist_is_refused(params: dict[str, Any]) -> None:
    async def run() -> object:
        async with guarded(modern_only("good")) as client:
            await client.open_session()
            return (await client.ask(legacy(1, "logging/setLevel", params)))["error"]["code"]

    assert asyncio.run(run()) == -32602


def test_a_subscription_that_the_upstream_does_not_grant_is_refused() -> None:
    async def run() -> list[object]:
        async with guarded(modern_only("good")) as client:
            await client.open_session()
            refused = await client.ask(legacy(1, "resources/subscribe", {"uri": "a:1"}))
            ended = await client.ask(legacy(2, "resources/unsubscribe", {"uri": "a:1"}))
            return [refused["error"]["code"], ended["result"]]

    assert asyncio.run(run()) == [-32601, {}]


def test_a_session_survives_a_restart_of_its_upstream(tmp_path: Path) -> None:
    async def run() -> list[object]:
        async with guarded(modern_only("exit_in_call", tmp_path / "happened")) as client:
            await client.open_session()
            return [outcome(await client.act("legacy", number)) for number in range(2)]

    assert asyncio.run(run()) == ["UPSTREAM_GONE", FINE]


@pytest.mark.slow
def test_output_that_sessions_cannot_have_is_checked_and_left_out() -> None:
    """Since 2026-07-28 structured content may be an array; the text says the same to a session."""

    async def run() -> tuple[dict[str, Any], dict[str, Any]]:
        async with guarded(SDK, RelayOptions()) as client:
            await client.open_session()
            tools = (await client.ask(legacy(1, "tools/list")))["result"]["tools"]
            called = await client.ask(legacy(2, "tools/call", {"name": "grid", "arguments": {}}))
            return next(each for each in tools if each["name"] == "grid"), called["result"]

    tool, result = asyncio.run(run())

    assert "outputSchema" not in tool
    assert result == {"content": [{"type": "text", "text": "[1, 2]"}], "isError": False}


def test_without_a_bridge_the_refusal_of_the_upstream_is_relayed() -> None:
    async def run() -> dict[str, Any]:
        async with guarded(modern_only("good"), RelayOptions(bridge=False)) as client:
            error: dict[str, Any] = (await client.ask(initialize()))["error"]
            return error

    assert asyncio.run(run()) == {"code": -32601, "message": "Method not found"}


@pytest.mark.slow
@pytest.mark.parametrize("name", MISBEHAVIOURS)
def test_a_misbehaving_upstream_has_the_same_outcome_over_the_bridge(name: str) -> None:
    async def run() -> object:
        options = RelayOptions(idle_seconds=4.0, total_seconds=25.0, liveness_seconds=0.5)
        async with guarded(modern_only(name), options) as client:
            await client.open_session()
            return outcome(await client.act("legacy", progressToken="t"))

    assert asyncio.run(run()) == EXPECTED[name]
