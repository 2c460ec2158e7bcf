"""The registry: which contracts are accepted, and that a registry never changes."""

from __future__ import annotations

import pytest

from strictwire.contract.registry import ContractRefused, Registry
from strictwire.contract.tool import PromptContract, ResourceContract, ToolContract

OBJECT = {"type": "object"}


def tool(name: str, **changes: object) -> ToolContract:
    return ToolContract(name=name, description="d", input_schema=changes.get("schema", OBJECT))  # type: ignore[arg-type]


def test_adding_returns_a_new_registry_and_keeps_the_order() -> None:
    empty = Registry()
    more = empty.with_tools([tool("b"), tool("a")])

    assert list(empty.tools) == []
    assert list(more.tools) == ["b", "a"]
    assert list(more.without_tool("b").tools) == ["a"]


@pytest.mark.parametrize("name", ["", "a b", "a/b", "x" * 65, "é", "read.output", "a\n"])
def test_a_name_that_clients_or_the_file_layout_cannot_use_is_refused(name: str) -> None:
    with pytest.raises(ContractRefused):
        Registry().with_tools([tool(name)])


@pytest.mark.parametrize("name", ["a", "context.resolve", "A-z_0.9", "x" * 64])
def test_usual_names_and_dots_are_accepted(name: str) -> None:
    assert name in Registry().with_tools([tool(name)]).tools


def test_a_taken_name_is_refused_for_tools_resources_and_prompts() -> None:
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
def test_an_input_schema_that_is_not_an_object_or_has_a_remote_reference_is_refused(schema: object) -> None:
    with pytest.raises(ContractRefused):
        Registry().with_tools([tool("a", schema=schema)])


def test_a_uri_with_braces_is_a_template() -> None:
    assert ResourceContract(uri="x://{id}", name="t").is_template
    assert not ResourceContract(uri="x://id", name="t").is_template
