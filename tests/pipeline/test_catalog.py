"""Snapshots of what is offered: they never change, and adding many tools makes one."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from strictwire.contract.registry import ContractRefused
from strictwire.contract.schema import SchemaRefused
from strictwire.contract.tool import PromptContract, ToolContract
from strictwire.pipeline import catalog as module
from strictwire.pipeline.call import Kind
from strictwire.pipeline.catalog import Catalog, Draft, Offers

INPUT: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": False}


async def handler(_arguments: object, _context: object) -> None: ...


def tool(name: str, **changes: Any) -> ToolContract:
    return ToolContract(name=name, description="d", **{"input_schema": INPUT} | changes)


def offered(offers: Offers) -> list[str]:
    assert [(Kind.TOOL, name) for name in offers.registry.tools] == [key for key in offers.compiled if key[0] is Kind.TOOL]
    return list(offers.registry.tools)


def test_a_snapshot_does_not_change_when_tools_are_added_or_taken_away() -> None:
    catalog = Catalog(Offers())
    none = catalog.offers
    catalog.add_tool(tool("a"), handler)
    catalog.add_tool(tool("b"), handler)
    two = catalog.offers
    catalog.add_tool(tool("c"), handler)
    three = catalog.offers
    catalog.change(lambda offers: offers.without_tool("a"), "tools")

    assert [offered(each) for each in (none, two, three, catalog.offers)] == [[], ["a", "b"], ["a", "b", "c"], ["b", "c"]]
    assert three.compiled[Kind.TOOL, "a"] is two.compiled[Kind.TOOL, "a"]


def test_the_same_snapshot_is_given_until_something_changes() -> None:
    catalog = Catalog(Offers())
    catalog.add_tool(tool("a"), handler)
    before = catalog.offers
    with pytest.raises(ContractRefused):
        catalog.add_tool(tool("a"), handler)

    assert catalog.offers is before


def test_a_change_builds_on_tools_that_were_just_added() -> None:
    catalog = Catalog(Offers())
    catalog.add_tool(tool("a"), handler)
    catalog.change(lambda offers: offers.with_prompt(PromptContract(name="p"), handler), "prompts")

    assert offered(catalog.offers) == ["a"]
    assert list(catalog.offers.registry.prompts) == ["p"]


@pytest.mark.parametrize(
    ("refused", "expected"),
    [
        (tool("a"), ContractRefused),
        (tool("a b"), ContractRefused),
        (tool("c", input_schema={"type": "string"}), ContractRefused),
        (tool("c", input_schema={"type": "object", "properties": {"x": {"type": "nothing"}}}), SchemaRefused),
        (tool("c", output_schema={"$ref": "#/$defs/none"}), SchemaRefused),
        (tool("c", output_schema={"$ref": "http://x/y"}), SchemaRefused),
    ],
    ids=str,
)
def test_a_tool_that_is_refused_leaves_no_trace(refused: ToolContract, expected: type[Exception]) -> None:
    catalog = Catalog(Offers())
    catalog.add_tool(tool("a"), handler)
    with pytest.raises(expected):
        catalog.add_tool(refused, handler)
    catalog.add_tool(tool("b"), handler)

    assert offered(catalog.offers) == ["a", "b"]


def test_adding_many_tools_in_a_row_copies_the_offers_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Draft] = []

    class Counted(Draft):
        def __init__(self, offers: Offers) -> None:
            super().__init__(offers)
            made.append(self)

    monkeypatch.setattr(module, "Draft", Counted)
    catalog = Catalog(Offers())
    for number in range(200):
        catalog.add_tool(tool(f"t{number}"), handler)

    assert len(offered(catalog.offers)) == 200
    assert len(made) == 1


def test_a_reader_sees_every_tool_that_was_added_before_it_asked() -> None:
    catalog, missing = Catalog(Offers()), []
    added, done = threading.Semaphore(0), threading.Event()

    def read() -> None:
        for count in range(1, 201):
            added.acquire()
            if len(catalog.offers.registry.tools) < count:
                missing.append(count)
        done.set()

    threading.Thread(target=read).start()
    for number in range(200):
        catalog.add_tool(tool(f"t{number}"), handler)
        added.release()

    assert done.wait(5)
    assert missing == []
