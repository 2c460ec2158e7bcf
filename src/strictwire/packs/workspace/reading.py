"""The tools read_file, list_files and search_text. They are bounded and change nothing."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from typing import Any, Final

from strictwire.canon.json import JsonObject, render
from strictwire.fault.failure import Refused
from strictwire.packs.kit.jail import Jail, Kind
from strictwire.packs.kit.paging import Pages, page_key
from strictwire.packs.kit.path import parse_path
from strictwire.packs.kit.text import NotText, cut_characters, decode, split_lines, take_lines
from strictwire.packs.workspace.refusal import refuse
from strictwire.packs.workspace.session_store import Session
from strictwire.packs.workspace.walk import Walk, matches_glob

MAX_CONTENT: Final = 1024 * 1024
"""Most bytes in one answer: more does not help a model, and the client can ask for a range."""

MAX_LINED: Final = 16 * 1024 * 1024
"""Largest file that can be read by lines; a larger one can only be read by byte ranges."""

PAGE_SIZE: Final = 100
"""Items per page if the client gives no size."""

MAX_SEARCHED_FILE: Final = 4 * 1024 * 1024
MAX_SEARCHED: Final = 256 * 1024 * 1024
"""Bytes that one search reads in one file and in total. The answer counts the files that it skips."""

MAX_MATCHES: Final = 5000
"""Most matches of one search."""

_SHOWN: Final = 400
"""Most characters of a line in a match."""


class Reading:
    """The tools of one server that read."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    def read_file(self, session: Session, arguments: JsonObject) -> JsonObject:
        """The tool read_file. Raises Refused: the codes of Jail.open; FILE_READ_FAILED if text was requested and it is not
        text; INVALID_INPUT_VALUE if both kinds of range are given; CAP_EXCEEDED."""
        by_bytes, by_lines = {"offset", "count"} & arguments.keys(), {"start_line", "line_count"} & arguments.keys()
        if by_bytes and by_lines:
            raise refuse("INVALID_INPUT_VALUE", "Give either offset and count, or start_line and line_count", "two_ranges")
        if by_lines:
            return _read_lines(session.jail, arguments)
        return _read_bytes(session.jail, arguments)

    def list_files(self, session: Session, arguments: JsonObject) -> JsonObject:
        """The tool list_files. Raises Refused: the codes of Jail.list, CURSOR_INVALID, CURSOR_STALE, CAP_EXCEEDED."""
        walk = Walk(session.jail, include_ignored=arguments.get("include_ignored", False))
        pattern = arguments.get("glob")
        # A glob is meant for the folders below, unless the client says otherwise.
        is_recursive = arguments.get("recursive", pattern is not None)
        names = (walk.everything if is_recursive else walk.folder)(arguments.get("path", "."))
        items = [_entry(session.jail, name, kind) for name, kind in names if matches_glob(pattern, name)]
        page = self._page("list_files", arguments, items)
        return page | {"unnameable": walk.unnameable, "ignored": walk.ignored}

    def search_text(self, session: Session, arguments: JsonObject) -> JsonObject:
        """The tool search_text. Raises Refused: the codes of Jail.list, CURSOR_INVALID, CURSOR_STALE, CAP_EXCEEDED."""
        walk = Walk(session.jail, include_ignored=arguments.get("include_ignored", False))
        search = _Search(session.jail, query=arguments["query"], fold=arguments.get("ignore_case", False))
        items = search.run(_searched(walk, arguments.get("path", "."), arguments.get("glob")))
        page = self._page("search_text", arguments, items)
        return page | {"skipped": search.skipped | {"ignored": walk.ignored}, "complete": search.is_complete}

    def _page(self, tool: str, arguments: JsonObject, items: list[Any]) -> JsonObject:
        """Return a page. The set is collected again for every page, so that a page never shows an older state: if the set
        has changed since the cursor was issued, the cursor is stale."""
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
        text = f"The file has more than {MAX_CONTENT} bytes; read it in parts with offset and count"
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
        raise refuse("CAP_EXCEEDED", f"These lines have more than {MAX_CONTENT} bytes; request fewer", "too_large")
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
    """Return encoding and content: text if it is valid UTF-8, unless the client requested an encoding."""
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
    """Return the size; None if the file has been deleted or its status cannot be read."""
    try:
        return jail.stat(path).size
    except Refused:
        return None


def _searched(walk: Walk, path: str, pattern: str | None) -> Iterator[str]:
    """Yield the files that a search reads: one file, or those in a folder and below."""
    if walk.jail.stat(path).kind is not Kind.FOLDER:
        yield "/".join(parse_path(path).segments)
        return
    for name, kind in walk.everything(path):
        if kind is Kind.FILE and matches_glob(pattern, name):
            yield name


class _Search:
    """One search for a literal text. There are no patterns, so no query can be made slow on purpose."""

    def __init__(self, jail: Jail, *, query: str, fold: bool) -> None:
        self._jail = jail
        self._found = re.compile(re.escape(query), re.IGNORECASE if fold else re.NOFLAG).search
        self.skipped = {"binary": 0, "large": 0, "unreadable": 0}
        self.is_complete = True
        self._read = 0

    def run(self, names: Iterable[str]) -> list[JsonObject]:
        """Return the matches in these files, in the order of paths and lines."""
        found: list[JsonObject] = []
        for name in names:
            found += self._matches(name)
            if len(found) > MAX_MATCHES or self._read > MAX_SEARCHED:
                self.is_complete = False
                return found[:MAX_MATCHES]
        return found

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
