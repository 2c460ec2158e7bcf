"""The author API: tools, resources and prompts, the values that they may return, and the contracts that are refused."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from strictwire import Audio, Caps, Context, Embedded, Image, Link, MemoryClient, Safety, Server, Text
from strictwire.contract.registry import ContractRefused
from strictwire.contract.schema import SchemaRefused
from strictwire.server.declare.refused import DeclarationRefused
from strictwire.settings.model import ServerSettings, Settings
from strictwire.stores.memory.recorder import MemoryRecorder
from strictwire.transport.memory import CallFailed, MemoryConnection


def talk(server: Server, story: Callable[[MemoryConnection], Awaitable[Any]], **options: Any) -> Any:
    """Open a client in memory and run `story` with it."""

    async def main() -> Any:
        async with MemoryClient(server, **options) as client, asyncio.timeout(10):
            return await story(client)

    return asyncio.run(main())


def called(server: Server, name: str, /, **arguments: Any) -> Any:
    return talk(server, lambda client: client.call_tool(name, arguments))


def fresh() -> Server:
    return Server("s", version="1.2.3", title="S", instructions="Read me.")


def test_the_docstring_is_the_description_and_the_hints_are_the_schema() -> None:
    server = fresh()

    @server.tool(title="Greet", category="talk")
    def greet(name: str, times: int = 1) -> str:
        """Greets a person,
        once or more often.

        Details for the readers of the code.
        """
        return " ".join([f"Hi {name}"] * times)

    (tool,) = talk(server, lambda client: client.request("tools/list"))["tools"]

    assert tool == {
        "name": "greet",
        "title": "Greet",
        "description": "Greets a person, once or more often.",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "times": {"type": "integer", "description": "Default: 1."},
            },
            "required": ["name"],
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": False},
    }
    assert called(server, "greet", name="Ann", times=2)["content"] == [{"type": "text", "text": "Hi Ann Hi Ann"}]


def test_plain_functions_run_in_threads_and_coroutines_on_the_event_loop() -> None:
    server = fresh()

    @server.tool()
    def plain() -> bool:
        """Where am I?"""
        return threading.current_thread() is threading.main_thread()

    @server.tool()
    async def coroutine() -> bool:
        """Where am I?"""
        return threading.current_thread() is threading.main_thread()

    assert called(server, "plain")["structuredContent"] == {"result": False}
    assert called(server, "coroutine")["structuredContent"] == {"result": True}


RETURNED: list[tuple[Any, Any]] = [
    (None, {"content": []}),
    ("text", {"content": [{"type": "text", "text": "text"}]}),
    (5, {"content": [{"type": "text", "text": "5"}]}),
    ([1, 2], {"content": [{"type": "text", "text": "[1,2]"}]}),
    (["a"], {"content": [{"type": "text", "text": '["a"]'}]}),
    ({"a": 1}, {"content": [{"type": "text", "text": '{"a":1}'}], "structuredContent": {"a": 1}}),
    (Text("t"), {"content": [{"type": "text", "text": "t"}]}),
    (Image(b"\x00"), {"content": [{"type": "image", "data": "AA==", "mimeType": "image/png"}]}),
    (Audio(b"\x00"), {"content": [{"type": "audio", "data": "AA==", "mimeType": "audio/wav"}]}),
    (Link("a://b", "n"), {"content": [{"type": "resource_link", "uri": "a://b", "name": "n"}]}),
    (Embedded("a://b", "t"), {"content": [{"type": "resource", "resource": {"uri": "a://b", "text": "t"}}]}),
    (
        ["words", Embedded("a://b", b"\x00", "x/y")],
        {
            "content": [
                {"type": "text", "text": "words"},
                {"type": "resource", "resource": {"uri": "a://b", "mimeType": "x/y", "blob": "AA=="}},
            ]
        },
    ),
]


@pytest.mark.parametrize(("value", "expected"), RETURNED, ids=repr)
def test_a_tool_without_an_output_schema_may_return_any_kind_of_value(value: Any, expected: dict[str, Any]) -> None:
    server = fresh()

    @server.tool()
    def give() -> Any:
        """Gives."""
        return value

    result = called(server, "give")

    assert {name: result[name] for name in result if name in ("content", "structuredContent", "isError")} == expected


def test_a_tool_with_its_own_schemas_takes_the_arguments_as_one_dict() -> None:
    server = fresh()
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False}
    output = {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]}

    @server.tool(input_schema=schema, output_schema=output, description="d")
    def double(arguments: dict[str, Any], ctx: Context) -> dict[str, Any]:
        return {"b": arguments["a"] * 2} if arguments else {"c": ctx.facts["transport"]}

    assert called(server, "double", a=2)["structuredContent"] == {"b": 4}
    assert called(server, "double")["structuredContent"]["error"]["code"] == "OUTPUT_INVALID"
    assert called(server, "double", a="2")["structuredContent"]["error"]["code"] == "INVALID_PARAMS"


def test_caps_limit_the_size_and_the_time_of_a_call() -> None:
    server = fresh()

    @server.tool(caps=Caps(response_bytes=100))
    def big() -> str:
        """Big."""
        return "x" * 200

    @server.tool(caps=Caps(response_bytes=100))
    def big_content() -> Text:
        """Big."""
        return Text("x" * 200)

    @server.tool(caps=Caps(timeout_ms=20))
    async def slow() -> str:
        """Slow."""
        await asyncio.Event().wait()
        return ""

    codes = [called(server, name)["structuredContent"]["error"]["code"] for name in ("big", "big_content", "slow")]
    assert codes == ["CAP_EXCEEDED", "CAP_EXCEEDED", "TIMEOUT"]


def test_a_mutating_tool_has_an_audit_record_before_it_runs() -> None:
    server, recorder, seen = fresh(), MemoryRecorder(), []

    @server.tool(safety=Safety.MUTATING)
    def change() -> str:
        """Changes."""
        seen.append([each["kind"] for each in recorder.records])
        return "done"

    talk(server, lambda client: client.call_tool("change"), recorder=recorder)

    assert (seen, [each["kind"] for each in recorder.records]) == ([["intent"]], ["intent", "outcome"])


def test_resource_templates_get_the_placeholders_of_the_uri() -> None:
    server = fresh()

    @server.resource("a://{kind}/{name}", mime_type="text/plain")
    async def read(name: str, kind: str, ctx: Context) -> str:
        """Reads."""
        return f"{kind} {name} {ctx.facts['transport']}"

    @server.resource("a://fixed/one")
    def fixed() -> bytes:
        """Fixed."""
        return b"\x00"

    async def story(client: MemoryConnection) -> list[Any]:
        return [
            (await client.request("resources/read", {"uri": uri}))["contents"] for uri in ("a://x/y%20z", "a://fixed/one")
        ]

    assert talk(server, story) == [
        [{"uri": "a://x/y%20z", "mimeType": "text/plain", "text": "x y z memory"}],
        [{"uri": "a://fixed/one", "blob": "AA=="}],
    ]


def test_prompts_take_strings_and_return_messages() -> None:
    server = fresh()

    @server.prompt(description="P")
    async def chat(who: str, ctx: Context, mood: str = "good") -> list[Any]:
        return [f"{who} {mood}", {"role": "assistant", "content": {"type": "text", "text": "ok"}}, Image(b"")]

    async def story(client: MemoryConnection) -> Any:
        return await client.request("prompts/list"), await client.request(
            "prompts/get", {"name": "chat", "arguments": {"who": "I"}}
        )

    listed, got = talk(server, story)

    assert [each["name"] for each in listed["prompts"][0]["arguments"]] == ["who", "mood"]
    assert got["messages"] == [
        {"role": "user", "content": {"type": "text", "text": "I good"}},
        {"role": "assistant", "content": {"type": "text", "text": "ok"}},
        {"role": "user", "content": {"type": "image", "data": "", "mimeType": "image/png"}},
    ]


def test_an_empty_server_declares_no_capabilities_and_knows_no_methods() -> None:
    async def story(client: MemoryConnection) -> Any:
        found = await client.request("server/discover")
        codes = []
        for method in ("tools/list", "tools/call", "resources/read", "prompts/list", "completion/complete"):
            with pytest.raises(CallFailed) as caught:
                await client.request(method)
            codes.append(caught.value.error["code"])
        return found["capabilities"], codes

    assert talk(fresh(), story) == ({"logging": {}}, [-32601] * 5)


@pytest.mark.parametrize("name", ["", "a b", "a/b", "é", "x" * 65, "save.output", "a\n"])
def test_a_name_that_clients_cannot_use_is_refused(name: str) -> None:
    with pytest.raises((ContractRefused, ValueError)):
        fresh().tool(name=name or " ")(lambda: None)


def test_a_taken_name_is_refused_with_the_function_that_wants_it() -> None:
    server = fresh()
    server.tool(name="a")(lambda: None)
    server.prompt(name="a")(lambda: "")
    server.resource("a://b")(lambda: "")

    def again() -> str:
        return ""

    for declare, taken in (
        (server.tool(name="a"), "a"),
        (server.prompt(name="a"), "a"),
        (server.resource("a://b"), "a://b"),
    ):
        with pytest.raises(ContractRefused) as refused:
            declare(again)

        advice = "give each tool, resource and prompt a name or URI of its own"
        assert str(refused.value) == f"again(): {taken!r} is taken; {advice}"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array"},
        {"type": "object", "$ref": "https://example.org/schema"},
        {"type": "object", "properties": {"a": {"$ref": "file:///etc/passwd"}}},
        {"type": "object", "properties": {"a": {"type": "nonsense"}}},
        {"type": "object", "properties": {"a": {"type": "number", "x-mcp-header": "A"}}},
        {"type": "object", "properties": {"a": {"pattern": "("}}},
    ],
)
def test_an_invalid_schema_is_refused_when_the_tool_is_added(schema: dict[str, Any]) -> None:
    with pytest.raises((ContractRefused, SchemaRefused)):
        fresh().tool(name="t", input_schema=schema)(lambda arguments: None)


def test_a_function_without_hints_is_refused() -> None:
    with pytest.raises(DeclarationRefused):
        fresh().tool()(lambda a: None)


def test_tools_can_be_added_from_many_threads() -> None:
    server = fresh()

    def offer(number: int) -> None:
        server.tool(name=f"t{number}")(lambda: None)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(offer, range(200)))

    assert len(server.catalog.offers.registry.tools) == 200


def test_a_removed_tool_is_unknown() -> None:
    server = fresh()
    server.tool(name="a")(lambda: None)
    server.remove_tool("a")
    server.remove_tool("a")
    server.tool(name="b")(lambda: None)

    with pytest.raises(CallFailed) as caught:
        called(server, "a")
    assert caught.value.error["code"] == -32602


def test_a_queued_call_that_timed_out_never_starts() -> None:
    """The client has received a failure, so the call must have no effect later."""
    server, started, held, free = fresh(), [], threading.Event(), threading.Event()

    @server.tool()
    def first() -> str:
        """Holds the only thread."""
        held.set()
        free.wait(10)
        return "first"

    @server.tool(caps=Caps(timeout_ms=20))
    def second() -> str:
        """Waits for a thread."""
        started.append("second")
        return "second"

    @server.tool()
    def third() -> str:
        """Comes after."""
        return "third"

    async def story(client: MemoryConnection) -> Any:
        holding = asyncio.create_task(client.call_tool("first"))
        assert await asyncio.to_thread(held.wait, 10)
        late = await client.call_tool("second")
        free.set()
        await holding
        await client.call_tool("third")
        return late["structuredContent"]["error"]["code"]

    code = talk(server, story, settings=Settings(server=ServerSettings(worker_threads=1)))

    assert (code, started) == ("TIMEOUT", [])


def test_a_tool_can_have_keyword_only_and_default_parameters() -> None:
    server = fresh()

    @server.tool()
    def act(*, a: int, b: int = 2) -> int:
        """Acts."""
        return a * 10 + b

    assert called(server, "act", a=1)["structuredContent"] == {"result": 12}
