"""Middleware: what it sees, what it may replace, and that it cannot get around the contract."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import pytest
from msgspec.structs import replace

from strictwire import (
    Call,
    CallNext,
    CallResult,
    Caps,
    Context,
    Depends,
    Failure,
    Listing,
    ListNext,
    MemoryClient,
    NotFound,
    Server,
    ToolContract,
    Unavailable,
    elicitation,
)
from strictwire.canon.json import JsonObject, parse_object, render
from strictwire.contract.handler import CallContext
from strictwire.pipeline.call import Caller
from strictwire.server.declare.refused import DeclarationRefused
from strictwire.stores.memory.recorder import MemoryRecorder
from strictwire.transport.memory import CallFailed
from tests.fixtures.live import StdioProcess, initialize, legacy, modern
from tests.fixtures.stories import story

happened: list[str] = []


@pytest.fixture(autouse=True)
def _forget() -> None:
    happened.clear()


def named(name: str) -> Any:
    """Middleware that notes when it begins and ends."""

    async def middleware(call: Call, call_next: CallNext) -> CallResult:
        happened.append(f"{name} {call.kind} {call.name}")
        try:
            return await call_next(call)
        finally:
            happened.append(f"{name} ends")

    return middleware


def make_server(*middleware: Any) -> Server:
    """A server with one of each kind."""
    server = Server("wrapped", version="1.0.0", middleware=middleware)

    @server.tool(safety="read-only")
    def add(a: int, b: int) -> int:
        happened.append("add")
        return a + b

    @server.tool(safety="mutating")
    async def change(items: list[int]) -> list[int]:
        happened.append("change")
        return items

    @server.tool(safety="read-only", caps=Caps(timeout_ms=100))
    async def hang() -> str:
        await asyncio.Event().wait()
        return "never"

    @server.tool(safety="read-only")
    def missing() -> str:
        raise NotFound("note 7")

    @server.tool(safety="read-only", roles=["admin"])
    def secret() -> str:
        return "secret"

    @server.resource("note://{id}")
    def note(id: int) -> str:  # noqa: A002
        return f"note {id}"

    @server.prompt
    def greet(name: str) -> str:
        return f"Greet {name}"

    return server


async def call(server: Server, name: str, arguments: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    async with MemoryClient(server, **options) as client:
        return await client.call_tool(name, arguments)


def code_of(answer: dict[str, Any]) -> str:
    code: str = answer["structuredContent"]["error"]["code"]
    return code


@story
async def test_the_list_is_outermost_first_around_every_kind_of_call() -> None:
    server = make_server(named("outer"), named("inner"))
    async with MemoryClient(server) as client:
        added = await client.call_tool("add", {"a": 1, "b": 2})
        order = list(happened)
        read = await client.request("resources/read", {"uri": "note://7"})
        prompt = await client.request("prompts/get", {"name": "greet", "arguments": {"name": "Ada"}})

    assert added["structuredContent"] == {"result": 3}
    assert order == ["outer tool add", "inner tool add", "add", "inner ends", "outer ends"]
    assert read["contents"] == [{"uri": "note://7", "text": "note 7"}]
    assert prompt["messages"][0]["content"]["text"] == "Greet Ada"
    assert "outer resource note://7" in happened
    assert "outer prompt greet" in happened


@story
async def test_it_sees_the_contract_the_caller_and_values_that_cannot_be_changed() -> None:
    seen: list[object] = []

    async def look(call: Call, call_next: CallNext) -> CallResult:
        contract = call.contract
        seen.extend((contract.name if isinstance(contract, ToolContract) else None, call.context.facts["principal"]))
        result = await call_next(call)
        for change in (
            lambda: call.arguments.__setitem__("items", []),  # type: ignore[attr-defined]
            lambda: call.arguments["items"].append(4),  # type: ignore[union-attr]
            lambda: setattr(call, "name", "other"),
            lambda: result.structured["result"].append(4),
        ):
            with pytest.raises((TypeError, AttributeError)):
                change()
        return result

    answer = await call(make_server(look), "change", {"items": [1]}, caller=Caller(principal="ada"))

    assert answer["structuredContent"] == {"result": [1]}
    assert seen == ["change", "ada"]


async def double(call: Call, call_next: CallNext) -> CallResult:
    return await call_next(call.with_arguments({**call.arguments, "a": 2 * call.arguments["a"]}))  # type: ignore[operator]


async def break_arguments(call: Call, call_next: CallNext) -> CallResult:
    return await call_next(call.with_arguments({"a": "one", "b": 2}))


async def instead(_call: Call, _call_next: CallNext) -> CallResult:
    return CallResult(structured={"result": 40})


async def break_result(call: Call, call_next: CallNext) -> CallResult:
    await call_next(call)
    return CallResult(structured={"result": "many"})


async def no_result(call: Call, call_next: CallNext) -> CallResult:
    await call_next(call)
    return None  # type: ignore[return-value]


async def refuse(_call: Call, _call_next: CallNext) -> CallResult:
    raise Unavailable("closed on Sundays")


async def crash(_call: Call, _call_next: CallNext) -> CallResult:
    raise ZeroDivisionError("secret")


@story
async def test_replaced_arguments_and_results_are_used() -> None:
    recorder = MemoryRecorder()
    doubled = await call(make_server(double), "add", {"a": 1, "b": 2}, recorder=recorder)
    replaced = await call(make_server(instead), "add", {"a": 1, "b": 2})

    assert doubled["structuredContent"] == {"result": 4}
    assert recorder.records[0]["arguments"] == {"a": 1, "b": 2}
    assert replaced["structuredContent"] == {"result": 40}
    assert happened == ["add"]


@pytest.mark.parametrize(
    ("middleware", "code"),
    [
        (break_arguments, "TOOL_FAILED"),
        (break_result, "OUTPUT_INVALID"),
        (no_result, "TOOL_FAILED"),
        (refuse, "UNAVAILABLE"),
        (crash, "TOOL_FAILED"),
    ],
)
@story
async def test_what_it_breaks_is_a_failure_that_is_recorded(middleware: Any, code: str) -> None:
    recorder = MemoryRecorder()

    answer = await call(make_server(middleware), "add", {"a": 1, "b": 2}, recorder=recorder)

    assert (answer["isError"], code_of(answer)) == (True, code)
    assert [each["error_code"] for each in recorder.records] == [code]
    assert "secret" not in str(answer)


@story
async def test_it_cannot_get_around_validation_roles_and_limits() -> None:
    """Middleware that would allow everything does not run for a call that the contract refuses."""
    server = make_server(instead)
    async with MemoryClient(server) as client:
        refused = await client.call_tool("add", {"a": "x"})
        denied = await client.call_tool("secret")

    assert code_of(refused) == "INVALID_PARAMS"
    assert code_of(denied) == "PERMISSION_DENIED"
    assert code_of(await call(make_server(named("any")), "hang")) == "TIMEOUT"


class Explaining:
    """A handler that knows more about refused calls."""

    def __call__(self, _arguments: JsonObject, _context: CallContext) -> None:
        """Does nothing."""

    def explain(self, failure: Failure, _arguments: JsonObject, _context: CallContext) -> Failure:
        return replace(failure, text="explained")


@story
async def test_the_handler_inside_still_explains_refusals() -> None:
    server = Server("explaining", version="1.0.0", middleware=[named("any")])
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    server.add_tool(ToolContract(name="strict", description="Explains.", input_schema=schema), Explaining())

    answer = await call(server, "strict", {"a": "x"})

    assert (code_of(answer), answer["structuredContent"]["error"]["message"]) == ("INVALID_PARAMS", "explained")


@story
async def test_it_can_turn_a_failure_into_a_result() -> None:
    async def fall_back(call: Call, call_next: CallNext) -> CallResult:
        try:
            return await call_next(call)
        except NotFound:
            return CallResult(content=({"type": "text", "text": "nothing"},))

    assert (await call(make_server(fall_back), "missing"))["content"] == [{"type": "text", "text": "nothing"}]


@story
async def test_only_what_is_safe_to_repeat_runs_twice() -> None:
    async def twice(call: Call, call_next: CallNext) -> CallResult:
        await call_next(call)
        return await call_next(call)

    assert (await call(make_server(twice), "add", {"a": 1, "b": 2}))["structuredContent"] == {"result": 3}
    assert code_of(await call(make_server(twice), "change", {"items": []})) == "TOOL_FAILED"
    assert happened == ["add", "add", "change"]


@story
async def test_the_contents_of_a_resource_keep_their_form() -> None:
    async def wrong(_call: Call, _call_next: CallNext) -> CallResult:
        return CallResult(structured={"text": "no contents"})

    async def redirect(call: Call, call_next: CallNext) -> CallResult:
        return await call_next(call.with_arguments({"uri": "note://8"}))

    for middleware, code in ((wrong, "OUTPUT_INVALID"), (redirect, "TOOL_FAILED")):
        async with MemoryClient(make_server(middleware)) as client:
            with pytest.raises(CallFailed) as caught:
                await client.request("resources/read", {"uri": "note://7"})

        assert caught.value.error["data"]["code"] == code


async def only_admins(listing: Listing, call_next: ListNext) -> Sequence[Any]:
    entries = await call_next(listing)
    is_admin = listing.facts["role"] == "admin"
    return [each for each in entries if is_admin or not getattr(each, "roles", ())]


@pytest.mark.parametrize("role", ["admin", None])
@story
async def test_a_list_can_depend_on_the_caller(role: str | None) -> None:
    async with MemoryClient(make_server(only_admins), caller=Caller(role=role)) as client:
        listed = await client.request("tools/list")
        prompts = await client.request("prompts/list")

    assert ("secret" in [each["name"] for each in listed["tools"]]) is (role == "admin")
    assert listed["cacheScope"] == "private"
    assert [each["name"] for each in prompts["prompts"]] == ["greet"]


async def backwards(listing: Listing, call_next: ListNext) -> Sequence[Any]:
    return list(reversed(await call_next(listing)))


async def invent(listing: Listing, call_next: ListNext) -> Sequence[Any]:
    return [*await call_next(listing), ToolContract(name="new", description="", input_schema={"type": "object"})]


async def repeat(listing: Listing, call_next: ListNext) -> Sequence[Any]:
    return [*await call_next(listing), *await call_next(listing)]


async def deny(_listing: Listing, _call_next: ListNext) -> Sequence[Any]:
    raise Unavailable("the directory")


@story
async def test_a_list_can_be_reordered() -> None:
    async with MemoryClient(make_server(backwards)) as client:
        listed = await client.request("tools/list")

    assert [each["name"] for each in listed["tools"]] == ["secret", "missing", "hang", "change", "add"]


@pytest.mark.parametrize(("middleware", "code"), [(invent, "TOOL_FAILED"), (repeat, "TOOL_FAILED"), (deny, "UNAVAILABLE")])
@story
async def test_a_list_cannot_have_entries_that_are_not_offered(middleware: Any, code: str) -> None:
    async with MemoryClient(make_server(middleware)) as client:
        with pytest.raises(CallFailed) as caught:
            await client.request("tools/list")

    assert caught.value.error["data"]["code"] == code


def test_it_works_over_stdio_in_both_eras() -> None:
    with StdioProcess("wrapped:server") as server:
        listed = server.ask(modern(1, "tools/list"))
        called = server.ask(modern(2, "tools/call", {"name": "shout", "arguments": {"word": "hello"}}))
    with StdioProcess("wrapped:server") as server:
        server.ask(initialize())
        old_listed = server.ask(legacy(1, "tools/list"))
        old_called = server.ask(legacy(2, "tools/call", {"name": "shout", "arguments": {"word": "hello"}}))

    for each in (listed, old_listed):
        assert [tool["name"] for tool in each["result"]["tools"]] == ["shout"]
    for each in (called, old_called):
        assert each["result"]["content"] == [{"type": "text", "text": "HELLO!"}]


PROFILES = [
    ("envelope/v1", {"jsonrpc": "2.0", "method": "tools/list", "params": {}, "id": "1", "meta": {}}),
    ("editor/0.1", {"jsonrpc": "2.0", "method": "tools/list", "params": {}, "id": 1}),
]


@pytest.mark.parametrize(("profile", "message"), PROFILES)
def test_the_other_profiles_list_the_same(profile: str, message: dict[str, Any]) -> None:
    with StdioProcess("wrapped:server", "--profile", profile) as server:
        tools = server.ask(render(message))["result"]["tools"]

    assert len(tools) == 1
    assert "shout" in tools[0].values()


@story
async def test_a_question_to_the_client_passes_through() -> None:
    """In 2026-07-28 a question ends the round, so the dependency is cleaned up, and provided again in the next."""

    def held() -> Iterator[str]:
        try:
            yield "held"
        finally:
            happened.append("returned")

    async def tool(ctx: Context, held: str) -> str:
        answer = await ctx.ask({"name": elicitation("Name?", {"type": "object", "properties": {}})})
        return f"{answer['name']['action']} {held}"

    tool.__annotations__["held"] = Annotated[str, Depends(held)]
    server = Server("asks", version="1.0.0", middleware=[named("outer")])
    server.tool(name="ask", safety="read-only")(tool)
    async with MemoryClient(server, capabilities={"elicitation": {}}) as client:
        asked = await client.call_tool("ask")
        done = await client.call_tool(
            "ask",
            {},
            requestState=asked["requestState"],
            inputResponses={"name": {"action": "accept", "content": {}}},
        )

    assert asked["resultType"] == "input_required"
    assert done["content"] == [{"type": "text", "text": "accept held"}]
    assert happened.count("returned") == 2
    assert happened.count("outer ends") == 2


def plain(call: Call, call_next: CallNext) -> CallResult: ...
async def one(call: Call) -> CallResult: ...
async def untyped(call, call_next): ...  # type: ignore[no-untyped-def]
async def wrong_type(call: Context, call_next: CallNext) -> CallResult: ...


@pytest.mark.parametrize(
    ("middleware", "message"),
    [
        ([plain], "plain(): is not async; write `async def"),
        ([one], "one(): has 1 parameters; write `async def"),
        ([untyped], "untyped(): parameter 'call' is neither a Call nor a Listing; write `async def"),
        ([wrong_type], "wrong_type(): parameter 'call' is neither a Call nor a Listing; write `async def"),
        ([5], "5: is no middleware; write `async def"),
        (double, "Server(middleware=...): it is not a list; write middleware=[function]"),
    ],
)
def test_a_function_that_cannot_be_middleware_is_refused(middleware: Any, message: str) -> None:
    with pytest.raises(DeclarationRefused) as caught:
        Server("s", version="1.0.0", middleware=middleware)

    assert str(caught.value).startswith(message)


def test_an_object_can_be_middleware() -> None:
    class Counter:
        def __init__(self) -> None:
            self.count = 0

        async def __call__(self, call: Call, call_next: CallNext) -> CallResult:
            self.count += 1
            return await call_next(call)

    counter = Counter()
    asyncio.run(call(make_server(counter), "add", {"a": 1, "b": 2}))

    assert counter.count == 1


@pytest.mark.parametrize(
    ("word", "code"), [("large", "CAP_EXCEEDED"), ("letters", "OUTPUT_INVALID"), ("list", "OUTPUT_INVALID")]
)
def test_meta_and_content_of_middleware_are_verified_as_results_are(word: str, code: str) -> None:
    with StdioProcess("wrapped:server") as process:
        answer = process.ask(modern(1, "tools/call", {"name": "shout", "arguments": {"word": word}}))

    assert answer["result"]["structuredContent"]["error"]["code"] == code


@pytest.mark.parametrize(("word", "own"), [("stamp", {"a": 1}), ("only stamp", {})])
def test_a_result_cannot_replace_the_name_of_the_server(word: str, own: dict[str, Any]) -> None:
    """A second member of the same name would also make the answer invalid for a strict reader."""
    with StdioProcess("wrapped:server") as process:
        process.send(modern(1, "tools/call", {"name": "shout", "arguments": {"word": word}}))
        line = process.line()
        process.ask(initialize())
        older = process.ask(legacy(2, "tools/call", {"name": "shout", "arguments": {"word": word}}))

    stamp = {"io.modelcontextprotocol/serverInfo": {"name": "wrapped", "version": "1.0.0"}}
    assert parse_object(line)["result"]["_meta"] == {**own, **stamp}
    assert older["result"].get("_meta", {}) == own
