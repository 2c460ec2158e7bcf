"""One file as the rules see it: text, syntax tree, comments and functions, each computed once. Does not read files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final

from strictwire.packs.kit.grammars import find_hits, parse
from strictwire.packs.workspace.policy.languages import COMMENTS, maybe_language

_SCRIPT: Final = (
    "[(function_declaration) (generator_function_declaration) (function_expression)"
    " (arrow_function) (method_definition)] @hit"
)

_FUNCTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "python": "(function_definition) @hit",
        "javascript": _SCRIPT,
        "typescript": _SCRIPT,
        "tsx": _SCRIPT,
        "rust": "(function_item) @hit",
        "go": "[(function_declaration) (method_declaration)] @hit",
        "java": "[(method_declaration) (constructor_declaration)] @hit",
        "c": "(function_definition) @hit",
        "cpp": "(function_definition) @hit",
    }
)
"""Language to the query that finds its functions."""

_SCOPES: Final = frozenset(
    {"class_definition", "class_declaration", "class_specifier", "struct_specifier", "impl_item", "trait_item", "mod_item"}
    | {"interface_declaration", "enum_declaration", "function_definition", "function_declaration", "namespace_definition"}
)
"""Node types that qualify the name of a function inside them."""

MINIFIED_LINE: Final = 500
"""Lines longer than this, in characters, are not written by people."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function with a body."""

    node: Any
    body: Any

    @property
    def name(self) -> str:
        """Its qualified name; empty if it has no name."""
        own = _name_of(self.node)
        return ".".join((*_scopes(self.node), own)) if own else ""

    @property
    def is_member(self) -> bool:
        """Whether it is inside a class."""
        return any(each.type.startswith(("class_", "interface_", "impl_", "trait_")) for each in ancestors(self.node))

    @property
    def statements(self) -> list[Any]:
        """The statements of its body, without comments and docstring."""
        return [each for each in _flat(self.body) if not _is_docstring(each, self.body)]

    @property
    def docstring(self) -> str:
        """The docstring of a Python function; empty if it has none."""
        return next((text_of(each) for each in _flat(self.body) if _is_docstring(each, self.body)), "")


class Source:
    """See the module docstring. `path` decides the language; `data` is UTF-8."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data
        self.text = data.decode()
        self.language = maybe_language(path)

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their line ends."""
        return self.text.split("\n")

    @cached_property
    def root(self) -> Any:
        """The syntax tree; None if there is no parser for the language."""
        return parse(self.language, self.data) if self.language else None

    def is_minified(self, row: int) -> bool:
        """Return whether a line is too long to be written by a person. Output of a bundler cannot be fixed here."""
        return len(self.lines[row]) > MINIFIED_LINE

    @cached_property
    def comments(self) -> list[Any]:
        """The comments in order."""
        return self.hits(COMMENTS)

    @cached_property
    def functions(self) -> list[Function]:
        """The functions with a block as their body, not a single expression."""
        found = ((node, node.child_by_field_name("body")) for node in self.hits(_FUNCTIONS))
        return [Function(node, body) for node, body in found if body is not None and "expression" not in body.type]

    @cached_property
    def comment_rows(self) -> dict[int, str]:
        """Row to the text of the comments that touch it."""
        rows: dict[int, str] = {}
        for node in self.comments:
            for row in range(node.start_point[0], node.end_point[0] + 1):
                rows[row] = rows.get(row, "") + " " + text_of(node)
        return rows

    @cached_property
    def nested_names(self) -> frozenset[str]:
        """Names of Python functions that are not at the top level."""
        return frozenset(re.findall(r"(?m)^[ \t]+def (\w+)\(", self.text))

    def hits(self, queries: Mapping[str, str]) -> list[Any]:
        """Return what the query of this language captures."""
        if self.language is None or self.language not in queries:
            return []
        return find_hits(self.language, self.root, queries[self.language])


def text_of(node: Any) -> str:
    """Return the text of a node."""
    return str(node.text.decode())


def ancestors(node: Any) -> Iterator[Any]:
    """Yield the ancestors of a node, innermost first."""
    while (node := node.parent) is not None:
        yield node


def statements_of(block: Any) -> list[Any]:
    """Return the statements of a block without comments."""
    return list(_flat(block))


def walk(node: Any) -> Iterator[Any]:
    """Yield a node and all named nodes below it."""
    pending = [node]
    while pending:
        found = pending.pop()
        yield found
        pending += found.named_children


def _flat(block: Any) -> Iterator[Any]:
    for each in block.named_children:
        if each.type == "statement_list":
            yield from _flat(each)
        elif "comment" not in each.type:
            yield each


def _is_docstring(statement: Any, body: Any) -> bool:
    if body.type != "block" or statement.type != "expression_statement":
        return False
    first = next(_flat(body), None)
    return bool(first == statement) and statement.named_child_count == 1 and statement.named_children[0].type == "string"


def _scopes(node: Any) -> list[str]:
    return [_name_of(each) for each in ancestors(node) if each.type in _SCOPES][::-1]


def _name_of(node: Any) -> str:
    """Return the name that a node declares; for an assigned function, the name it is assigned to."""
    for field in ("name", "type", "declarator"):
        named = node.child_by_field_name(field)
        if named is not None and not (field == "type" and node.type != "impl_item"):
            return text_of(named).partition("(")[0].strip(" *&")
    if node.parent is not None and node.parent.type in ("variable_declarator", "pair", "assignment_expression"):
        key = node.parent.named_children[0]
        return text_of(key) if key != node else ""
    return ""
