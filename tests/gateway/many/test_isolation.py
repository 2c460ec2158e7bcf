"""An upstream that crashes, hangs or floods does not affect the others, and is restarted."""

from __future__ import annotations

import asyncio
import time
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from strictwire.canon.json import parse
from strictwire.gateway.links.connector import UpstreamTarget
from strictwire.gateway.many.router import STATUS_URI
from tests.fixtures.guards import free_port
from tests.fixtures.live import HttpProcess, legacy, modern
from tests.gateway.driver import SHORT, Client, CollectingOutlet, outcome
from tests.gateway.many.fleet import Talker, fleet, one

ERAS = pytest.mark.parametrize("era", ["modern", "legacy"])
QUICK = 0.8
"""Seconds within which a healthy upstream answers on a busy machine; below the silence that is allowed to the other."""

BRIEF = replace(SHORT, idle_seconds=1.0, total_seconds=1.5, liveness_seconds=0.3)
BAD = ["who", "crash", "hang", "flood"]


def request(era: str, number: object, tool: str) -> bytes:
    make = modern if era == "modern" else legacy
    return make(number, "tools/call", {"name": tool, "arguments": {}})


async def states(talker: Talker) -> dict[str, Any]:
    result = await talker.ask("resources/read", uri=STATUS_URI)
    found = parse(result["contents"][0]["text"].encode())
    assert isinstance(found, dict)
    return {each["name"]: each["state"] for each in found["upstreams"]}


@pytest.mark.slow
@ERAS
@pytest.mark.parametrize(("deed", "expected"), [("crash", "UPSTREAM_GONE"), ("hang", "TIMEOUT"), ("flood", "TIMEOUT")])
def test_a_failing_upstream_is_restarted_and_does_not_affect_the_others(era: str, deed: str, expected: str) -> None:
    async def run() -> tuple[Any, ...]:
        async with fleet(one("good", tools=["who"]), one("bad", prefix="bad_", options=BRIEF, tools=BAD)) as client:
            talker = await Talker(client, era).open()
            await talker.names()
            before = [(await talker.call(name))["pid"] for name in ("who", "bad_who")]
            doing = asyncio.create_task(client.ask(request(era, "deed", f"bad_{deed}")))
            waits = []
            while not doing.done():
                started = time.monotonic()
                assert (await talker.call("who"))["pid"] == before[0]
                waits.append(time.monotonic() - started)
            listed = await talker.names()
            async with asyncio.timeout(20):
                while "error" in (answer := await client.ask(request(era, len(waits) + 1000, "bad_who"))) or answer[
                    "result"
                ].get("isError"):
                    await asyncio.sleep(0.05)
            after = parse(answer["result"]["content"][0]["text"].encode())
            return outcome(await doing), max(waits), listed, after["pid"] != before[1], await states(talker)

    seen, slowest, listed, is_new, found = asyncio.run(run())

    assert seen == expected
    assert slowest < QUICK
    assert listed == ["who", *(f"bad_{name}" for name in BAD)]
    assert is_new
    assert found == {"good": "up", "bad": "up"}


@pytest.mark.slow
@ERAS
@pytest.mark.parametrize("flaw", ["die", "silent"])
def test_an_upstream_that_does_not_start_does_not_affect_the_others(
    era: str, flaw: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("many.survey", "links.upstream", "many.session"):
        monkeypatch.setattr(f"strictwire.gateway.{module}.OPENING_SECONDS", 1.0)

    async def run() -> tuple[Any, ...]:
        options = replace(SHORT, idle_seconds=1.0, bridge=False)
        async with fleet(one("good"), one("bad", prefix="bad_", options=options, **{flaw: True})) as client:
            talker = await Talker(client, era).open()
            return await talker.names(), (await talker.call("who"))["server"], (await states(talker))["good"]

    assert asyncio.run(run()) == (["who"], "good", "up")


@pytest.mark.slow
def test_an_upstream_that_starts_late_joins_and_the_client_is_notified(tmp_path: Any) -> None:
    """A legacy session: the upstream fails at first, and its tools appear once it has opened."""
    marker = tmp_path / "up"
    late = one("late", prefix="late_")
    script = f"import os,sys\nif not os.path.exists({str(marker)!r}): sys.exit(9)\nos.execv(sys.executable, sys.argv[1:])"
    python, *rest = late.target.command
    late = replace(late, target=replace(late.target, command=(python, "-S", "-c", script, python, *rest)))

    async def run() -> tuple[list[str], list[str]]:
        async with fleet(one("good"), late) as client:
            talker = await Talker(client, "legacy").open()
            before = await talker.names()
            marker.touch()
            async with asyncio.timeout(20):
                while not _has(client.heard, "notifications/tools/list_changed"):
                    client.heard.arrived.clear()
                    await client.heard.arrived.wait()
            return before, await talker.names()

    assert asyncio.run(run()) == (["who"], ["who", "late_who"])


def _has(heard: CollectingOutlet, method: str) -> bool:
    return any(message["method"] == method for message in heard.messages)


async def _until(heard: CollectingOutlet, method: str, count: int = 1) -> None:
    async with asyncio.timeout(20):
        while sum(message["method"] == method for message in heard.messages) < count:
            heard.arrived.clear()
            await heard.arrived.wait()


CHANGED = "notifications/tools/list_changed"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


def test_one_subscription_covers_the_changes_of_every_upstream() -> None:
    wanted = {"toolsListChanged": True, "promptsListChanged": True, "resourceSubscriptions": ["b:1", "nowhere:1"]}

    async def run() -> list[dict[str, Any]]:
        upstreams = [one(name, prefix=f"{name}_", tools=["change"], resources=[f"{name}:1"]) for name in "ab"]
        async with fleet(*upstreams) as client:
            listener = Client(client.endpoint, client.recorder)
            listen = modern("sub", "subscriptions/listen", {"notifications": wanted})
            listening = asyncio.create_task(listener.send(listen))
            await _until(listener.heard, "notifications/resources/updated")
            talker = Talker(client, "modern")
            await talker.call("a_change")
            await talker.call("b_change")
            await _until(listener.heard, CHANGED, 2)
            listening.cancel()
            return listener.heard.messages

    mark = {"io.modelcontextprotocol/subscriptionId": "sub"}
    first, *rest = asyncio.run(run())
    granted = {"toolsListChanged": True, "resourceSubscriptions": ["b:1", "nowhere:1"]}

    assert (first["method"], first["params"]) == (ACKNOWLEDGED, {"_meta": mark, "notifications": granted})
    assert [(each["method"], each["params"]) for each in rest] == [
        ("notifications/resources/updated", {"uri": "b:1", "_meta": mark}),
        (CHANGED, {"_meta": mark}),
        (CHANGED, {"_meta": mark}),
    ]


def test_a_subscription_survives_an_upstream_and_is_notified_of_its_return() -> None:
    async def run() -> tuple[bool, list[str]]:
        upstreams = one("a", prefix="a_", tools=["crash"]), one("b", prefix="b_", tools=["change"])
        async with fleet(*upstreams) as client:
            listener = Client(client.endpoint, client.recorder)
            listen = modern("sub", "subscriptions/listen", {"notifications": {"toolsListChanged": True}})
            listening = asyncio.create_task(listener.send(listen))
            await _until(listener.heard, ACKNOWLEDGED)
            await client.ask(modern(1, "tools/call", {"name": "a_crash"}))
            await _until(listener.heard, CHANGED)
            heard = len(listener.heard.messages)
            await client.ask(modern(2, "tools/call", {"name": "b_change"}))
            await _until(listener.heard, CHANGED, 2)
            alive = not listening.done()
            listening.cancel()
            return alive, [each["method"] for each in listener.heard.messages[heard:]]

    assert asyncio.run(run()) == (True, [CHANGED])


@ERAS
def test_upstreams_of_both_eras_are_served_together(era: str) -> None:
    """One with sessions only and one without any: each is reached over a bridge where the client speaks the other era."""

    async def run() -> tuple[Any, ...]:
        upstreams = one("old", prefix="old_", only="legacy", resources=["o:1"]), one("new", prefix="new_", only="modern")
        async with fleet(*upstreams) as client:
            talker = await Talker(client, era).open()
            names = await talker.names()
            read = await talker.ask("resources/read", uri="o:1")
            servers = [(await talker.call(name))["server"] for name in names]
            return names, servers, read["contents"][0]["text"]

    assert asyncio.run(run()) == (["old_who", "new_who"], ["old", "new"], "old")


@pytest.mark.slow
def test_an_http_upstream_that_starts_late_joins() -> None:
    port = free_port()
    near = one("near")
    far = replace(one("far", prefix="far_"), target=UpstreamTarget(name="far", url=f"http://127.0.0.1:{port}/mcp"))

    async def run() -> tuple[list[str], bool]:
        async with fleet(near, far) as client:
            talker = await Talker(client, "modern").open()
            before = await talker.names()
            listener = Client(client.endpoint, client.recorder)
            listen = modern("sub", "subscriptions/listen", {"notifications": {"toolsListChanged": True}})
            listening = asyncio.create_task(listener.send(listen))
            await _until(listener.heard, ACKNOWLEDGED)
            server = await asyncio.to_thread(HttpProcess, "everything:server", "--http", f"127.0.0.1:{port}")
            with closing(server):
                await _until(listener.heard, CHANGED)
                names = await talker.names()
                listening.cancel()
                return before, "far_test_simple_text" in names

    assert asyncio.run(run()) == (["who"], True)
