"""Reads the block structure of Unity YAML: mappings and sequences by indentation.

One pass over the lines with a stack of open collections. Unity files repeat themselves: in a scene of 4 MB most lines
occur more than once. A line that was split before is looked up in a cache instead of being split again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from strictwire.packs.unity.yaml.faults import Fault, Malformed, Problem
from strictwire.packs.unity.yaml.flow import read_flow
from strictwire.packs.unity.yaml.lines import ITEM_MAPPING, NESTED, NO_KEY, OPEN, Line, Unclosed, split_line
from strictwire.packs.unity.yaml.scalars import fold_plain, read_quoted
from strictwire.packs.unity.yaml.values import BadValue, Node, Unfinished

MAX_DEPTH: Final = 128
"""Open collections. Unity itself stops at 10 levels of nested types; prefab overrides add a few."""

_MAX_CACHED_LINE: Final = 160
"""Characters of a line worth keeping. Longer ones hold embedded data and do not repeat."""

_MAX_CACHED_LINES: Final = 1 << 16
"""Lines in one cache, about 20 MB at most."""


class _Wrapped(list[str]):
    """The lines of a plain scalar that goes on below its key."""


class _Stop(Exception):
    """The line just taken cannot be read."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault = fault


class BlockReader:
    """Reads blocks that share a cache of lines: the documents of one file."""

    def __init__(self) -> None:
        self._lines: dict[str, Line] = {}

    def read(self, text: str, *, first_line: int = 1) -> dict[str, Node]:
        """The mapping that a text is. `first_line` is the number of its first line. Raises Malformed."""
        lines = text.removesuffix("\n").split("\n")
        rest = iter(lines)
        try:
            return self._read(rest)
        except _Stop as stop:
            # Everything that takes lines takes them from `rest`, so what is left tells where reading stopped.
            line = first_line + len(lines) - 1 - sum(1 for _ in rest)
            raise Malformed(Problem(stop.fault, line)) from None

    def _read(self, rest: Iterator[str]) -> dict[str, Node]:  # noqa: C901 - one loop: a call per line would double its time
        known = self._lines
        root: dict[str, Node] = {}
        top: Any = root
        top_level = 0
        stack: list[tuple[Any, int]] = []
        wrapped: list[tuple[Any, Any, _Wrapped]] = []
        key: Any = None
        value: Any = None
        for line in rest:
            found = known.get(line) or self._split(line, rest, top_level, value)
            if found is None:
                if type(value) is str or type(value) is _Wrapped:
                    value = _continue("", value, top, key, wrapped)
                continue
            previous, slot = value, key
            level, key, value = found
            if level > top_level:
                if previous is not OPEN:
                    if (level | 1) == (top_level | 1):  # an item at the column of a key that has its value
                        raise _Stop(Fault.BAD_INDENT)
                    key, value = slot, _continue(line, previous, top, slot, wrapped)
                    continue
                if key is NO_KEY:
                    top[slot], key = value, slot
                    continue
                child: Any = [] if level & 1 else {}
                top[slot] = child
                stack.append((top, top_level))
                if len(stack) > MAX_DEPTH:
                    raise _Stop(Fault.TOO_DEEP)
                top, top_level = child, level
            elif level < top_level:
                while level < top_level:
                    top, top_level = stack.pop()
                if level != top_level:
                    raise _Stop(Fault.BAD_INDENT)
            if level & 1:
                while key is NESTED:
                    child = []
                    top.append(child)
                    stack.append((top, top_level))
                    top, (top_level, key, value) = child, value
                if key is None:
                    key = -1
                    top.append("" if value is OPEN else value)
                    continue
                child = {}
                top.append(child)
                stack.append((top, top_level))
                top = child
                top_level += ITEM_MAPPING
            top[key] = "" if value is OPEN else value
        for container, place, parts in wrapped:
            container[place] = fold_plain(parts)
        return root

    def _split(self, line: str, rest: Iterator[str], top_level: int, previous: Any) -> Line | None:
        """A line that is not in the cache; None if it is blank. What continues a plain scalar is not looked into."""
        text = line.lstrip(" ")
        if not text:
            return None
        column = len(line) - len(text)
        is_deeper = 2 * column > top_level
        if is_deeper and (type(previous) is str or type(previous) is _Wrapped):
            return Line(2 * column, None, None)
        try:
            found = split_line(text, column)
            whole = _complete(found, rest)
        except BadValue as exc:
            raise _Stop(Fault.TRUNCATED if isinstance(exc, Unfinished) else Fault.BAD_VALUE) from None
        if found.key is NO_KEY:
            if not (is_deeper and previous is OPEN):
                raise _Stop(Fault.BAD_LINE)
        elif whole is found and len(line) <= _MAX_CACHED_LINE and len(self._lines) < _MAX_CACHED_LINES:
            self._lines[line] = found
        return whole


def _complete(line: Line, rest: Iterator[str]) -> Line:
    """The line with its whole value: the same line, if that ends on it. Raises BadValue."""
    value = line.value
    if type(value) is Unclosed:
        read = read_flow if value.text[0] in "{[" else read_quoted
        return line._replace(value=read(value.text, rest))
    if type(value) is Line:
        whole = _complete(value, rest)
        return line if whole is value else line._replace(value=whole)
    return line


def _continue(line: str, previous: Any, top: Any, slot: Any, wrapped: list[tuple[Any, Any, _Wrapped]]) -> _Wrapped:
    """Add a line to the plain scalar above it."""
    if type(previous) is _Wrapped:
        previous.append(line)
        return previous
    if type(previous) is not str:
        raise _Stop(Fault.BAD_INDENT)
    parts = _Wrapped((previous, line))
    wrapped.append((top, len(top) - 1 if type(top) is list else slot, parts))
    return parts
