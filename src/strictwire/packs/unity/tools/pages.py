"""Cuts what can grow into pages. Without `pageSize` and `cursor` an answer has everything there is room for.

A cursor belongs to the arguments and to the whole set of results, so a page never mixes two states of the project.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from strictwire.canon.json import JsonObject
from strictwire.packs.kit.paging import PageKey, page_key, parse_cursor, render_cursor

PAGE: Final = 100
"""Items of a page where the caller names a cursor and no size."""

MAX_ITEMS: Final = 10_000
"""Items of an answer without paging."""

MAX_BYTES: Final = 2_000_000
"""Estimated bytes of an answer; about half of what the contracts allow, because estimates leave out punctuation."""

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[Item]):
    """The items of one answer."""

    items: Sequence[Item]
    members: JsonObject
    """`nextCursor`, if there is more."""
    notes: tuple[str, ...] = ()


def cut_page(
    tool: str, arguments: JsonObject, items: Sequence[Item], *, mark: Callable[[Item], str], size_of: Callable[[Item], int]
) -> Page[Item]:
    """The page that the arguments ask for. `mark` tells items apart, `size_of` estimates the bytes of one.

    Raises Refused: CURSOR_INVALID, CURSOR_STALE.
    """
    is_paged = "pageSize" in arguments or "cursor" in arguments
    cursor = arguments.get("cursor")
    offset = parse_cursor(cursor, _key(tool, arguments, items, mark)) if cursor is not None else 0
    limit = arguments.get("pageSize", PAGE) if is_paged else MAX_ITEMS
    count = _fit(items[offset : offset + limit], size_of)
    after = offset + count
    if after >= len(items):
        return Page(items=items[offset:], members={})
    return Page(
        items=items[offset:after],
        members={"nextCursor": render_cursor(_key(tool, arguments, items, mark), after)},
        notes=() if is_paged else (f"Only {after} of {len(items)} results fit; continue with nextCursor and pageSize.",),
    )


def _fit(items: Sequence[Item], size_of: Callable[[Item], int]) -> int:
    """How many of the items there is room for; one in any case."""
    total = 0
    for number, item in enumerate(items):
        total += size_of(item)
        if number and total > MAX_BYTES:
            return number
    return len(items)


def _key(tool: str, arguments: JsonObject, items: Sequence[Item], mark: Callable[[Item], str]) -> PageKey:
    inputs = [[name, value] for name, value in sorted(arguments.items()) if name not in ("cursor", "pageSize")]
    state = hashlib.sha256("\0".join(mark(item) for item in items).encode("utf-8", "surrogatepass"))
    return page_key(tool, inputs, state.hexdigest())
