"""Walks a schema: each subschema once, with its relation to its parent. Rules get nodes and do not walk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from strictwire.canon.json import JsonObject
from strictwire.check.subject import Problem, Side, SourceLocation, Subject
from strictwire.contract.schema import SchemaRefused


class NodeKind(StrEnum):
    """The relation of a subschema to its parent."""

    ROOT = "root"
    PROPERTY = "property"
    ITEM = "item"
    VALUE = "value"
    """The schema of undeclared properties: `additionalProperties`, `patternProperties`."""
    BRANCH = "branch"
    """Applies to the same instance as the parent: `allOf`, `anyOf`, `not`, `if`."""
    DEFINITION = "definition"
    NAME = "name"


@dataclass(frozen=True, slots=True, kw_only=True)
class LintParameters:
    """Limits that a project sets for its tools in `strictwire.toml`. The defaults come from clauses G9 and G10."""

    page_cap: int = 200
    """Required `maximum` of `pageSize`."""
    query_cap: int = 512
    """Largest `maxLength` of a free-text query."""
    null_cursor: frozenset[str] = frozenset()
    """Tools whose `cursor` may be null."""
    caps: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """Required numbers, by `property.keyword`: every schema with that property must have that value."""


DEFAULT_PARAMETERS: Final = LintParameters()


class SchemaTree(NamedTuple):
    """One schema of one tool."""

    subject: Subject
    side: Side
    root: JsonObject
    origin: SourceLocation
    parameters: LintParameters = DEFAULT_PARAMETERS


class Node(NamedTuple):
    """One subschema. A NamedTuple because lint creates one per subschema of every tool and tuples are fast to create."""

    schema: JsonObject
    kind: NodeKind
    name: str
    """The name of the property or definition; empty for other kinds."""
    steps: tuple[str | int, ...]
    parent: Node | None
    tree: SchemaTree

    def problem(self, message: str, *steps: str | int) -> Problem:
        """A problem at this node, or at the given path below it."""
        return Problem(self.tree.origin.under(*self.steps, *steps), message, self.tree.subject.contract.name)

    def types(self) -> tuple[str, ...]:
        """The value of the `type` keyword as a tuple; empty if absent."""
        named = self.schema.get("type")
        return tuple(named) if isinstance(named, list) else (named,) if isinstance(named, str) else ()


class ToolText(NamedTuple):
    """One text that people or models read: from the tool's entry in the listing (`node` is None) or from a subschema."""

    text: str
    keyword: str
    subject: Subject
    node: Node | None = None

    def problem(self, message: str) -> Problem:
        """A problem with this text."""
        if self.node is not None:
            return self.node.problem(message, self.keyword)
        return Problem(self.subject.entry.under(self.keyword), message, self.subject.contract.name)


class InvalidSchema(NamedTuple):
    """A schema that does not compile, and the reason."""

    subject: Subject
    side: Side
    schema: JsonObject
    reason: SchemaRefused


_SCHEMA_MAPS: Final[Mapping[str, NodeKind]] = MappingProxyType(
    {
        "properties": NodeKind.PROPERTY,
        "patternProperties": NodeKind.VALUE,
        "$defs": NodeKind.DEFINITION,
        "definitions": NodeKind.DEFINITION,
        "dependentSchemas": NodeKind.BRANCH,
    }
)
"""Keywords that map names to schemas."""

_SCHEMA_KEYWORDS: Final[Mapping[str, NodeKind]] = MappingProxyType(
    {
        "allOf": NodeKind.BRANCH,
        "anyOf": NodeKind.BRANCH,
        "oneOf": NodeKind.BRANCH,
        "prefixItems": NodeKind.ITEM,
        "items": NodeKind.ITEM,
        "additionalItems": NodeKind.ITEM,
        "contains": NodeKind.ITEM,
        "unevaluatedItems": NodeKind.ITEM,
        "additionalProperties": NodeKind.VALUE,
        "unevaluatedProperties": NodeKind.VALUE,
        "propertyNames": NodeKind.NAME,
        "not": NodeKind.BRANCH,
        "if": NodeKind.BRANCH,
        "then": NodeKind.BRANCH,
        "else": NodeKind.BRANCH,
    }
)
"""Keywords that hold one schema or a list of schemas."""


def walk_tree(tree: SchemaTree) -> list[Node]:
    """Every subschema in document order, the root first."""
    nodes: list[Node] = []
    waiting = [Node(tree.root, NodeKind.ROOT, "", (), None, tree)]
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        waiting.extend(reversed(_children(node)))
    return nodes


def _children(node: Node) -> list[Node]:
    found: list[Node] = []
    for keyword, value in node.schema.items():
        if keyword in _SCHEMA_MAPS and isinstance(value, dict):
            kind = _SCHEMA_MAPS[keyword]
            found += [_child(node, child, kind, name, (keyword, name)) for name, child in value.items() if _is_schema(child)]
        elif keyword in _SCHEMA_KEYWORDS:
            found += _unnamed(node, keyword, value)
    return found


def _unnamed(node: Node, keyword: str, value: Any) -> list[Node]:
    kind = _SCHEMA_KEYWORDS[keyword]
    if isinstance(value, dict):
        return [_child(node, value, kind, "", (keyword,))]
    if isinstance(value, list):
        return [_child(node, each, kind, "", (keyword, index)) for index, each in enumerate(value) if _is_schema(each)]
    return []


def _child(node: Node, schema: JsonObject, kind: NodeKind, name: str, steps: tuple[str | int, ...]) -> Node:
    return Node(schema, kind, name, node.steps + steps, node, node.tree)


def _is_schema(value: Any) -> bool:
    return isinstance(value, dict)
