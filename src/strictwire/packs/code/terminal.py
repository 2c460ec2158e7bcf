"""Answers for people: `file:line:column: text`, as compilers and grep write them, with colours where they help.

Lines and columns count from 1 here; everywhere else they count from 0.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.packs.code.answers.compact import SEVERITIES, kind_name, one_line
from strictwire.packs.code.documents import Document, offset_of
from strictwire.packs.code.uri import parse_file_uri

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]+")
"""Nothing in a source file may move the cursor, change colours or turn the line around."""

MAX_LINE: Final = 200
"""Characters of a source line that are shown."""

MAX_SOURCE: Final = 4 * 1024 * 1024
"""Bytes of a file that lines are shown from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ink:
    """What is put around the parts of a line."""

    file: str = ""
    place: str = ""
    bad: str = ""
    warn: str = ""
    faint: str = ""
    end: str = ""


PLAIN: Final = Ink()
ANSI: Final = Ink(file="\x1b[35m", place="\x1b[32m", bad="\x1b[31m", warn="\x1b[33m", faint="\x1b[2m", end="\x1b[0m")


class Page:
    """Writes answers with one ink, with paths relative to one folder."""

    def __init__(self, ink: Ink, here: Path) -> None:
        self._ink = ink
        self._here = here
        self._document: Callable[[str], Document] = cache(_read)

    def locations(self, answer: JsonObject) -> Iterator[str]:
        """`def`, `refs`: each place with its line; unconfirmed mentions last, marked."""
        for item in [*answer.get("locations", ()), *answer.get("items", ())]:
            yield f"{self._place(item)} {self._source(item)}"
        for item in answer.get("mentions", ()):
            yield f"{self._place(item)} {self._source(item)} {self._ink.warn}(unconfirmed){self._ink.end}"
        yield from self.candidates(answer)

    def candidates(self, answer: JsonObject) -> Iterator[str]:
        """What a name may mean."""
        return self.symbols({"items": answer.get("candidates", [])})

    def symbols(self, answer: JsonObject) -> Iterator[str]:
        """`symbols`: each with its kind and container."""
        for item in answer["items"]:
            yield f"{self._place(item['location'])} {self._named(item)}"

    def document_symbols(self, answer: JsonObject, uri: str) -> Iterator[str]:
        """`symbols FILE`."""
        for item in answer["symbols"]:
            yield f"{self._place({'uri': uri, 'range': item['selectionRange']})} {self._named(item)}"

    def outline(self, answer: JsonObject) -> Iterator[str]:
        """`outline`: files, and below each its symbols with the number of files that mention them."""
        ink = self._ink
        for file in answer["files"]:
            yield f"{ink.file}{self._path(file['uri'])}{ink.end}"
            for item in file["symbols"]:
                line = item["position"]["line"] + 1
                yield f"  {ink.place}{line}{ink.end} {self._named(item)} {ink.faint}({item['files']}){ink.end}"

    def diagnostics(self, groups: Iterable[JsonObject]) -> Iterator[str]:
        """`diagnostics`: severity, code and message."""
        for group in groups:
            for item in group["diagnostics"]:
                place = self._place({"uri": group["uri"], "range": item["range"]})
                yield f"{place} {self._severity(item)}{_clean(item['message'])}"

    def matches(self, answer: JsonObject) -> Iterator[str]:
        """`search`: each match with its line."""
        for item in answer["items"]:
            yield f"{self._place(item)} {_clean(item['text'])}"

    def _severity(self, item: JsonObject) -> str:
        ink, level = self._ink, item.get("severity", 0)
        name = SEVERITIES[level] if 0 < level < len(SEVERITIES) else "note"
        colour = {"error": ink.bad, "warning": ink.warn}.get(name, ink.faint)
        code = f"[{_clean(item['code'])}]" if "code" in item else ""
        return f"{colour}{name}{code}{ink.end}: "

    def _named(self, item: JsonObject) -> str:
        container = f"{item['containerName']}." if "containerName" in item else ""
        return f"{self._ink.faint}{kind_name(item['kind'])}{self._ink.end} {_clean(container + item['name'])}"

    def _place(self, location: JsonObject) -> str:
        ink, start = self._ink, location["range"]["start"]
        line, column = start["line"] + 1, self._column(location["uri"], start)
        return f"{ink.file}{self._path(location['uri'])}{ink.end}:{ink.place}{line}:{column}{ink.end}:"

    def _column(self, uri: str, position: JsonObject) -> int:
        """People count characters, LSP counts UTF-16 code units."""
        return offset_of(self._line(uri, position["line"]), position["character"]) + 1

    def _source(self, location: JsonObject) -> str:
        return _clean(self._line(location["uri"], location["range"]["start"]["line"]).strip())[:MAX_LINE]

    def _line(self, uri: str, number: int) -> str:
        try:
            return self._document(uri).line(number)
        except IndexError:
            return ""  # the file has changed since the answer was made

    def _path(self, uri: str) -> str:
        return _clean(os.path.relpath(parse_file_uri(uri), self._here))


def _read(uri: str) -> Document:
    try:
        with Path(parse_file_uri(uri)).open("rb") as file:
            return Document(file.read(MAX_SOURCE).decode(errors="replace"))
    except OSError:
        return Document("")


def _clean(text: str) -> str:
    return _CONTROL.sub(" ", one_line(text))
