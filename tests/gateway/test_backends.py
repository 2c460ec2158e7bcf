"""An answer through the guard is, byte for byte, the upstream's own."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from strictwire.canon.json import parse_object, render
from strictwire.client.stdio import StdioProcess
from strictwire.gateway.links.connector import UpstreamTarget
from strictwire.gateway.links.raw_message import slice_at
from strictwire.gateway.options import RelayOptions
from tests.fixtures.guards import SDK_STDIO, serve_sdk_http
from tests.fixtures.live import INITIALIZED, initialize, legacy, modern
from tests.gateway.driver import Client, CollectingOutlet, fake, guarded, outcome

STDIO = UpstreamTarget(command=SDK_STDIO)
CALLED = ("test_simple_text", "test_image_content", "test_audio_content", "test_embedded_resource", "test_error_handling")
REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("tools/list", {}),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("prompts/list", {}),
    ("prompts/get", {"name": "test_prompt_with_arguments", "arguments": {"arg1": "ä", "arg2": "\u2028"}}),
    ("resources/read", {"uri": "test://static-binary"}),
    ("resources/read", {"uri": "test://nowhere"}),
    ("completion/complete", {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "arg1", "value": "te"}}),
    *(("tools/call", {"name": name, "arguments": {}}) for name in CALLED),
    ("tools/call", {"name": "test_missing_capability", "arguments": {}}),
    ("unknown/method", {}),
]


@pytest.fixture(scope="module")
def http() -> Iterator[UpstreamTarget]:
    with serve_sdk_http() as url:
        yield UpstreamTarget(url=url)


def spoken(era: str, number: int, method: str, params: dict[str, Any]) -> bytes:
    return modern(number, method, params) if era == "modern" else legacy(number, method, params)


@contextlib.asynccontextmanager
async def straight() -> AsyncIterator[StdioProcess]:
    process = await StdioProcess.start(SDK_STDIO)
    try:
        yield process
    finally:
        await process.close()


async def ask_straight(process: StdioProcess, raw: bytes) -> bytes:
    await process.write_line(raw)
    async with asyncio.timeout(20):
        while (line := await process.read_line()) is not None:
            if parse_object(line).get("id") == parse_object(raw)["id"]:
                return line
    raise EOFError


async def straight_answers(era: str) -> list[bytes]:
    async with straight() as process:
        if era == "legacy":
            await ask_straight(process, initialize())
            await process.write_line(INITIALIZED)
        asked = [spoken(era, number, *each) for number, each in enumerate(REQUESTS)]
        return [await ask_straight(process, raw) for raw in asked]


async def guarded_answers(target: UpstreamTarget, era: str) -> list[bytes]:
    async with guarded(target, RelayOptions()) as client:
        if era == "legacy":
            await client.open_session()
        replies = [await client.send(spoken(era, number, *each)) for number, each in enumerate(REQUESTS)]
        return [reply.body or b"" for reply in replies]


def parts(raw: bytes) -> tuple[bytes | None, bytes | None, bytes | None]:
    return slice_at(raw, ("id",)), slice_at(raw, ("result",)), slice_at(raw, ("error",))


@pytest.mark.slow
@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_every_answer_of_a_process_is_relayed_byte_for_byte(era: str) -> None:
    async def run() -> tuple[list[bytes], list[bytes]]:
        return await straight_answers(era), await guarded_answers(STDIO, era)

    expected, seen = asyncio.run(run())

    assert [parts(raw) for raw in seen] == [parts(raw) for raw in expected]


@pytest.mark.slow
@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_every_answer_over_http_equals_that_of_the_process(era: str, http: UpstreamTarget) -> None:
    async def run() -> tuple[list[bytes], list[bytes]]:
        return await straight_answers(era), await guarded_answers(http, era)

    expected, seen = asyncio.run(run())

    assert [parse_object(raw) for raw in seen] == [parse_object(raw) for raw in expected]


@pytest.mark.slow
@pytest.mark.parametrize("over", ["stdio", "http"])
def test_clients_with_the_same_id_and_token_get_only_their_own_progress(over: str, http: UpstreamTarget) -> None:
    async def run() -> list[list[tuple[object, object]]]:
        async with guarded(STDIO if over == "stdio" else http, RelayOptions()) as first:
            others = [Client(first.endpoint, first.recorder) for _ in range(3)]
            raw = modern(1, "tools/call", {"name": "test_tool_with_progress"}, progressToken="same")
            headers = {
                "mcp-protocol-version": "2026-07-28",
                "mcp-method": "tools/call",
                "mcp-name": "test_tool_with_progress",
            }
            await asyncio.gather(*(each.send(raw, headers) for each in others))
            return [[_progress(message) for message in each.heard.messages] for each in others]

    assert asyncio.run(run()) == [[("same", 0), ("same", 50), ("same", 100)]] * 3


def _progress(message: dict[str, Any]) -> tuple[object, object]:
    return message["params"]["progressToken"], message["params"]["progress"]


@pytest.mark.slow
@pytest.mark.parametrize("over", ["stdio", "http"])
@pytest.mark.parametrize("subscription", ["sub", 77])
def test_a_subscription_is_notified_under_its_own_id(over: str, subscription: object, http: UpstreamTarget) -> None:
    async def run() -> list[dict[str, Any]]:
        async with guarded(STDIO if over == "stdio" else http, RelayOptions()) as client:
            wanted = {"notifications": {"toolsListChanged": True}}
            listening = asyncio.create_task(client.send(modern(subscription, "subscriptions/listen", wanted)))
            await _until(client.heard, 1)
            other = Client(client.endpoint, client.recorder)
            await other.ask(modern(1, "tools/call", {"name": "test_trigger_prompt_change"}))
            await other.ask(modern(2, "tools/call", {"name": "test_trigger_tool_change"}))
            await _until(client.heard, 2)
            listening.cancel()
            return client.heard.messages

    mark = {"io.modelcontextprotocol/subscriptionId": subscription}
    acknowledged, changed = asyncio.run(run())

    assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
    assert acknowledged["params"] == {"_meta": mark, "notifications": {"toolsListChanged": True}}
    assert (changed["method"], changed["params"]) == ("notifications/tools/list_changed", {"_meta": mark})


@pytest.mark.slow
def test_at_the_end_of_input_a_subscription_gets_its_result() -> None:
    async def run() -> dict[str, Any]:
        async with guarded(STDIO, RelayOptions()) as client:
            wanted = {"notifications": {"toolsListChanged": True}}
            listening = asyncio.create_task(client.ask(modern("s", "subscriptions/listen", wanted)))
            await _until(client.heard, 1)
            client.endpoint.end_input()
            return await listening

    mark = {"io.modelcontextprotocol/subscriptionId": "s"}

    assert asyncio.run(run()) == {"jsonrpc": "2.0", "id": "s", "result": {"resultType": "complete", "_meta": mark}}


async def _until(heard: CollectingOutlet, count: int) -> None:
    async with asyncio.timeout(15):
        while len(heard.messages) < count:
            heard.arrived.clear()
            await heard.arrived.wait()


@pytest.mark.slow
@pytest.mark.parametrize("over", ["stdio", "http"])
def test_a_state_is_sealed_for_the_client_and_returns_to_the_upstream_unchanged(over: str, http: UpstreamTarget) -> None:
    tool = {"name": "test_input_required_result_request_state"}
    declared = {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
    answers = {"confirm": {"action": "accept", "content": {"ok": True}}}

    async def run() -> list[object]:
        async with guarded(STDIO if over == "stdio" else http, RelayOptions()) as client:
            asked = await client.ask(modern(1, "tools/call", tool, **declared))
            state = asked["result"]["requestState"]
            more = {**tool, "inputResponses": answers, "requestState": state}
            done = await client.ask(modern(2, "tools/call", more, **declared))
            tampered = {**more, "requestState": state + "x"}
            refused = await client.ask(modern(3, "tools/call", tampered, **declared))
            moved = {**more, "name": "test_input_required_result_tampered_state"}
            foreign = await client.ask(modern(4, "tools/call", moved, **declared))
            return [done["result"]["content"][0]["text"][:8], outcome(refused), outcome(foreign)]

    assert asyncio.run(run()) == ["state-ok", "STATE_REJECTED", "STATE_REJECTED"]


@pytest.mark.slow
@pytest.mark.parametrize("over", ["stdio", "http"])
def test_questions_of_a_legacy_upstream_are_relayed_both_ways(over: str, http: UpstreamTarget) -> None:
    async def run() -> tuple[str, dict[str, Any]]:
        async with guarded(STDIO if over == "stdio" else http, RelayOptions()) as client:
            await client.open_session(capabilities={"elicitation": {}})
            call = legacy(1, "tools/call", {"name": "test_elicitation", "arguments": {"message": "Who?"}})
            running = asyncio.create_task(client.ask(call))
            await _until(client.heard, 1)
            question = client.heard.messages[0]
            given = {"action": "accept", "content": {"username": "u", "email": "e"}}
            await client.send(render({"jsonrpc": "2.0", "id": question["id"], "result": given}))
            done = await running
            return question["method"], done["result"]["content"][0]

    text = 'Elicitation completed: action=accept, content={"username": "u", "email": "e"}'

    assert asyncio.run(run()) == ("elicitation/create", {"type": "text", "text": text})


def test_without_a_bridge_the_other_era_is_refused_with_the_supported_versions() -> None:
    """Without a bridge an era that the upstream does not speak is refused, naming those it does."""

    async def run() -> tuple[dict[str, Any], object]:
        async with guarded(fake("legacy_only"), RelayOptions(bridge=False)) as client:
            refused = await client.ask(modern(1, "server/discover"))
            opened = await client.open_session()
            return refused["error"], opened["result"]["protocolVersion"]

    error, version = asyncio.run(run())

    assert error["code"] == -32022
    assert error["data"]["supported"] == ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
    assert version == "2025-11-25"


def test_a_request_on_several_lines_is_sent_to_a_process_on_one() -> None:
    async def run() -> object:
        async with guarded(fake("good")) as client:
            raw = modern(1, "tools/call", {"name": "act", "arguments": {"x": 1}}).replace(b',"', b',\r\n  "')
            return outcome(await client.ask(raw))

    assert asyncio.run(run()) == {"y": 1}
