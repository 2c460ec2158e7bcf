"""Which parser of `kit.grammars` reads which file. Parsers come with the extra `workspace`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from strictwire.packs.kit.grammars import GRAMMARS

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

LANGUAGES: Final = tuple(GRAMMARS)

COMMENTS: Final[Mapping[str, str]] = MappingProxyType(
    {name: "[(line_comment) (block_comment)] @hit" if name in ("rust", "java") else "(comment) @hit" for name in GRAMMARS}
)
"""Language to the query that finds its comments."""


def maybe_language(path: str) -> str | None:
    """Return the language of a file by its name; None if it is not supported."""
    name = path.rpartition("/")[2]
    return _SUFFIXES.get(name[name.rfind(".") :]) if "." in name else None
