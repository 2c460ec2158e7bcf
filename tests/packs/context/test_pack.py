"""The handlers of the pack, checked against their published schemas."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import jsonschema_rs
import pytest
from tests.packs.context.caches import make_cache

from strictwire.canon.json import parse_object, render
from strictwire.contract.handler import Answer, CallContext
from strictwire.fault.failure import Refused
from strictwire.packs.context.exact import ExactSurface
from strictwire.packs.context.library import Library
from strictwire.packs.context.pack import ContextPack, ContextTools
from strictwire.packs.context.search.index_store import IndexStore
from strictwire.packs.context.search.token_counters import ByteCounter
from strictwire.packs.pack import Environment, PackRefused

SCHEMAS = Path(__file__).parents[3] / "schemas" / "tools"
NO_CONTEXT = cast("CallContext", None)


def schema(name: str) -> dict[str, Any]:
    return parse_object((SCHEMAS / f"{name}.json").read_bytes())


def structured(answer: Any) -> Any:
    return answer.structured if isinstance(answer, Answer) else answer


@pytest.fixture
def tools(tmp_path: Path) -> Iterator[ContextTools]:
    make_cache(tmp_path, {"a.md": "# Alpha\nalpha beta", "b.md": "gamma\n"})
    library, store = Library(str(tmp_path)), IndexStore(tmp_path / ".state", wait_seconds=60)
    yield ContextTools(library, store, ByteCounter())
    library.close()
    store.close()


def test_the_pack_has_a_handler_and_both_schemas_for_each_tool(tmp_path: Path) -> None:
    async def run() -> set[str]:
        pack = ContextPack()
        handlers = await pack.open(Environment(settings={"root": str(tmp_path)}))
        await pack.close()
        return set(handlers)

    assert asyncio.run(run()) == set(ContextPack.tools)
    for name in ContextPack.tools:
        jsonschema_rs.validator_for(schema(name))
        jsonschema_rs.validator_for(schema(f"{name}.output"))


@pytest.mark.parametrize("settings", [{}, {"root": 1}, {"root": ""}])
def test_a_pack_without_a_root_says_where_to_set_it(settings: dict[str, Any]) -> None:
    with pytest.raises(PackRefused) as caught:
        asyncio.run(ContextPack().open(Environment(settings=settings)))

    assert "strictwire.toml" in caught.value.reason
    assert "[packs.context]" in caught.value.reason


def test_the_pack_instructs_clients_and_its_tools_name_each_other(tmp_path: Path) -> None:
    said: list[str] = []

    async def run() -> None:
        pack = ContextPack()
        await pack.open(Environment(settings={"root": str(tmp_path)}, instruct=said.append))
        await pack.close()

    asyncio.run(run())

    assert len(said) == 1
    assert all(name in said[0] for name in ContextPack.tools if name != "context.inspect_cache")
    assert "context.get" in schema("context.search")["description"]
    assert "context.search" in schema("context.resolve")["description"]


@pytest.mark.parametrize(
    ("name", "method", "arguments"),
    [
        ("context.resolve", "resolve", {"cache": "cache", "query": "alpha", "budget": 100}),
        ("context.list_caches", "list_caches", {}),
        ("context.inspect_cache", "inspect_cache", {"cache": "cache"}),
        ("context.search", "search", {"query": "alpha", "budget": 1000, "caches": ["cache"], "limit": 5}),
        ("context.search", "search", {"query": "alpha", "budget": 256}),
        ("context.get", "get", {"cache": "cache", "id": "a.md"}),
        ("context.get", "get", {"cache": "cache", "id": "A.md", "first": 2, "last": 9, "budget": 256}),
    ],
)
def test_answers_conform_to_their_output_schemas(
    tools: ContextTools, name: str, method: str, arguments: dict[str, Any]
) -> None:
    assert jsonschema_rs.is_valid(schema(name), arguments)

    answer = structured(getattr(tools, method)(arguments, NO_CONTEXT))

    assert jsonschema_rs.is_valid(schema(f"{name}.output"), answer)
    assert render(answer) == render(structured(getattr(tools, method)(arguments, NO_CONTEXT)))


def test_the_structured_answer_equals_the_parsed_frozen_text(tools: ContextTools) -> None:
    surface = ExactSurface(tools.library)
    surface.answer_line(b'{"jsonrpc":"2.0","id":1,"method":"initialize"}')
    arguments = {"cache": "cache", "query": "alpha", "budget": 100}
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "context.resolve", "arguments": arguments},
    }
    line = surface.answer_line(render(message)) or b""
    text = json.loads(line)["result"]["content"][0]["text"]

    assert render(tools.resolve(arguments, NO_CONTEXT)).decode() + "\n" == text


@pytest.mark.parametrize(
    ("method", "arguments", "code"),
    [
        ("resolve", {"cache": "cache", "query": "q", "budget": 3.0}, "INVALID_BUDGET"),
        ("resolve", {"cache": "absent", "query": "q", "budget": 3}, "CACHE_MISSING"),
        ("inspect_cache", {"cache": "/etc"}, "CACHE_MISSING"),
        ("search", {"query": "q", "budget": 300, "caches": ["absent"]}, "CACHE_MISSING"),
        ("get", {"cache": "absent", "id": "a.md"}, "CACHE_MISSING"),
        ("get", {"cache": "cache", "id": "c.md"}, "NOT_FOUND"),
        ("get", {"cache": "cache", "id": "a.md", "first": 3}, "INVALID_PARAMS"),
    ],
)
def test_refusals_are_failures_of_the_catalogue(
    tools: ContextTools, method: str, arguments: dict[str, Any], code: str
) -> None:
    with pytest.raises(Refused) as caught:
        getattr(tools, method)(arguments, NO_CONTEXT)

    assert caught.value.failure.code == code


def test_32_concurrent_callers_get_the_same_bytes_as_one(tmp_path: Path) -> None:
    make_cache(tmp_path, {f"{number}.md": f"word{number % 7} text {number}" for number in range(200)})
    library, store = Library(str(tmp_path)), IndexStore(tmp_path / ".state", wait_seconds=60)
    tools = ContextTools(library, store, ByteCounter())
    questions = [{"cache": "cache", "query": f"word{number % 9} text", "budget": 40 + number} for number in range(128)]
    searches = [{"query": f"word{number % 9}", "budget": 500} for number in range(128)]
    with ThreadPoolExecutor(32) as pool:
        resolved = list(pool.map(lambda each: render(tools.resolve(each, NO_CONTEXT)), questions))
        searched = list(pool.map(lambda each: render(structured(tools.search(each, NO_CONTEXT))), searches))

    assert resolved == [render(tools.resolve(each, NO_CONTEXT)) for each in questions]
    assert searched == [render(structured(tools.search(each, NO_CONTEXT))) for each in searches]

    library.close()
    store.close()
