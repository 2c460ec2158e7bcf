"""The number of calls at once follows the size of the answers."""

from __future__ import annotations

from strictwire.transport.call_window import (
    FIRST_WINDOW,
    LARGE,
    LEAST_WINDOW,
    MAX_ANSWER_BYTES,
    MAX_IN_FLIGHT_BYTES,
    CallWindow,
)

MEGABYTE = 1024 * 1024


def test_small_answers_widen_the_window_and_large_ones_halve_it() -> None:
    window = CallWindow()
    sizes = []
    for size in (10, 10, LARGE, 10):
        window.note_answer(size)
        sizes.append(window.size)

    assert sizes == [FIRST_WINDOW + 1, FIRST_WINDOW + 2, (FIRST_WINDOW + 2) // 2, (FIRST_WINDOW + 2) // 2 + 1]


def test_calls_that_seem_to_wait_do_not_widen_it_beyond_what_their_answers_may_take() -> None:
    """On a busy machine calls that compute take as long as calls that wait."""
    window = CallWindow()
    window.note_answer(4 * MEGABYTE)
    for _ in range(10):
        window.double(window.size)

    assert window.size == MAX_ANSWER_BYTES // (4 * MEGABYTE)
    assert not window.has_room(window.size)


def test_a_large_answer_is_forgotten_after_many_small_ones() -> None:
    window = CallWindow()
    window.note_answer(4 * MEGABYTE)
    for _ in range(300):
        window.note_answer(10)

    assert window.size == LEAST_WINDOW + 300


def test_calls_that_wait_double_it() -> None:
    window = CallWindow()
    window.double(100)

    assert window.size == 200


def test_large_requests_take_a_bounded_number_of_bytes() -> None:
    window = CallWindow()
    window.begin_large(MAX_IN_FLIGHT_BYTES)
    full = window.has_room(0)
    window.end_large(1)

    assert (full, window.has_room(0)) == (False, True)
