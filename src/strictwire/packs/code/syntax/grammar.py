"""Which grammar reads a file, and its version."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType
from typing import Final

from strictwire.packs.kit.grammars import GRAMMARS

_GRAMMAR_OF: Final[Mapping[str, str]] = MappingProxyType(
    {
        suffix: grammar
        for grammar, suffixes in {
            "python": ".py .pyi",
            "javascript": ".js .mjs .cjs .jsx",
            "typescript": ".ts .mts .cts",
            "tsx": ".tsx",
            "rust": ".rs",
            "go": ".go",
            "java": ".java",
            "c": ".c",
            # Headers of C are nearly always valid C++; the other way round they are not.
            "cpp": ".h .cc .cpp .cxx .hh .hpp .hxx .ipp .inl",
        }.items()
        for suffix in suffixes.split()
    }
)


def maybe_grammar(path: str) -> str | None:
    """The grammar of a file, by its name; None if there is none."""
    name = path.rpartition("/")[2]
    return _GRAMMAR_OF.get(name[name.rfind(".") :].lower()) if "." in name else None


@cache
def grammar_version(grammar: str) -> str:
    """Return the version of the grammar's package. Cached: reading the package metadata takes a millisecond."""
    try:
        return version(GRAMMARS[grammar][0].replace("_", "-"))
    except PackageNotFoundError:
        return "unknown"
