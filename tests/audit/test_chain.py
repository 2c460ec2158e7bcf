"""How records become lines."""

from __future__ import annotations

from strictwire.audit.chain import GENESIS, Link, maybe_link, seal, seal_batch
from strictwire.audit.merkle import leaf_hash


def test_a_line_says_its_number_and_the_hash_before_it():
    line = seal(b'{"kind":"call"}', seq=7, prev=b"\xab" * 32)

    assert line == b'{"seq":7,"prev":"' + b"ab" * 32 + b'","kind":"call"}'
    assert maybe_link(line) == Link(7, b"\xab" * 32)


def test_a_batch_is_chained_over_the_exact_bytes_of_each_line():
    sealed = seal_batch([b'{"n":0}', b'{"n":1}'], first=0, head=GENESIS)
    first = seal(b'{"n":0}', seq=0, prev=GENESIS)
    second = seal(b'{"n":1}', seq=1, prev=leaf_hash(first))

    assert sealed.lines == first + b"\n" + second + b"\n"
    assert sealed.leaves == [leaf_hash(first), leaf_hash(second)]


def test_what_does_not_begin_like_a_record_has_no_place():
    lines = [b"", b"{}", b'{"seq":01,"prev":"' + b"0" * 64 + b'",', b' {"seq":1,', b'{"seq":1,"prev":"AB"']

    assert [maybe_link(line) for line in lines] == [None] * 5
