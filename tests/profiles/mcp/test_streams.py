"""Streams that can be resumed: every event is kept for whoever comes back, within bounds."""

from __future__ import annotations

from strictwire.profiles.mcp.streams import MAX_BYTES, MAX_EVENTS, MAX_STREAMS, RETRY_MS, Streams


class Recorder:
    """An outlet that keeps what it is given."""

    def __init__(self) -> None:
        self.opened = self.closed = False
        self.sent: list[tuple[bytes, str | None, int | None]] = []

    def open(self) -> None:
        self.opened = True

    def send(self, message: bytes, *, event_id: str | None = None, retry_ms: int | None = None) -> bool:
        self.sent.append((message, event_id, retry_ms))
        return not self.closed

    def close(self) -> None:
        self.closed = True


def test_a_stream_opens_with_an_event_that_can_be_come_back_to() -> None:
    outlet = Recorder()
    stream = Streams().start(outlet)
    stream.send(b"a")
    stream.finish(b"b")

    assert outlet.sent == [(b"", "1.0", RETRY_MS), (b"a", "1.1", None), (b"b", "1.2", None)]
    assert (outlet.closed, stream.ended.is_set()) == (True, True)


def test_whoever_comes_back_gets_what_was_missed_and_what_follows() -> None:
    streams, first, second = Streams(), Recorder(), Recorder()
    stream = streams.start(first)
    stream.send(b"a")
    stream.close()
    stream.send(b"b")
    resumed = streams.resume("1.1", second)
    stream.finish(b"c")

    assert resumed is stream
    assert first.sent[1:] == [(b"a", "1.1", None)]
    assert second.sent == [(b"b", "1.2", None), (b"c", "1.3", None)]


def test_a_stream_that_ended_is_closed_again_at_once() -> None:
    streams, late = Streams(), Recorder()
    streams.start(Recorder()).finish(b"a")

    assert streams.resume("1.0", late) is not None
    assert (late.sent, late.closed) == ([(b"a", "1.1", None)], True)


def test_a_stream_that_never_opened_is_forgotten() -> None:
    streams = Streams()
    streams.forget(streams.start(Recorder()))

    assert streams.resume("1.0", Recorder()) is None


def test_what_is_kept_is_bounded() -> None:
    streams, again = Streams(), Recorder()
    stream = streams.start(Recorder())
    for number in range(MAX_EVENTS + 10):
        stream.send(b"%d" % number)
    streams.resume("1.0", again)
    assert len(again.sent) == MAX_EVENTS
    for _ in range(MAX_STREAMS):
        streams.start(Recorder())

    assert streams.resume("1.0", Recorder()) is None


def test_closing_ends_every_stream() -> None:
    streams, outlet = Streams(), Recorder()
    stream = streams.start(outlet)
    stream.send(b"a")
    streams.close()

    assert (outlet.closed, stream.ended.is_set(), streams.resume("1.0", Recorder())) == (True, True, None)


def test_the_bytes_of_kept_events_are_bounded_and_the_newest_are_kept() -> None:
    streams, size = Streams(), MAX_BYTES // 10
    kept = [streams.start(Recorder()) for _ in range(30)]
    for stream in kept:
        stream.send(b"x" * size)

    sizes = [sum(len(message) for _, message in stream.events) for stream in kept]
    assert sum(sizes) <= MAX_BYTES
    assert sizes[-1] == size
