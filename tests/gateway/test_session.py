"""A legacy session survives its upstream: the handshake and the settings are repeated after a restart."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from strictwire.canon.json import parse_object
from strictwire.pipeline.call import Caller
from strictwire.profiles.endpoint import Headers, Inbound
from strictwire.transport.memory import ask_endpoint
from tests.fixtures.live import INITIALIZED, initialize, legacy
from tests.gateway.driver import Client, CollectingOutlet, fake, guarded, outcome

VERSION = {"mcp-protocol-version": "2025-11-25"}


def test_the_settings_of_a_session_are_repeated_to_a_restarted_upstream(tmp_path: Path) -> None:
    async def run() -> tuple[object, list[Any]]:
        async with guarded(fake("exit_and_tell", tmp_path / "happened")) as client:
            await client.open_session()
            await client.ask(legacy(1, "logging/setLevel", {"level": "debug"}))
            await client.ask(legacy(2, "resources/subscribe", {"uri": "a:1"}))
            await client.ask(legacy(3, "resources/subscribe", {"uri": "a:2"}))
            await client.ask(legacy(4, "resources/unsubscribe", {"uri": "a:1"}))
            first = outcome(await client.act("legacy", 5))
            second = await client.act("legacy", 6)
            return first, second["result"]["structuredContent"]["seen"]

    first, seen = asyncio.run(run())

    assert first == "UPSTREAM_GONE"
    assert seen == [
        ["initialize", None],
        ["notifications/initialized", None],
        ["logging/setLevel", "debug"],
        ["resources/subscribe", "a:2"],
        ["tools/list", None],
        ["tools/call", None],
    ]


def test_each_session_over_http_has_its_own_upstream_session() -> None:
    async def run() -> list[object]:
        async with guarded(fake("tells_state")) as client:
            sessions = [await _open(client) for _ in range(2)]
            call = legacy(1, "tools/call", {"name": "act", "arguments": {"x": 1}})
            seen = [await client.send(call, {**VERSION, "mcp-session-id": each}) for each in sessions]
            counts = [len(parse_object(reply.body or b"")["result"]["structuredContent"]["seen"]) for reply in seen]
            ended = await _verb(client, "DELETE", sessions[0])
            after = await client.send(call, {**VERSION, "mcp-session-id": sessions[0]})
            other = await client.send(call, {**VERSION, "mcp-session-id": sessions[1]})
            return [len(set(sessions)), counts, ended, after.status, other.status]

    assert asyncio.run(run()) == [2, [4, 4], 204, 404, 200]


async def _open(client: Client) -> str:
    opened = await client.send(initialize(), {})
    session = dict(opened.headers)["Mcp-Session-Id"]
    await client.send(INITIALIZED, {**VERSION, "mcp-session-id": session})
    return session


async def _verb(client: Client, verb: str, session: str) -> int:
    headers = Headers({**VERSION, "mcp-session-id": session}.items())
    inbound = Inbound(body=b"", transport="http", caller=Caller(), headers=headers, verb=verb)
    return (await ask_endpoint(client.endpoint, inbound, CollectingOutlet())).status


def test_another_principal_cannot_use_a_session() -> None:
    async def run() -> int:
        async with guarded(fake("good")) as client:
            session = await _open(client)
            headers = Headers({**VERSION, "mcp-session-id": session}.items())
            caller = Caller(principal="somebody else")
            inbound = Inbound(body=legacy(1, "tools/list"), transport="http", caller=caller, headers=headers)
            return (await ask_endpoint(client.endpoint, inbound, CollectingOutlet())).status

    assert asyncio.run(run()) == 404
