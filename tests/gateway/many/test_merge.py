"""The answers of several upstreams are merged."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictwire.canon.json import parse
from strictwire.client.errors import NotUnderstood
from strictwire.fault.failure import Failure
from strictwire.gateway.links.listing import LIST_SHAPES
from strictwire.gateway.many.merge import (
    CacheHints,
    ListEntry,
    cut_page,
    merge_capabilities,
    merge_hints,
    merge_instructions,
    read_hints,
    read_page,
)

TOOLS = LIST_SHAPES["tools/list"]


def entries(count: int) -> list[ListEntry]:
    return [ListEntry(key=str(number), raw=b'{"n":%d}' % number) for number in range(count)]


def test_entries_keep_every_byte_but_their_name() -> None:
    raw = b'{"result":{"tools":[ {"n":1.0,"name":"a","x":"\\u00e9"} , {"name":"b"}]}}'
    result = {"tools": [{"n": 1.0, "name": "a", "x": "é"}, {"name": "b"}]}

    assert read_page(raw, result, TOOLS, lambda name: {"a": "p_a"}.get(name, name)) == [
        ListEntry(key="p_a", raw=b'{"n":1.0,"name":"p_a","x":"\\u00e9"}'),
        ListEntry(key="b", raw=b'{"name":"b"}'),
    ]


@pytest.mark.parametrize("tools", [None, "a", [1], [{}], [{"name": 1}]])
def test_a_page_without_named_entries_is_not_understood(tools: Any) -> None:
    with pytest.raises(NotUnderstood):
        read_page(b'{"result":{}}', {"tools": tools}, TOOLS, str)


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ({"ttlMs": 5, "cacheScope": "public"}, CacheHints(5, "public")),
        ({"ttlMs": -5, "cacheScope": "everybody"}, CacheHints(0, "private")),
        ({"ttlMs": "5"}, CacheHints(0, "private")),
        ({}, CacheHints(0, "private")),
    ],
)
def test_missing_cache_hints_forbid_caching(result: dict[str, Any], expected: CacheHints) -> None:
    assert read_hints(result) == expected


hints = st.builds(CacheHints, st.integers(0, 100), st.sampled_from(["public", "private"]))


@given(st.lists(hints, max_size=5))
def test_merged_cache_hints_are_never_looser_than_a_part(parts: list[CacheHints]) -> None:
    merged = merge_hints(parts)

    assert all(merged.ttl <= part.ttl for part in parts)
    assert merged.scope == "private" or all(part.scope == "public" for part in parts)


def test_an_empty_merge_forbids_caching() -> None:
    assert merge_hints([]) == CacheHints(0, "private")


@given(st.integers(0, 30), st.integers(1, 7))
def test_the_pages_hold_every_entry_once_and_in_order(count: int, size: int) -> None:
    whole, seen, cursor = entries(count), [], None
    while True:
        page = cut_page(whole, cursor, size)
        assert not isinstance(page, Failure)
        items = parse(page[0])
        assert isinstance(items, list)
        seen += [item["n"] for item in items]
        cursor = page[1]
        if cursor is None:
            break

    assert seen == list(range(count))


@pytest.mark.parametrize("cursor", ["", "0", "2", "x.2", 2])
def test_an_unknown_cursor_is_refused(cursor: object) -> None:
    page = cut_page(entries(5), cursor, 2)

    assert isinstance(page, Failure)
    assert page.code == "INVALID_CURSOR"


def test_capabilities_that_cannot_be_routed_are_left_out() -> None:
    offered: list[Any] = [
        {"tools": {"listChanged": False}, "resources": {"subscribe": True}, "tasks": {}, "experimental": {"x": {}}},
        {"tools": {}, "resources": {"subscribe": False}, "logging": {}, "prompts": 5},
        None,
    ]

    assert merge_capabilities(offered) == {
        "tools": {"listChanged": True},
        "resources": {"subscribe": True, "listChanged": True},
        "logging": {},
    }
    assert offered[0]["tools"] == {"listChanged": False}


def test_instructions_have_the_name_of_their_upstream() -> None:
    assert merge_instructions([("a", "Do."), ("b", None), ("c", ""), ("d", "Don't.")]) == "a: Do.\n\nd: Don't."
    assert merge_instructions([("a", 5)]) is None
