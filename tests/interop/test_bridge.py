"""The official Python client in front of a server on the official SDK that speaks only the other era, through the guard.

Both ways, each over stdio and HTTP on either side of the guard: the client sees what it would see of a server of its own
era, but for what docs/GUARD.md says of bridges.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from tests.fixtures.guards import STRICTWIRE, free_port, guard_http, wait_for
from tests.fixtures.live import HERE, PATIENCE, environment
from tests.interop.test_python import Seen, converse, failure, until

UPSTREAM = str(Path(HERE) / "one_era_sdk.py")
MODERN, LEGACY = "2026-07-28", "2025-11-25"
WATCHED = "story://watched"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("patient_discovery"),
    pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning"),
]


@contextmanager
def upstream_options(era: str, way: str) -> Iterator[list[str]]:
    """The arguments with which a guard reaches a server of one era."""
    if way == "stdio":
        yield ["--", sys.executable, UPSTREAM, era, "--stdio"]
        return
    port = free_port()
    process = subprocess.Popen([sys.executable, UPSTREAM, era, "--http", str(port)], env=environment())
    try:
        wait_for(port, process)
        yield ["--upstream-http", f"http://127.0.0.1:{port}/mcp"]
    finally:
        process.kill()
        process.wait(PATIENCE)


@contextmanager
def bridged(era: str, inner: str, outer: str) -> Iterator[Any]:
    """Where a client finds the guard."""
    with upstream_options(era, inner) as options:
        if outer == "stdio":
            yield StdioServerParameters(command=STRICTWIRE, args=["guard", *options], env=environment())
        else:
            with guard_http(*options) as url:
                yield url


class Watching(Seen):
    """Also notes which resources were updated."""

    def __init__(self) -> None:
        super().__init__()
        self.updates: list[str] = []

    async def message(self, message: Any) -> None:
        await super().message(message)
        if isinstance(message, types.ResourceUpdatedNotification):
            self.updates.append(str(message.params.uri))


async def tell(client: Client, seen: Watching, *, modern: bool) -> dict[str, Any]:
    """Do everything once."""

    async def said(name: str, **arguments: Any) -> str:
        return str((await client.call_tool(name, arguments)).content[0].text)  # type: ignore[union-attr]

    steps: list[float] = []

    async def step(done: float, _total: float | None, _message: str | None) -> None:
        steps.append(done)

    tools = (await client.list_tools()).tools
    await client.call_tool("steps", progress_callback=step)
    if not modern:
        await client.set_logging_level("info")
    await client.call_tool("logs")

    async def told(words: str) -> bool:
        return words in await said("tell")

    async with anyio.create_task_group() as group:
        group.start_soon(client.call_tool, "hold")
        await until(lambda: told("held"))
        group.cancel_scope.cancel()
    await until(lambda: told("cancelled"))
    changes = await (_listen if modern else _subscribe)(client, seen)
    return {
        "version": client.protocol_version,
        "server": client.server_info.name if client.server_info else None,
        "instructions": client.instructions,
        "tools": len(tools),
        "echo": await said("echo", text="ä 1.0"),
        "progress": steps,
        "logs": seen.logs,
        "greet": await said("greet"),
        "twice": await said("twice"),
        "sample": await said("sample"),
        "roots": await said("roots"),
        "declared": json.loads(await said("declared"))["capabilities"],
        "resources": [str(each.uri) for each in (await client.list_resources()).resources],
        "templates": [each.uri_template for each in (await client.list_resource_templates()).resource_templates],
        "read": (await client.read_resource(WATCHED)).contents[0].text,  # type: ignore[union-attr]
        "unread": await failure(client.read_resource("story://none")),
        "prompts": [each.name for each in (await client.list_prompts()).prompts],
        "prompt": (await client.get_prompt("hello")).messages[0].content.text,  # type: ignore[union-attr]
        "completion": (
            await client.complete(types.PromptReference(name="hello"), {"name": "n", "value": "A"})
        ).completion.values,
        "unknown": await failure(client.call_tool("nope")),
        "changes": changes,
    }


async def _listen(client: Client, _seen: Watching) -> list[str]:
    async with client.listen(tools_list_changed=True, resource_subscriptions=[WATCHED]) as subscription:
        await client.call_tool("change")
        heard = aiter(subscription)
        with anyio.fail_after(PATIENCE):
            return sorted([type(await anext(heard)).__name__ for _ in range(2)])


async def _subscribe(client: Client, seen: Watching) -> list[str]:
    await client.subscribe_resource(WATCHED)
    await client.call_tool("change")

    async def heard() -> bool:
        return bool(seen.changes and seen.updates)

    await until(heard)
    await client.unsubscribe_resource(WATCHED)
    return sorted(["ToolsListChanged"] * seen.changes + ["ResourceUpdated" for _ in seen.updates])


def drive(target: Any, *, modern: bool) -> dict[str, Any]:
    seen = Watching()
    options = {"mode": "auto", "log_level": "info"} if modern else {"mode": "legacy"}
    return converse(target, seen, lambda client: tell(client, seen, modern=modern), **options)


def expected(upstream: str) -> dict[str, Any]:
    modern = upstream == "legacy"
    return {
        "version": MODERN if modern else LEGACY,
        "server": f"one-era-{upstream}",
        "instructions": "Speaks one era.",
        "tools": 11 if modern else 12,
        "echo": "ä 1.0",
        "progress": [1, 2, 3],
        "logs": ["info", "error"],
        "greet": "accept Who",
        "twice": "First?, Second?",
        "sample": "well",
        "roots": "file:///w",
        "declared": {"elicitation": {"form": {}, "url": {}}, "roots": {}, "sampling": {}},
        "resources": [WATCHED],
        "templates": ["story://{name}"],
        "read": "seen",
        "unread": -32602 if modern else -32002,
        "prompts": ["hello"],
        "prompt": "prompt hello",
        "completion": ["A!"],
        "unknown": -32602,
        "changes": ["ResourceUpdated", "ToolsListChanged"],
    }


@pytest.mark.parametrize(("inner", "outer"), [("stdio", "http"), ("http", "stdio")])
@pytest.mark.parametrize("upstream", ["modern", "legacy"])
def test_a_client_of_the_other_era_is_served(upstream: str, inner: str, outer: str) -> None:
    with bridged(upstream, inner, outer) as target:
        told = drive(target, modern=upstream == "legacy")

    assert told == expected(upstream)
