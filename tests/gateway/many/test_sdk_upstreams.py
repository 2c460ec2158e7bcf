"""Two servers on the official SDK, one a process and one at a URL, behind one guard: nothing gets lost on the way.

Starting them takes longer than asking them, so each era is asked everything once, and each test looks at its part.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from strictwire.canon.json import parse_object, render
from strictwire.gateway.links.connector import UpstreamTarget
from strictwire.gateway.many.naming import Naming
from strictwire.gateway.options import RelayOptions
from strictwire.server.guarded import Guarded, guarded_of
from strictwire.settings.read import read_settings
from tests.fixtures.guards import SDK_STDIO, serve_sdk_http
from tests.fixtures.live import modern, modern_headers
from tests.gateway.driver import Client, CollectingOutlet
from tests.gateway.many.fleet import Talker, fleet

PAGE = Path(__file__).parents[3] / "docs" / "GUARD.md"
PREFIXES = ("near_", "far_")
DECLARED = {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}


@pytest.fixture(scope="module")
def upstreams() -> Iterator[tuple[Guarded, ...]]:
    with serve_sdk_http() as url:
        near = Guarded(
            target=UpstreamTarget(name="near", command=SDK_STDIO), options=RelayOptions(), naming=Naming(prefix="near_")
        )
        far = replace(near, target=UpstreamTarget(name="far", url=url), naming=Naming(prefix="far_"))
        yield near, far


@pytest.fixture(scope="module")
def stateless(upstreams: tuple[Guarded, ...]) -> dict[str, Any]:
    """What a client of 2026-07-28 was told."""

    async def run() -> dict[str, Any]:
        async with fleet(*upstreams) as client:
            talker = await Talker(client, "modern").open()
            return {
                "names": await talker.names(),
                "pictures": [await _picture(talker, prefix) for prefix in PREFIXES],
                "progress": [await _progress(Client(client.endpoint, client.recorder), prefix) for prefix in PREFIXES],
                "states": [await _state(client, *pair) for pair in (PREFIXES, PREFIXES[::-1])],
                "errors": [await _error(client, prefix) for prefix in PREFIXES],
                "headers": await _headers(client),
                "marks": await _subscribe(client),
            }

    return asyncio.run(run())


@pytest.fixture(scope="module")
def session(upstreams: tuple[Guarded, ...]) -> dict[str, Any]:
    """What a legacy client was told."""

    async def run() -> dict[str, Any]:
        async with fleet(*upstreams) as client:
            talker = await Talker(client, "legacy").open(elicitation={})
            return {
                "names": await talker.names(),
                "pictures": [await _picture(talker, prefix) for prefix in PREFIXES],
                "answers": [await _elicit(client, talker, prefix) for prefix in PREFIXES],
            }

    return asyncio.run(run())


async def _picture(talker: Talker, prefix: str) -> Any:
    return (await talker.ask("tools/call", name=f"{prefix}test_image_content"))["content"]


async def _progress(client: Client, prefix: str) -> list[tuple[object, object]]:
    await client.ask(modern(prefix, "tools/call", {"name": f"{prefix}test_tool_with_progress"}, progressToken="mine"))
    return [(each["params"]["progressToken"], each["params"]["progress"]) for each in client.heard.messages]


async def _state(client: Client, prefix: str, other: str) -> list[Any]:
    tool = {"name": f"{prefix}test_input_required_result_request_state"}
    asked = await client.ask(modern(f"{prefix}1", "tools/call", tool, **DECLARED))
    answers = {"confirm": {"action": "accept", "content": {"ok": True}}}
    more = {**tool, "inputResponses": answers, "requestState": asked["result"]["requestState"]}
    done = await client.ask(modern(f"{prefix}2", "tools/call", more, **DECLARED))
    moved = {**more, "name": tool["name"].replace(prefix, other)}
    refused = await client.ask(modern(f"{prefix}3", "tools/call", moved, **DECLARED))
    return [done["result"]["content"][0]["text"][:8], refused["error"]["data"]["code"]]


async def _error(client: Client, prefix: str) -> tuple[int, int, Any]:
    call = modern(1, "tools/call", {"name": f"{prefix}test_missing_capability"})
    reply = await client.send(call, _lower(modern_headers(call)))
    error = parse_object(reply.body or b"")["error"]
    return reply.status, error["code"], error["data"]


async def _headers(client: Client) -> list[int]:
    call = modern(1, "tools/call", {"name": "far_test_simple_text"})
    right = _lower(modern_headers(call))
    wrong = right | {"mcp-name": "test_simple_text"}
    return [(await client.send(call, headers)).status for headers in (right, wrong)]


def _lower(headers: dict[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


async def _subscribe(client: Client) -> list[Any]:
    listener = Client(client.endpoint, client.recorder)
    listen = modern(77, "subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    listening = asyncio.create_task(listener.send(listen))
    await _until(listener.heard, "notifications/subscriptions/acknowledged")
    for prefix in PREFIXES:
        heard = len(listener.heard.messages)
        async with asyncio.timeout(20):
            while len(listener.heard.messages) == heard:
                # The subscription behind the one that was acknowledged may not be open yet.
                await client.ask(modern(prefix, "tools/call", {"name": f"{prefix}test_trigger_tool_change"}))
    listening.cancel()
    return [each["params"]["_meta"] for each in listener.heard.messages]


async def _elicit(client: Client, talker: Talker, prefix: str) -> str:
    client.heard.messages.clear()
    call = talker.ask("tools/call", name=f"{prefix}test_elicitation", arguments={"message": "Who?"})
    running = asyncio.create_task(call)
    await _until(client.heard, "elicitation/create")
    question = next(each for each in client.heard.messages if each["method"] == "elicitation/create")
    given = {"action": "accept", "content": {"username": prefix, "email": "e"}}
    await client.send(render({"jsonrpc": "2.0", "id": question["id"], "result": given}))
    return str((await running)["content"][0]["text"])


async def _until(heard: CollectingOutlet, method: str) -> None:
    async with asyncio.timeout(20):
        while not any(each.get("method") == method for each in heard.messages):
            heard.arrived.clear()
            await heard.arrived.wait()


@pytest.mark.slow
@pytest.mark.parametrize("era", ["stateless", "session"])
def test_the_tools_of_both_upstreams_are_listed_and_can_be_called(era: str, request: pytest.FixtureRequest) -> None:
    told = request.getfixturevalue(era)
    near = [name.removeprefix("near_") for name in told["names"] if name.startswith("near_")]

    assert told["names"] == [f"{prefix}{name}" for prefix in PREFIXES for name in near]
    assert len(near) > 20
    assert told["pictures"][0] == told["pictures"][1]


@pytest.mark.slow
def test_progress_carries_the_clients_token(stateless: dict[str, Any]) -> None:
    assert stateless["progress"] == [[("mine", 0), ("mine", 50), ("mine", 100)]] * 2


@pytest.mark.slow
def test_a_state_returns_only_to_the_upstream_that_gave_it(stateless: dict[str, Any]) -> None:
    assert stateless["states"] == [["state-ok", "STATE_REJECTED"]] * 2


@pytest.mark.slow
def test_errors_and_their_codes_are_relayed(stateless: dict[str, Any]) -> None:
    assert stateless["errors"] == [(400, -32021, {"requiredCapabilities": {"sampling": {}}})] * 2


@pytest.mark.slow
def test_headers_repeat_the_clients_name_of_the_tool(stateless: dict[str, Any]) -> None:
    assert stateless["headers"] == [200, 400]


@pytest.mark.slow
def test_a_subscription_covers_both_upstreams(stateless: dict[str, Any]) -> None:
    marks = stateless["marks"]

    assert marks == [{"io.modelcontextprotocol/subscriptionId": 77}] * len(marks)
    assert len(marks) >= 3


@pytest.mark.slow
def test_a_question_of_a_legacy_upstream_is_answered(session: dict[str, Any]) -> None:
    expected = [f'Elicitation completed: action=accept, content={{"username": "{each}", "email": "e"}}' for each in PREFIXES]

    assert session["answers"] == expected


def test_the_settings_in_the_guide_are_valid(tmp_path: Path) -> None:
    blocks = [part.partition("```")[0] for part in PAGE.read_text(encoding="utf-8").split("```toml\n")[1:]]
    found = []
    for number, block in enumerate(blocks):
        (tmp_path / f"{number}.toml").write_text(block, encoding="utf-8")
        found.append(read_settings(file=tmp_path / f"{number}.toml", environment={}).guard)

    assert [each.target.name for each in guarded_of(found[0], {"TRACKER_TOKEN": "t"})] == ["files", "tracker"]
    assert (len(found[1].rules), len(found[1].limits)) == (3, 1)
