"""Paging through a set that does not change under the reader: the whole set is kept for a while, pages are cut from it.

A cursor is opaque: base64url of `{v, o, k, s}` with the offset, the key of the request and the key of the snapshot. It is
not secret and not signed, for whatever it is changed to, it can only name another place of the same answer. Gathering the
set is the caller's part, so nothing here waits; any thread may call.
"""

from __future__ import annotations

import binascii
import hashlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import accumulate, takewhile
from threading import Lock
from typing import Any, Final

from strictwire.canon.json import JsonObject, JsonValue, NotStrict, parse, parse_object, render, render_sorted
from strictwire.fault.failure import Refused, fail

_VERSION: Final = 2
_KEYS: Final = ["v", "o", "k", "s"]

MAX_CURSOR: Final = 1024
"""Characters of a cursor that are looked at; ours have about 210."""

MAX_OFFSET: Final = 2**53
"""Beyond it not every reader of JSON keeps an integer exact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLimits:
    """How much is kept, and how long."""

    items: int = 20_000
    """Of one set."""
    set_bytes: int = 2 * 1024 * 1024
    """Of one set, as JSON."""
    total_bytes: int = 20 * 1024 * 1024
    """Of all sets together; the one used longest ago goes first."""
    seconds: float = 10.0
    """From the time a set was made; reading does not prolong it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageKey:
    """What is paged through: a request, in a state of the world."""

    request: str
    snapshot: str


def page_key(tool: str, inputs: Iterable[JsonValue], state: str) -> PageKey:
    """The key of a request. The page size is no input: it may change from page to page.

    `state` names everything the answer depends on besides the inputs, and must differ whenever the answer may. As the
    inputs are hashed as JSON, `1` is not `"1"` and no separator can be forged.
    """
    request = _sha256(render_sorted(["v1", tool, *inputs]))
    return PageKey(request=request, snapshot=_sha256(f"v1|snapshot|{request}|{state}".encode()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Some items, and the cursor of the next page; None after the last."""

    items: tuple[JsonValue, ...]
    next_cursor: str | None
    facts: JsonObject = field(default_factory=dict)
    """What was kept with the set and holds for every page of it."""

    def as_json(self) -> JsonObject:
        """The members of a paged answer (G9)."""
        return {"items": list(self.items), "nextCursor": self.next_cursor}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """One set: each item as its JSON, so that nobody who was given one can change it."""

    items: tuple[bytes, ...]
    facts: bytes
    size: int
    until: float


class Pages:
    """The sets of one server. `clock` gives seconds that only go forward."""

    def __init__(self, *, clock: Callable[[], float], limits: PageLimits | None = None) -> None:
        self._clock = clock
        self._limits = limits or PageLimits()
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def resume(self, key: PageKey, *, cursor: str | None, size: int, page_bytes: int | None = None) -> Page | None:
        """The page at a cursor; without one the first page of a set that is kept, or None: gather it and `keep` it.

        Raises Refused: CURSOR_INVALID unreadable or of another request, CURSOR_STALE of another state of the world,
        CURSOR_EXPIRED no longer kept; in that order. ValueError: a size below one. A page ends after `size` items, or
        before their JSON passes `page_bytes`; it has at least one item, however large.
        """
        offset = 0 if cursor is None else parse_cursor(cursor, key)
        with self._lock:
            kept = self._maybe_kept(key)
        if kept is not None:
            return _cut(kept, key, offset=offset, size=size, page_bytes=page_bytes)
        if cursor is not None:
            raise Refused(fail("CURSOR_EXPIRED"))
        return None

    def has(self, key: PageKey, *, cursor: str | None) -> bool:
        """Whether the set is kept. Raises Refused: as `resume` does."""
        if cursor is not None:
            parse_cursor(cursor, key)
        with self._lock:
            is_kept = self._maybe_kept(key) is not None
        if cursor is not None and not is_kept:
            raise Refused(fail("CURSOR_EXPIRED"))
        return is_kept

    def keep(
        self,
        key: PageKey,
        items: Iterable[JsonValue],
        *,
        size: int,
        page_bytes: int | None = None,
        facts: JsonObject | None = None,
    ) -> Page:
        """Keep a set that was gathered, in its order, with facts about all of it, and give its first page.

        If another call has kept one for the same key meanwhile, that one stays, and its page is given.
        Raises Refused: CAP_EXCEEDED too many items, SNAPSHOT_TOO_LARGE too many bytes; nothing is given then.
        ValueError: a size below one.
        """
        made = self._make(items, render(facts or {}))
        with self._lock:
            kept = self._maybe_kept(key) or self._put(key, made)
        return _cut(kept, key, offset=0, size=size, page_bytes=page_bytes)

    def forget(self, key: PageKey) -> None:
        """Let go of a set, so that another can be kept under its key."""
        with self._lock:
            if key.snapshot in self._kept:
                self._drop(key.snapshot)

    def _make(self, items: Iterable[JsonValue], facts: bytes) -> _Kept:
        limits = self._limits
        written: list[bytes] = []
        total = 2 + len(facts)
        for item in items:
            if len(written) == limits.items:
                text = "The set has more items than allowed"
                raise Refused(fail("CAP_EXCEEDED", text=text, details={"limit": limits.items}))
            written.append(render(item))
            total += len(written[-1]) + 1
            if total > min(limits.set_bytes, limits.total_bytes):
                raise Refused(fail("SNAPSHOT_TOO_LARGE", details={"limitBytes": limits.set_bytes}))
        return _Kept(items=tuple(written), facts=facts, size=total, until=self._clock() + limits.seconds)

    def _maybe_kept(self, key: PageKey) -> _Kept | None:
        kept = self._kept.get(key.snapshot)
        if kept is None:
            return None
        if self._clock() >= kept.until:
            self._drop(key.snapshot)
            return None
        self._kept.move_to_end(key.snapshot)
        return kept

    def _put(self, key: PageKey, made: _Kept) -> _Kept:
        now = self._clock()
        for name in [name for name, kept in self._kept.items() if now >= kept.until]:
            self._drop(name)
        while self._size + made.size > self._limits.total_bytes:
            self._drop(next(iter(self._kept)))
        self._kept[key.snapshot] = made
        self._size += made.size
        return made

    def _drop(self, name: str) -> None:
        self._size -= self._kept.pop(name).size


def _cut(kept: _Kept, key: PageKey, *, offset: int, size: int, page_bytes: int | None) -> Page:
    if size < 1:
        raise ValueError("a page has at least one item")
    taken = _fitting(kept.items[offset : offset + size], page_bytes)
    after = offset + len(taken)
    more = bool(taken) and after < len(kept.items)
    return Page(
        items=tuple(map(parse, taken)),
        next_cursor=render_cursor(key, after) if more else None,
        facts=parse_object(kept.facts),
    )


def _fitting(items: tuple[bytes, ...], limit: int | None) -> tuple[bytes, ...]:
    """As many of the items as fit into the limit together with the commas between them; at least one."""
    if limit is None:
        return items
    ends = accumulate(len(item) + 1 for item in items)
    return items[: max(1, sum(1 for _ in takewhile(lambda end: end <= limit, ends)))]


def render_cursor(key: PageKey, offset: int) -> str:
    """The cursor of the page that begins at an offset."""
    raw = render({"v": _VERSION, "o": offset, "k": key.request, "s": key.snapshot})
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def parse_cursor(cursor: str, key: PageKey) -> int:
    """The offset of a cursor that belongs to the key. Raises Refused: CURSOR_INVALID, CURSOR_STALE."""
    found = _maybe_payload(cursor)
    if found is None or found["k"] != key.request:
        raise Refused(fail("CURSOR_INVALID"))
    if found["s"] != key.snapshot:
        raise Refused(fail("CURSOR_STALE"))
    return int(found["o"])


def _maybe_payload(cursor: str) -> dict[str, Any] | None:
    """What a cursor says, if it is spelled exactly as we spell one."""
    if len(cursor) > MAX_CURSOR or not cursor.isascii():
        return None
    try:
        raw = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        found = parse_object(raw)
    except (binascii.Error, NotStrict):
        return None
    is_ours = render(found) == raw and urlsafe_b64encode(raw).rstrip(b"=").decode() == cursor
    return found if is_ours and _is_payload(found) else None


def _is_payload(found: dict[str, Any]) -> bool:
    if list(found) != _KEYS or found["v"] != _VERSION or type(found["o"]) is not int:
        return False
    return 0 <= found["o"] <= MAX_OFFSET and all(isinstance(found[name], str) and found[name] for name in "ks")


def _sha256(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()
