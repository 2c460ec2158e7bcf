"""The decoder for server-sent events follows the WHATWG rules and has a size limit."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictwire.client.errors import TooLarge
from strictwire.client.sse import Event, SseDecoder

STREAM = (
    b"\xef\xbb\xbf: a comment\r\n"
    b'id: 7\r\ndata: {"a":1}\r\n\r\n'
    b"event: ping\rdata:\rdata: two\rretry: 1500\r\r"
    b"id: bad\0id\ndata:  spaced\nunknown: x\nretry: soon\n\n"
    b"id: 8\n\n"
    b"data: unfinished"
)
EVENTS = [
    Event(data=b'{"a":1}', id="7"),
    Event(data=b"\ntwo", event="ping", id="7", retry=1500),
    Event(data=b" spaced", id="7"),
]


def test_lines_end_with_cr_lf_or_crlf_and_unknown_fields_are_ignored() -> None:
    assert SseDecoder().feed(STREAM) == EVENTS


@given(st.lists(st.integers(min_value=0, max_value=len(STREAM)), max_size=12))
def test_the_chunk_boundaries_do_not_change_the_events(cuts: list[int]) -> None:
    decoder = SseDecoder()
    edges = [0, *sorted(cuts), len(STREAM)]
    events = [event for start, end in itertools.pairwise(edges) for event in decoder.feed(STREAM[start:end])]

    assert events == EVENTS


def test_an_event_larger_than_the_limit_is_refused() -> None:
    decoder = SseDecoder(max_event=100)

    for _ in range(6):
        decoder.feed(b"data: 0123456789\n")
    with pytest.raises(TooLarge):
        decoder.feed(b"data: 0123456789\n")


def test_a_line_larger_than_the_limit_is_refused() -> None:
    with pytest.raises(TooLarge):
        SseDecoder(max_event=100).feed(b"data: " + b"x" * 200)


def test_the_limit_applies_to_one_event_not_to_the_stream() -> None:
    decoder = SseDecoder(max_event=100)

    events = [event for _ in range(50) for event in decoder.feed(b"data: 0123456789\n\n")]

    assert events == [Event(data=b"0123456789")] * 50
