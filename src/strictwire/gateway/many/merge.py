"""Merges the answers of several upstreams: capabilities, lists, cache hints, instructions. Pure.

Entries are in the order of the upstreams, and within each in its own order. They keep their bytes except for their names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from strictwire.canon.digest import digest_bytes
from strictwire.canon.json import JsonObject, JsonValue, join_members, render, slice_items, slice_members
from strictwire.fault.failure import Failure, fail
from strictwire.gateway.call_stages import PRIVATE
from strictwire.gateway.links.listing import ListShape, entries_of
from strictwire.gateway.links.raw_message import slice_at

PAGE: Final = 1000
"""Entries on one page. Many clients never ask for a second page."""

MAX_TTL_MS: Final = 24 * 3600 * 1000
"""The longest time for which an upstream may have an answer cached: one day. A larger number is an error or an attack."""

OFFERED: Final = ("tools", "resources", "prompts", "completions", "logging")
"""Capabilities whose methods can be routed. Methods of an extension name no upstream."""

CHANGING: Final = ("tools", "resources", "prompts")
"""Lists that change when an upstream comes or goes; the guard itself notifies clients of that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListEntry:
    """One entry of a merged list."""

    key: str
    raw: bytes


class CacheHints(NamedTuple):
    """How long, in milliseconds, and for whom an answer may be cached."""

    ttl: int = 0
    scope: str = PRIVATE


NOT_CACHED: Final = CacheHints()


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The entries of one upstream in a merged list."""

    upstream: str
    entries: tuple[ListEntry, ...] = ()
    hints: CacheHints = NOT_CACHED


def read_page(raw: bytes, result: JsonObject, shape: ListShape, rename: Callable[[str], str]) -> list[ListEntry]:
    """The entries of one page under the names that clients see. Raises NotUnderstood."""
    items = slice_items(slice_at(raw, ("result", shape.member)) or b"[]")
    return [
        _renamed(item, shape.key, entry[shape.key], rename(entry[shape.key]))
        for item, entry in zip(items, entries_of(result, shape), strict=True)
    ]


def _renamed(item: bytes, member: str, own_name: str, client_name: str) -> ListEntry:
    raw = item if own_name == client_name else join_members({**slice_members(item), member: render(client_name)})
    return ListEntry(key=client_name, raw=raw)


def merge_hints(hints: Sequence[CacheHints]) -> CacheHints:
    """The shortest time, and private if one of them is."""
    ttl = min((each.ttl for each in hints), default=0)
    return CacheHints(ttl, "public" if hints and all(each.scope == "public" for each in hints) else PRIVATE)


def read_hints(result: JsonObject) -> CacheHints:
    """The hints of one answer. Missing ones forbid caching."""
    ttl, scope = result.get("ttlMs"), result.get("cacheScope")
    known = min(ttl, MAX_TTL_MS) if type(ttl) is int and ttl >= 0 else 0
    return CacheHints(known, "public" if scope == "public" else PRIVATE)


def cut_page(entries: Sequence[ListEntry], cursor: object, page: int = PAGE) -> tuple[bytes, str | None] | Failure:
    """One page as a JSON array, and the next cursor. INVALID_CURSOR: not a cursor of this list, which may have changed."""
    whole = b",".join(entry.raw for entry in entries)
    mark = digest_bytes(whole)[7:19]  # a dozen hex digits of the digest tell two versions of the list apart
    starts = {None: 0} | {f"{mark}.{start}": start for start in range(page, len(entries), page)}
    if not isinstance(cursor, str | None) or cursor not in starts:
        return fail("INVALID_CURSOR")
    start = starts[cursor]
    following = f"{mark}.{start + page}" if start + page < len(entries) else None
    return b"[" + b",".join(entry.raw for entry in entries[start : start + page]) + b"]", following


def merge_capabilities(offered: Iterable[JsonValue]) -> JsonObject:
    """The union of the capabilities. Lists always have `listChanged`: an upstream may come back."""
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
    """The instructions of each upstream, under its configured name."""
    texts = [f"{name}: {text}" for name, text in openings if isinstance(text, str) and text]
    return "\n\n".join(texts) or None


def merged_offers(openings: Iterable[tuple[str, JsonObject]]) -> JsonObject:
    """`capabilities` and `instructions` of all upstreams, from their names and their answers to the opening request.

    The guard itself offers a resource, the status of the upstreams.
    """
    known = list(openings)
    capabilities = merge_capabilities([*(opened.get("capabilities") for _, opened in known), {"resources": {}}])
    instructions = merge_instructions((name, opened.get("instructions")) for name, opened in known)
    return {"capabilities": capabilities} | ({"instructions": instructions} if instructions is not None else {})
