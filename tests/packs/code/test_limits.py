"""Settings of the tools: bounds, the reference's values, and what is left for the engines."""

from __future__ import annotations

from typing import Any

import pytest

from strictwire.packs.code.cache import AnswerCache
from strictwire.packs.code.limits import DROP_IN, ToolSettings, split_settings


def test_an_empty_table_gives_the_defaults() -> None:
    assert split_settings({}) == (ToolSettings(), {})


def test_what_is_not_a_setting_of_the_tools_is_left_for_the_engines() -> None:
    table = {"timeout_seconds": 5, "roots": ["/w"], "engines": {"ty": {}}}

    assert split_settings(table) == (ToolSettings(timeout_seconds=5.0), {"roots": ["/w"], "engines": {"ty": {}}})


def test_the_drop_in_has_the_limits_of_the_reference() -> None:
    settings, _ = split_settings({"drop_in": True})

    assert settings == DROP_IN
    assert (settings.timeout_seconds, settings.max_response_bytes, settings.max_items_per_page) == (2.0, 524_288, 200)
    assert (settings.retain_seconds, settings.retain_set_bytes, settings.retain_total_bytes) == (10.0, 2 * 2**20, 20 * 2**20)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"timeout_seconds": 0.1}, "timeout_seconds: expected a number from 0.25 to 600"),
        ({"timeout_seconds": "5"}, "timeout_seconds: expected a number from 0.25 to 600"),
        ({"timeout_seconds": True}, "timeout_seconds: expected a number from 0.25 to 600"),
        ({"timeout_seconds": 2.5, "drop_in": True}, "timeout_seconds: expected a number from 0.25 to 2"),
        ({"max_response_bytes": 16_383}, "max_response_bytes: expected a number from 16384"),
        ({"max_response_bytes": 524_289, "drop_in": True}, "max_response_bytes: expected a number from 16384 to 524288"),
        ({"max_items_per_page": 201}, "max_items_per_page: expected a number from 1 to 200"),
        ({"max_items_per_page": 1.5}, "max_items_per_page: expected a number from 1 to 200"),
        ({"drop_in": "yes"}, "drop_in: expected true or false"),
    ],
)
def test_a_setting_out_of_range_is_refused_with_what_is_expected(table: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        split_settings(table)


def test_answers_are_kept_by_tool_within_their_bytes() -> None:
    cache = AnswerCache[str](entry_bytes=10, tool_bytes=20)
    cache.put("t", "huge", "x", size=11)
    for key in "abc":
        cache.put("t", key, key, size=8)
    cache.put("other", "a", "o", size=8)

    assert [cache.maybe_get("t", key) for key in ("huge", "a", "b", "c")] == [None, None, "b", "c"]
    assert cache.maybe_get("other", "a") == "o"


def test_the_answer_used_longest_ago_goes_first_and_a_key_is_kept_once() -> None:
    cache = AnswerCache[str](entry_bytes=10, tool_bytes=20)
    for key in "ab":
        cache.put("t", key, key, size=10)
    cache.maybe_get("t", "a")
    cache.put("t", "a", "again", size=10)
    cache.put("t", "c", "c", size=10)

    assert [cache.maybe_get("t", key) for key in "abc"] == ["again", None, "c"]
