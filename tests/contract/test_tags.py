"""Tags: what they may be, how lists show them, and what a filter allows."""

from __future__ import annotations

from typing import Any

import pytest

from strictwire.contract.tags import TagFilter, TagsRefused, check_tags, meta_with_tags, meta_without_tags, tags_in_meta


@pytest.mark.parametrize("given", [{"a"}, ["a", "a"], ("a",), frozenset({"a"})])
def test_any_collection_of_words_is_a_set_of_tags(given: Any) -> None:
    assert check_tags(given) == {"a"}


REFUSED: list[tuple[Any, str]] = [
    ("admin", "tags='admin' is not a set of tags; write tags={'admin'}"),
    (7, "tags=7 is not a set of tags; write tags={'admin'}"),
    ({7}, "tags has 7; a tag is text of 1 to 64 printable characters, without spaces at the ends"),
    ({""}, "tags has ''; a tag is text of 1 to 64 printable characters, without spaces at the ends"),
    ({" a"}, "tags has ' a'; a tag is text of 1 to 64 printable characters, without spaces at the ends"),
    ({"a\n"}, "tags has 'a\\n'; a tag is text of 1 to 64 printable characters, without spaces at the ends"),
    ({"a" * 65}, f"tags has '{'a' * 65}'; a tag is text of 1 to 64 printable characters, without spaces at the ends"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED)
def test_anything_else_is_refused(given: Any, message: str) -> None:
    with pytest.raises(TagsRefused) as caught:
        check_tags(given)

    assert str(caught.value) == message


METAS: list[tuple[dict[str, Any], frozenset[str], dict[str, Any]]] = [
    ({}, frozenset(), {}),
    ({"x": 1}, frozenset(), {"x": 1}),
    ({"x": 1}, frozenset({"b", "a"}), {"x": 1, "fastmcp": {"tags": ["a", "b"]}}),
    ({"fastmcp": {"version": "2"}}, frozenset({"a"}), {"fastmcp": {"version": "2", "tags": ["a"]}}),
]


@pytest.mark.parametrize(("meta", "tags", "shown"), METAS)
def test_tags_are_shown_in_meta_and_read_back(meta: dict[str, Any], tags: frozenset[str], shown: dict[str, Any]) -> None:
    assert meta_with_tags(meta, tags) == shown
    assert (tags_in_meta(shown), meta_without_tags(shown)) == (tags, meta)


@pytest.mark.parametrize("meta", [None, [], {"fastmcp": 1}, {"fastmcp": {"tags": "admin"}}, {"fastmcp": {"tags": [7, ""]}}])
def test_a_meta_of_another_form_has_no_tags(meta: Any) -> None:
    assert tags_in_meta(meta) == frozenset()


ALLOWED: list[tuple[TagFilter, set[str], bool]] = [
    (TagFilter(), set(), True),
    (TagFilter(include=frozenset({"a"})), set(), False),
    (TagFilter(include=frozenset({"a", "b"})), {"b", "c"}, True),
    (TagFilter(exclude=frozenset({"a"})), set(), True),
    (TagFilter(exclude=frozenset({"a"})), {"a", "b"}, False),
    (TagFilter(include=frozenset({"b"}), exclude=frozenset({"a"})), {"a", "b"}, False),
]


@pytest.mark.parametrize(("tags_filter", "tags", "allowed"), ALLOWED)
def test_exclude_wins_over_include(tags_filter: TagFilter, tags: set[str], allowed: bool) -> None:
    assert tags_filter.allows(frozenset(tags)) is allowed


def test_a_tag_that_nothing_has_is_a_mistake() -> None:
    tags_filter = TagFilter(include=frozenset({"public"}), exclude=frozenset({"admn"}))

    assert tags_filter.find_unused({"public", "admin"}) == (
        "exclude_tags has 'admn', which no tool, resource or prompt has; did you mean 'admin'?"
    )
    assert tags_filter.find_unused({"admn"}) == (
        "include_tags has 'public', which no tool, resource or prompt has; correct or remove it"
    )
    assert tags_filter.find_unused({"public", "admn", "other"}) is None
