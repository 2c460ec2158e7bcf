"""A client of the stateless era in front of an upstream that has only sessions."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from typing import Any

import pytest

from strictwire.canon.json import parse_object
from strictwire.gateway.bridges import pool, to_legacy
from strictwire.gateway.links.connector import UpstreamTarget
from strictwire.gateway.links.link import UpstreamRequest
from strictwire.gateway.options import RelayOptions
from strictwire.pipeline.call import Caller
from strictwire.profiles.endpoint import Inbound
from strictwire.transport.memory import ask_endpoint
from tests.fixtures.live import modern
from tests.gateway.driver import Client, CollectingOutlet, fake, guarded, outcome
from tests.gateway.links.test_stdio_link import EXPECTED, FINE

CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
SAMPLING = {CAPABILITIES: {"sampling": {}}}
ACT = {"name": "act", "arguments": {"x": 1}}
SAMPLED = {"role": "assistant", "content": {"type": "text", "text": "x"}, "model": "m", "n": 7}


def legacy_only(name: str) -> UpstreamTarget:
    return replace(fake(name), env={**os.environ, "ONLY_ERA": "legacy"})


async def ask_as(client: Client, principal: str, raw: bytes) -> dict[str, Any]:
    inbound = Inbound(body=raw, transport="memory", caller=Caller(principal=principal))
    async with asyncio.timeout(20):
        reply = await ask_endpoint(client.endpoint, inbound, CollectingOutlet())
    return parse_object(reply.body or b"")


async def begin(client: Client, request_id: object = 1) -> dict[str, Any]:
    """The first round of a call that asks."""
    asked = await client.ask(modern(request_id, "tools/call", ACT, **SAMPLING))
    result: dict[str, Any] = asked["result"]
    return result


def again(request_id: object, state: object, answers: dict[str, Any], **changes: Any) -> bytes:
    params = {**ACT, "requestState": state, "inputResponses": answers, **changes}
    return modern(request_id, "tools/call", params, **SAMPLING)


def test_discovery_is_translated_from_initialize() -> None:
    async def run() -> dict[str, Any]:
        async with guarded(legacy_only("good"), RelayOptions()) as client:
            return await client.ask(modern("d", "server/discover"))

    assert asyncio.run(run()) == {
        "jsonrpc": "2.0",
        "id": "d",
        "result": {
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {"listChanged": True}},
            "resultType": "complete",
            "ttlMs": 0,
            "cacheScope": "private",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "fake", "version": "1"}},
        },
    }


def test_a_call_with_a_question_is_parked_until_its_answer() -> None:
    async def run() -> tuple[dict[str, Any], object]:
        async with guarded(legacy_only("asks_sampling"), RelayOptions()) as client:
            asked = await begin(client)
            done = await client.ask(again(2, asked["requestState"], {"q1": SAMPLED}))
            return asked, outcome(done)

    asked, answer = asyncio.run(run())

    assert asked["inputRequests"] == {"q1": {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}}}
    assert (asked["resultType"], answer) == ("input_required", {"y": 7})


def test_a_state_is_sealed_and_can_be_used_once() -> None:
    """For another tool, another caller, changed, or a second time it is refused; the call itself is not lost by that."""

    async def run() -> list[object]:
        async with guarded(legacy_only("asks_sampling"), RelayOptions()) as client:
            state = (await begin(client))["requestState"]
            refused = [
                await client.ask(again(2, f"{state}x", {"q1": SAMPLED})),
                await client.ask(again(3, state, {"q1": SAMPLED}, arguments={"x": 2})),
                await ask_as(client, "somebody else", again(4, state, {"q1": SAMPLED})),
            ]
            done = await client.ask(again(5, state, {"q1": SAMPLED}))
            twice = await client.ask(again(6, state, {"q1": SAMPLED}))
            return [outcome(each) for each in (*refused, done, twice)]

    refused = "STATE_REJECTED"
    assert asyncio.run(run()) == [refused, refused, refused, {"y": 7}, refused]


@pytest.mark.parametrize(("method", "expected"), [("tools/call", "name"), ("tools/list", None)])
def test_a_state_is_read_only_on_methods_that_may_ask(method: str, expected: str | None) -> None:
    """The name of a parked call can be read out of its state; it leads to the call only where the seal is checked."""
    raw = modern(1, method, {"requestState": "name"})

    assert to_legacy._state_of(UpstreamRequest(id=1, method=method, params={}, raw=raw)) == expected


def test_missing_or_malformed_answers_are_asked_for_again() -> None:
    async def run() -> list[object]:
        async with guarded(legacy_only("asks_two_kinds"), RelayOptions()) as client:
            offered = {CAPABILITIES: {"sampling": {}, "roots": {"listChanged": True}}}
            asked = (await client.ask(modern(1, "tools/call", ACT, **offered)))["result"]
            seen = [sorted(asked["inputRequests"])]
            for number, answers in ((2, {}), (3, {"q1": "no", "q9": {}}), (4, {"q2": {"roots": []}})):
                params = {**ACT, "requestState": asked["requestState"], "inputResponses": answers}
                asked = (await client.ask(modern(number, "tools/call", params, **offered)))["result"]
                seen.append(sorted(asked["inputRequests"]))
            params = {**ACT, "requestState": asked["requestState"], "inputResponses": {"q1": SAMPLED}}
            return [*seen, outcome(await client.ask(modern(5, "tools/call", params, **offered)))]

    assert asyncio.run(run()) == [["q1", "q2"], ["q1", "q2"], ["q1", "q2"], ["q1"], {"y": 2}]


@pytest.mark.parametrize("offered", [{}, {"elicitation": {}}, {"roots": {}, "extensions": {"x/y": {}}}])
def test_questions_that_the_client_did_not_declare_are_refused_on_its_behalf(offered: dict[str, Any]) -> None:
    async def run() -> object:
        async with guarded(legacy_only("asks_sampling"), RelayOptions()) as client:
            return outcome(await client.ask(modern(1, "tools/call", ACT, **{CAPABILITIES: offered})))

    assert asyncio.run(run()) == {"y": -32601}


def test_a_parked_call_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(to_legacy, "PARKED_SECONDS", 0.05)

    async def run() -> list[object]:
        async with guarded(legacy_only("asks_sampling"), RelayOptions()) as client:
            state = (await begin(client))["requestState"]
            bridge = next(iter(client.endpoint.backend._stateless._bridges._bridges._kept.values())).item  # type: ignore[attr-defined]
            async with asyncio.timeout(10):
                while bridge.is_busy:
                    await asyncio.sleep(0.01)
            return [outcome(await client.ask(again(2, state, {"q1": SAMPLED}))), bridge._parked]

    assert asyncio.run(run()) == ["STATE_REJECTED", {}]


def test_a_question_that_the_upstream_cancels_is_not_asked() -> None:
    async def run() -> object:
        async with guarded(legacy_only("asks_and_withdraws"), RelayOptions()) as client:
            asked = await client.ask(modern(1, "tools/call", ACT, **SAMPLING))
            if asked["result"].get("resultType") == "input_required":
                asked = await client.ask(again(2, asked["result"]["requestState"], {"q1": SAMPLED}))
            return outcome(asked)

    assert asyncio.run(run()) == FINE


def test_an_upstream_that_ends_while_a_call_is_parked_fails_that_call() -> None:
    async def run() -> list[object]:
        async with guarded(legacy_only("asks_and_exits"), RelayOptions()) as client:
            first = await begin(client)
            gone = await client.ask(again(2, first["requestState"], {"q1": SAMPLED}))
            return [outcome(gone), (await begin(client, 3))["resultType"]]

    assert asyncio.run(run()) == ["UPSTREAM_GONE", "input_required"]


def test_clients_with_another_principal_or_other_capabilities_have_another_session() -> None:
    """Each has a session of its own, opened with exactly what it declared."""

    async def run() -> list[int]:
        async with guarded(legacy_only("tells_state"), RelayOptions()) as client:
            seen = []
            for principal, offered in (("a", {}), ("a", {}), ("b", {}), ("a", {"roots": {}})):
                raw = modern(1, "tools/call", ACT, **{CAPABILITIES: offered})
                answer = await ask_as(client, principal, raw)
                seen.append(len(answer["result"]["structuredContent"]["seen"]))
            return seen

    # The first session takes the process that was asked in vain for the stateless era.
    assert asyncio.run(run()) == [5, 6, 4, 4]


def test_the_number_of_sessions_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that nobody uses makes room; one whose call is parked does not."""
    monkeypatch.setattr(pool, "MAX_PROCESSES", 1)

    async def run() -> list[object]:
        async with guarded(legacy_only("asks_sampling"), RelayOptions()) as client:
            other = modern(1, "tools/list", **{CAPABILITIES: {"roots": {}}})
            first = await ask_as(client, "a", other)
            state = (await begin(client))["requestState"]
            crowded = await ask_as(client, "b", other)
            await client.ask(again(2, state, {"q1": SAMPLED}))
            after = await ask_as(client, "b", other)
            return ["result" in first, outcome(crowded), "result" in after]

    assert asyncio.run(run()) == [True, "OVERLOADED", True]


def test_without_a_bridge_the_refusal_names_the_versions_of_the_upstream() -> None:
    async def run() -> dict[str, Any]:
        async with guarded(legacy_only("good"), RelayOptions(bridge=False)) as client:
            error: dict[str, Any] = (await client.act())["error"]
            return error

    error = asyncio.run(run())

    assert (error["code"], error["data"]["supported"][-1]) == (-32022, "2025-11-25")


MISBEHAVIOURS = (
    "good",
    "json_noise",
    "two_answers",
    "wrong_id",
    "bad_syntax",
    "lone_surrogate",
    "truncated",
    "wrong_structured",
    "answer_of_6_mb",
    "schema_bomb",
    "list_without_end",
)


@pytest.mark.slow
@pytest.mark.parametrize("name", MISBEHAVIOURS)
def test_a_misbehaving_upstream_has_the_same_outcome_over_the_bridge(name: str) -> None:
    async def run() -> object:
        async with guarded(
            legacy_only(name), RelayOptions(idle_seconds=4.0, total_seconds=25.0, liveness_seconds=0.5)
        ) as client:
            return outcome(await client.act(progressToken="t"))

    assert asyncio.run(run()) == EXPECTED[name]
