"""Tree-sitter parsers, from single wheels: nothing is downloaded at run time. Loaded when a file first needs one."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final

GRAMMARS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "python": ("tree_sitter_python", "language"),
        "javascript": ("tree_sitter_javascript", "language"),
        "typescript": ("tree_sitter_typescript", "language_typescript"),
        "tsx": ("tree_sitter_typescript", "language_tsx"),
        "rust": ("tree_sitter_rust", "language"),
        "go": ("tree_sitter_go", "language"),
        "java": ("tree_sitter_java", "language"),
        "c": ("tree_sitter_c", "language"),
        "cpp": ("tree_sitter_cpp", "language"),
    }
)
"""Grammar to its module and the function there."""

MODULES: Final = ("tree_sitter", *dict.fromkeys(module for module, _ in GRAMMARS.values()))
"""What has to be installed."""


def find_missing() -> str | None:
    """The first module that is not installed; None if all are."""
    for module in MODULES:
        try:
            importlib.import_module(module)
        except ImportError:
            return module
    return None


def parse(grammar: str, data: bytes) -> Any:
    """The root of the syntax tree. A file with errors is read as far as it can be."""
    import tree_sitter

    return tree_sitter.Parser(_language(grammar)).parse(data).root_node


def find_matches(grammar: str, root: Any, query: str) -> list[tuple[int, dict[str, list[Any]]]]:
    """For each match of a query the number of its pattern, and capture name to nodes."""
    import tree_sitter

    found: list[tuple[int, dict[str, list[Any]]]] = tree_sitter.QueryCursor(_query(grammar, query)).matches(root)
    return found


def find_hits(grammar: str, root: Any, query: str) -> list[Any]:
    """The nodes a query captures as `hit`, in the order of the text."""
    import tree_sitter

    found = tree_sitter.QueryCursor(_query(grammar, query)).captures(root).get("hit", [])
    return sorted(found, key=lambda node: int(node.start_byte))


@cache
def _language(grammar: str) -> Any:
    import tree_sitter

    module, function = GRAMMARS[grammar]
    return tree_sitter.Language(getattr(importlib.import_module(module), function)())


@cache
def _query(grammar: str, text: str) -> Any:
    import tree_sitter

    return tree_sitter.Query(_language(grammar), text)
