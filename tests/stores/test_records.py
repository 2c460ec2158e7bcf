"""Counting records."""

from __future__ import annotations

from strictwire.audit.event import Flood, Intent, Outcome, render_body
from strictwire.stores.records import EVERYTHING, MAX_NAMES, StoredRecord, count_records, filter_lines
from tests.stores.trails import call


def test_records_are_counted():
    who = {"tool_name": "write", "principal": "alice"}
    events = (
        Intent(timestamp="T1", call_id="1", **who),
        Outcome(timestamp="T2", call_id="1", **who, outcome="error", duration_us=70, error_code="TIMEOUT"),
        Intent(timestamp="T3", call_id="2", **who),
        Flood(timestamp="T4", since="T3", counts={"not_json": 7}),
    )
    lines = [render_body(event) + b"\n" for event in events]
    stats = count_records(filter_lines(lines, EVERYTHING))

    assert (stats.records, stats.size) == (4, sum(map(len, lines)))
    assert (stats.first, stats.last, stats.malformed) == ("T1", "T4", 7)
    assert (stats.open_intents, stats.slowest_us, stats.codes) == (1, 70, {"TIMEOUT": 1})
    assert (stats.kinds, stats.tools) == ({"intent": 2, "outcome": 1, "flood": 1}, {"write": 3})


def test_lines_that_are_not_records_are_skipped():
    line = render_body(call("a"))

    assert [stored.line for stored in filter_lines([b"nonsense\n", line + b"\n", b"{"], EVERYTHING)] == [line]


def test_names_that_callers_choose_do_not_fill_the_memory():
    records = [StoredRecord(b"", {"tool_name": f"tool {number}"}) for number in range(MAX_NAMES + 50)]
    tools = count_records(records).tools

    assert (len(tools), tools["(other)"]) == (MAX_NAMES + 1, 50)
