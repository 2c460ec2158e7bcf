"""Answers of tools without pages, kept until the state of the workspace they were made from changes (A.2)."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

Value = TypeVar("Value")

ENTRY_BYTES: Final = 1024 * 1024
TOOL_BYTES: Final = 5 * 1024 * 1024


@dataclass(slots=True)
class _Shelf(Generic[Value]):
    """The answers of one tool, the one used longest ago first."""

    kept: OrderedDict[str, tuple[Value, int]] = field(default_factory=OrderedDict)
    size: int = 0


class AnswerCache(Generic[Value]):
    """Values by tool and key. The key names the state, so a value never goes stale; it is only pushed out."""

    def __init__(self, *, entry_bytes: int = ENTRY_BYTES, tool_bytes: int = TOOL_BYTES) -> None:
        self._entry_bytes = entry_bytes
        self._tool_bytes = tool_bytes
        self._shelves: dict[str, _Shelf[Value]] = {}

    def maybe_get(self, tool: str, key: str) -> Value | None:
        """The value kept under a key."""
        shelf = self._shelves.get(tool)
        if shelf is None or key not in shelf.kept:
            return None
        shelf.kept.move_to_end(key)
        return shelf.kept[key][0]

    def put(self, tool: str, key: str, value: Value, *, size: int) -> None:
        """Keep a value of `size` bytes; one that is too large is not kept."""
        if size > self._entry_bytes:
            return
        shelf = self._shelves.setdefault(tool, _Shelf())
        shelf.size -= shelf.kept.pop(key, (None, 0))[1]
        shelf.kept[key] = (value, size)
        shelf.size += size
        while shelf.size > self._tool_bytes:
            shelf.size -= shelf.kept.popitem(last=False)[1][1]
