"""The index file: what is written is read, and every changed byte is noticed."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packs.context.search.planted import items, plant, plant_kinds, shorten

from strictwire.packs.context.search.index_file import (
    _TYPES,
    DamagedIndex,
    IndexedDocument,
    IndexIdentity,
    IndexWriter,
    SearchIndex,
)

IDENTITY = IndexIdentity(cache_version="sha256:" + "0" * 64, stamp=(1, 2, 3, 4))
ONE = IndexedDocument("a.md", "A.md", "markdown", "sha256:" + "1" * 64)
TWO = IndexedDocument("ö.py", "ö.py", "code", "sha256:" + "2" * 64)


def make(postings: list[tuple[str, int, int]]) -> bytes:
    writer = IndexWriter()
    writer.add_document(ONE, [(0, 3), (3, 9)])
    writer.add_document(TWO, [(1, 2)])
    for posting in postings:
        writer.add_posting(*posting)
    return writer.render(IDENTITY)


POSTINGS = [("ant", 0, 7), ("ant", 2, 65_535), ("bee", 1, 1), ("日本", 2, 9)]
RAW = make(POSTINGS)


def test_everything_written_is_read() -> None:
    index = SearchIndex(memoryview(RAW))
    ant = index.find_term("ant")

    assert (index.identity, index.documents, index.passages, index.terms) == (IDENTITY, 2, 3, 3)
    assert [index.document(number) for number in (0, 1)] == [ONE, TWO]
    assert [index.find_document(name) for name in ("a.md", "ö.py", "A.md", "")] == [0, 1, None, None]
    assert [index.document_of(passage) for passage in range(3)] == [0, 0, 1]
    assert [index.passages_of(number) for number in (0, 1)] == [range(2), range(2, 3)]
    assert [index.lines(passage) for passage in range(3)] == [(0, 3), (3, 9), (1, 2)]
    assert ant is not None
    assert [list(part) for part in index.postings(ant)] == [[0, 2], [7, 65_535]]
    assert [index.term(number) for number in range(3)] == ["ant", "bee", "日本"]
    assert (index.find_term("cat"), index.passages_with(ant)) == (None, 2)


def test_an_index_without_documents_is_read() -> None:
    index = SearchIndex(memoryview(IndexWriter().render(IDENTITY)))

    assert (index.documents, index.passages, index.find_term("a"), index.find_document("a")) == (0, 0, None, None)


@given(st.permutations(POSTINGS))
def test_the_order_of_postings_does_not_change_the_bytes(postings: list[tuple[str, int, int]]) -> None:
    assert make(postings) == RAW


def _reads_as_before(raw: bytes) -> bool:
    index = SearchIndex(memoryview(raw))
    return [[list(part) for part in index.postings(number)] for number in range(index.terms)] == [
        [[0, 2], [7, 65_535]],
        [[1], [1]],
        [[2], [9]],
    ]


def test_every_changed_byte_is_noticed_unless_it_is_padding() -> None:
    changed = random.Random(5)
    kept = 0
    for at in range(len(RAW)):
        raw = bytearray(RAW)
        raw[at] ^= 1 << changed.randrange(8)
        try:
            assert _reads_as_before(bytes(raw))
            kept += 1
        except DamagedIndex:
            pass

    assert kept < 16 * 8  # at most seven bytes of padding after each of the parts


@pytest.mark.parametrize("size", [0, 1, 16, 100, len(RAW) - 8])
def test_a_truncated_file_is_damaged(size: int) -> None:
    with pytest.raises(DamagedIndex):
        _reads_as_before(RAW[:size])


def _read_everything(raw: bytes) -> None:
    index = SearchIndex(memoryview(raw))
    for number in range(index.documents):
        index.find_document(index.document(number).id)
        assert set(index.passages_of(number)) <= set(range(index.passages))
    for number in range(index.terms):
        index.find_term(index.term(number))
        assert index.passages_with(number) >= 0
        for passage in index.postings(number)[0]:
            index.lines(passage)
            index.document(index.document_of(passage))


@pytest.mark.parametrize("section", sorted(items(RAW)))
def test_a_file_with_valid_checksums_and_other_numbers_is_read_or_damaged(section: str) -> None:
    widest = 8 * {"B": 1, "H": 2, "I": 4, "Q": 8}[_TYPES[section]]
    damaged = 0
    for at in range(items(RAW)[section]):
        for value in (0, 1, 2, 3, 200, (1 << widest) - 1):
            try:
                _read_everything(plant(RAW, section, at, value & ((1 << widest) - 1)))
            except DamagedIndex:
                damaged += 1
    harmless = {"versions", "firsts", "lasts", "impacts", "posting_sums"}
    assert (damaged == 0) is (section in harmless)


@pytest.mark.parametrize("section", sorted(items(RAW)))
def test_a_section_that_is_too_short_is_damaged(section: str) -> None:
    with pytest.raises(DamagedIndex):
        SearchIndex(memoryview(shorten(RAW, section)))


def test_a_document_of_an_unknown_kind_is_damaged() -> None:
    with pytest.raises(DamagedIndex):
        SearchIndex(memoryview(plant_kinds(RAW, ["markdown"])))
