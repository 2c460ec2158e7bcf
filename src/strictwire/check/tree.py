"""The subschemas of a schema, each once, with how it is reached. Rules judge nodes; they do not walk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from strictwire.canon.json import JsonObject
from strictwire.check.subject import Origin, Problem, Side, Subject
from strictwire.contract.schema import SchemaRefused


class Role(StrEnum):
    """How a subschema is reached from its parent."""

    ROOT = "root"
    PROPERTY = "property"
    ITEM = "item"
    VALUE = "value"
    """The value of a free member: `additionalProperties`, `patternProperties`."""
    BRANCH = "branch"
    """Applies to the same instance as the parent: `allOf`, `anyOf`, `not`, `if`."""
    DEFINITION = "definition"
    NAME = "name"


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a project's contract says that no schema can say. Comes from `strictwire.toml`; the defaults are G9 and G10."""

    page_cap: int = 200
    """The largest page."""
    query_cap: int = 512
    """The longest free-text query."""
    null_cursor: frozenset[str] = frozenset()
    """Tools whose `cursor` may be null."""
    caps: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """The table of constants, as `property.keyword`: each schema that has the property must have that number."""


DEFAULT_TERMS: Final = Terms()


class Tree(NamedTuple):
    """One schema of one tool."""

    subject: Subject
    side: Side
    root: JsonObject
    origin: Origin
    terms: Terms = DEFAULT_TERMS


class Node(NamedTuple):
    """One subschema. A tuple, because lint makes one for each subschema of each tool."""

    schema: JsonObject
    role: Role
    name: str
    """The property's name, or the definition's."""
    steps: tuple[str | int, ...]
    parent: Node | None
    tree: Tree

    def problem(self, message: str, *steps: str | int) -> Problem:
        """A problem at this node, or at a member of it."""
        return Problem(self.tree.origin.under(*self.steps, *steps), message, self.tree.subject.contract.name)

    def types(self) -> tuple[str, ...]:
        """The `type` keyword as a list."""
        named = self.schema.get("type")
        return tuple(named) if isinstance(named, list) else (named,) if isinstance(named, str) else ()


class Text(NamedTuple):
    """One text of a tool: of its entry in the listing (no node), or of a subschema."""

    text: str
    keyword: str
    subject: Subject
    node: Node | None = None

    def problem(self, message: str) -> Problem:
        """A problem with the text."""
        if self.node is not None:
            return self.node.problem(message, self.keyword)
        return Problem(self.subject.entry.under(self.keyword), message, self.subject.contract.name)


class Refusal(NamedTuple):
    """A schema that cannot be compiled, and why."""

    subject: Subject
    side: Side
    schema: JsonObject
    reason: SchemaRefused


_MAPS: Final[Mapping[str, Role]] = MappingProxyType(
    {
        "properties": Role.PROPERTY,
        "patternProperties": Role.VALUE,
        "$defs": Role.DEFINITION,
        "definitions": Role.DEFINITION,
        "dependentSchemas": Role.BRANCH,
    }
)
_OTHERS: Final[Mapping[str, Role]] = MappingProxyType(
    {
        "allOf": Role.BRANCH,
        "anyOf": Role.BRANCH,
        "oneOf": Role.BRANCH,
        "prefixItems": Role.ITEM,
        "items": Role.ITEM,
        "additionalItems": Role.ITEM,
        "contains": Role.ITEM,
        "unevaluatedItems": Role.ITEM,
        "additionalProperties": Role.VALUE,
        "unevaluatedProperties": Role.VALUE,
        "propertyNames": Role.NAME,
        "not": Role.BRANCH,
        "if": Role.BRANCH,
        "then": Role.BRANCH,
        "else": Role.BRANCH,
    }
)
"""Keywords that hold one schema or a list of schemas."""


def walk_tree(tree: Tree) -> list[Node]:
    """Every subschema, the root first, in document order."""
    nodes: list[Node] = []
    waiting = [Node(tree.root, Role.ROOT, "", (), None, tree)]
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        waiting.extend(reversed(_children(node)))
    return nodes


def _children(node: Node) -> list[Node]:
    found: list[Node] = []
    for keyword, value in node.schema.items():
        if keyword in _MAPS and isinstance(value, dict):
            role = _MAPS[keyword]
            found += [_child(node, child, role, name, (keyword, name)) for name, child in value.items() if _is(child)]
        elif keyword in _OTHERS:
            found += _unnamed(node, keyword, value)
    return found


def _unnamed(node: Node, keyword: str, value: Any) -> list[Node]:
    role = _OTHERS[keyword]
    if isinstance(value, dict):
        return [_child(node, value, role, "", (keyword,))]
    if isinstance(value, list):
        return [_child(node, each, role, "", (keyword, index)) for index, each in enumerate(value) if _is(each)]
    return []


def _child(node: Node, schema: JsonObject, role: Role, name: str, steps: tuple[str | int, ...]) -> Node:
    return Node(schema, role, name, node.steps + steps, node, node.tree)


def _is(value: Any) -> bool:
    return isinstance(value, dict)
