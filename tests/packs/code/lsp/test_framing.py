"""LSP's base protocol."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strictwire.packs.code.lsp.framing import MAX_HEADER, BadFrame, FrameReader, frame


def test_a_message_is_framed_with_its_length_in_bytes() -> None:
    assert frame({"a": "é"}) == b'Content-Length: 10\r\n\r\n{"a":"\xc3\xa9"}'


@given(st.lists(st.binary(min_size=1, max_size=50)), st.lists(st.integers(1, 20)))
def test_bodies_come_out_whole_however_the_stream_is_cut(bodies: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies)
    reader, found = FrameReader(), []
    sizes = iter(cuts)
    while stream:
        size = next(sizes, 7)
        found += reader.feed(stream[:size])
        stream = stream[size:]

    assert found == bodies


@pytest.mark.parametrize(
    "header", [b"Content-Length: 2", b"content-length:2", b"Content-Type: x\r\nContent-Length: 2", b"CONTENT-LENGTH:  2 "]
)
def test_headers_are_read_in_any_order_and_case(header: bytes) -> None:
    assert FrameReader().feed(header + b"\r\n\r\n{}") == [b"{}"]


@pytest.mark.parametrize(
    "stream",
    [
        b"Content-Length: x\r\n\r\n{}",
        b"Content-Length: -2\r\n\r\n{}",
        b"Content-Length: 0\r\n\r\n",
        b"Content-Length: 101\r\n\r\n",
        b"Content-Length: 99999999999999999999\r\n\r\n",
        b"Content-Type: text\r\n\r\n{}",
        b"{}" * MAX_HEADER,
    ],
)
def test_what_is_no_header_or_beyond_the_limit_is_refused(stream: bytes) -> None:
    with pytest.raises(BadFrame):
        FrameReader(max_body=100).feed(stream)


def test_a_body_at_the_limit_is_read() -> None:
    assert FrameReader(max_body=100).feed(b"Content-Length: 100\r\n\r\n" + b"x" * 100) == [b"x" * 100]
