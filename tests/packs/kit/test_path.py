"""Path syntax: the failure codes that need no disk access."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictwire.fault.failure import Refused
from strictwire.packs.kit.path import JailPath, Names, parse_path


def refusal(text: str, names: Names = Names.POSIX) -> tuple[str, object]:
    with pytest.raises(Refused) as caught:
        parse_path(text, names)
    return caught.value.failure.code, caught.value.failure.details.get("reason")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", JailPath(segments=("a",))),
        ("a/b.txt", JailPath(segments=("a", "b.txt"))),
        ("./a//b", JailPath(segments=("a", "b"))),
        ("a/", JailPath(segments=("a",), folder=True)),
        ("a/.", JailPath(segments=("a",), folder=True)),
        (".", JailPath(segments=(), folder=True)),
        ("...", JailPath(segments=("...",))),
        ("a..b/..c", JailPath(segments=("a..b", "..c"))),
        ("%2e%2e/x", JailPath(segments=("%2e%2e", "x"))),
        ("~/x", JailPath(segments=("~", "x"))),
        ("c:name", JailPath(segments=("c:name",))),
        ("a\\b", JailPath(segments=("a\\b",))),
        (" ", JailPath(segments=(" ",))),
        ("ü\n", JailPath(segments=("ü\n",))),
    ],
)
def test_a_relative_path_is_its_segments_and_nothing_is_decoded(text: str, expected: JailPath) -> None:
    assert parse_path(text, Names.POSIX) == expected


@pytest.mark.clause("S12")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ("INVALID_PATH", "empty")),
        ("a\x00b", ("INVALID_PATH", "nul")),
        ("\x00/../x", ("INVALID_PATH", "nul")),
        ("a\udcffb", ("INVALID_PATH", "not_utf8")),
        ("a/" * 2048, ("INVALID_PATH", "too_long")),
        ("ü" * 128, ("INVALID_PATH", "too_long")),
        ("..", ("PATH_TRAVERSAL_BLOCKED", None)),
        ("../x", ("PATH_TRAVERSAL_BLOCKED", None)),
        ("a/../b", ("PATH_TRAVERSAL_BLOCKED", None)),
        ("a/..", ("PATH_TRAVERSAL_BLOCKED", None)),
        ("./..//", ("PATH_TRAVERSAL_BLOCKED", None)),
        ("..\\x", ("PATH_TRAVERSAL_BLOCKED", None)),
        ("a\\..\\b", ("PATH_TRAVERSAL_BLOCKED", None)),
        ("/a/../b", ("PATH_TRAVERSAL_BLOCKED", None)),
        ("/", ("OUTSIDE_WORKSPACE", "absolute")),
        ("/etc/passwd", ("OUTSIDE_WORKSPACE", "absolute")),
        ("//host/share", ("OUTSIDE_WORKSPACE", "absolute")),
        ("\\\\host\\share", ("OUTSIDE_WORKSPACE", "absolute")),
        ("C:\\x", ("OUTSIDE_WORKSPACE", "absolute")),
        ("c:/x", ("OUTSIDE_WORKSPACE", "absolute")),
        ("./c:/x", ("OUTSIDE_WORKSPACE", "absolute")),
        (".//\\host", ("OUTSIDE_WORKSPACE", "absolute")),
    ],
)
def test_each_malformed_path_has_its_own_code(text: str, expected: tuple[str, str | None]) -> None:
    assert refusal(text) == expected


@pytest.mark.parametrize("size", [255, 256])
def test_a_name_may_be_as_long_as_file_systems_take(size: int) -> None:
    if size == 255:
        assert parse_path("x" * size).name == "x" * size
    else:
        assert refusal("x" * size) == ("INVALID_PATH", "too_long")


@pytest.mark.parametrize("text", ["ab:c", "nul", "NUL.txt", "com1", "lpt¹.x", "a.", "a ", "a/con /b", "a|b", "a\x1f"])
def test_names_that_windows_interprets_are_refused_on_windows(text: str) -> None:
    assert refusal(text, Names.WINDOWS) == ("INVALID_PATH", "reserved_name")


@pytest.mark.parametrize("text", ["console", "nully.txt", "a.b", "com", "lpt10"])
def test_names_that_only_look_reserved_are_accepted_on_windows(text: str) -> None:
    assert parse_path(text, Names.WINDOWS).segments == (text,)


def test_on_windows_both_slashes_separate_and_a_drive_is_never_relative() -> None:
    assert parse_path("a\\b/c", Names.WINDOWS).segments == ("a", "b", "c")
    assert refusal("c:name", Names.WINDOWS) == ("OUTSIDE_WORKSPACE", "absolute")


@given(st.text(alphabet="./\\a", max_size=12))
def test_an_accepted_path_has_no_parent_segment_and_one_spelling(text: str) -> None:
    try:
        path = parse_path(text, Names.POSIX)
    except Refused:
        return

    assert not {"", ".", ".."} & set(path.segments)
    assert parse_path(path.text, Names.POSIX) == path


def test_parent_and_name_take_a_path_apart() -> None:
    path = parse_path("a/b/c")

    assert (path.parent, path.name) == (JailPath(segments=("a", "b"), folder=True), "c")
    assert (parse_path(".").parent, parse_path(".").name) == (JailPath(segments=(), folder=True), "")
