"""Composition: names, lifespans, middleware, later changes, and the mounts that are refused."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from strictwire import Call, CallNext, CallResult, Context, Listing, ListNext, MemoryClient, Server
from strictwire.contract.fingerprint import fingerprint
from strictwire.contract.registry import ContractRefused
from strictwire.server.declare.refused import DeclarationRefused
from strictwire.stores.memory.recorder import MemoryRecorder
from strictwire.transport.memory import CallFailed
from tests.fixtures.live import StdioProcess, initialize, legacy, modern
from tests.fixtures.stories import story

happened: list[str] = []


@pytest.fixture(autouse=True)
def _forget() -> None:
    happened.clear()


def make_server(name: str, **options: Any) -> Server:
    """A server whose lifespan yields its name, with one of each kind."""

    async def lifespan(_server: Server) -> AsyncIterator[str]:
        happened.append(f"open {name}")
        yield name
        happened.append(f"close {name}")

    server = Server(name, version="1.0.0", lifespan=lifespan, **options)

    @server.tool(safety="read-only")
    async def who(ctx: Context[str]) -> str:
        return ctx.lifespan

    @server.prompt
    def greet(style: str, ctx: Context[str]) -> str:
        return f"{style} from {ctx.lifespan}"

    @server.resource(f"{name}://{{id}}")
    def item(id: int, ctx: Context[str]) -> str:  # noqa: A002
        return f"{id} of {ctx.lifespan}"

    @server.completion
    def complete(ref: dict[str, Any], argument: dict[str, str], _context: dict[str, Any]) -> list[str]:
        return [f"{name} {ref.get('name') or ref.get('uri')} {argument['value']}"]

    return server


def names(listed: dict[str, Any], member: str = "tools") -> list[str]:
    return [each["name"] for each in listed[member]]


@story
async def test_the_record_of_a_mounted_tool_has_the_fingerprint_of_the_listed_contract() -> None:
    main = Server("main", version="1.0.0")
    main.mount(make_server("shop"), prefix="shop")
    recorder = MemoryRecorder()
    async with MemoryClient(main, recorder=recorder) as client:
        await client.call_tool("shop_who")

    (record,) = recorder.records
    assert record["contract"] == fingerprint(main.catalog.offers.registry.tools["shop_who"]).whole


@story
async def test_tools_and_prompts_are_prefixed_and_run_with_their_own_lifespan() -> None:
    main, shop, deep = make_server("main"), make_server("shop"), make_server("deep")
    shop.mount(deep, prefix="inner")
    main.mount(shop, prefix="shop")
    async with MemoryClient(main) as client:
        tools, prompts = await client.request("tools/list"), await client.request("prompts/list")
        called = [(await client.call_tool(name))["content"][0]["text"] for name in names(tools)]
        read = await client.request("resources/read", {"uri": "deep://7"})
        prompt = await client.request("prompts/get", {"name": "shop_greet", "arguments": {"style": "kind"}})
        completed = [
            (await client.request("completion/complete", {"ref": ref, "argument": {"name": "style", "value": "k"}}))
            for ref in (
                {"type": "ref/prompt", "name": "greet"},
                {"type": "ref/prompt", "name": "shop_inner_greet"},
                {"type": "ref/resource", "uri": "shop://{id}"},
            )
        ]

    assert names(tools) == ["who", "shop_who", "shop_inner_who"]
    assert names(prompts, "prompts") == ["greet", "shop_greet", "shop_inner_greet"]
    assert called == ["main", "shop", "deep"]
    assert read["contents"] == [{"uri": "deep://7", "text": "7 of deep"}]
    assert prompt["messages"][0]["content"]["text"] == "kind from shop"
    assert [each["completion"]["values"] for each in completed] == [
        ["main greet k"],
        ["deep greet k"],
        ["shop shop://{id} k"],
    ]
    assert happened == ["open main", "open shop", "open deep", "close deep", "close shop", "close main"]


@story
async def test_a_server_that_is_mounted_twice_runs_once() -> None:
    main, shared = Server("main", version="1.0.0"), Server("shared", version="1.0.0")

    async def lifespan(_server: Server) -> AsyncIterator[None]:
        happened.append("open")
        yield

    shared = Server("shared", version="1.0.0", lifespan=lifespan)

    @shared.tool(safety="read-only")
    def ping() -> str:
        return "pong"

    main.mount(shared, prefix="a")
    main.mount(shared, prefix="b")
    async with MemoryClient(main) as client:
        answers = [(await client.call_tool(name))["content"][0]["text"] for name in ("a_ping", "b_ping")]

    assert (answers, happened) == (["pong", "pong"], ["open"])


@story
async def test_later_changes_are_visible_and_announced() -> None:
    main, shop = make_server("main"), make_server("shop")
    main.mount(shop, prefix="shop")
    async with MemoryClient(main) as client:

        @shop.tool(safety="read-only")
        def price(item: str) -> str:
            return f"price of {item}"

        added = names(await client.request("tools/list"))
        called = await client.call_tool("shop_price", {"item": "cup"})
        refused = await client.call_tool("shop_price", {"item": 7})
        shop.remove_tool("price")
        removed = names(await client.request("tools/list"))
        with pytest.raises(CallFailed):
            await client.call_tool("shop_price", {"item": "cup"})

    assert (added, removed) == (["who", "shop_who", "shop_price"], ["who", "shop_who"])
    assert called["content"][0]["text"] == "price of cup"
    assert refused["structuredContent"]["error"]["code"] == "INVALID_PARAMS"
    assert list(main.catalog.offers.registry.tools) == ["who", "shop_who"]


def test_a_client_is_notified_of_changes_in_a_mounted_server() -> None:
    with StdioProcess("composed:server") as server:
        server.ask(initialize())
        server.send(legacy(1, "tools/call", {"name": "inner_grow", "arguments": {}}))
        received = [server.receive(), server.receive()]
        listed = server.ask(legacy(2, "tools/list"))
    with StdioProcess("composed:server") as server:
        again = server.ask(modern(1, "tools/call", {"name": "inner_grow", "arguments": {}}))

    assert {"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {}} in received
    assert names(listed["result"]) == ["inner_grow", "inner_grown"]
    assert again["result"]["content"] == [{"type": "text", "text": "grown"}]


def middleware(name: str) -> Any:
    async def note(call: Call, call_next: CallNext) -> CallResult:
        happened.append(f"{name} sees {call.name}")
        return await call_next(call)

    return note


@story
async def test_middleware_of_the_outer_server_is_around_that_of_the_inner() -> None:
    main = make_server("main", middleware=[middleware("main")])
    main.mount(make_server("shop", middleware=[middleware("shop")]), prefix="shop")
    async with MemoryClient(main) as client:
        happened.clear()
        await client.call_tool("shop_who")
        inner = list(happened)
        happened.clear()
        await client.call_tool("who")
        own = list(happened)

    assert inner == ["main sees shop_who", "shop sees who"]
    assert own == ["main sees who"]


@story
async def test_every_server_filters_its_own_list() -> None:
    async def hide_prompts(listing: Listing, call_next: ListNext) -> Sequence[Any]:
        happened.append(",".join(each.name for each in await call_next(listing)))
        return [] if listing.kind == "prompts" else await call_next(listing)

    main, shop = make_server("main"), make_server("shop", middleware=[hide_prompts])
    main.mount(shop, prefix="shop")
    async with MemoryClient(main) as client:
        happened.clear()
        prompts, tools = await client.request("prompts/list"), await client.request("tools/list")

    assert happened == ["greet", "who", "close shop", "close main"]
    assert (names(prompts, "prompts"), names(tools)) == (["greet"], ["who", "shop_who"])


@story
async def test_a_clash_that_comes_later_leaves_the_newer_one_out(caplog: pytest.LogCaptureFixture) -> None:
    main, shop = Server("main", version="1.0.0"), Server("shop", version="1.0.0")
    main.tool(name="shop_price", safety="read-only")(lambda: "main")
    main.mount(shop, prefix="shop")
    shop.tool(name="price", safety="read-only")(lambda: "shop")
    async with MemoryClient(main) as client:
        listed, called = await client.request("tools/list"), await client.call_tool("shop_price")

    assert names(listed) == ["shop_price"]
    assert called["content"][0]["text"] == "main"
    assert "'shop_price' is offered twice" in caplog.text


def refused(outer: Server, inner: Server, prefix: str = "x") -> str:
    with pytest.raises(DeclarationRefused) as caught:
        outer.mount(inner, prefix=prefix)
    return str(caught.value)


def test_mounts_that_cannot_work_are_refused_and_change_nothing() -> None:
    main, shop, deep = make_server("main"), make_server("shop"), make_server("deep")
    shop.mount(deep, prefix="deep")
    main.mount(shop, prefix="shop")
    before = list(main.catalog.offers.registry.tools)

    assert refused(main, main) == "mount('main'): 'main' would contain itself; mount only in one direction"
    assert refused(deep, main) == "mount('main'): 'deep' would contain itself; mount only in one direction"
    assert refused(shop, make_server("late")) == (
        "mount('late'): 'shop' is mounted already; mount into it first, and then mount it"
    )
    assert refused(main, make_server("other"), "shop").startswith("mount('other'): 'shop_who' is offered twice; mount one")
    assert refused(main, make_server("plain"), "").startswith("mount('plain'): 'who' is offered twice")
    assert refused(main, make_server("sign"), "a b").startswith("mount('sign'): prefix 'a b': use 1 to 32 characters")
    assert list(main.catalog.offers.registry.tools) == before


def test_a_uri_that_is_taken_is_refused() -> None:
    main = make_server("main")

    assert refused(main, make_server("main")).startswith("mount('main'): 'main://{id}' is offered twice")


def test_a_name_that_is_too_long_with_its_prefix_is_refused() -> None:
    long = Server("long", version="1.0.0")
    long.tool(name="t" * 60)(lambda: "")

    assert "cannot be offered" in refused(Server("main", version="1.0.0"), long, "prefix")


def test_a_name_of_a_mounted_server_cannot_be_declared_again() -> None:
    main = Server("main", version="1.0.0")
    main.mount(make_server("shop"), prefix="shop")

    with pytest.raises(ContractRefused, match="'shop_who' is taken by a mounted server or a transformed tool; rename it"):
        main.tool(name="shop_who")(lambda: "")
