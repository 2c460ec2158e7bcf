"""Converts a source file to text. Markdown, text, reStructuredText and code stay as they are; HTML, notebooks and PDF
become Markdown. Pure; PDF needs the `pdf` extra.

v0 accepts only Markdown. The other kinds are for `context.search` and must be requested.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import Limits, NotStrict, parse_object
from strictwire.packs.context.formats import WrongFormat
from strictwire.packs.context.html import html_to_markdown
from strictwire.packs.context.layout import MAX_DOCUMENT_BYTES
from strictwire.packs.context.pdf import pdf_to_markdown
from strictwire.packs.context.words import extension_of

KINDS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "markdown": ("md",),
        "text": ("txt",),
        "rst": ("rst",),
        "html": ("html", "htm"),
        "notebook": ("ipynb",),
        "code": (
            "py",
            "pyi",
            "js",
            "mjs",
            "cjs",
            "ts",
            "tsx",
            "jsx",
            "java",
            "kt",
            "scala",
            "go",
            "rs",
            "c",
            "h",
            "cc",
            "cpp",
            "hpp",
            "cs",
            "rb",
            "php",
            "swift",
            "lua",
            "r",
            "sql",
            "sh",
            "toml",
            "yaml",
            "yml",
        ),
        "pdf": ("pdf",),
    }
)
"""Kind to file name extensions: lowercase, and compared exactly, as v0 does for `md`."""

KIND_OF: Final[Mapping[str, str]] = MappingProxyType(
    {extension: kind for kind, extensions in KINDS.items() for extension in extensions}
)
"""Extension to kind."""

WELL_KNOWN: Final = frozenset(
    {
        "authors", "changelog", "changes", "contributing", "copying", "copyright", "faq", "history", "install", "license",
        "news", "notice", "readme", "security", "thanks", "todo",
    }
)  # fmt: skip
"""File names without an extension that are text by convention."""

VERBATIM: Final = frozenset({"markdown", "text", "rst", "code"})
"""Kinds whose text is the file itself, so that line numbers refer to the file."""


def kind_of(name: str) -> str | None:
    """Return the kind of a file by its name, in any case; None if it is not a document."""
    extension = extension_of(name).lower()
    return "text" if not extension and name.lower() in WELL_KNOWN else KIND_OF.get(extension)


def can_extract(kind: str) -> bool:
    """Return whether the libraries that this kind needs are installed."""
    return kind != "pdf" or find_spec("pypdf") is not None


def extract(kind: str, raw: bytes) -> str:
    """Return the text of a file. Raises WrongFormat."""
    return _EXTRACTORS[kind](raw)


def _decode(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as exc:
        raise WrongFormat("not UTF-8") from exc


def _html(raw: bytes) -> str:
    return html_to_markdown(_decode(raw))


def _notebook(raw: bytes) -> str:
    try:
        cells = parse_object(raw, Limits(size=MAX_DOCUMENT_BYTES, values=MAX_DOCUMENT_BYTES)).get("cells")
    except NotStrict as exc:
        raise WrongFormat("not a notebook") from exc
    if not isinstance(cells, list):
        raise WrongFormat("not a notebook")
    return "\n\n".join(filter(None, map(_cell, cells))) + "\n"


def _cell(cell: object) -> str:
    """Return the source of a cell. Outputs are omitted: they repeat data and change with every run."""
    if not isinstance(cell, dict):
        raise WrongFormat("not a notebook")
    source = cell.get("source", "")
    parts = source if isinstance(source, list) else [source]
    if not all(isinstance(part, str) for part in parts):
        raise WrongFormat("not a notebook")
    text = "".join(parts)
    if not text.strip():
        return ""
    return f"```\n{text}\n```" if cell.get("cell_type") == "code" else text


_EXTRACTORS: Final[Mapping[str, Callable[[bytes], str]]] = MappingProxyType(
    dict.fromkeys(VERBATIM, _decode) | {"html": _html, "notebook": _notebook, "pdf": pdf_to_markdown}
)
