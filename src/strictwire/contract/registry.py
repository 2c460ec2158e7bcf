"""What a server offers, as one immutable value. Adding gives a new registry; a name is offered once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, TypeVar

from strictwire.contract.schema import SchemaRefused, check_tool_input
from strictwire.contract.tool import PromptContract, ResourceContract, ToolContract

NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
"""The specification allows 128 characters, the official suite 64; the smaller one works everywhere."""


class ContractRefused(ValueError):
    """An offer that cannot be made: a bad or taken name, a schema that cannot be a contract."""


Offer = TypeVar("Offer", ToolContract, ResourceContract, PromptContract)


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """Tools, resources and prompts by name or URI, in the order they were added."""

    tools: Mapping[str, ToolContract] = field(default_factory=lambda: MappingProxyType({}))
    resources: Mapping[str, ResourceContract] = field(default_factory=lambda: MappingProxyType({}))
    prompts: Mapping[str, PromptContract] = field(default_factory=lambda: MappingProxyType({}))

    def with_tools(self, tools: Iterable[ToolContract]) -> Registry:
        """Raises ContractRefused: name, duplicate, or a schema problem."""
        known = dict(self.tools)
        for tool in tools:
            check_new_tool(known, tool)
            known[tool.name] = tool
        return replace(self, tools=MappingProxyType(known))

    def without_tool(self, name: str) -> Registry:
        """One tool less."""
        return replace(self, tools=_without(self.tools, name))

    def without_prompt(self, name: str) -> Registry:
        """One prompt less."""
        return replace(self, prompts=_without(self.prompts, name))

    def with_resource(self, resource: ResourceContract) -> Registry:
        """Raises ContractRefused: duplicate URI."""
        return replace(self, resources=_added(self.resources, resource.uri, resource))

    def with_prompt(self, prompt: PromptContract) -> Registry:
        """Raises ContractRefused: name or duplicate."""
        check_name(prompt.name)
        return replace(self, prompts=_added(self.prompts, prompt.name, prompt))


def check_name(name: str) -> None:
    """Raises ContractRefused: a name that clients or the file layout cannot take."""
    if not NAME.fullmatch(name):
        raise ContractRefused(f"name {name!r}: use 1 to 64 of A-Z a-z 0-9 _ . -")
    if name.endswith(".output"):
        raise ContractRefused(f"name {name!r}: may not end in .output, the file layout uses that ending")


def check_tool(tool: ToolContract) -> None:
    """Raises ContractRefused: what `with_tool` would refuse about the tool itself."""
    check_name(tool.name)
    try:
        check_tool_input(tool.input_schema)
    except SchemaRefused as exc:
        raise ContractRefused(f"tool {tool.name!r}, input: {exc}") from exc


def check_new_tool(known: Mapping[str, ToolContract], tool: ToolContract) -> None:
    """Raises ContractRefused: what is wrong with the tool itself, or its name is taken."""
    check_tool(tool)
    _check_free(known, tool.name)


def _added(known: Mapping[str, Offer], name: str, offer: Offer) -> Mapping[str, Offer]:
    _check_free(known, name)
    return MappingProxyType({**known, name: offer})


def _check_free(known: Mapping[str, Offer], name: str) -> None:
    if name in known:
        raise ContractRefused(f"{name!r} is offered already; names are unique")


def _without(known: Mapping[str, Offer], name: str) -> Mapping[str, Offer]:
    return MappingProxyType({other: offer for other, offer in known.items() if other != name})
