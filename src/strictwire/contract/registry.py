"""The contracts of a server as one immutable value. Names are unique; adding returns a new registry."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, TypeVar

from strictwire.contract.schema import SchemaRefused, check_tool_input
from strictwire.contract.tool import PromptContract, ResourceContract, ToolContract

NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
"""MCP allows 128 characters, the official conformance suite 64. Names of up to 64 characters work with every client."""


class ContractRefused(ValueError):
    """A contract cannot be offered: its name is invalid or taken, or its schema is refused."""


Contract = TypeVar("Contract", ToolContract, ResourceContract, PromptContract)


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """Tools and prompts by name, resources by URI, in the order in which they were added."""

    tools: Mapping[str, ToolContract] = field(default_factory=lambda: MappingProxyType({}))
    resources: Mapping[str, ResourceContract] = field(default_factory=lambda: MappingProxyType({}))
    prompts: Mapping[str, PromptContract] = field(default_factory=lambda: MappingProxyType({}))

    def with_tools(self, tools: Iterable[ToolContract]) -> Registry:
        """Add tools. Raises ContractRefused: see `check_new_tool`."""
        known = dict(self.tools)
        for tool in tools:
            check_new_tool(known, tool)
            known[tool.name] = tool
        return replace(self, tools=MappingProxyType(known))

    def without_tool(self, name: str) -> Registry:
        """Remove a tool. An unknown name is ignored."""
        return replace(self, tools=_without(self.tools, name))

    def without_prompt(self, name: str) -> Registry:
        """Remove a prompt. An unknown name is ignored."""
        return replace(self, prompts=_without(self.prompts, name))

    def with_resource(self, resource: ResourceContract) -> Registry:
        """Add a resource. Raises ContractRefused: the URI is taken."""
        return replace(self, resources=_with(self.resources, resource.uri, resource))

    def with_prompt(self, prompt: PromptContract) -> Registry:
        """Add a prompt. Raises ContractRefused: the name is invalid or taken."""
        check_name(prompt.name)
        return replace(self, prompts=_with(self.prompts, prompt.name, prompt))


def check_name(name: str) -> None:
    """Check the name of a tool or prompt. Raises ContractRefused: clients or the file layout cannot use it."""
    if not NAME.fullmatch(name):
        raise ContractRefused(f"name {name!r}: use 1 to 64 characters of A-Z a-z 0-9 _ . -")
    if name.endswith(".output"):
        raise ContractRefused(f"name {name!r}: must not end in .output, the ending of output schema files")


def check_new_tool(known: Mapping[str, ToolContract], tool: ToolContract) -> None:
    """Check a tool before it is added. Raises ContractRefused: the name is invalid or taken, or the input schema refused."""
    check_name(tool.name)
    try:
        check_tool_input(tool.input_schema)
    except SchemaRefused as exc:
        raise ContractRefused(f"tool {tool.name!r}, input schema: {exc}") from exc
    _check_free(known, tool.name)


def _with(known: Mapping[str, Contract], name: str, contract: Contract) -> Mapping[str, Contract]:
    _check_free(known, name)
    return MappingProxyType({**known, name: contract})


def _check_free(known: Mapping[str, Contract], name: str) -> None:
    if name in known:
        raise ContractRefused(f"{name!r} is taken; give each tool, resource and prompt a name or URI of its own")


def _without(known: Mapping[str, Contract], name: str) -> Mapping[str, Contract]:
    return MappingProxyType({other: contract for other, contract in known.items() if other != name})
