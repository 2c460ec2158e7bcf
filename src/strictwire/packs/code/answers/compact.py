"""The compact text of an answer: made from its structured content alone, grouped by file, small enough for a model to read.

    Returned 3 references. Complete (ty 0.0.100).
    file:///home/me/project/
     src/a.py 3:4 9:12
     src/b.py 1:7

A file's URI is the root's line followed by the file's. Positions are `line:character` from 0, as the tools take them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.packs.code.answers.order import range_key
from strictwire.packs.code.answers.ranges import Range

KINDS: Final = (
    "symbol", "file", "module", "namespace", "package", "class", "method", "property", "field", "constructor", "enum",
    "interface", "function", "variable", "constant", "string", "number", "boolean", "array", "object", "key", "null",
    "enum member", "struct", "event", "operator", "type parameter",
)  # fmt: skip
"""LSP's symbol kinds by number; 0 for a number that is none."""

SEVERITIES: Final = ("", "error", "warning", "information", "hint")
"""LSP's severities by number."""

MAX_MESSAGE: Final = 300
"""Characters of a diagnostic's message in the text; the structured content has all of it."""


def position(place: JsonObject) -> str:
    """`line:character` of the start of a range."""
    return f"{place['start']['line']}:{place['start']['character']}"


def kind_name(kind: int) -> str:
    """The word for a symbol kind."""
    return KINDS[kind] if 0 < kind < len(KINDS) else KINDS[0]


def location_lines(locations: Iterable[JsonObject], roots: Sequence[str]) -> list[str]:
    """One line a file: its path and where in it."""
    return _by_file(locations, lambda item: item["uri"], roots, _places)


def _places(path: str, items: list[JsonObject]) -> list[str]:
    return [f" {path} {' '.join(position(item['range']) for item in items)}"]


def symbol_lines(symbols: Iterable[JsonObject], roots: Sequence[str]) -> list[str]:
    """Workspace symbols: a line for the file, then one for each symbol."""
    return _by_file(symbols, lambda item: item["location"]["uri"], roots, _symbols)


def _symbols(path: str, items: list[JsonObject]) -> list[str]:
    return [f" {path}", *(f"  {position(item['location']['range'])} {_named(item)}" for item in items)]


def _named(item: JsonObject) -> str:
    container = item.get("containerName")
    return one_line(f"{kind_name(item['kind'])} {f'{container}.' if container else ''}{item['name']}")


def document_symbol_lines(uri: str, symbols: Iterable[JsonObject], roots: Sequence[str]) -> list[str]:
    """Symbols of one document, indented as they are nested; the position is that of the name."""
    lines = []
    open_ranges: list[Range] = []
    for item in symbols:
        place = Range(*range_key(item["range"]))
        while open_ranges and not open_ranges[-1].holds(place):
            open_ranges.pop()
        lines.append(f"{'  ' * (len(open_ranges) + 1)}{position(item['selectionRange'])} {_plain_name(item)}")
        open_ranges.append(place)
    return _by_file([{"uri": uri}], lambda item: item["uri"], roots, lambda path, _: [f" {path}", *lines])


def _plain_name(item: JsonObject) -> str:
    return one_line(f"{kind_name(item['kind'])} {item['name']}")


def diagnostic_lines(groups: Iterable[JsonObject], roots: Sequence[str]) -> list[str]:
    """File groups: a line for the file, then one for each diagnostic."""
    return _by_file(groups, lambda item: item["uri"], roots, _diagnostics)


def _diagnostics(path: str, groups: list[JsonObject]) -> list[str]:
    return [f" {path}", *(_diagnostic(each) for group in groups for each in group["diagnostics"])]


def _diagnostic(item: JsonObject) -> str:
    severity = item.get("severity", 0)
    level = SEVERITIES[severity] if 0 < severity < len(SEVERITIES) else ""
    words = (position(item["range"]), level, item.get("code", ""), one_line(item["message"])[:MAX_MESSAGE])
    return "  " + " ".join(word for word in words if word)


def caller_lines(callers: Iterable[JsonObject], roots: Sequence[str]) -> list[str]:
    """Callers by file: each with the places it calls from."""
    return _by_file(callers, lambda item: item["location"]["uri"], roots, _callers)


def _callers(path: str, items: list[JsonObject]) -> list[str]:
    return [f" {path}", *(f"  {_named(item)} {' '.join(map(position, _ranges(item)))}" for item in items)]


def _ranges(item: JsonObject) -> list[JsonObject]:
    return [call["range"] for call in item["calls"]]


def match_lines(matches: Iterable[JsonObject], roots: Sequence[str]) -> list[str]:
    """Search matches by file: position and line."""
    return _by_file(matches, lambda item: item["uri"], roots, _matches)


def _matches(path: str, items: list[JsonObject]) -> list[str]:
    return [f" {path}", *(f"  {position(item['range'])} {one_line(item['text'])}" for item in items)]


def outline_lines(files: Iterable[JsonObject], roots: Sequence[str]) -> list[str]:
    """Symbols by file; in brackets how many files mention the name."""
    return _by_file(files, lambda item: item["uri"], roots, _outline)


def _outline(path: str, files: list[JsonObject]) -> list[str]:
    return [f" {path}", *(_outlined(item) for file in files for item in file["symbols"])]


def _outlined(item: JsonObject) -> str:
    return f"  {item['position']['line']}:{item['position']['character']} {_named(item)} ({item['files']})"


def _by_file(
    items: Iterable[JsonObject],
    uri_of: Callable[[JsonObject], str],
    roots: Sequence[str],
    lines_of: Callable[[str, list[JsonObject]], list[str]],
) -> list[str]:
    """A line for each root, then the lines of each of its files. `roots` are URIs that end in a slash, in order."""
    lines: list[str] = []
    shown = ""
    for uri, group in groupby(items, uri_of):
        root = root_of(uri, roots)
        if root != shown:
            lines.append(root)
            shown = root
        lines += lines_of(uri.removeprefix(root), list(group))
    return lines


def root_of(uri: str, roots: Sequence[str]) -> str:
    """The innermost root of a URI; every canonical URI of an answer lies below one."""
    return max((root for root in roots if uri.startswith(root)), key=len, default="")


def one_line(text: str) -> str:
    """A text without line breaks, so that it cannot look like another line of the answer."""
    return " ".join(text.split())
