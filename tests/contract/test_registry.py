"""What may be offered, and that adding never changes what was there."""

from __future__ import annotations

import pytest

from strictwire.contract.registry import ContractRefused, Registry
from strictwire.contract.tool import PromptContract, ResourceContract, ToolContract

OBJECT = {"type": "object"}


def tool(name: str, **changes: object) -> ToolContract:
    return ToolContract(name=name, description="d", input_schema=changes.get("schema", OBJECT))  # type: ignore[arg-type]


def test_adding_gives_a_new_registry_in_order() -> None:
    empty = Registry()
    more = empty.with_tools([tool("b"), tool("a")])

    assert list(empty.tools) == []
    assert list(more.tools) == ["b", "a"]
    assert list(more.without_tool("b").tools) == ["a"]


@pytest.mark.parametrize("name", ["", "a b", "a/b", "x" * 65, "é", "read.output", "a\n"])
def test_a_name_that_clients_or_files_cannot_take_is_refused(name: str) -> None:
    with pytest.raises(ContractRefused):
        Registry().with_tools([tool(name)])


@pytest.mark.parametrize("name", ["a", "context.resolve", "A-z_0.9", "x" * 64])
def test_usual_names_and_dots_are_taken(name: str) -> None:
    assert name in Registry().with_tools([tool(name)]).tools


def test_a_taken_name_is_refused_for_every_kind() -> None:
    with pytest.raises(ContractRefused):
        Registry().with_tools([tool("a"), tool("a")])
    resource = ResourceContract(uri="x://y", name="y")
    with pytest.raises(ContractRefused):
        Registry().with_resource(resource).with_resource(resource)
    prompt = PromptContract(name="p")
    with pytest.raises(ContractRefused):
        Registry().with_prompt(prompt).with_prompt(prompt)
    assert list(Registry().with_prompt(prompt).without_prompt("p").prompts) == []


@pytest.mark.parametrize("schema", [{"type": "string"}, {}, {"type": "object", "$ref": "http://x/y"}])
def test_an_input_that_is_no_local_object_schema_is_refused(schema: object) -> None:
    with pytest.raises(ContractRefused):
        Registry().with_tools([tool("a", schema=schema)])


def test_a_template_is_known_by_its_braces() -> None:
    assert ResourceContract(uri="x://{id}", name="t").is_template
    assert not ResourceContract(uri="x://id", name="t").is_template
