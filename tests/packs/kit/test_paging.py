"""Snapshot paging: no item is repeated or lost, and a cursor of another request is refused."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from strictwire.canon.json import render
from strictwire.fault.failure import Refused
from strictwire.packs.kit.paging import Page, PageKey, PageLimits, Pages, page_key, render_cursor

ROOTS = "f897e7e46f49093619f65edbd3b809f955fc2d626760a0993668a68eeaf61d96"


class Time:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def code(act: Callable[[], object]) -> str:
    with pytest.raises(Refused) as caught:
        act()
    return caught.value.failure.code


def make(limits: PageLimits | None = None) -> tuple[Pages, Time]:
    time = Time()
    return Pages(clock=time, limits=limits), time


KEY = page_key("tool", ["query"], "state")


def encode(payload: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(payload, separators=(",", ":")).encode()).rstrip(b"=").decode()


def test_keys_and_cursors_equal_those_of_the_read_only_code_tools() -> None:
    symbols = page_key("vscode_lsp_workspaceSymbols", ["query"], f"roots:{ROOTS}|epochs:0,0,0")
    diagnostics = page_key("vscode_lsp_diagnostics_workspace", [], f"roots:{ROOTS}|epochs:0,0,0")
    cursor = render_cursor(symbols, 100)

    assert symbols.request == "7421226271948beb773e50ef59136ada0cb928e5fb7d99f233cce48006f9b800"
    assert diagnostics.request == "f336059883fc0719369bbaf5691feedf6251d130011a1022fe88bc528ceff9af"
    assert symbols.snapshot == "94641dbe73241f87a14acc59efdb09e8ce13a41914e2563c7d698d26b32f8c08"
    assert (cursor[:20], len(cursor)) == ("eyJ2IjoyLCJvIjoxMDAs", 210)


def test_keys_of_different_requests_cannot_collide() -> None:
    keys = {page_key("t", inputs, "s").request for inputs in ([1], ["1"], ["a", "b"], ["a|b"], ["a,b"], [["a", "b"]], [])}

    assert len(keys) == 7


@pytest.mark.clause("G9")
@given(count=st.integers(0, 40), sizes=st.lists(st.integers(1, 15), min_size=1, max_size=50))
def test_pages_of_any_sizes_put_together_are_the_set(count: int, sizes: list[int]) -> None:
    pages, _ = make()
    items = [{"n": number} for number in range(count)]
    page = pages.keep(KEY, items, size=sizes[0])
    seen = list(page.items)
    for turn in range(1, count + 2):
        if page.next_cursor is None:
            break
        following = pages.resume(KEY, cursor=page.next_cursor, size=sizes[turn % len(sizes)])
        assert following is not None
        page = following
        seen.extend(page.items)

    assert page.next_cursor is None
    assert seen == items


def test_the_last_page_has_no_cursor_and_a_page_past_the_end_is_empty() -> None:
    pages, _ = make()

    assert pages.keep(KEY, [1, 2], size=2) == Page(items=(1, 2), next_cursor=None)
    assert pages.keep(KEY, [], size=2) == Page(items=(1, 2), next_cursor=None)
    assert pages.resume(KEY, cursor=render_cursor(KEY, 99), size=2) == Page(items=(), next_cursor=None)
    assert Page(items=(1,), next_cursor=None).as_json() == {"items": [1], "nextCursor": None}


def test_a_first_page_reuses_the_set_that_is_kept() -> None:
    pages, _ = make()

    assert pages.resume(KEY, cursor=None, size=1) is None
    pages.keep(KEY, ["a", "b"], size=1)
    assert pages.resume(KEY, cursor=None, size=1) == Page(items=("a",), next_cursor=render_cursor(KEY, 1))


def test_modifying_an_item_of_a_page_does_not_change_later_pages() -> None:
    pages, _ = make()
    source = [{"list": [1]}]
    first = pages.keep(KEY, source, size=1)
    first.items[0]["list"].append(2)  # type: ignore[index,call-overload,union-attr]
    source[0]["list"].append(3)

    assert pages.resume(KEY, cursor=None, size=1) == Page(items=({"list": [1]},), next_cursor=None)


GOOD = {"v": 2, "o": 1, "k": KEY.request, "s": KEY.snapshot}


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "%%%",
        "ü",
        "A",
        "x" * 2000,
        encode([1]),
        encode({**GOOD, "v": 1}),
        encode({**GOOD, "v": "2"}),
        encode({**GOOD, "v": True}),
        encode({**GOOD, "o": -1}),
        encode({**GOOD, "o": 1.5}),
        encode({**GOOD, "o": 1.0}),
        encode({**GOOD, "o": True}),
        encode({**GOOD, "o": "1"}),
        encode({**GOOD, "o": 2**60}),
        encode({**GOOD, "k": ""}),
        encode({**GOOD, "s": 1}),
        encode({"v": 2, "o": 1, "s": KEY.snapshot}),
        encode({**GOOD, "x": 1}),
        encode(dict(reversed(GOOD.items()))),
        encode({**GOOD, "k": "0" * 64}),
        encode(GOOD) + "=",
        encode(GOOD) + "\n",
        base64.urlsafe_b64encode(json.dumps(GOOD).encode()).rstrip(b"=").decode(),
        base64.urlsafe_b64encode(b'{"v":2,"v":2,"o":1,"k":"a","s":"b"}').rstrip(b"=").decode(),
    ],
)
def test_a_cursor_in_any_other_spelling_is_invalid(cursor: str) -> None:
    pages, _ = make()
    pages.keep(KEY, [1, 2, 3], size=1)

    assert code(lambda: pages.resume(KEY, cursor=cursor, size=1)) == "CURSOR_INVALID"


def test_a_cursor_in_the_canonical_spelling_is_accepted() -> None:
    pages, _ = make()
    pages.keep(KEY, [1, 2], size=1)

    assert pages.resume(KEY, cursor=encode(GOOD), size=1) == Page(items=(2,), next_cursor=None)


@given(st.text(max_size=300) | st.binary(max_size=200).map(lambda raw: base64.urlsafe_b64encode(raw).decode().rstrip("=")))
def test_an_arbitrary_text_as_a_cursor_is_invalid(cursor: str) -> None:
    pages, _ = make()
    pages.keep(KEY, [1, 2], size=1)

    assert code(lambda: pages.resume(KEY, cursor=cursor, size=1)) == "CURSOR_INVALID"


def test_invalid_comes_before_stale_and_stale_before_expired() -> None:
    pages, time = make()
    cursor = pages.keep(KEY, [1, 2], size=1).next_cursor
    time.now = 1e6

    assert code(lambda: pages.resume(page_key("other", ["query"], "later"), cursor=cursor, size=1)) == "CURSOR_INVALID"
    assert code(lambda: pages.resume(page_key("tool", ["query"], "later"), cursor=cursor, size=1)) == "CURSOR_STALE"
    assert code(lambda: pages.resume(KEY, cursor=cursor, size=1)) == "CURSOR_EXPIRED"


def test_reading_does_not_prolong_the_time_a_set_is_kept() -> None:
    pages, time = make(PageLimits(seconds=10))
    cursor = pages.keep(KEY, [1, 2, 3], size=1).next_cursor
    time.now = 9.9
    assert pages.resume(KEY, cursor=cursor, size=1) is not None
    time.now = 10.0

    assert code(lambda: pages.resume(KEY, cursor=cursor, size=1)) == "CURSOR_EXPIRED"
    assert pages.resume(KEY, cursor=None, size=1) is None


@pytest.mark.clause("G11")
def test_a_set_that_cannot_be_kept_gives_not_even_its_first_page() -> None:
    pages, _ = make(PageLimits(set_bytes=20, items=5))

    assert code(lambda: pages.keep(KEY, ["x" * 20], size=1)) == "SNAPSHOT_TOO_LARGE"
    assert code(lambda: pages.keep(KEY, range(6), size=1)) == "CAP_EXCEEDED"
    assert pages.resume(KEY, cursor=None, size=1) is None


def test_an_endless_set_is_abandoned_at_its_limit() -> None:
    pages, _ = make(PageLimits(items=100))
    asked = []

    def endless() -> Any:
        while True:
            asked.append(None)
            yield 1

    assert code(lambda: pages.keep(KEY, endless(), size=1)) == "CAP_EXCEEDED"
    assert len(asked) == 101


def test_the_least_recently_used_set_is_dropped_first() -> None:
    pages, _ = make(PageLimits(total_bytes=30))
    keys = [page_key("tool", [number], "") for number in range(3)]
    for key in keys[:2]:
        pages.keep(key, ["x" * 8], size=1)
    pages.resume(keys[0], cursor=None, size=1)
    pages.keep(keys[2], ["x" * 8], size=1)

    assert [pages.resume(key, cursor=None, size=1) is not None for key in keys] == [True, False, True]


@pytest.mark.parametrize("size", [0, -1])
def test_a_page_size_below_one_is_a_programming_error(size: int) -> None:
    pages, _ = make()
    with pytest.raises(ValueError, match="at least one item"):
        pages.keep(KEY, [1], size=size)


class KeptSets(RuleBasedStateMachine):
    """Whatever is kept, read and left to expire, the limits hold and a live cursor returns its own set."""

    limits = PageLimits(items=20, set_bytes=60, total_bytes=150, seconds=5)

    def __init__(self) -> None:
        super().__init__()
        self.time = Time()
        self.pages = Pages(clock=self.time, limits=self.limits)
        self.sets: dict[PageKey, tuple[int, ...]] = {}

    @rule(number=st.integers(0, 5), items=st.lists(st.integers(0, 9), max_size=22))
    def keep(self, number: int, items: list[int]) -> None:
        key = page_key("tool", [number], "")
        held = self.pages.resume(key, cursor=None, size=100)
        if len(items) > self.limits.items:
            assert code(lambda: self.pages.keep(key, items, size=100)) == "CAP_EXCEEDED"
            return
        page = self.pages.keep(key, items, size=100)
        assert page.items == (held.items if held else tuple(items))
        self.sets[key] = page.items  # type: ignore[assignment]

    @rule(number=st.integers(0, 5), offset=st.integers(0, 25), size=st.integers(1, 9))
    def read(self, number: int, offset: int, size: int) -> None:
        key = page_key("tool", [number], "")
        cursor = render_cursor(key, offset)
        if self.pages.resume(key, cursor=None, size=1) is None:
            assert code(lambda: self.pages.resume(key, cursor=cursor, size=size)) == "CURSOR_EXPIRED"
            return
        page = self.pages.resume(key, cursor=cursor, size=size)
        assert page is not None
        assert page.items == self.sets[key][offset : offset + size]

    @rule(seconds=st.floats(0, 6))
    def wait(self, seconds: float) -> None:
        self.time.now += seconds

    @invariant()
    def bounds_hold(self) -> None:
        kept = list(self.pages._snapshots.values())
        assert self.pages._size == sum(each.size for each in kept) <= self.limits.total_bytes


TestKeptSets = KeptSets.TestCase
TestKeptSets.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


@given(st.lists(st.text(max_size=40), min_size=1, max_size=60), st.integers(1, 20), st.integers(1, 300))
def test_pages_limited_by_bytes_are_the_set_and_only_a_single_item_passes_the_limit(
    items: list[str], size: int, limit: int
) -> None:
    pages, _ = make()
    page: Page | None = pages.keep(KEY, items, size=size, page_bytes=limit)
    seen: list[Any] = []
    while page is not None:
        written = sum(len(render(item)) + 1 for item in page.items)
        assert 1 <= len(page.items) <= size
        assert len(page.items) == 1 or written <= limit
        seen += page.items
        page = pages.resume(KEY, cursor=page.next_cursor, size=size, page_bytes=limit) if page.next_cursor else None

    assert seen == items


def test_a_page_ends_before_its_json_passes_the_limit() -> None:
    pages, _ = make()
    items = ["a" * 8] * 10

    assert [len(pages.keep(KEY, items, size=9, page_bytes=limit).items) for limit in (1, 11, 21, 22, 33, 99, 999)] == [
        1, 1, 1, 2, 3, 9, 9,
    ]  # fmt: skip


def test_facts_are_kept_with_a_set_and_come_with_every_page() -> None:
    pages, _ = make()
    first = pages.keep(KEY, [1, 2, 3], size=2, facts={"engine": "ty"})
    second = pages.resume(KEY, cursor=first.next_cursor, size=2)

    assert second is not None
    assert (first.facts, second.facts) == ({"engine": "ty"}, {"engine": "ty"})


def test_a_set_that_is_forgotten_can_be_kept_anew() -> None:
    pages, _ = make()
    first = pages.keep(KEY, [1, 2], size=1)
    pages.forget(KEY)
    pages.forget(KEY)

    assert code(lambda: pages.resume(KEY, cursor=first.next_cursor, size=1)) == "CURSOR_EXPIRED"
    assert pages.keep(KEY, [3], size=1).items == (3,)
