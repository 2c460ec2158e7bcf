"""Splits a document into passages: sections of a page, definitions of a source file, paragraphs of a text. Pure.

Every line with text is in exactly one passage, so a passage is identified by its lines, and nothing is lost or repeated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

MAX_WORDS: Final = 400
"""Words after which a section of prose is split at its next blank line: one screen of text, about 500 tokens."""

MAX_CODE_WORDS: Final = 240
"""The same for code, whose words have more tokens."""

HARD_FACTOR: Final = 2
"""After so many times these words it is split at the next line, blank or not."""


MAX_HEADING: Final = 500
"""Characters of a heading that are kept. All passages below a heading repeat it."""

MAX_HEADINGS: Final = 100_000
"""Headings of a document that count. What follows the last one is split by its words."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines `first` up to but not including `last`, counted from 0, and the headings above them, outermost first."""

    first: int
    last: int
    headings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: its line, its nesting level and its text."""

    line: int
    level: int
    text: str


_ATX: Final = re.compile(r" {0,3}(#{1,6})[ \t]+")
_FENCE: Final = re.compile(r" {0,3}(```+|~~~+)")
_RULE: Final = re.compile(r"([=\-~^\"'*+#:.`_])\1{2,}[ \t]*$")
_SETEXT: Final = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_DEFINITION: Final = re.compile(
    r"(?P<indent>[ \t]*)(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([^)]*\))?"
    r"|unsafe|extern|inline|virtual|override|data|sealed|open|const|declare)[ \t]+)*"
    r"(?:def|class|fn|func|function\*?|interface|struct|enum|trait|impl|type|module|namespace|object|record|protocol)[ \t]+"
    r"(?:\([^)]*\)[ \t]*)?(?P<name>[A-Za-z_$][\w$]*(?:(?:::|\.)[\w$]+)*)"
)
_TAB: Final = 4
_FENCES: Final = ("---", "+++")
_TITLE: Final = re.compile(r"title[ \t]*[:=](.+)", re.IGNORECASE)
_MAX_FRONT_MATTER: Final = 100
"""Lines in which the end of the front matter is looked for."""


def split_passages(content: str, kind: str = "markdown") -> list[Passage]:
    """Split a content of this kind. An unknown kind is split as plain text."""
    lines = content.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    headings = _FINDERS.get(kind, _find_none)(lines)
    return list(_sections(lines, headings, MAX_CODE_WORDS if kind == "code" else MAX_WORDS))


def title_of(source: str, passages: Sequence[Passage], kind: str = "markdown", lines: Sequence[str] = ()) -> str:
    """Return the title of a document: that of its front matter, or its first outermost heading; for code, or without
    both, its file name."""
    if kind == "markdown" and (title := _front_matter_title(lines)):
        return title
    for passage in passages:
        if passage.headings and kind != "code":
            return passage.headings[0]
    return source.rpartition("/")[2].rpartition(".")[0] or source


def _front_matter_title(lines: Sequence[str]) -> str:
    """Return the title in the front matter, the block of settings between two lines `---` at the start of a page."""
    if not lines or lines[0].rstrip() not in _FENCES:
        return ""
    for line in lines[1:_MAX_FRONT_MATTER]:
        if line.rstrip() in _FENCES:
            break
        if found := _TITLE.match(line):
            return found[1][:MAX_HEADING].strip().strip("\"'")
    return ""


def _sections(lines: Sequence[str], headings: Sequence[Heading], most: int) -> Iterator[Passage]:
    open_: list[Heading] = []
    bounds = [heading.line for heading in headings] + [len(lines)]
    if bounds[0] > 0:
        yield from _pieces(lines, range(bounds[0]), (), most)
    for heading, end in zip(headings, bounds[1:], strict=True):
        while open_ and open_[-1].level >= heading.level:
            open_.pop()
        open_.append(heading)
        yield from _pieces(lines, range(heading.line, end), tuple(each.text[:MAX_HEADING] for each in open_), most)


def _pieces(lines: Sequence[str], section: range, headings: tuple[str, ...], most: int) -> Iterator[Passage]:
    start, words = section.start, 0
    for at in section:
        count = len(lines[at].split())
        is_break = words >= most and not count
        if at > start and (is_break or words + count > HARD_FACTOR * most):
            yield Passage(start, at, headings)
            start, words = at, 0
        words += count
    if any(line.strip() for line in lines[start : section.stop]):
        yield Passage(start, section.stop, headings)


def _find_markdown(lines: Sequence[str]) -> list[Heading]:
    found: list[Heading] = []
    fence = ""
    for at, line in enumerate(lines):
        if len(found) == MAX_HEADINGS:
            break
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        elif fence:
            continue
        elif heading := _ATX.match(line):
            found.append(Heading(at, len(heading[1]), line[heading.end() :].rstrip(" \t#")))
        elif (under := _SETEXT.match(line)) and at and _is_underlined(lines, at, found):
            found.append(Heading(at - 1, 1 if under[1][0] == "=" else 2, lines[at - 1].strip()))
    return found


def _is_underlined(lines: Sequence[str], at: int, found: Sequence[Heading]) -> bool:
    """Return whether the line above is a one-line paragraph: after a blank line, and not a heading, list, quote or table."""
    text = lines[at - 1].strip()
    taken = bool(found) and found[-1].line == at - 1
    starts = at == 1 or not lines[at - 2].strip()
    return bool(text) and not taken and starts and text[0] not in "-*+>|#" and not text.startswith("---")


def _find_rst(lines: Sequence[str]) -> list[Heading]:
    """Find headings of reStructuredText. It has no fixed marks: levels follow the order in which underlines first appear."""
    found: list[Heading] = []
    levels: dict[tuple[str, bool], int] = {}
    for at in range(1, len(lines)):
        if len(found) == MAX_HEADINGS:
            break
        text, under = lines[at - 1].rstrip(), lines[at].rstrip()
        if not text or text[0].isspace() or not _RULE.match(under) or _RULE.match(text) or len(under) < len(text):
            continue
        over = at > 1 and lines[at - 2].rstrip() == under
        level = levels.setdefault((under[0], over), len(levels) + 1)
        found.append(Heading(at - 2 if over else at - 1, level, text.strip()))
    return found


def _find_code(lines: Sequence[str]) -> list[Heading]:
    """Find definitions; more indentation is a deeper level. Decorators and comments directly above belong to one."""
    found: list[Heading] = []
    for at, line in enumerate(lines):
        if len(found) == MAX_HEADINGS:
            break
        if definition := _DEFINITION.match(line):
            level = 1 + len(definition["indent"].expandtabs(_TAB)) // _TAB
            above = found[-1].line + 1 if found else 0
            found.append(Heading(_lead(lines, at, above), level, definition["name"]))
    return found


def _lead(lines: Sequence[str], at: int, above: int) -> int:
    while at > above and lines[at - 1].lstrip().startswith(("@", "#", "//", "/*", "*", "--")):
        at -= 1
    return at


def _find_none(_lines: Sequence[str]) -> list[Heading]:
    return []


_FINDERS: Final[Mapping[str, Callable[[Sequence[str]], list[Heading]]]] = MappingProxyType(
    {
        "markdown": _find_markdown,
        "html": _find_markdown,
        "notebook": _find_markdown,
        "pdf": _find_markdown,
        "rst": _find_rst,
        "code": _find_code,
    }
)
"""Kind to heading finder. HTML, notebooks and PDF have been converted to Markdown."""
