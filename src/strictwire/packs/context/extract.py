"""Converts a source file to text. Markdown, text, reStructuredText and code stay as they are; HTML, notebooks and PDF
become Markdown. Pure; PDF needs the `pdf` extra.

v0 accepts only Markdown. The other kinds are for `context.search` and must be requested.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from importlib.util import find_spec
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import Limits, NotStrict, parse_object
from strictwire.packs.context.layout import MAX_DOCUMENT_BYTES


class WrongFormat(ValueError):
    """The bytes are not a valid file of this kind."""


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

VERBATIM: Final = frozenset({"markdown", "text", "rst", "code"})
"""Kinds whose text is the file itself, so that line numbers refer to the file."""

_HEADINGS: Final = {f"h{level}": "#" * level for level in range(1, 7)}
_BLOCKS: Final = frozenset(
    (
        "p",
        "div",
        "section",
        "article",
        "main",
        "header",
        "footer",
        "ul",
        "ol",
        "table",
        "tr",
        "dl",
        "dt",
        "dd",
        "blockquote",
        "figure",
        "figcaption",
        "br",
        "hr",
    )
)
_INVISIBLE: Final = frozenset({"script", "style", "template", "noscript", "svg", "head", "nav"})
"""Elements whose text a browser does not show, or that are navigation."""


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


class _HtmlToMarkdown(HTMLParser):
    """Collects the visible text of an HTML page as Markdown: headings, list items, code blocks and paragraphs."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self.lines: list[str] = []
        self._line = ""
        self._hidden: list[str] = []
        self._code = 0
        self._in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        if tag == "title":
            self._in_title = True
        elif tag in _INVISIBLE:
            self._hidden.append(tag)
        elif tag in _HEADINGS:
            self._flush(blank=True)
            self._line = _HEADINGS[tag] + " "
        elif tag == "li":
            self._flush()
            self._line = "- "
        elif tag == "pre":
            self._flush(blank=True)
            self.lines.append("```")
            self._code += 1
        elif tag in _BLOCKS:
            self._flush(blank=tag == "p")

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif self._hidden and tag == self._hidden[-1]:
            self._hidden.pop()
        elif tag == "pre" and self._code:
            self._flush()
            self.lines.append("```")
            self._code -= 1
        elif tag in _HEADINGS or tag in _BLOCKS or tag == "li":
            self._flush(blank=tag in _HEADINGS or tag == "p")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif self._hidden:
            return
        elif self._code:
            self._line += data
        else:
            joined = " ".join(data.split())
            lead = " " if data[:1].isspace() and self._line and not self._line.endswith(" ") else ""
            self._line += lead + joined + (" " if data[-1:].isspace() and joined else "")

    def text(self) -> str:
        self._flush()
        title = " ".join(self.title.split())
        if title and not any(line.startswith("# ") for line in self.lines):
            self.lines.insert(0, f"# {title}")
        return "\n".join(self.lines).strip("\n") + "\n" if self.lines else ""

    def _flush(self, *, blank: bool = False) -> None:
        line = self._line.rstrip() if not self._code else self._line.strip("\n")
        self._line = ""
        if line and line.strip("#- "):
            self.lines.extend(line.split("\n"))
        if blank and self.lines and self.lines[-1]:
            self.lines.append("")


def _html(raw: bytes) -> str:
    page = _HtmlToMarkdown()
    page.feed(_decode(raw))
    page.close()
    return page.text()


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
    text = "".join(map(str, source)) if isinstance(source, list) else str(source)
    if not text.strip():
        return ""
    return f"```\n{text}\n```" if cell.get("cell_type") == "code" else text


def _pdf(raw: bytes) -> str:
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    try:
        pages = [page.extract_text() for page in PdfReader(io.BytesIO(raw)).pages]
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as exc:
        # pypdf raises all of these for damaged files. Whatever the reason, the file cannot be read.
        raise WrongFormat("not a readable PDF") from exc
    return "".join(f"## Page {number}\n\n{text}\n\n" for number, text in enumerate(pages, 1) if text.strip())


_EXTRACTORS: Final[Mapping[str, Callable[[bytes], str]]] = MappingProxyType(
    dict.fromkeys(VERBATIM, _decode) | {"html": _html, "notebook": _notebook, "pdf": _pdf}
)
