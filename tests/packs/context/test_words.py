"""Text rules of v0 (rules 1.2, 1.5, 1.7)."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packs.context import model

from strictwire.packs.context.words import WHITE_SPACE, document_id, estimate_tokens, extension_of, parse_words, split_words


@pytest.mark.v0("1.5.2")
def test_white_space_is_the_twenty_five_code_points_of_unicode() -> None:
    assert {ord(character) for character in WHITE_SPACE} == model.SPACES


@pytest.mark.v0("1.5.2")
def test_no_other_code_point_splits_a_word() -> None:
    """str.split also splits at U+001C to U+001F; U+200B and U+FEFF are not separators."""
    splitting = {
        point
        for point in range(sys.maxunicode + 1)
        if not 0xD800 <= point <= 0xDFFF and split_words(f"a{chr(point)}b") != [f"a{chr(point)}b"]
    }

    assert splitting == model.SPACES


@pytest.mark.v0("1.5.1", "1.5.2")
@given(st.text(alphabet=st.sampled_from("aB ß\x1c\x1f\u2003\u3000\u0130Σσ.\n\u200b"), max_size=40))
def test_words_agree_with_the_model(text: str) -> None:
    assert parse_words(text) == model.words(text)


@pytest.mark.v0("1.5.1", "1.5.3")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Guide. guide", ["guide.", "guide"]),
        ("ΟΔΟΣ", ["οδος"]),
        ("İ", ["i\u0307"]),
        ("  \t\n", []),
        ("", []),
    ],
)
def test_lowercase_is_full_unicode_and_punctuation_is_kept(text: str, expected: list[str]) -> None:
    assert parse_words(text) == expected


@pytest.mark.v0("1.7.1")
@pytest.mark.parametrize(("size", "expected"), [(0, 0), (1, 1), (4, 1), (5, 2), (740, 185)])
def test_a_token_is_four_bytes_rounded_up(size: int, expected: int) -> None:
    assert estimate_tokens(size) == expected


@pytest.mark.v0("1.2.2")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.md", True),
        ("a.MD", False),
        (".md", False),
        ("..md", True),
        (".a.md", True),
        ("a.b.md", True),
        ("md", False),
        ("a.mdx", False),
    ],
)
def test_only_the_exact_extension_is_taken(name: str, expected: bool) -> None:
    assert (extension_of(name) == "md") is expected


@pytest.mark.v0("1.2.3")
@pytest.mark.parametrize(
    ("relative", "expected"),
    [
        ("Guide/Intro.MD", "guide/intro.md"),
        ("a\\b.md", "a/b.md"),
        ("././a.md", "a.md"),
        (".\\.\\a.md", "a.md"),
        ("..a.md", "..a.md"),
        ("ÄRGER.md", "ärger.md"),
    ],
)
def test_an_id_is_the_lowered_path_with_forward_slashes(relative: str, expected: str) -> None:
    assert document_id(relative) == expected
