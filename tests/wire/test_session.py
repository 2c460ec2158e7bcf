"""Requests in flight, and progress that only increases."""

from __future__ import annotations

from strictwire.wire.session import InFlight, Progress


def test_an_integer_id_and_an_equal_string_id_are_two_requests() -> None:
    table: InFlight[str] = InFlight()

    assert table.add(1, "number")
    assert table.add("1", "text")
    assert table.pop(1) == "number"
    assert "1" in table
    assert 1 not in table


def test_an_id_in_flight_is_refused_until_it_is_removed() -> None:
    table: InFlight[str] = InFlight()

    assert table.add("a", "first")
    assert not table.add("a", "second")
    assert table.pop("a") == "first"
    assert table.pop("a", None) is None
    assert table.add("a", "third")
    assert list(table.values()) == ["third"]
    assert len(table) == 1


def test_progress_that_does_not_increase_is_not_reported() -> None:
    progress = Progress()

    assert [progress.advances(step) for step in (0, 1, 1, 0.5, 1.5)] == [True, True, False, False, True]


def test_a_request_that_ends_late_does_not_remove_a_newer_one_with_its_id() -> None:
    in_flight: InFlight[str] = InFlight()
    in_flight.add(1, "old")
    in_flight.pop(1)
    in_flight.add(1, "new")
    in_flight.release(1, "old")
    assert 1 in in_flight
    in_flight.release(1, "new")

    assert 1 not in in_flight
