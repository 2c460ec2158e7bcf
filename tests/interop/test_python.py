"""The official Python client in both eras, over stdio and HTTP."""

from __future__ import annotations

import warnings
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import MCPError
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from strictwire.canon.json import parse_object
from tests.fixtures.live import HERE, PATIENCE, QUIET, HttpProcess, command
from tests.interop.expected import MODERN, expected

ERAS = ["legacy", MODERN]
eras = pytest.mark.parametrize("mode", ERAS)
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")]


class Seen:
    """What the client is told, and what the person and the model behind it answer."""

    def __init__(self) -> None:
        self.logs: list[str] = []
        self.changes = 0

    async def elicit(self, _context: Any, params: Any) -> types.ElicitResult:
        return types.ElicitResult(action="accept", content={"name": params.message.split(" ")[0]})

    async def sample(self, _context: Any, _params: Any) -> types.CreateMessageResult:
        text = types.TextContent(type="text", text="well")
        return types.CreateMessageResult(role="assistant", content=text, model="m", stop_reason="endTurn")

    async def roots(self, _context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri="file:///w")])

    async def log(self, params: Any) -> None:
        self.logs.append(params.level)

    async def message(self, message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self.changes += 1


async def failure(wait: Any) -> Any:
    """The code of the error that an awaitable ends with."""
    try:
        await wait
    except MCPError as exc:
        return exc.error.code
    return "no error"


async def until(condition: Any) -> None:
    """Wait, within bounds, until something has happened on the server."""
    with anyio.fail_after(PATIENCE):
        while not await condition():
            await anyio.sleep(0.005)


def envelope(result: types.CallToolResult) -> dict[str, Any]:
    """The envelope of a failure: structured, or the text that carries it where an output schema forbids that."""
    if result.structured_content is not None:
        return dict(result.structured_content)
    return parse_object(result.content[0].text.encode())  # type: ignore[union-attr]


async def tell(client: Client, seen: Seen, *, modern: bool) -> dict[str, Any]:
    """Do everything once."""
    call = client.call_tool
    tools = (await client.list_tools()).tools
    refused = {}
    for dialect in ("mcp", "resolve_v0", "system_1_0"):
        result = await call(f"refuse_{dialect}")
        refused[dialect] = [result.is_error, len(envelope(result)), result.structured_content is not None]
    progress: list[float] = []

    async def step(done: float, _total: float | None, _message: str | None) -> None:
        progress.append(done)

    async def counted() -> bool:
        return len(progress) >= 3

    async with anyio.create_task_group() as group:
        group.start_soon(partial(call, "steps", {"values": [1, 2, 2, 3], "hold": "steps"}, progress_callback=step))
        await until(counted)
        await call("let_go", {"name": "steps"})
    if not modern:
        await client.set_logging_level("error")
    await call("log_all")
    asked, sampled, roots = (
        await call("ask_name", {"greeting": "Hello"}),
        await call("ask_model", {"prompt": "?"}),
        await call("ask_roots"),
    )

    async def told(words: str) -> bool:
        return words in (await call("story")).structured_content["result"]  # type: ignore[index]

    async with anyio.create_task_group() as group:
        group.start_soon(call, "hold", {"name": "held"})
        await until(lambda: told("began held"))
        group.cancel_scope.cancel()
    await until(lambda: told("cancelled held"))

    async def changed() -> bool:
        return seen.changes >= 1

    if modern:
        async with client.listen(tools_list_changed=True) as subscription:
            await call("change_tools")
            with anyio.fail_after(PATIENCE):
                seen.changes += int(type(await anext(aiter(subscription))).__name__ == "ToolsListChanged")
    else:
        await call("change_tools")
    await until(changed)
    completion = (await client.complete(types.PromptReference(name="greet"), {"name": "name", "value": "A"})).completion
    return {
        "version": client.protocol_version,
        "server": client.server_info.name if client.server_info else None,
        "instructions": client.instructions,
        "tools": [tool.name for tool in tools if tool.name in ("add", "ask_name", "refuse_mcp")],
        "sum": (await call("add", {"a": 1, "b": 2})).structured_content,
        "mirrored": (await call("mirrored", {"region": "é", "limit": 5, "nested": {"zone": "z"}})).content[0].text,  # type: ignore[union-attr]
        "resources": [str(each.uri) for each in (await client.list_resources()).resources],
        "templates": [each.uri_template for each in (await client.list_resource_templates()).resource_templates],
        "read": (await client.read_resource("hard://watched/x")).contents[0].text,  # type: ignore[union-attr]
        "unread": await failure(client.read_resource("hard://nope")),
        "prompts": [each.name for each in (await client.list_prompts()).prompts],
        "prompt": (await client.get_prompt("greet", {"name": "Ann"})).messages[0].content.text,  # type: ignore[union-attr]
        "completion": [len(completion.values), completion.total, completion.has_more],
        "progress": progress,
        "logs": seen.logs,
        "asked": asked.content[0].text,  # type: ignore[union-attr]
        "sampled": sampled.content[0].text,  # type: ignore[union-attr]
        "roots": roots.structured_content["result"],  # type: ignore[index]
        "invalid": envelope(await call("add", {"a": "5", "b": 1}))["error"]["code"],
        "leaked": envelope(await call("leak"))["error"]["code"],
        "unknown": await failure(call("nope")),
        "refused": refused,
        "thrown": await failure(call("refuse_mcp_v1")),
        "cancelled": True,
        "changes": seen.changes >= 1,
    }


def converse(
    target: Any, seen: Seen, tell_all: Callable[[Client], Awaitable[dict[str, Any]]], **options: Any
) -> dict[str, Any]:
    """Connect, and give what is told of it."""

    async def main() -> dict[str, Any]:
        with anyio.fail_after(60), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            async with Client(
                target,
                elicitation_callback=seen.elicit,
                sampling_callback=seen.sample,
                list_roots_callback=seen.roots,
                logging_callback=seen.log,
                message_handler=seen.message,
                **options,
            ) as client:
                return await tell_all(client)

    return anyio.run(main)


def drive(target: Any, mode: str) -> dict[str, Any]:
    seen, modern = Seen(), mode == MODERN
    options = {"mode": "auto", "log_level": "error"} if modern else {"mode": "legacy"}
    return converse(target, seen, lambda client: tell(client, seen, modern=modern), **options)


@eras
def test_over_stdio(mode: str) -> None:
    program, *arguments = command("hard:server", "--stdio")
    told = drive(StdioServerParameters(command=program, args=arguments, cwd=HERE, env=QUIET), mode)

    assert told == expected(modern=mode == MODERN, unread=-32602 if mode == MODERN else -32002)


@eras
def test_over_http(mode: str, http: HttpProcess) -> None:
    told = drive(http.url, mode)

    assert told == expected(modern=mode == MODERN, unread=-32602 if mode == MODERN else -32002)
