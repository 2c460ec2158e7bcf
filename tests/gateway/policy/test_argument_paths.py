"""Argument paths: JSON Pointers with wildcards, and what is compared where they lead."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictwire.gateway.policy.argument_paths import MAX_COMPARED, Scalar, Wildcard, conditions_of, parse_path, values_at

EACH, ANY_DEPTH = Wildcard.EACH, Wildcard.ANY_DEPTH


@pytest.mark.parametrize(
    ("text", "segments"),
    [
        ("/path", ("path",)),
        ("/a.b/c", ("a.b", "c")),
        ("/a~1b/c~0d/~01", ("a/b", "c~d", "~1")),
        ("/files/*/path", ("files", EACH, "path")),
        ("/**/path", (ANY_DEPTH, "path")),
        ("/", ("",)),
        ("/a*", ("a*",)),
    ],
)
def test_a_path_is_read_as_segments(text: str, segments: tuple[object, ...]) -> None:
    assert parse_path(text) == segments


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("options.path", "write '/options/path'"),
        ("path", "write '/path'"),
        ("a/b.c~d", "write '/a~1b/c~0d'"),
        ("", "write '/'"),
        ("/a~2", "~0 for a tilde"),
        ("/a~", "~0 for a tilde"),
        ("/**/a/**", "only one segment"),
    ],
)
def test_a_malformed_path_is_refused_with_what_to_write_instead(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=r"JSON Pointer|tilde|segment") as caught:
        parse_path(text)

    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("path", "value", "found"),
    [
        ("/a", {"a": 1}, [1]),
        ("/a", {"b": 1}, []),
        ("/a/b", {"a": {"b": 1}, "a.b": 2, "a/b": 3}, [1]),
        ("/a~1b", {"a": {"b": 1}, "a/b": 3}, [3]),
        ("/a/b", {"a": [{"b": 1}, {"c": 2}, [{"b": 3}]]}, [1, 3]),
        ("/a/1", {"a": [5, 6]}, [6]),
        ("/a/1", {"a": {"1": 7}}, [7]),
        ("/a/2", {"a": [5, 6]}, []),
        ("/a/01", {"a": [{"01": 8}]}, [8]),
        ("/*", {"a": 1, "b": [2]}, [1, [2]]),
        ("/a/*/b", {"a": [{"b": 1}, {"b": 2}]}, [1, 2]),
        ("/**/b", {"b": 1, "a": [{"b": {"b": 2}}]}, [1, {"b": 2}, 2]),
        ("/a/**", {"a": {"b": [1]}}, [{"b": [1]}]),
    ],
)
def test_a_path_leads_to_values(path: str, value: Any, found: list[Any]) -> None:
    assert list(values_at(value, parse_path(path))) == found


@pytest.mark.parametrize(
    ("wanted", "value", "matches"),
    [
        ("22", 22, True),
        ("22", 22.0, True),
        ("22.0", 22, True),
        ("2.2e1", 22, True),
        (22, 22.0, True),
        ("22", 220, False),
        ("22", "22", True),
        ("2?", 22.0, True),
        ("0.1", 0.1, True),
        ("1", True, False),
        ("true", True, True),
        (True, True, True),
        (True, "true", True),
        (False, True, False),
        ("9007199254740993", 9007199254740993, True),
        ("9007199254740993", 9007199254740992, False),
        ("*", 10**400, True),
        ("5", 10**400, False),
    ],
)
def test_numbers_are_compared_by_value(wanted: Scalar, value: Any, matches: bool) -> None:
    [condition] = conditions_of({"/x": wanted})

    assert condition.matches_each({"x": value}) == [matches]


def test_too_many_values_cannot_be_decided() -> None:
    [condition] = conditions_of({"/**": "x"})

    assert condition.matches_each({"a": ["y"] * MAX_COMPARED}) == [False] * MAX_COMPARED
    assert condition.matches_each({"a": ["y"] * (MAX_COMPARED + 1)}) is None


def test_deep_lists_are_searched_in_linear_time() -> None:
    document: Any = [1] * 1000
    for _ in range(200):
        document = [document]
    started = time.process_time()

    assert list(values_at({"a": document}, parse_path("/**/b"))) == []
    assert time.process_time() - started < 1


names = st.text("ab./~*", max_size=3)
documents = st.recursive(
    st.text("ab", max_size=2) | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(names, documents, max_size=4), names)
def test_an_escaped_name_leads_to_exactly_that_member(arguments: dict[str, Any], name: str) -> None:
    if name not in ("*", "**"):
        path = parse_path("/" + name.replace("~", "~0").replace("/", "~1"))

        assert list(values_at(arguments, path)) == ([arguments[name]] if name in arguments else [])


@given(documents)
def test_any_depth_finds_what_a_walk_finds(document: Any) -> None:
    def walk(value: Any) -> list[Any]:
        if isinstance(value, dict):
            return [*([value["a"]] if "a" in value else []), *(each for child in value.values() for each in walk(child))]
        return [each for child in value for each in walk(child)] if isinstance(value, list) else []

    found = list(values_at(document, parse_path("/**/a")))

    assert all(each in found for each in walk(document))
