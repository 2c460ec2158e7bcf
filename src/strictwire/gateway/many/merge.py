"""The answers of several upstreams as one: capabilities, lists, cache hints, instructions. Pure.

The order is fixed: that of the upstreams, and within each its own. Entries keep their bytes except for their names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from strictwire.canon.digest import digest_bytes
from strictwire.canon.json import JsonObject, JsonValue, join_members, render, slice_items, slice_members
from strictwire.fault.failure import Failure, fail
from strictwire.gateway.links.listing import Shape, entries_of
from strictwire.gateway.links.raw_message import PRIVATE, slice_at

PAGE: Final = 1000
"""Entries on one page. Many clients never ask for a second one."""

OFFERED: Final = ("tools", "resources", "prompts", "completions", "logging")
"""Capabilities whose methods can be sent to the right upstream. An extension has methods that name none."""

CHANGING: Final = ("tools", "resources", "prompts")
"""Lists that change when an upstream comes or goes; the guard itself tells of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry of a merged list."""

    key: str
    raw: bytes


class Hints(NamedTuple):
    """How long, in milliseconds, and for whom an answer may be kept."""

    ttl: int = 0
    scope: str = PRIVATE


NOT_KEPT: Final = Hints()


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What one upstream contributes to a list."""

    upstream: str
    entries: tuple[Entry, ...] = ()
    hints: Hints = NOT_KEPT


def read_page(raw: bytes, result: JsonObject, shape: Shape, rename: Callable[[str], str]) -> list[Entry]:
    """The entries of one page under the names that clients see. Raises NotUnderstood."""
    entries = entries_of(result, shape)
    items = slice_items(slice_at(raw, ("result", shape.member)) or b"[]")
    keys = [(entry[shape.key], rename(entry[shape.key])) for entry in entries]
    return [
        Entry(key=shown, raw=_renamed(item, shape.key, own, shown)) for item, (own, shown) in zip(items, keys, strict=True)
    ]


def _renamed(item: bytes, member: str, own: str, shown: str) -> bytes:
    if own == shown:
        return item
    return join_members({**slice_members(item), member: render(shown)})


def merge_entries(listings: Iterable[Listing]) -> list[Entry]:
    """Every entry once: of two with the same key the one of the earlier upstream."""
    merged: dict[str, Entry] = {}
    for listing in listings:
        for entry in listing.entries:
            merged.setdefault(entry.key, entry)
    return list(merged.values())


def merge_hints(hints: Sequence[Hints]) -> Hints:
    """The shortest time, and private if one is."""
    ttl = min((each.ttl for each in hints), default=0)
    return Hints(ttl, "public" if hints and all(each.scope == "public" for each in hints) else PRIVATE)


def read_hints(result: JsonObject) -> Hints:
    """The hints of one answer; what it does not say is the least."""
    ttl, scope = result.get("ttlMs"), result.get("cacheScope")
    known = ttl if isinstance(ttl, int) and ttl >= 0 else 0
    return Hints(known, "public" if scope == "public" else PRIVATE)


def cut_page(entries: Sequence[Entry], cursor: object, page: int = PAGE) -> tuple[bytes, str | None] | Failure:
    """One page as a JSON array, and the next cursor. INVALID_CURSOR: not one of ours, or from before a change."""
    whole = b",".join(entry.raw for entry in entries)
    mark = digest_bytes(whole)[7:19]
    starts = {None: 0} | {f"{mark}.{start}": start for start in range(page, len(entries), page)}
    if not isinstance(cursor, str | None) or cursor not in starts:
        return fail("INVALID_CURSOR")
    start = starts[cursor]
    following = f"{mark}.{start + page}" if start + page < len(entries) else None
    return b"[" + b",".join(entry.raw for entry in entries[start : start + page]) + b"]", following


def merge_capabilities(offered: Iterable[JsonValue]) -> JsonObject:
    """The union of what upstreams offer. Lists are always announced as changing: an upstream may come back."""
    merged: JsonObject = {}
    for capabilities in offered:
        if isinstance(capabilities, dict):
            _unite(merged, {name: capabilities[name] for name in OFFERED if isinstance(capabilities.get(name), dict)})
    _unite(merged, {name: {"listChanged": True} for name in CHANGING if name in merged})
    return merged


def _unite(into: JsonObject, more: Mapping[str, JsonValue]) -> None:
    for name, value in more.items():
        if isinstance(value, dict):
            known = into.get(name)
            into[name] = dict(known) if isinstance(known, dict) else {}
            _unite(into[name], value)
        else:
            into[name] = bool(into.get(name)) or value


def merge_instructions(openings: Iterable[tuple[str, JsonValue]]) -> str | None:
    """What each upstream says about its use, under its configured name."""
    said = [f"{name}: {text}" for name, text in openings if isinstance(text, str) and text]
    return "\n\n".join(said) or None
