"""Which language a file is in, by its name. A language here is what one engine serves: JavaScript is TypeScript's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from types import MappingProxyType
from typing import Final

_SUFFIXES: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "python": {"python": ".py .pyi"},
        "typescript": {
            "typescript": ".ts .mts .cts",
            "typescriptreact": ".tsx",
            "javascript": ".js .mjs .cjs",
            "javascriptreact": ".jsx",
        },
        "cpp": {"c": ".c .h", "cpp": ".cc .cpp .cxx .hh .hpp .hxx .ipp .inl", "objective-c": ".m", "objective-cpp": ".mm"},
        "csharp": {"csharp": ".cs"},
        "go": {"go": ".go"},
        "java": {"java": ".java"},
        "kotlin": {"kotlin": ".kt .kts"},
        "lua": {"lua": ".lua"},
        "php": {"php": ".php"},
        "ruby": {"ruby": ".rb"},
        "rust": {"rust": ".rs"},
        "scala": {"scala": ".scala"},
        "shellscript": {"shellscript": ".sh .bash"},
        "swift": {"swift": ".swift"},
    }
)
"""Language to LSP language id to the suffixes of its files."""

_BY_SUFFIX: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        suffix: (language, language_id)
        for language, ids in _SUFFIXES.items()
        for language_id, suffixes in ids.items()
        for suffix in suffixes.split()
    }
)

LANGUAGES: Final = tuple(_SUFFIXES)
"""Every language with a name, in alphabetical order after those with a built-in engine."""

WORD_CHARACTERS: Final[Mapping[str, str]] = MappingProxyType({"typescript": "$", "php": "$"})
"""What belongs to an identifier besides letters, digits and the underscore."""


def maybe_language(path: str | PurePath) -> str | None:
    """The language of a file; None if it is none of ours."""
    found = _BY_SUFFIX.get(_suffix(path))
    return found[0] if found else None


def language_id(path: str | PurePath) -> str:
    """What LSP calls the language of a file; `plaintext` if it is none of ours."""
    found = _BY_SUFFIX.get(_suffix(path))
    return found[1] if found else "plaintext"


def _suffix(path: str | PurePath) -> str:
    name = str(path).rpartition("/")[2]
    dot = name.rfind(".")
    return name[dot:].lower() if dot > 0 else ""
