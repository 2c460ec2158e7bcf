"""Transformed tools: their contracts, their calls, what stays hidden, and the transforms that are refused."""

from __future__ import annotations

import enum
import threading
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypedDict

import httpx2
import pytest
from mcp.server import MCPServer
from pydantic import AfterValidator

from strictwire import (
    Argument,
    Call,
    CallNext,
    CallResult,
    Client,
    Context,
    DeclarationRefused,
    Hidden,
    InMemory,
    Listing,
    ListNext,
    MemoryClient,
    NotFound,
    Server,
)
from strictwire.contract.fingerprint import fingerprint
from strictwire.contract.handler import CallContext
from strictwire.contract.registry import ContractRefused
from strictwire.contract.tool import ToolContract
from strictwire.fault.failure import Failure
from strictwire.fault.failure import fail as make_failure
from strictwire.stores.memory.recorder import MemoryRecorder
from strictwire.transport.memory import CallFailed
from tests.fixtures.api import document
from tests.fixtures.stories import story

SECRET = "s3cr3t-k3y"


def known(word: str) -> str:
    if word in ("unknown", SECRET + "!"):
        raise ValueError(f"{word} is not known")
    return word


def make_server(**options: Any) -> Server:
    server = Server("shop", version="1.0.0", **options)

    @server.tool(safety="read-only", tags={"find"})
    def search(
        q: Annotated[str, AfterValidator(known), "What to look for"],
        key: Annotated[str, AfterValidator(known)],
        kind: str = "any",
        limits: list[int] | None = None,
    ) -> dict[str, Any]:
        """Searches."""
        if q == "missing":
            raise NotFound(q)
        (limits or []).append(9)
        return {"q": q, "has_key": key == SECRET, "kind": kind, "limits": limits}

    return server


def make_books() -> Server:
    server = make_server()
    server.transform_tool(
        "search",
        name="find_books",
        title="Books",
        description="Finds books.",
        tags={"books"},
        arguments={
            "q": Argument(name="query", description="Words of the title"),
            "key": Hidden(SECRET),
            "kind": Hidden("book"),
            "limits": Hidden([1, 2]),
        },
    )
    return server


@story
async def test_the_transformed_contract_replaces_that_of_the_tool() -> None:
    server = make_books()
    async with MemoryClient(server) as client:
        (tool,) = (await client.request("tools/list"))["tools"]

    assert tool == {
        "name": "find_books",
        "title": "Books",
        "description": "Finds books.",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {"query": {"type": "string", "description": "Words of the title"}},
            "required": ["query"],
            "additionalProperties": False,
        },
        "outputSchema": tool["outputSchema"],
        "annotations": {"readOnlyHint": True, "destructiveHint": False},
        "_meta": {"fastmcp": {"tags": ["books"]}},
    }
    assert server.catalog.offers.registry.tools["find_books"].input_schema == tool["inputSchema"]


@story
async def test_a_call_gets_the_constants_and_the_names_of_the_tool() -> None:
    async with MemoryClient(make_books()) as client:
        first = await client.call_tool("find_books", {"query": "atlas"})
        second = await client.call_tool("find_books", {"query": "atlas"})
        with pytest.raises(CallFailed) as caught:
            await client.call_tool("search", {"q": "atlas", "key": ""})

    expected = {"q": "atlas", "has_key": True, "kind": "book", "limits": [1, 2, 9]}
    assert first["structuredContent"] == second["structuredContent"] == expected
    assert caught.value.error["data"]["code"] == "UNKNOWN_TOOL"


@pytest.mark.parametrize("name", ["q", "key", "kind", "limits", "other"])
@story
async def test_a_caller_cannot_pass_what_is_renamed_or_hidden(name: str) -> None:
    async with MemoryClient(make_books()) as client:
        answer = await client.call_tool("find_books", {"query": "atlas", name: "mine"})

    error = answer["structuredContent"]["error"]
    assert error["code"] == "INVALID_PARAMS"
    assert error["details"]["violations"] == [{"path": f"/{name}", "keyword": "additionalProperties"}]


@story
async def test_hidden_values_are_neither_recorded_nor_sent() -> None:
    recorder = MemoryRecorder(keeps_values=True)
    server = make_books()
    async with MemoryClient(server, recorder=recorder) as client:
        listed = await client.request("tools/list")
        queries: list[Any] = ["atlas", "missing", "unknown", 7]
        answers = [await client.call_tool("find_books", {"query": query}) for query in queries]

    arguments = [each.get("arguments") for each in recorder.records]
    contract = server.catalog.offers.registry.tools["find_books"]
    assert arguments == [{"query": "atlas"}, {"query": "missing"}, {"query": "unknown"}, {"query": 7}]
    assert {each["contract"] for each in recorder.records} == {fingerprint(contract).whole}
    assert SECRET not in str((listed, answers, recorder.records))
    assert SECRET not in repr(Hidden(SECRET))


@story
async def test_a_refusal_of_the_type_names_the_argument_that_the_caller_knows() -> None:
    async with MemoryClient(make_books()) as client:
        answer = await client.call_tool("find_books", {"query": "unknown"})

    (violation,) = answer["structuredContent"]["error"]["details"]["violations"]
    assert violation == {"path": "/query", "keyword": "value_error", "message": "query: ... is not known"}


@story
async def test_a_hidden_value_that_only_the_type_refuses_is_the_fault_of_the_server(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = make_server()
    server.transform_tool("search", arguments={"key": Hidden(SECRET + "!")})
    async with MemoryClient(server) as client:
        answer = await client.call_tool("search", {"q": "atlas"})

    assert answer["structuredContent"]["error"]["code"] == "TOOL_FAILED"
    assert "key" not in str(answer)
    assert "tool search refuses the value of its hidden arguments: key" in caplog.text
    assert SECRET not in caplog.text


@story
async def test_what_the_tool_raises_arrives_unchanged() -> None:
    async with Client(InMemory(make_books(), raise_handler_errors=True)) as client:
        with pytest.raises(NotFound, match="Not found: missing"):
            await client.call_tool("find_books", {"query": "missing"})


@story
async def test_several_transforms_make_several_tools_and_one_without_changes_keeps_the_tool() -> None:
    server = make_server()
    server.transform_tool("search")
    for kind in ("book", "film"):
        server.transform_tool("search", name=f"find_{kind}", arguments={"kind": Hidden(kind), "key": Hidden(SECRET)})
    async with MemoryClient(server) as client:
        names = [each["name"] for each in (await client.request("tools/list"))["tools"]]
        found = [(await client.call_tool(f"find_{kind}", {"q": "x"}))["structuredContent"] for kind in ("book", "film")]
        kept = await client.call_tool("search", {"q": "x", "key": SECRET})

    assert names == ["search", "find_book", "find_film"]
    assert [each["kind"] for each in (*found, kept["structuredContent"])] == ["book", "film", "any"]


@story
async def test_names_may_be_swapped() -> None:
    server = make_server()
    server.transform_tool("search", arguments={"q": Argument(name="key"), "key": Argument(name="q")})
    async with MemoryClient(server) as client:
        done = await client.call_tool("search", {"q": SECRET, "key": "atlas"})

    assert (done["structuredContent"]["q"], done["structuredContent"]["has_key"]) == ("atlas", True)


@story
async def test_plain_functions_still_run_on_a_thread() -> None:
    server, main = Server("s", version="1.0.0"), threading.get_ident()

    @server.tool()
    def plain(a: int) -> bool:
        return a == 1 and threading.get_ident() == main

    @server.tool()
    async def coroutine(a: int) -> bool:
        return a == 1 and threading.get_ident() == main

    for name in ("plain", "coroutine"):
        server.transform_tool(name, arguments={"a": Hidden(1)})
    async with MemoryClient(server) as client:
        results = [(await client.call_tool(name))["structuredContent"]["result"] for name in ("plain", "coroutine")]

    assert results == [False, True]


@story
async def test_questions_middleware_and_context_work_as_for_any_tool() -> None:
    calls: list[tuple[str, dict[str, Any]]] = []

    async def note(call: Call, call_next: CallNext) -> CallResult:
        calls.append((call.name, dict(call.arguments)))
        return await call_next(call)

    server = Server("s", version="1.0.0", middleware=[note])

    @server.tool()
    async def book(city: str, token: str, ctx: Context) -> str:
        answer = await ctx.elicit("Seats?", int)
        return f"{city} {answer.content} {token == SECRET}"

    server.transform_tool("book", name="reserve", arguments={"city": Argument(name="town"), "token": Hidden(SECRET)})
    async with Client(server, on_elicit=lambda _question: {"value": 3}) as client:
        done = await client.call_tool("reserve", {"town": "Bern"})

    assert done.text == "Bern 3 True"
    assert calls == [("reserve", {"town": "Bern"})] * 2


@story
async def test_mounted_tools_keep_their_lifespan_middleware_and_lists() -> None:
    async def lifespan(_server: Server) -> Any:
        yield "open"

    lifespan.__annotations__["return"] = Any
    seen: list[dict[str, Any]] = []

    async def note(call: Call, call_next: CallNext) -> CallResult:
        seen.append(dict(call.arguments))
        return await call_next(call)

    async def hide(listing: Listing, call_next: ListNext) -> Sequence[Any]:
        return [each for each in await call_next(listing) if each.name != "wipe"]

    inner = Server("inner", version="1.0.0", lifespan=lifespan, middleware=[note, hide])

    @inner.tool()
    def state(word: str, ctx: Context[Any]) -> str:
        return f"{word} {ctx.lifespan}"

    @inner.tool()
    def wipe(area: str) -> str:
        return area

    main = Server("main", version="1.0.0")
    main.mount(inner, prefix="in")
    main.transform_tool("in_state", name="say", arguments={"word": Argument(name="text")})
    main.transform_tool("in_state", name="hello", arguments={"word": Hidden("hello")})
    main.transform_tool("in_wipe", name="clean", arguments={"area": Hidden("all")})
    async with MemoryClient(main) as client:
        names = [each["name"] for each in (await client.request("tools/list"))["tools"]]
        said = [await client.call_tool("say", {"text": "it is"}), await client.call_tool("hello")]
        inner.remove_tool("state")
        left = list(main.catalog.offers.registry.tools)
        with pytest.raises(CallFailed):
            await client.call_tool("hello")

    assert names == ["say", "hello"]
    assert [each["content"][0]["text"] for each in said] == ["it is open", "hello open"]
    assert seen == [{"word": "it is"}, {"word": "hello"}]
    assert left == ["clean"]


@story
async def test_tools_of_openapi_and_of_the_official_sdk_are_transformed() -> None:
    api = Server.from_openapi(document(), httpx2.AsyncClient(), unsupported="skip")
    api.transform_tool("read_pet", name="rex", description="Reads Rex.", arguments={"pet_id": Hidden(1)})
    inner: Any = MCPServer("inner")

    @inner.tool()
    def double(number: int, unit: str = "m") -> str:
        return f"{2 * number} {unit}"

    wrapped = Server.from_fastmcp(inner)
    wrapped.transform_tool("double", name="twice", arguments={"number": Argument(name="n"), "unit": Hidden("km")})
    async with MemoryClient(wrapped) as client:
        done = await client.call_tool("twice", {"n": 4})
        refused = await client.call_tool("twice", {"n": 4, "unit": "m"})

    assert api.catalog.offers.registry.tools["rex"].input_schema["properties"] == {}
    assert done["content"][0]["text"] == "8 km"
    assert refused["structuredContent"]["error"]["code"] == "INVALID_PARAMS"


def test_a_refusal_is_explained_with_the_arguments_of_the_tool() -> None:
    class Explaining:
        async def __call__(self, arguments: dict[str, Any], _call: CallContext) -> Any:
            return arguments

        def explain(self, _failure: Failure, arguments: dict[str, Any], _context: CallContext) -> Failure:
            return make_failure("CONFLICT", details={"given": sorted(arguments)})

    server = Server("s", version="1.0.0")
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a"]}
    server.add_tool(ToolContract(name="t", description="d", input_schema=schema), Explaining())
    server.transform_tool("t", arguments={"a": Argument(name="x"), "b": Hidden(2)})

    @story
    async def check() -> None:
        async with MemoryClient(server) as client:
            refused = await client.call_tool("t", {"x": "one"})
            done = await client.call_tool("t", {"x": 1})

        assert refused["structuredContent"]["error"]["details"] == {"given": ["a", "b"]}
        assert done["structuredContent"] == {"a": 1, "b": 2}

    check()


def conditional(server: Server) -> None:
    schema = {"type": "object", "properties": {"a": {}, "b": {"$ref": "#/properties/a"}}}
    server.tool(name="pairs", input_schema={**schema, "dependentRequired": {"a": ["b"]}})(lambda given: str(given))
    server.tool(name="same", input_schema=schema)(lambda given: str(given))


REFUSED: list[tuple[Any, dict[str, Any], str]] = [
    ("serach", {}, "transform_tool('serach'): there is no such tool; did you mean 'search'?"),
    ("zzz", {}, "transform_tool('zzz'): there is no such tool; add it first"),
    (make_server, {}, "the first argument is not the name of a tool; write transform_tool('name', ...)"),
    ("search", {"name": "a b"}, "'a b' cannot be made from 'search': name 'a b': use 1 to 64 characters of A-Z a-z"),
    ("search", {"name": "pairs"}, "'pairs' is taken by another tool; give the transformed tool another name"),
    ("search", {"tags": "books"}, "tags='books' is not a set of tags; write tags={'books'}"),
    ("search", {"arguments": {"kimd": Hidden()}}, "there is no argument 'kimd'; did you mean 'kind'?"),
    ("search", {"arguments": {"zzz": Hidden()}}, "there is no argument 'zzz'; it has 'q', 'key', 'kind', 'limits'"),
    ("search", {"arguments": {"q": "query"}}, "argument 'q': 'query' is neither Argument(name=...) nor Hidden(value)"),
    ("search", {"arguments": {"q": Argument(name="kind")}}, "arguments 'q' and 'kind' would both be called 'kind'"),
    ("search", {"arguments": {"q": Argument(name="")}}, "argument 'q': name '': use 1 to 64 characters"),
    ("search", {"arguments": {"q": Argument(name="a b")}}, "argument 'q': name 'a b': use 1 to 64 characters"),
    ("search", {"arguments": {"key": Hidden()}}, "argument 'key' is required; write Hidden(value)"),
    (
        "search",
        {"arguments": {"key": Hidden(1)}},
        "'key': correct the hidden value: key must be string, not integer",
    ),
    ("search", {"arguments": {"key": Hidden(object())}}, "argument 'key': the hidden value is not JSON"),
    ("search", {"arguments": {"limits": Hidden([1, "x"])}}, "'limits': correct the hidden value: limits violates anyOf"),
    ("pairs", {"arguments": {"a": Hidden(1)}}, "its schema has 'dependentRequired' at the root, which may refer to"),
    ("same", {"arguments": {"a": Argument(name="x")}}, "its schema refers to its own arguments; move what they share"),
]


@pytest.mark.parametrize(("tool", "options", "message"), REFUSED, ids=[str(each[2])[:60] for each in REFUSED])
def test_a_transform_that_cannot_be_is_refused_and_changes_nothing(tool: Any, options: dict[str, Any], message: str) -> None:
    server = make_server()
    conditional(server)
    before = list(server.catalog.offers.registry.tools)

    with pytest.raises(DeclarationRefused) as caught:
        server.transform_tool(tool, **options)

    assert message in str(caught.value)
    assert list(server.catalog.offers.registry.tools) == before


def test_names_of_transformed_tools_are_taken() -> None:
    server = make_books()
    again: list[tuple[type[Exception], Callable[[], object]]] = [
        (ContractRefused, lambda: server.tool(name="find_books")(lambda: None)),
        (DeclarationRefused, lambda: server.transform_tool("search", name="find_books")),
        (DeclarationRefused, lambda: server.mount(_offering("find_books"))),
    ]
    for kind, change in again:
        with pytest.raises(kind, match="find_books"):
            change()

    assert list(server.catalog.offers.registry.tools) == ["find_books"]


def _offering(name: str) -> Server:
    server = Server("other", version="1.0.0")
    server.tool(name=name)(lambda: None)
    return server


def test_a_mounted_server_is_transformed_before_it_is_mounted() -> None:
    inner, main = make_server(), Server("main", version="1.0.0")
    main.mount(inner)

    with pytest.raises(DeclarationRefused) as caught:
        inner.transform_tool("search", name="find")

    assert str(caught.value) == (
        "transform_tool('search'): 'shop' is mounted already; transform its tools first, and then mount it"
    )


def test_the_filter_by_tags_sees_the_tags_of_the_transform() -> None:
    server = make_server(include_tags={"books"})
    server.transform_tool("search", name="find_books", tags={"books"}, arguments={"key": Hidden(SECRET)})
    server.transform_tool("search", name="find_films", arguments={"key": Hidden(SECRET)})

    assert list(server.catalog.offers.registry.tools) == ["find_books"]


class Key(enum.Enum):
    """Keys that only the server knows. Its definition would be in the schema."""

    OURS = SECRET


class Shelf(TypedDict):
    """A definition that stays."""

    number: int


@pytest.mark.parametrize("kind", [ValueError, NotFound])
@pytest.mark.parametrize("is_async", [True, False])
@story
async def test_the_value_of_a_hidden_argument_is_in_no_schema_failure_or_record(
    kind: type[Exception], is_async: bool
) -> None:
    """Exceptions quote arguments, and so do the errors of an API."""
    server = Server("shop", version="1.0.0")

    def search(shelves: list[Shelf], key: Key, other: str) -> str:
        raise kind(f"no {key.value}, nor {other}, on {len(shelves)} shelves")

    async def search_async(shelves: list[Shelf], key: Key, other: str) -> str:
        return search(shelves, key, other)

    server.tool(name="search", safety="read-only")(search_async if is_async else search)
    server.transform_tool("search", arguments={"key": Hidden(SECRET), "other": Hidden(SECRET + "2")})
    recorder = MemoryRecorder()
    async with MemoryClient(server, recorder=recorder) as client:
        (listed,) = (await client.request("tools/list"))["tools"]
        done = await client.call_tool("search", {"shelves": []})

    (record,) = recorder.records
    assert list(listed["inputSchema"]["$defs"]) == [name for name in listed["inputSchema"]["$defs"] if "Shelf" in name] != []
    assert [SECRET in str(each) for each in (listed, done, record)] == [False, False, False]
    assert "no [redacted], nor [redacted], on 0 shelves" in str(record["cause"] or done)
