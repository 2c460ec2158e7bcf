"""Tags of the author API: lists show them, and a filter decides what exists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import pytest

from strictwire import Client, DeclarationRefused, Depends, MemoryClient, Server
from strictwire.server.run import Serving, StartRefused, serve
from strictwire.settings.model import Settings
from strictwire.transport.memory import CallFailed, MemoryConnection
from tests.fixtures.stories import story


def make_server(**options: Any) -> Server:
    """One of each kind for everyone, and one of each kind for administrators."""
    server = Server("notes", version="1.0.0", **options)

    @server.tool(safety="read-only", tags={"public"}, meta={"owner": "team"})
    def read() -> str:
        return "a note"

    @server.tool(safety="destructive", tags={"admin", "slow"})
    def wipe() -> str:
        return "gone"

    @server.resource("notes://all", tags={"public"})
    def everything() -> str:
        return "all"

    @server.resource("admin://{name}", tags={"admin"})
    def secret(name: str) -> str:
        return name

    @server.prompt(tags={"public"})
    def greet() -> str:
        return "Hello"

    @server.prompt(tags={"admin"})
    def command() -> str:
        return "Obey"

    return server


async def seen(client: MemoryConnection) -> dict[str, list[str]]:
    """The names in every list."""
    found = {}
    for method, member in (
        ("tools/list", "tools"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("prompts/list", "prompts"),
    ):
        listed = (await client.request(method))[member]
        found[member] = [each["name"] for each in listed]
    return found


EVERYTHING = {
    "tools": ["read", "wipe"],
    "resources": ["everything"],
    "resourceTemplates": ["secret"],
    "prompts": ["greet", "command"],
}
PUBLIC = {"tools": ["read"], "resources": ["everything"], "resourceTemplates": [], "prompts": ["greet"]}
ADMIN: dict[str, list[str]] = {"tools": ["wipe"], "resources": [], "resourceTemplates": ["secret"], "prompts": ["command"]}

FILTERS: list[tuple[dict[str, Any], dict[str, list[str]]]] = [
    ({}, EVERYTHING),
    ({"exclude_tags": {"admin"}}, PUBLIC),
    ({"include_tags": ["public"]}, PUBLIC),
    ({"include_tags": {"admin"}}, ADMIN),
    ({"include_tags": {"admin", "public"}, "exclude_tags": {"slow"}}, EVERYTHING | {"tools": ["read"]}),
]


@pytest.mark.parametrize(("options", "expected"), FILTERS)
@story
async def test_lists_show_what_the_filter_allows(options: dict[str, Any], expected: dict[str, list[str]]) -> None:
    async with MemoryClient(make_server(**options)) as client:
        assert await seen(client) == expected


@story
async def test_what_is_left_out_does_not_exist() -> None:
    async with MemoryClient(make_server(exclude_tags={"admin"})) as client:
        codes = []
        for method, params in (
            ("tools/call", {"name": "wipe", "arguments": {}}),
            ("resources/read", {"uri": "admin://x"}),
            ("prompts/get", {"name": "command"}),
        ):
            with pytest.raises(CallFailed) as caught:
                await client.request(method, params)
            codes.append(caught.value.error["data"]["code"])
        done = await client.call_tool("read")

    assert codes == ["UNKNOWN_TOOL", "RESOURCE_NOT_FOUND", "UNKNOWN_PROMPT"]
    assert done["content"] == [{"type": "text", "text": "a note"}]


@pytest.mark.parametrize("is_mounted", [True, False])
@story
async def test_what_is_left_out_is_not_completed(is_mounted: bool) -> None:
    inner = make_server(**({} if is_mounted else {"exclude_tags": {"admin"}}))
    asked: list[str] = []

    @inner.completion
    def complete(ref: dict[str, Any], _argument: dict[str, str], _context: dict[str, Any]) -> list[str]:
        asked.append(ref.get("name") or ref["uri"])
        return ["done"]

    server, prefix = inner, ""
    if is_mounted:
        server, prefix = Server("outer", version="1.0.0", exclude_tags={"admin"}), "inner_"
        server.mount(inner, prefix="inner")
    refs = [
        {"type": "ref/prompt", "name": f"{prefix}greet"},
        {"type": "ref/prompt", "name": f"{prefix}command"},
        {"type": "ref/prompt", "name": "never_declared"},
        {"type": "ref/resource", "uri": "notes://all"},
        {"type": "ref/resource", "uri": "admin://{name}"},
    ]
    found = []
    async with MemoryClient(server) as client:
        for ref in refs:
            try:
                done = await client.request("completion/complete", {"ref": ref, "argument": {"name": "name", "value": ""}})
                found.append(done["completion"]["values"])
            except CallFailed as refused:
                found.append(refused.error["data"]["code"])

    assert found == [["done"], "UNKNOWN_PROMPT", "UNKNOWN_PROMPT", ["done"], "RESOURCE_NOT_FOUND"]
    assert asked == ["greet", "notes://all"]


@story
async def test_changes_of_what_is_left_out_are_not_announced() -> None:
    server = make_server(exclude_tags={"admin"})
    announced: list[str | None] = []
    server.catalog.follow(lambda _changed, uri: announced.append(uri))
    for uri in ("admin://x", "notes://all"):
        server.resource_changed(uri)

    assert announced == ["notes://all"]


@story
async def test_lists_show_tags_as_fastmcp_does() -> None:
    async with MemoryClient(make_server()) as client:
        tools = (await client.request("tools/list"))["tools"]
        resources = (await client.request("resources/list"))["resources"]
        templates = (await client.request("resources/templates/list"))["resourceTemplates"]
        prompts = (await client.request("prompts/list"))["prompts"]
    async with Client(make_server()) as typed:
        listed = {each.name: each.tags for each in await typed.list_tools()}

    assert [each["_meta"] for each in tools] == [
        {"owner": "team", "fastmcp": {"tags": ["public"]}},
        {"fastmcp": {"tags": ["admin", "slow"]}},
    ]
    assert [each["_meta"]["fastmcp"]["tags"] for each in (*resources, *templates, *prompts)] == [
        ["public"],
        ["admin"],
        ["public"],
        ["admin"],
    ]
    assert listed == {"read": {"public"}, "wipe": {"admin", "slow"}}


@story
async def test_the_filter_applies_to_mounted_servers_and_to_what_is_added_later() -> None:
    main, inner = Server("main", version="1.0.0", exclude_tags={"admin"}), make_server()
    main.mount(inner, prefix="inner")

    @main.tool(tags={"admin"})
    def reset() -> str:
        return ""

    async with MemoryClient(main) as client:
        first = (await seen(client))["tools"]
        inner.tool(name="later", tags={"admin"})(lambda: None)
        inner.tool(name="open")(lambda: None)
        second = (await seen(client))["tools"]

    assert (first, second) == (["inner_read"], ["inner_read", "inner_open"])
    assert list(main.catalog.offers.registry.tools) == ["inner_read", "inner_open"]


@story
async def test_a_mounted_server_keeps_its_own_filter() -> None:
    main = Server("main", version="1.0.0")
    main.mount(make_server(include_tags={"admin"}), prefix="x")

    async with MemoryClient(main) as client:
        assert (await seen(client))["tools"] == ["x_wipe"]


opened: list[str] = []


def database() -> Iterator[str]:
    opened.append("open")
    yield "database"


@pytest.mark.parametrize(("options", "expected"), [({}, ["open"]), ({"exclude_tags": {"admin"}}, [])])
@story
async def test_dependencies_of_what_is_left_out_are_not_opened(options: dict[str, Any], expected: list[str]) -> None:
    opened.clear()
    server = make_server(**options)

    @server.tool(tags={"admin"})
    def count(database: Annotated[str, Depends(database, scope="server")]) -> str:
        return database

    async with MemoryClient(server) as client:
        await client.call_tool("read")

    assert opened == expected


MISTAKES: list[tuple[dict[str, Any], str]] = [
    (
        {"exclude_tags": {"admn"}},
        "Server('notes'): exclude_tags has 'admn', which no tool, resource or prompt has; did you mean 'admin'?",
    ),
    (
        {"include_tags": {"admin"}, "exclude_tags": {"admin"}},
        "Server('notes'): include_tags and exclude_tags leave nothing to offer; change one of them",
    ),
]


@pytest.mark.parametrize(("options", "message"), MISTAKES)
@story
async def test_a_server_with_a_mistaken_filter_does_not_start(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DeclarationRefused) as caught:
        async with MemoryClient(make_server(**options)):
            pass
    with pytest.raises(StartRefused) as refused:
        await serve(make_server(**options), Settings(), Serving(http=("127.0.0.1", 0)))

    assert str(caught.value) == str(refused.value) == message


def test_wrong_tags_are_refused_where_they_are_declared() -> None:
    server = Server("s", version="1.0.0")

    def work() -> str:
        return ""

    declarations = [
        lambda: server.tool(tags="admin")(work),
        lambda: server.prompt(tags={7})(work),  # type: ignore[arg-type]
        lambda: server.resource("a://b", tags={""})(work),
        lambda: Server("s", version="1.0.0", include_tags="admin"),
        lambda: Server("s", version="1.0.0", exclude_tags={None}),  # type: ignore[arg-type]
    ]
    messages = []
    for declare in declarations:
        with pytest.raises(DeclarationRefused) as caught:
            declare()
        messages.append(str(caught.value))

    advice = "a tag is text of 1 to 64 printable characters, without spaces at the ends"
    assert messages == [
        "work(): tags='admin' is not a set of tags; write tags={'admin'}",
        f"work(): tags has 7; {advice}",
        f"work(): tags has ''; {advice}",
        "Server('s'): include_tags='admin' is not a set of tags; write include_tags={'admin'}",
        f"Server('s'): exclude_tags has None; {advice}",
    ]
