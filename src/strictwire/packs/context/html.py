"""Converts an HTML page to Markdown: headings, paragraphs, lists, tables and code; without navigation. Pure.

Navigation is what HTML or its generators mark as such: `nav`, `aside` and `footer` elements, ARIA roles, and the class
names of documentation generators.
"""

from __future__ import annotations

from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Final

_HEADINGS: Final = {f"h{level}": "#" * level for level in range(1, 7)}
_BLOCKS: Final = frozenset(
    {
        "address", "article", "blockquote", "body", "br", "dd", "details", "div", "dl", "dt", "fieldset", "figcaption",
        "figure", "form", "header", "hr", "main", "ol", "p", "section", "summary", "table", "tbody", "tfoot",
        "thead", "tr", "ul",
    }
)  # fmt: skip
_CELLS: Final = frozenset({"td", "th"})
_INVISIBLE: Final = frozenset({"aside", "footer", "head", "nav", "noscript", "script", "select", "style", "svg", "template"})
"""Elements whose text a browser does not show, or that are navigation."""

_ROLES: Final = frozenset({"banner", "complementary", "contentinfo", "navigation", "search"})
_CLASSES: Final = frozenset(
    {
        "breadcrumb", "breadcrumbs", "footer", "headerlink", "md-footer", "md-header", "md-nav", "md-sidebar", "menu",
        "nav-path", "navbar", "navfooter", "navheader", "navigation", "pagination", "prev-next-area", "related", "sidebar",
        "skip-link", "sphinxsidebar", "sphinxsidebarwrapper", "toc", "toctree-wrapper", "wy-nav-side",
    }
)  # fmt: skip
"""Class names that Sphinx, Doxygen, DocBook, MkDocs, Bootstrap and their themes give to navigation."""

_VOID: Final = frozenset({"area", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"})
"""Elements without an end tag."""

_PILCROWS: Final = "¶§#🔗\uf0c1"
"""Signs of the links to a heading itself."""


def html_to_markdown(text: str) -> str:
    """Return the visible text of a page as Markdown."""
    page = _Page()
    page.feed(text)
    page.close()
    return page.text()


class _Page(HTMLParser):
    """Collects lines while the page is parsed."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._titles: list[str] = []
        self.lines: list[str] = []
        self._pieces: list[str] = []
        """The line so far. Joined once: a page may have one line of millions of pieces."""
        self._hidden: list[str] = []
        """The hidden element and the elements of the same name inside it."""
        self._code = 0
        self._in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title":
            self._in_title = not self._titles
        elif self._hidden:
            if tag == self._hidden[0]:
                self._hidden.append(tag)
        elif tag not in _VOID and (tag in _INVISIBLE or _is_navigation(dict(attrs))):
            self._hidden.append(tag)
        else:
            self._open(tag)

    def _open(self, tag: str) -> None:
        if tag in _HEADINGS:
            self._flush(blank=True)
            self._pieces = [_HEADINGS[tag] + " "]
        elif tag == "li":
            self._flush()
            self._pieces = ["- "]
        elif tag == "pre":
            self._flush(blank=True)
            self.lines.append("```")
            self._code += 1
        elif tag in _CELLS:
            self._pieces += [" | "] if any(map(str.strip, self._pieces)) else []
        elif tag in _BLOCKS:
            self._flush(blank=tag in ("p", "table", "dt"))

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif self._hidden:
            if tag == self._hidden[0]:
                self._hidden.pop()
        elif tag == "pre" and self._code:
            self._flush()
            self.lines.append("```")
            self._code -= 1
        elif tag in _HEADINGS or tag in _BLOCKS or tag == "li":
            self._flush(blank=tag in _HEADINGS or tag in ("p", "table"))

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self._titles.append(data)
        elif self._hidden:
            return
        elif self._code:
            self._pieces.append(data)
        else:
            joined = " ".join(data.split())
            lead = " " if data[:1].isspace() and self._pieces and not self._pieces[-1].endswith(" ") else ""
            piece = lead + joined + (" " if data[-1:].isspace() and joined else "")
            self._pieces += [piece] if piece else []

    def text(self) -> str:
        self._flush()
        title = " ".join("".join(self._titles).split())
        if title and not any(line.startswith("# ") for line in self.lines):
            self.lines.insert(0, f"# {title}")
        return "\n".join(self.lines).strip("\n") + "\n" if self.lines else ""

    def _flush(self, *, blank: bool = False) -> None:
        whole = "".join(self._pieces)
        line = whole.rstrip() if not self._code else whole.strip("\n")
        self._pieces = []
        if line.startswith("#"):
            line = line.rstrip(_PILCROWS + " ")
        if line and line.strip("#- "):
            self.lines.extend(line.split("\n"))
        if blank and self.lines and self.lines[-1]:
            self.lines.append("")


def _is_navigation(attributes: Mapping[str, str | None]) -> bool:
    if attributes.get("role") in _ROLES or "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    return not _CLASSES.isdisjoint((attributes.get("class") or "").lower().split())
