"""The HTML report: self-contained, without scripts, and safe with hostile names."""

from __future__ import annotations

from html.parser import HTMLParser

from tests.probe.reports import REPORT

from strictwire.probe.compare import compare
from strictwire.probe.html import render_html

ALLOWED = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "p", "small", "table", "thead", "tbody"} | {
    *("tr", "th", "td", "section", "code", "pre", "span", "dl", "dt", "dd", "br")
}
VOID = frozenset({"meta", "br"})


class _Page(HTMLParser):
    """Collects the elements and attributes, and checks that elements are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed() -> _Page:
    page = _Page()
    page.feed(render_html(REPORT, compare(REPORT, {}), "1.0"))
    return page


def test_hostile_names_stay_text() -> None:
    page = parsed()

    assert page.tags <= ALLOWED
    assert "script" not in page.tags
    assert "tool </code><script>alert(1)</script>\\u001b[31m\\u202e: '/etc/x'" in page.text
    assert not {"\x1b", "\u202e"} & set(page.text)
    assert page.open == []


def test_the_page_requests_nothing_and_runs_nothing() -> None:
    page = parsed()

    assert page.attributes <= {"lang", "charset", "name", "content", "http-equiv", "class", "scope"}
    assert "default-src 'none'" in render_html(REPORT)
    assert "url(" not in render_html(REPORT)


def test_the_page_has_everything_that_the_text_has() -> None:
    text = parsed().text

    for part in (
        "CRASHED",
        '{"a":"\\xff"}',
        "KeyError: 1",
        "From the framework: FastMCP 4",
        "the time budget was used up",
        "send_money",
        "not spoken",
        "5 new, 0 unchanged, 0 gone",
        "seed 7",
    ):
        assert part in text
