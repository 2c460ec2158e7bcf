"""Which parser handles which file. Parsers come with the `workspace` extra and are loaded on first use."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final

_GRAMMARS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
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
"""Language to the module of its grammar and the function in it."""

_SUFFIXES: Final[Mapping[str, str]] = MappingProxyType(
    {
        ".py": "python",
        ".js": "javascript",
        ".mjs": "javascript",
        ".cjs": "javascript",
        ".jsx": "javascript",
        ".ts": "typescript",
        ".mts": "typescript",
        ".cts": "typescript",
        ".tsx": "tsx",
        ".rs": "rust",
        ".go": "go",
        ".java": "java",
        ".c": "c",
        ".h": "cpp",
        ".cc": "cpp",
        ".cpp": "cpp",
        ".cxx": "cpp",
        ".hpp": "cpp",
    }
)
"""File name ending to language. A `.h` file may be C or C++; the C++ parser can read nearly all C headers."""

LANGUAGES: Final = tuple(_GRAMMARS)

MODULES: Final = ("tree_sitter", *dict.fromkeys(module for module, _ in _GRAMMARS.values()))
"""The modules that must be installed."""

COMMENTS: Final[Mapping[str, str]] = MappingProxyType(
    {name: "[(line_comment) (block_comment)] @hit" if name in ("rust", "java") else "(comment) @hit" for name in _GRAMMARS}
)
"""Language to the query that finds its comments."""


def maybe_language(path: str) -> str | None:
    """Return the language of a file by its name; None if it is not supported."""
    name = path.rpartition("/")[2]
    return _SUFFIXES.get(name[name.rfind(".") :]) if "." in name else None


def find_missing() -> str | None:
    """Return the first module that is not installed; None if all are."""
    for module in MODULES:
        try:
            importlib.import_module(module)
        except ImportError:
            return module
    return None


@cache
def _language(name: str) -> Any:
    import tree_sitter

    module, function = _GRAMMARS[name]
    return tree_sitter.Language(getattr(importlib.import_module(module), function)())


def parse(name: str, data: bytes) -> Any:
    """Return the root of the syntax tree. A file with syntax errors is parsed as far as possible."""
    import tree_sitter

    return tree_sitter.Parser(_language(name)).parse(data).root_node


@cache
def _query(name: str, text: str) -> Any:
    import tree_sitter

    return tree_sitter.Query(_language(name), text)


def find_hits(name: str, root: Any, query: str) -> list[Any]:
    """Return the nodes that a query captures as `hit`, in the order of the text."""
    import tree_sitter

    found = tree_sitter.QueryCursor(_query(name, query)).captures(root).get("hit", [])
    return sorted(found, key=lambda node: int(node.start_byte))
