"""Line framing: complete lines of limited length, however the stream is cut into chunks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from strictwire.wire.framing import LineSplitter, TooLong


def split(chunks: list[bytes], limit: int = 10) -> list[bytes | TooLong]:
    splitter = LineSplitter(limit)
    found = [line for chunk in chunks for line in splitter.feed(chunk)]
    return found + list(splitter.finish())


def test_lines_are_assembled_from_chunks() -> None:
    assert split([b"ab", b"c\nde", b"\n\n", b"f"]) == [b"abc", b"de", b"f"]


def test_blank_lines_and_a_lone_carriage_return_are_skipped() -> None:
    assert split([b"\n \t\r\n\r\na\r\n"]) == [b"a\r"]


def test_a_line_above_the_limit_is_reported_once_and_the_next_line_is_read() -> None:
    assert split([b"x" * 5, b"x" * 6, b"x" * 100, b"\nok\n"]) == [TooLong(), b"ok"]


def test_a_line_of_exactly_the_limit_is_accepted() -> None:
    assert split([b"x" * 10 + b"\n" + b"x" * 11]) == [b"x" * 10, TooLong()]


def test_the_bytes_of_a_line_above_the_limit_are_not_buffered() -> None:
    splitter = LineSplitter(10)

    for _ in range(1000):
        assert list(splitter.feed(b"x" * 1000)) == []

    assert sum(map(len, splitter._pending)) == 0


@given(
    st.lists(st.binary(max_size=8).filter(lambda line: b"\n" not in line and line.strip(b" \t\r")), max_size=8), st.data()
)
def test_the_chunk_boundaries_do_not_change_the_lines(lines: list[bytes], data: st.DataObject) -> None:
    stream = b"\n".join(lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=5)))
    chunks = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]

    assert split(chunks) == lines
