"""Malformed input is counted instead of recorded."""

from __future__ import annotations

from strictwire.audit.event import Flood
from strictwire.audit.flood import MAX_KINDS, FloodGauge


def test_a_flood_becomes_one_record_with_counts_by_kind():
    gauge = FloodGauge()
    for number in range(1000):
        if gauge.is_empty:
            gauge.open(f"T{number}")
        gauge.count("not_json" if number % 4 else "too_large")

    assert gauge.drain("E") == Flood(timestamp="E", since="T0", counts={"not_json": 750, "too_large": 250})
    assert gauge.drain("E") is None


def test_counts_that_could_not_be_recorded_are_kept():
    gauge = FloodGauge()
    gauge.open("T0")
    gauge.count("a")
    flood = gauge.drain("E")
    assert flood is not None
    assert gauge.is_empty
    gauge.open("T1")
    gauge.count("a")
    gauge.put_back(flood)

    assert gauge.drain("E") == Flood(timestamp="E", since="T0", counts={"a": 2})


def test_the_number_of_kinds_is_bounded():
    gauge = FloodGauge()
    for number in range(MAX_KINDS + 50):
        gauge.count(f"kind{number}")
    flood = gauge.drain("E")

    assert flood is not None
    assert len(flood.counts) == MAX_KINDS + 1
    assert flood.counts["other"] == 50
