"""The hash chain: how records become lines."""

from __future__ import annotations

from strictwire.audit.chain import GENESIS, Link, maybe_leaf, maybe_link, parse_record, seal_batch
from strictwire.audit.merkle import leaf_hash
from strictwire.canon.json import MAX_VALUES, render


def test_a_line_has_its_number_and_the_previous_hash():
    line = seal_batch([b'{"kind":"call"}'], first=7, head=b"\xab" * 32).lines

    assert line == b'{"seq":7,"prev":"' + b"ab" * 32 + b'","kind":"call"}\n'
    assert maybe_link(line) == Link(7, b"\xab" * 32)


def test_a_batch_is_chained_over_the_exact_bytes_of_each_line():
    sealed = seal_batch([b'{"n":0}', b'{"n":1}'], first=0, head=GENESIS)
    first = b'{"seq":0,"prev":"' + b"00" * 32 + b'","n":0}'
    second = b'{"seq":1,"prev":"' + leaf_hash(first).hex().encode() + b'","n":1}'

    assert sealed.lines == first + b"\n" + second + b"\n"
    assert sealed.leaves == [leaf_hash(first), leaf_hash(second)]


def test_only_the_expected_complete_record_has_a_leaf():
    line = seal_batch([b'{"n":0}'], first=3, head=b"\xab" * 32).lines

    assert maybe_leaf(line, seq=3, prev=b"\xab" * 32) == leaf_hash(line[:-1])
    assert [
        maybe_leaf(line, seq=4, prev=b"\xab" * 32),
        maybe_leaf(line, seq=3, prev=b"\xac" * 32),
        maybe_leaf(line[:-1], seq=3, prev=b"\xab" * 32),
        maybe_leaf(b" " + line, seq=3, prev=b"\xab" * 32),
    ] == [None] * 4


def test_a_line_that_does_not_begin_like_a_record_has_no_link():
    lines = [b"", b"{}", b'{"seq":01,"prev":"' + b"0" * 64 + b'",', b' {"seq":1,', b'{"seq":1,"prev":"AB"']

    assert [maybe_link(line) for line in lines] == [None] * 5


def test_a_record_may_be_larger_than_a_message() -> None:
    body = render({"arguments": list(range(MAX_VALUES + 1))})

    assert parse_record(body) == {"arguments": list(range(MAX_VALUES + 1))}
