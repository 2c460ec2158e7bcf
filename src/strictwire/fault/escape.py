"""Escapes text from clients and upstreams for the place where a person reads it: terminal, log, Markdown, HTML, CSV.

A name may hold anything: escape sequences that change the terminal, line breaks that forge another line of a log, and
bidirectional controls that show a name in another order than it is compared. Every character that is not printable
(`str.isprintable`: controls, format characters, line separators, surrogates) is written as an escape.

Not here: redaction of secrets (`redact`).
"""

from __future__ import annotations

import html
import re
from typing import Final

_MARKUP: Final = re.compile(r"[\\`*_\[\]|~]")
_BACKTICKS: Final = re.compile("`+")
_AUTOMATIC: Final = re.compile(r"@|#(?=\d)|:(?=//)|\bwww(?=\.)", re.IGNORECASE)
"""What GitHub turns into mentions, references and links even without markup."""
_JOINER: Final = "&#8203;"
"""A zero-width space: it breaks up what would become a link and does not show."""

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""Beginnings of a cell that spreadsheets take for a formula."""


def for_terminal(text: str) -> str:
    """One line, for a terminal or a log."""
    return text if text.isprintable() else "".join(each if each.isprintable() else _escape(each) for each in text)


def for_terminal_lines(text: str) -> str:
    """Several lines that we laid out ourselves, such as a traceback. Names inside need `for_terminal` before."""
    return "\n".join(map(for_terminal, text.split("\n")))


def for_terminal_text(text: str) -> str:
    """A text of others, such as a plan or a patch: its lines and tabs are kept, everything else is escaped."""
    return "\t".join(map(for_terminal_lines, text.split("\t")))


def for_json_line(line: str) -> str:
    """A line of JSON with the same value. Controls below U+0020 are escaped in any JSON; others need not be."""
    return line if line.isprintable() else "".join(each if each.isprintable() else _escape_json(each) for each in line)


def for_json_lines(text: str) -> str:
    """Indented JSON with the same value."""
    return "\n".join(map(for_json_line, text.split("\n")))


def for_html(text: str) -> str:
    """Content of an element or an attribute. Line breaks become spaces, as a browser shows them."""
    return html.escape(for_terminal(text.replace("\n", " ")))


def for_markdown(text: str) -> str:
    """Text in a paragraph, heading, link or table cell: shown as it is, without markup, links, images or mentions."""
    marked = _MARKUP.sub(r"\\\g<0>", for_terminal(text)).replace("&", "&amp;").replace("<", "&lt;")
    return _AUTOMATIC.sub(rf"\g<0>{_JOINER}", marked)


def for_markdown_code(text: str) -> str:
    """A code span that holds exactly this text. In a table cell, a bar needs a backslash besides."""
    shown = for_terminal(text)
    if not shown.strip():
        return f'`"{shown}"`'
    fence = "`" * (1 + max((len(run) for run in _BACKTICKS.findall(shown)), default=0))
    space = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{space}{shown}{space}{fence}"


def for_csv(text: str) -> str:
    """A cell that a spreadsheet shows as text. Quotes and commas are left to the CSV writer."""
    shown = for_terminal(text)
    return f"'{shown}" if text.startswith(_FORMULA) else shown


def _escape(character: str) -> str:
    return f"\\u{ord(character):04x}"


def _escape_json(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at] << 8 | units[at + 1]:04x}" for at in range(0, len(units), 2))
