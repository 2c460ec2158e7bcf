"""Text limits: decoding, truncation, line ranges and measurements."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictwire.packs.kit.text import (
    MARK,
    Cut,
    LineRange,
    Measure,
    NotText,
    cut_bytes,
    cut_characters,
    decode,
    measure,
    split_lines,
    take_lines,
)

texts = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=60)
lined = st.text(alphabet="a\r\n\u2028\x0bü", max_size=30)


def test_text_is_strict_utf8_and_a_byte_order_mark_is_kept() -> None:
    assert decode(b"\xef\xbb\xbfa\xc3\xbc") == "\ufeffaü"


@pytest.mark.parametrize(
    ("raw", "position"), [(b"ab\xff", 2), (b"\xc3", 0), (b"a\xed\xa0\x80", 1), (b"\xc0\xaf", 0), (b"\xf4\x90\x80\x80", 0)]
)
def test_bytes_that_are_not_utf8_are_refused_with_their_offset(raw: bytes, position: int) -> None:
    with pytest.raises(NotText) as caught:
        decode(raw)

    assert caught.value.position == position
    assert str(caught.value) == f"not UTF-8 at byte {position}"


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (9, Cut(text="äöüäx", is_cut=False)),
        (8, Cut(text=MARK, is_cut=True, omitted=5)),
    ],
)
def test_truncation_by_bytes_splits_no_character(limit: int, expected: Cut) -> None:
    assert len(MARK.encode()) == 8
    assert cut_bytes("äöüäx", limit) == expected


@given(text=texts, limit=st.integers(min_value=0, max_value=80), mark=st.sampled_from(["", "…", MARK]))
def test_truncated_text_fits_its_limit_and_is_as_long_as_possible(text: str, limit: int, mark: str) -> None:
    for cut, size in ((cut_bytes, lambda part: len(part.encode())), (cut_characters, len)):
        if size(text) > limit and limit < size(mark):
            with pytest.raises(ValueError, match="no room"):
                cut(text, limit, mark)
            continue
        found = cut(text, limit, mark)
        kept = found.text.removesuffix(mark) if found.is_cut else found.text

        assert size(found.text) <= limit
        assert text.startswith(kept)
        assert found.omitted == len(text) - len(kept)
        assert found.is_cut == (size(text) > limit)
        if found.is_cut:
            assert size(text[: len(kept) + 1]) + size(mark) > limit


@given(lined)
def test_lines_joined_are_the_text_again_and_only_the_last_may_lack_its_end(text: str) -> None:
    lines = split_lines(text)

    assert "".join(lines) == text
    assert all(line.endswith(("\n", "\r")) for line in lines[:-1])
    assert all(len(line.rstrip("\r\n")) >= len(line) - 2 for line in lines)


def test_lines_end_as_in_editors_and_not_as_in_python() -> None:
    assert split_lines("a\r\nb\rc\nd\u2028e\x0bf\n\r\n") == ["a\r\n", "b\r", "c\n", "d\u2028e\x0bf\n", "\r\n"]


@given(text=lined, start=st.integers(0, 12), count=st.integers(0, 12))
def test_ranges_of_lines_put_together_are_the_text(text: str, start: int, count: int) -> None:
    total = len(split_lines(text))
    parts = [take_lines(text, 0, start), take_lines(text, start, count), take_lines(text, start + count, 100)]

    assert "".join(part.text for part in parts) == text
    assert sum(part.count for part in parts) == total
    assert {part.total for part in parts} == {total}


def test_a_range_past_the_end_is_empty_and_a_negative_one_is_an_error() -> None:
    assert take_lines("a\nb", 5, 2) == LineRange(text="", start=5, count=0, total=2)
    with pytest.raises(ValueError, match="from 0"):
        take_lines("a", -1, 1)


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("", (0, 0, 0, 0)),
        ("a", (1, 1, 1, 1)),
        ("ä b\n", (5, 4, 2, 1)),
        ("x\r\n\u00a0y 🙂", (11, 7, 3, 2)),
        ("\n\n", (2, 2, 0, 2)),
    ],
)
def test_a_text_is_measured(text: str, counts: tuple[int, int, int, int]) -> None:
    size, characters, words, lines = counts
    sha256 = hashlib.sha256(text.encode()).hexdigest()

    assert measure(text) == Measure(bytes=size, characters=characters, words=words, lines=lines, sha256=sha256)
