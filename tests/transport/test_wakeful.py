"""The loop that stays awake between messages: when it looks, when it sleeps, and for how long."""

from __future__ import annotations

import asyncio
import os
import selectors
import socket
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from strictwire.pipeline.soon import soon_of
from strictwire.transport.wakeful import MOMENT, WakefulSelector, make_loop

Waits = list[float | None]


class Steps:
    """A clock that goes on by a step whenever it is read."""

    def __init__(self, step: float) -> None:
        self.now, self.step = 0.0, step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> Waits:
    """How long the system's selector, which does its work, was told to wait."""
    told: Waits = []
    select = selectors.DefaultSelector.select

    def note(self: selectors.DefaultSelector, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        told.append(timeout)
        return select(self, timeout)

    monkeypatch.setattr(selectors.DefaultSelector, "select", note)
    return told


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


@pytest.fixture
def opened(pair: tuple[socket.socket, socket.socket]) -> Iterator[Callable[[Steps], WakefulSelector]]:
    """Makes selectors that wait for one end of the pair."""
    made: list[WakefulSelector] = []

    def open_with(clock: Steps) -> WakefulSelector:
        made.append(WakefulSelector(clock))
        made[-1].register(pair[0], selectors.EVENT_READ)
        return made[-1]

    yield open_with
    for each in made:
        each.close()


Opened = Callable[[Steps], WakefulSelector]
Pair = tuple[socket.socket, socket.socket]


def test_a_message_that_came_quickly_keeps_it_awake(opened: Opened, pair: Pair, waits: Waits) -> None:
    selector = opened(Steps(MOMENT / 10))
    pair[1].send(b"x")
    selector.select(5)
    waits.clear()

    ready = selector.select(5)

    assert ([pair[0]], [0]) == ([key.fileobj for key, _ in ready], waits)


def test_at_first_it_sleeps_at_once(opened: Opened, pair: Pair, waits: Waits) -> None:
    selector = opened(Steps(MOMENT / 10))
    pair[1].send(b"x")

    selector.select(None)

    assert waits == [None]


def test_a_moment_that_brings_nothing_ends_in_sleep_for_what_is_left(opened: Opened, pair: Pair, waits: Waits) -> None:
    clock = Steps(MOMENT / 4)
    selector = opened(clock)
    pair[1].send(b"x")
    selector.select(5)
    pair[0].recv(1)
    waits.clear()

    assert selector.select(0.01) == []
    assert waits == [0, 0, 0, 0, pytest.approx(0.01 - MOMENT)]


def test_after_a_moment_that_brought_nothing_it_sleeps_at_once(opened: Opened, pair: Pair, waits: Waits) -> None:
    selector = opened(Steps(MOMENT / 4))
    pair[1].send(b"x")
    selector.select(5)
    pair[0].recv(1)
    selector.select(0.001)
    waits.clear()

    assert selector.select(0.002) == []
    assert waits == [0.002]


@pytest.mark.parametrize("was_awake", [False, True])
def test_where_several_came_at_once_it_sleeps(opened: Opened, pair: Pair, waits: Waits, was_awake: bool) -> None:
    selector = opened(Steps(MOMENT / 10))
    pair[1].send(b"x")
    if was_awake:
        selector.select(5)
    selector.register(pair[1], selectors.EVENT_WRITE)
    assert len(selector.select(5)) == 2
    waits.clear()

    selector.select(5)

    assert waits == [5]


def test_a_message_that_was_long_in_coming_does_not_wake_it_for_the_next(opened: Opened, pair: Pair, waits: Waits) -> None:
    selector = opened(Steps(MOMENT * 2))
    pair[1].send(b"x")
    selector.select(5)
    waits.clear()

    selector.select(5)

    assert waits == [5]


def test_a_timer_that_is_due_within_the_moment_is_not_held_up(opened: Opened, pair: Pair, waits: Waits) -> None:
    clock = Steps(MOMENT / 4)
    selector = opened(clock)
    pair[1].send(b"x")
    selector.select(5)
    pair[0].recv(1)
    waits.clear()

    assert selector.select(MOMENT / 2) == []
    assert waits == [0, 0, pytest.approx(0, abs=1e-9)]


@pytest.mark.parametrize("timeout", [0, -1])
def test_a_turn_that_must_not_wait_only_looks(opened: Opened, waits: Waits, timeout: float) -> None:
    selector = opened(Steps(MOMENT / 10))

    assert selector.select(timeout) == []
    assert waits == [timeout]


def test_a_loop_with_it_does_what_loops_do(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 1}, raising=False)
    for end in pair:
        end.setblocking(False)

    async def talk() -> bytes:
        loop, heard = asyncio.get_running_loop(), b""
        echo = asyncio.create_task(_echo(pair[1]))
        for word in (b"one", b"two", b"six"):
            await loop.sock_sendall(pair[0], word)
            heard += await loop.sock_recv(pair[0], 3)
        echo.cancel()
        await asyncio.sleep(MOMENT * 2)
        return heard

    with asyncio.Runner(loop_factory=partial(make_loop, wakeful=True)) as runner:
        assert runner.run(talk()) == b"onetwosix"


async def _echo(end: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    while word := await loop.sock_recv(end, 3):
        await loop.sock_sendall(end, word)


def test_on_one_core_others_have_to_run_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0}, raising=False)
    made: list[type] = []
    monkeypatch.setattr(WakefulSelector, "__init__", lambda *_: made.append(WakefulSelector))

    make_loop(wakeful=True).close()

    assert made == []


def test_a_loop_of_another_kind_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other(asyncio.SelectorEventLoop):
        """As an author's own policy would give."""

    monkeypatch.setattr(asyncio, "new_event_loop", Other)
    loop = make_loop(wakeful=True)
    loop.close()

    assert type(loop) is Other


@pytest.mark.parametrize("wakeful", [False, True])
def test_a_loop_tells_whether_a_turn_found_something(pair: Pair, wakeful: bool) -> None:
    async def listen() -> list[bool]:
        loop = asyncio.get_running_loop()
        soon, told, came = soon_of(loop), [], asyncio.Event()
        loop.add_reader(pair[0], lambda: (pair[0].recv(1), told.append(soon.is_quiet), came.set()))
        for _ in range(2):
            await asyncio.sleep(0)
            told.append(soon.is_quiet)
        pair[1].send(b"x")
        await came.wait()
        for _ in range(2):
            await asyncio.sleep(0)
            told.append(soon.is_quiet)
        loop.remove_reader(pair[0])
        return told

    with asyncio.Runner(loop_factory=partial(make_loop, wakeful=wakeful)) as runner:
        assert runner.run(listen()) == [True, True, False, True, True]


def test_of_a_loop_that_does_not_tell_every_turn_counts_as_quiet() -> None:
    async def ask() -> bool:
        return soon_of(asyncio.get_running_loop()).is_quiet

    assert asyncio.run(ask())
