"""Quoted scalars and folded lines of Unity YAML. Pure, and linear in the length of the text.

A scalar that does not end on its line takes the following lines from an iterator, so that no line is read twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from strictwire.packs.unity.yaml.values import BadValue, Quoted, Unfinished

_ESCAPES: Final = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b",
    " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip

_ESCAPE: Final = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)

_TO_CLOSING_QUOTE: Final = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
"""Everything before an unescaped quote. Possessive quantifiers keep it linear on any input."""

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def read_quoted(text: str, more: Iterator[str]) -> Quoted:
    """A scalar in single or double quotes. Raises BadValue: it has no end, or something follows it."""
    return _read_single(text, more) if text[0] == "'" else _read_double(text, more)


def _read_single(text: str, more: Iterator[str]) -> Quoted:
    lines, quotes = [text[1:]], text.count("'")
    while quotes % 2:  # a quote inside is doubled, so an even number means that the last one closes
        lines.append(_next_line(more))
        quotes += lines[-1].count("'")
    last = lines[-1].rstrip(" ")
    if not last.endswith("'"):
        raise BadValue
    lines[-1] = last[:-1]
    parts = _fold(lines).split("''")
    if any("'" in part for part in parts):  # `'a' 'b'`: the scalar ended earlier
        raise BadValue
    return Quoted("'".join(parts))


def _read_double(text: str, more: Iterator[str]) -> Quoted:
    lines = [text[1:]]
    while (end := _closing_quote(lines[-1])) is None:
        lines.append(_next_line(more))
    if lines[-1][end + 1 :].strip(" "):
        raise BadValue
    lines[-1] = lines[-1][:end]
    return Quoted(_unescape(_fold_escaped(lines)))


def _closing_quote(line: str) -> int | None:
    found = _TO_CLOSING_QUOTE.match(line)
    end = found.end() if found else 0
    return end if line[end : end + 1] == '"' else None


def _next_line(more: Iterator[str]) -> str:
    line = next(more, None)
    if line is None:
        raise Unfinished
    return line


def fold_plain(lines: Sequence[str]) -> str:
    """The text of a plain scalar that is wrapped over lines."""
    return _fold(lines).rstrip(" \t\n")


def _fold(lines: Sequence[str]) -> str:
    """Lines of one scalar as its text: one break is a space, n + 1 breaks are n line feeds."""
    if len(lines) == 1:
        return lines[0]
    parts, blanks = [lines[0].rstrip(" \t")], 0
    for line in lines[1:-1]:
        text = line.strip(" \t")
        if text:
            parts += ("\n" * blanks or " ", text)
            blanks = 0
        else:
            blanks += 1
    parts += ("\n" * blanks or " ", lines[-1].lstrip(" \t"))
    return "".join(parts)


def _fold_escaped(lines: Sequence[str]) -> str:
    """The same for double quotes, where a backslash before the break joins two lines as they are."""
    groups: list[list[str]] = []
    joins = False
    for line in lines:
        if joins:
            groups[-1].append(line.lstrip(" \t"))
        else:
            groups.append([line])
        joins = (len(line) - len(line.rstrip("\\"))) % 2 == 1
        if joins:
            groups[-1][-1] = groups[-1][-1][:-1]
    return _fold(["".join(group) for group in groups])


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    plain = _ESCAPE.sub(_escaped, text)
    if _SURROGATE.search(plain) is None:
        return plain
    # Unity writes a character beyond U+FFFF as two escapes. A half without its partner is not text.
    return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _escaped(found: re.Match[str]) -> str:
    digits = found[1] or found[2] or found[3]
    if digits is None:
        if found[4] not in _ESCAPES:
            raise BadValue
        return _ESCAPES[found[4]]
    code = int(digits, 16)
    if code > 0x10FFFF:
        raise BadValue
    return chr(code)
