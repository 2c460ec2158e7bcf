"""read_file, list_files, search_text: what is there, within bounds. Nothing here changes anything."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from strictwire.canon.json import JsonObject, render
from strictwire.fault.failure import Refused
from strictwire.packs.kit.jail import Jail, Kind
from strictwire.packs.kit.paging import Pages, page_key
from strictwire.packs.kit.path import parse_path
from strictwire.packs.kit.text import NotText, cut_characters, decode, split_lines, take_lines
from strictwire.packs.workspace.book import Session
from strictwire.packs.workspace.refusal import refuse

MAX_CONTENT: Final = 1024 * 1024
"""Bytes of one answer: more does not help a model, and a range gives the rest."""

MAX_LINED: Final = 16 * 1024 * 1024
"""Bytes of a file whose lines can be counted; beyond it only ranges of bytes are given."""

MAX_NAMES: Final = 100_000
"""Names of one folder."""

PAGE_SIZE: Final = 100

_UNSEARCHED: Final = frozenset({".git"})
"""Folders that search_text passes over: packed objects of version control hold no text that anyone looks for."""

MAX_SEARCHED_FILE: Final = 4 * 1024 * 1024
MAX_SEARCHED: Final = 256 * 1024 * 1024
"""Bytes of one file, and of all files of one search; what is passed over is counted in the answer."""

MAX_MATCHES: Final = 5000

_SHOWN: Final = 400
"""Characters of a line that is shown."""


class Reading:
    """The reading tools of one server."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    def read_file(self, session: Session, arguments: JsonObject) -> JsonObject:
        """read_file. Raises Refused: the codes of Jail.open; FILE_READ_FAILED not text though asked for as text;
        INVALID_INPUT_VALUE two kinds of range at once; CAP_EXCEEDED."""
        by_bytes, by_lines = {"offset", "count"} & arguments.keys(), {"start_line", "line_count"} & arguments.keys()
        if by_bytes and by_lines:
            raise refuse(
                "INVALID_INPUT_VALUE", "Give offset and count, or start_line and line_count, not both", "two_ranges"
            )
        if by_lines:
            return _read_lines(session.jail, arguments)
        return _read_bytes(session.jail, arguments)

    def list_files(self, session: Session, arguments: JsonObject) -> JsonObject:
        """list_files. Raises Refused: the codes of Jail.list, CURSOR_INVALID, CURSOR_STALE, CAP_EXCEEDED."""
        path = arguments.get("path", ".")
        walk = _Walk(session.jail)
        if arguments.get("recursive", False):
            items = [_entry(session.jail, name, kind) for name, kind in walk.everything(path)]
        else:
            items = [_entry(session.jail, name, kind) for name, kind in walk.folder(path)]
        page = self._page("list_files", arguments, items)
        return page | {"unnameable": walk.unnameable}

    def search_text(self, session: Session, arguments: JsonObject) -> JsonObject:
        """search_text. Raises Refused: the codes of Jail.list, CURSOR_INVALID, CURSOR_STALE, CAP_EXCEEDED."""
        search = _Search(session.jail, query=arguments["query"], fold=arguments.get("ignore_case", False))
        items = search.run(arguments.get("path", "."))
        page = self._page("search_text", arguments, items)
        return page | {"skipped": search.skipped, "complete": search.is_complete}

    def _page(self, tool: str, arguments: JsonObject, items: list[Any]) -> JsonObject:
        """The set is gathered for every page, so that a page is never of an older state than the call: a set that has
        changed since the cursor was given is told as stale."""
        inputs = {name: value for name, value in arguments.items() if name not in ("cursor", "pageSize")}
        state = hashlib.sha256(render(items)).hexdigest()
        key = page_key(tool, [inputs], state)
        size = int(arguments.get("pageSize", PAGE_SIZE))
        page = self._pages.keep(key, items, size=size)
        if arguments.get("cursor") is not None:
            page = self._pages.resume(key, cursor=arguments["cursor"], size=size) or page
        return page.as_json()


def _read_bytes(jail: Jail, arguments: JsonObject) -> JsonObject:
    offset, count = int(arguments.get("offset", 0)), int(arguments.get("count", MAX_CONTENT))
    part = jail.read_part(arguments["path"], offset=offset, count=min(count, MAX_CONTENT))
    is_whole = offset == 0 and len(part.data) >= part.size
    if "count" not in arguments and not is_whole and offset + len(part.data) < part.size:
        text = f"The file has more than {MAX_CONTENT} bytes; ask for parts with offset and count"
        raise refuse("CAP_EXCEEDED", text, "too_large", limitBytes=MAX_CONTENT)
    encoding, content = _encode(part.data, arguments.get("encoding"))
    return {
        "path": parse_path(arguments["path"]).text,
        "encoding": encoding,
        "content": content,
        "size": part.size,
        "sha256": hashlib.sha256(part.data).hexdigest() if is_whole else None,
        "offset": offset,
        "count": len(part.data),
        "start_line": None,
        "line_count": None,
        "total_lines": None,
    }


def _read_lines(jail: Jail, arguments: JsonObject) -> JsonObject:
    data = jail.read(arguments["path"], limit=MAX_LINED)
    _, text = _encode(data, "utf-8")
    start, count = int(arguments.get("start_line", 0)), int(arguments.get("line_count", 2000))
    lines = take_lines(text, start, count)
    if len(lines.text.encode()) > MAX_CONTENT:
        raise refuse("CAP_EXCEEDED", f"These lines have more than {MAX_CONTENT} bytes; ask for fewer", "too_large")
    before = take_lines(text, 0, start).text
    return {
        "path": parse_path(arguments["path"]).text,
        "encoding": "utf-8",
        "content": lines.text,
        "size": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "offset": len(before.encode()),
        "count": len(lines.text.encode()),
        "start_line": start,
        "line_count": lines.count,
        "total_lines": lines.total,
    }


def _encode(data: bytes, asked: str | None) -> tuple[str, str]:
    """Encoding and content; text where it is text, unless the caller decides."""
    if asked != "base64":
        try:
            return "utf-8", decode(data)
        except NotText as exc:
            if asked == "utf-8":
                text = f"Not UTF-8 at byte {exc.position}; read it with encoding base64"
                raise refuse("FILE_READ_FAILED", text, "not_utf8") from exc
    return "base64", b64encode(data).decode()


def _entry(jail: Jail, path: str, kind: Kind) -> JsonObject:
    return {"path": path, "kind": kind.value, "size": _maybe_size(jail, path) if kind is Kind.FILE else None}


def _maybe_size(jail: Jail, path: str) -> int | None:
    """None for a file that went away, or that may not be looked at."""
    try:
        return jail.stat(path).size
    except Refused:
        return None


@dataclass(slots=True)
class _Walk:
    """Names in order, depth first. Links are named and never followed."""

    jail: Jail
    unnameable: int = 0

    def folder(self, path: str) -> Iterator[tuple[str, Kind]]:
        """The names of one folder."""
        prefix = "/".join(parse_path(path).segments)
        listing = self.jail.list(path, limit=MAX_NAMES)
        self.unnameable += listing.unnameable
        return ((f"{prefix}/{name}" if prefix else name, kind) for name, kind in listing.entries)

    def everything(self, path: str, *, without: frozenset[str] = frozenset()) -> Iterator[tuple[str, Kind]]:
        """The names of a folder and of all below. A folder below that cannot be read is named and passed over."""
        waiting = [self.folder(path)]
        while waiting:
            found = next(waiting[-1], None)
            if found is None:
                waiting.pop()
                continue
            yield found
            if found[1] is Kind.FOLDER and found[0].rpartition("/")[2] not in without:
                try:
                    waiting.append(self.folder(found[0]))
                except Refused:
                    continue


class _Search:
    """One search for a text as it stands: no patterns, so no query can take long on purpose."""

    def __init__(self, jail: Jail, *, query: str, fold: bool) -> None:
        self._jail = jail
        self._found = re.compile(re.escape(query), re.IGNORECASE if fold else re.NOFLAG).search
        self.skipped = {"binary": 0, "large": 0, "unreadable": 0}
        self.is_complete = True
        self._read = 0

    def run(self, path: str) -> list[JsonObject]:
        """The matches in the order of paths and lines."""
        found: list[JsonObject] = []
        for name in self._files(path):
            found += self._matches(name)
            if len(found) > MAX_MATCHES or self._read > MAX_SEARCHED:
                self.is_complete = False
                return found[:MAX_MATCHES]
        return found

    def _files(self, path: str) -> Iterator[str]:
        if self._jail.stat(path).kind is not Kind.FOLDER:
            yield "/".join(parse_path(path).segments)
            return
        for name, kind in _Walk(self._jail).everything(path, without=_UNSEARCHED):
            if kind is Kind.FILE:
                yield name

    def _matches(self, name: str) -> list[JsonObject]:
        text = self._maybe_text(name)
        if text is None or not self._found(text):
            return []
        return [
            {"path": name, "line": number, "character": at.start(), "text": cut_characters(line.rstrip("\r\n"), _SHOWN).text}
            for number, line in enumerate(split_lines(text))
            if (at := self._found(line))
        ]

    def _maybe_text(self, name: str) -> str | None:
        try:
            data = self._jail.read(name, limit=MAX_SEARCHED_FILE)
        except Refused as exc:
            self.skipped["large" if exc.failure.code == "CAP_EXCEEDED" else "unreadable"] += 1
            return None
        self._read += len(data)
        if b"\x00" not in data:
            try:
                return decode(data)
            except NotText:
                pass
        self.skipped["binary"] += 1
        return None
