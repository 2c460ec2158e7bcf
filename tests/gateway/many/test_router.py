"""Several upstreams behind one endpoint: names, lists, hints, routing. Real processes, both eras."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from strictwire.canon.json import parse, render
from strictwire.gateway.many.router import STATUS_URI
from strictwire.gateway.policy.rules import Filter
from strictwire.server.run import StartRefused
from tests.fixtures.live import legacy, modern
from tests.gateway.driver import outcome
from tests.gateway.many.fleet import Talker, fleet, one

ERAS = pytest.mark.parametrize("era", ["modern", "legacy"])


def talk(era: str, do: Callable[[Talker], Awaitable[Any]], *upstreams: Any) -> Any:
    """What one conversation with a guard in front of these upstreams gives."""

    async def run() -> Any:
        async with fleet(*upstreams) as client:
            return await do(await Talker(client, era).open())

    return asyncio.run(run())


@ERAS
def test_lists_are_merged_in_the_order_of_the_upstreams(era: str) -> None:
    async def do(talker: Talker) -> list[str]:
        return await talker.names()

    first = one("a", prefix="a_", tools=["z", "b"], page=1)
    second = one("b", tools=["y", "a"], rename={"y": "why"})

    assert talk(era, do, first, second) == ["a_z", "a_b", "why", "a"]


@ERAS
def test_a_tool_is_called_under_its_own_name(era: str) -> None:
    async def do(talker: Talker) -> list[Any]:
        answers = [await talker.call(name) for name in ("a_who", "who", "whoami")]
        return [(each["server"], each["tool"]) for each in answers]

    upstreams = one("a", prefix="a_"), one("b"), one("c", tools=["who"], rename={"who": "whoami"})

    assert talk(era, do, *upstreams) == [("a", "who"), ("b", "who"), ("c", "who")]


@ERAS
def test_a_name_without_an_owner_is_unknown(era: str) -> None:
    """Also the upstream's own name of a tool that is shown under another."""
    names = ["nothing", "a_nothing", "who", "a_", "y"]

    async def do(talker: Talker) -> list[object]:
        return [outcome(await talker.reply("tools/call", name=name, arguments={})) for name in names]

    upstreams = one("a", prefix="a_"), one("b", tools=["y"], rename={"y": "why"})

    assert talk(era, do, *upstreams) == ["UNKNOWN_TOOL"] * len(names)


def test_the_entry_of_a_tool_keeps_everything_but_its_name() -> None:
    async def do(talker: Talker) -> Any:
        return (await talker.ask("tools/list"))["tools"]

    schema = {"type": "object", "properties": {"x": {"type": "integer"}}}

    assert talk("modern", do, one("a", prefix="a_"), one("b", prefix="b_")) == [
        {"name": "a_who", "description": "who of a", "inputSchema": schema},
        {"name": "b_who", "description": "who of b", "inputSchema": schema},
    ]


@pytest.mark.parametrize(
    ("hints", "expected"),
    [
        ([{"ttl": 5000}, {"ttl": 300}], (300, "public")),
        ([{"ttl": 5000, "scope": "private"}, {"ttl": 300}], (300, "private")),
        ([{"ttl": 0}, {"ttl": 300}], (0, "public")),
    ],
)
def test_cache_hints_are_merged_to_the_strictest(hints: list[dict[str, Any]], expected: tuple[int, str]) -> None:
    async def do(talker: Talker) -> list[tuple[int, str]]:
        listed = await talker.ask("tools/list")
        return [(each["ttlMs"], each["cacheScope"]) for each in (listed, talker.opened)]

    upstreams = [one(f"u{number}", prefix=f"u{number}_", **each) for number, each in enumerate(hints)]

    assert talk("modern", do, *upstreams) == [expected, expected]


@ERAS
def test_capabilities_are_the_union(era: str) -> None:
    async def do(talker: Talker) -> Any:
        return talker.opened["capabilities"], talker.opened.get("instructions")

    first = one("a", instructions="Be kind.")
    second = one("b", prefix="b_", prompts=["p"], instructions="Be brief.")

    assert talk(era, do, first, second) == (
        {
            "tools": {"listChanged": True},
            "logging": {},
            "prompts": {"listChanged": True},
            "completions": {},
            "resources": {"listChanged": True},
        },
        "a: Be kind.\n\nb: Be brief.",
    )


@ERAS
def test_a_method_that_no_upstream_offers_does_not_exist(era: str) -> None:
    async def do(talker: Talker) -> list[object]:
        asked = [("prompts/list", {}), ("unknown/method", {})]
        return [(await talker.reply(method, **params))["error"]["code"] for method, params in asked]

    assert talk(era, do, one("a"), one("b", prefix="b_")) == [-32601, -32601]


@ERAS
def test_prompts_and_completion_go_to_the_upstream_of_the_prompt(era: str) -> None:
    async def do(talker: Talker) -> list[Any]:
        prompt = await talker.ask("prompts/get", name="b_p")
        argument = {"name": "x", "value": ""}
        asked = [{"type": "ref/prompt", "name": "b_p"}, {"type": "ref/resource", "uri": "a:{x}"}]
        completed = [await talker.ask("completion/complete", ref=ref, argument=argument) for ref in asked]
        unknown = await talker.reply("prompts/get", name="zzz")
        names = await talker.names("prompts/list")
        return [
            names,
            prompt["messages"][0]["content"]["text"],
            *(each["completion"] for each in completed),
            outcome(unknown),
        ]

    upstreams = one("a", prefix="a_", prompts=["p"], templates=["a:{x}"]), one("b", prefix="b_", prompts=["p"])

    assert talk(era, do, *upstreams) == [
        ["a_p", "b_p"],
        "b p",
        {"values": ["b", "p"]},
        {"values": ["a", "a:{x}"]},
        "UNKNOWN_PROMPT",
    ]


OWNERS = {
    "x:1": "a",
    "x:2": "b",
    "both:1": "a",
    "t:77/end": "b",
    "claimed:5": "c",
    "y:unlisted": "b",
    "x:unlisted": "RESOURCE_NOT_FOUND",
    "z:unlisted": "RESOURCE_NOT_FOUND",
}


@ERAS
def test_a_resource_is_read_from_its_owner(era: str) -> None:
    async def do(talker: Talker) -> dict[str, object]:
        replies = {uri: await talker.reply("resources/read", uri=uri) for uri in OWNERS}
        return {
            uri: reply["result"]["contents"][0]["text"] if "result" in reply else outcome(reply)
            for uri, reply in replies.items()
        }

    first = one("a", resources=["x:1", "both:1"])
    second = one("b", prefix="b_", resources=["x:2", "both:1", "y:1"], templates=["t:{id}/end"])
    third = replace(one("c", prefix="c_", resources=[]), resources=("claimed:*",))

    assert talk(era, do, first, second, third) == OWNERS


@ERAS
def test_of_a_resource_that_two_upstreams_list_the_first_is_used(era: str) -> None:
    async def do(talker: Talker) -> Any:
        return (await talker.ask("resources/list"))["resources"]

    shown = [
        each["uri"] for each in talk(era, do, one("a", resources=["x:1"]), one("b", prefix="b_", resources=["x:1", "y:1"]))
    ]

    assert shown == ["x:1", "y:1", STATUS_URI]


def test_the_log_level_is_set_everywhere_and_a_subscription_at_the_owner() -> None:
    async def do(talker: Talker) -> list[Any]:
        await talker.ask("logging/setLevel", level="error")
        await talker.ask("resources/subscribe", uri="b:1")
        return [await talker.call(f"{name}_levels") for name in "ab"]

    upstreams = [one(name, prefix=f"{name}_", tools=["levels"], resources=[f"{name}:1"]) for name in "ab"]
    first, second = talk("legacy", do, *upstreams)

    assert ["logging/setLevel", "error"] in first
    assert ["logging/setLevel", "error"] in second
    assert ["resources/subscribe", "b:1"] in second
    assert ["resources/subscribe", "b:1"] not in first


def test_a_session_agrees_on_the_oldest_version_that_any_upstream_speaks() -> None:
    async def do(talker: Talker) -> Any:
        seen = [await talker.call(f"{name}_levels") for name in "ab"]
        return talker.opened["protocolVersion"], [each[0] for each in seen]

    upstreams = one("a", prefix="a_", tools=["levels"]), one("b", prefix="b_", tools=["levels"], version="2025-06-18")
    version, openings = talk("legacy", do, *upstreams)

    assert version == "2025-06-18"
    assert openings == [["initialize", "2025-06-18"], ["initialize", "2025-11-25"]]


def test_an_upstream_gets_the_capabilities_of_the_client() -> None:
    declared = {"elicitation": {}, "com.example/extra": {"n": 1}}

    async def run() -> Any:
        async with fleet(one("a", prefix="a_"), one("b", prefix="b_")) as client:
            call = modern(1, "tools/call", {"name": "b_who"}, **{"io.modelcontextprotocol/clientCapabilities": declared})
            return parse((await client.ask(call))["result"]["content"][0]["text"].encode())["declared"]

    assert asyncio.run(run()) == declared


def test_each_upstream_gets_the_answer_to_its_own_question() -> None:
    async def run() -> list[Any]:
        async with fleet(*(one(name, prefix=f"{name}_", tools=["ask"]) for name in "ab")) as client:
            talker = await Talker(client, "legacy").open(elicitation={})
            calls = [asyncio.create_task(talker.call(f"{name}_ask")) for name in "ab"]
            async with asyncio.timeout(10):
                while len(client.heard.messages) < 2:
                    client.heard.arrived.clear()
                    await client.heard.arrived.wait()
            for question in client.heard.messages:
                given = {"action": "accept", "content": {"to": question["params"]["message"]}}
                await client.send(render({"jsonrpc": "2.0", "id": question["id"], "result": given}))
            return [(await each)["content"]["to"] for each in calls]

    assert asyncio.run(run()) == ["a asks", "b asks"]


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (one("a"), one("b"), "the tool 'who' is offered by two upstreams, 'a' and 'b': set prefix = \"b_\" in"),
        (one("a", prefix="x_"), one("b", rename={"who": "x_who"}), "the tool 'x_who' is offered by two upstreams"),
        (one("a", prompts=["p"], tools=["t"]), one("b", prompts=["p"]), "the prompt 'p' is offered by two upstreams"),
    ],
)
def test_a_name_clash_is_refused_at_the_start(first: Any, second: Any, words: str) -> None:
    async def run() -> None:
        async with fleet(first, second):
            pass

    with pytest.raises(StartRefused) as caught:
        asyncio.run(run())

    assert words in str(caught.value)


@ERAS
def test_a_tool_that_the_filter_leaves_out_cannot_clash(era: str) -> None:
    async def do(talker: Talker) -> Any:
        return await talker.names(), (await talker.call("who"))["server"]

    second = replace(one("b", tools=["who", "other"]), tool_filter=Filter(deny=("who",)))

    assert talk(era, do, one("a"), second) == (["who", "other"], "a")


def test_pages_of_a_long_list_have_cursors_that_a_change_makes_invalid() -> None:
    tools = [f"t{number:04}" for number in range(700)]

    async def do(talker: Talker) -> Any:
        first = await talker.ask("tools/list")
        second = await talker.ask("tools/list", cursor=first["nextCursor"])
        wrong = [await talker.reply("tools/list", cursor=cursor) for cursor in ("1000", "", first["nextCursor"] + "0")]
        await talker.call("a_change")
        after = await talker.reply("tools/list", cursor=first["nextCursor"])
        names = [each["name"] for each in (*first["tools"], *second["tools"])]
        return names, "nextCursor" in second, [outcome(each) for each in (*wrong, after)]

    upstreams = one("a", prefix="a_", tools=[*tools, "change"], page=100), one("b", prefix="b_", tools=tools)
    names, more, refused = talk("modern", do, *upstreams)

    assert names == [*(f"a_{name}" for name in tools), "a_change", *(f"b_{name}" for name in tools)]
    assert more is False
    assert refused == ["INVALID_CURSOR"] * 4


@ERAS
def test_the_state_of_every_upstream_can_be_read(era: str) -> None:
    async def do(talker: Talker) -> Any:
        result = await talker.ask("resources/read", uri=STATUS_URI)
        return parse(result["contents"][0]["text"].encode())

    assert talk(era, do, one("a"), one("b", prefix="b_", die=True))["upstreams"] == [
        {"name": "a", "state": "up", "failures": 0, "reason": None},
        {"name": "b", "state": "down", "failures": 1, "reason": "it ended with exit code 4"},
    ]


def test_a_single_upstream_may_have_other_names() -> None:
    async def do(talker: Talker) -> Any:
        return await talker.names(), (await talker.call("my_who"))["tool"]

    assert talk("modern", do, one("a", prefix="my_")) == (["my_who"], "who")


@ERAS
def test_records_hold_the_clients_name_of_a_tool(era: str) -> None:
    async def run() -> list[Any]:
        async with fleet(one("a", prefix="a_"), one("b", prefix="b_")) as client:
            talker = await Talker(client, era).open()
            await talker.call("b_who")
            bodies = [parse(line) for line in client.recorder.lines]
            return [body["tool_name"] for body in bodies if isinstance(body, dict)]

    assert asyncio.run(run()) == ["b_who", "b_who"]


@ERAS
def test_a_cancellation_reaches_the_upstream_with_its_reason(era: str) -> None:
    async def run() -> Any:
        async with fleet(one("a", prefix="a_", tools=["wait", "levels"]), one("b", prefix="b_")) as client:
            talker = await Talker(client, era).open()
            make = modern if era == "modern" else legacy
            waiting = asyncio.create_task(client.ask(make("w", "tools/call", {"name": "a_wait", "arguments": {}})))
            async with asyncio.timeout(10):
                while ["tools/call", "wait"] not in await talker.call("a_levels"):
                    pass
            reason = {"requestId": "w", "reason": "enough"}
            await client.send(render({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": reason}))
            await asyncio.wait({waiting}, timeout=10)
            return waiting.cancelled(), await talker.call("a_levels")

    cancelled, seen = asyncio.run(run())

    assert cancelled
    assert ["notifications/cancelled", "enough"] in seen
