"""Medians, goals and the page, checked with known figures."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from benchmarks.drive import Measurement
from benchmarks.instructions import read_total
from benchmarks.matrix import Matrix, MatrixKey
from benchmarks.messages import Revision
from benchmarks.page import render_page, render_rows
from benchmarks.parts import server
from benchmarks.peers import OURS, SDK_LOW
from benchmarks.plots import draw, nice, ticks
from benchmarks.results import (
    PartResult,
    Plot,
    Table,
    at_least,
    at_most,
    compare_rounds,
    read_result,
    summarise,
    write_result,
)


def measured(calls: int, seconds: float, latency: float) -> Measurement:
    return Measurement(calls=calls, seconds=seconds, latencies=[latency] * 3, client_cpu=seconds / 4, server_cpu=seconds / 2)


def test_repeated_runs_become_their_medians() -> None:
    runs = [measured(100, 1.0, 0.001), measured(400, 1.0, 0.004), measured(200, 1.0, 0.002)]

    found = summarise(runs)

    assert (found.rate, found.p50, found.cpu, found.busy) == (200.0, 2000.0, 2500.0, 0.25)
    assert (found.rates, found.p50s, found.cpus) == (
        (100.0, 400.0, 200.0),
        (1000.0, 4000.0, 2000.0),
        (5000.0, 1250.0, 2500.0),
    )


def test_a_slowdown_of_the_machine_does_not_change_a_ratio() -> None:
    assert compare_rounds((800.0, 400.0, 90.0), (100.0, 50.0, 10.0)) == 8.0


def test_a_goal_that_was_not_measured_is_neither_reached_nor_missed() -> None:
    goals = [
        at_least("x", 2, 2.0),
        at_least("x", 2, 1.99),
        at_least("x", 2, None),
        at_most("x", 0.5, 0.5),
        at_most("x", 0.5, 0.6),
    ]

    assert [goal.reached for goal in goals] == [True, False, None, True, False]


def test_ratios_compare_our_slower_revision_with_the_faster_one_of_a_peer() -> None:
    matrix = Matrix()
    for contender, revision, rate in (
        (OURS, Revision.LEGACY, 900.0),
        (OURS, Revision.MODERN, 800.0),
        (SDK_LOW, Revision.LEGACY, 100.0),
        (SDK_LOW, Revision.MODERN, 200.0),
    ):
        key = MatrixKey(http=True, revision=revision, scenario=server.ADD, in_flight=server.MANY, contender=contender.name)
        matrix.found[key] = summarise([measured(int(rate), 1.0, 0.001)])

    goal = server.Compare(matrix).rate("x", 8, [SDK_LOW], http=True, scenario=server.ADD)

    assert (goal.found, goal.reached) == ("4.00 (by CPU time 4.00)", False)


def test_a_result_survives_the_round_trip_through_a_file(tmp_path: Path) -> None:
    found = PartResult(
        part="server",
        tables=[Table(title="t", columns=["a"], rows=[["1"]])],
        goals=[at_least("x", 2, 3.0)],
        plots=[Plot(name="p", title="t", across="x", up="y", lines={"ours": [(1.0, 2.0)]})],
        stamp={"run": "now"},
    )
    write_result(found, tmp_path)

    assert read_result(tmp_path / "server.json") == found


def test_the_page_marks_a_missed_goal() -> None:
    found = [PartResult(part="server", goals=[at_least("speed", 2, 1.0)])]
    page = render_page(found, missing=["guard", "lint"], versions={"mcp": "2.3.0"}, order=["server"])

    assert "| server | speed | ≥ 2 | 1.00 | **no** |" in page
    assert "| mcp | 2.3.0 |" in page
    assert "Not measured in this version: guard, lint." in page


def test_table_cells_are_escaped() -> None:
    assert render_rows(["a"], [["x|y\nz"]]) == "| a |\n| --- |\n| x\\|y z |\n"


def test_a_plot_is_well_formed_and_draws_every_point() -> None:
    plot = Plot(name="p", title="a & b", across="x", up="y", lines={"ours": [(1, 10), (100, 2000)], "<peer>": [(1, 5)]})
    drawn = ET.fromstring(draw(plot))

    assert len(drawn.findall("{http://www.w3.org/2000/svg}circle")) == 3


def test_numbers_on_axes_are_short() -> None:
    assert ([nice(value) for value in (0.5, 20, 1500, 2e6)], ticks(9, 60)) == (["0.5", "20", "1.5k", "2M"], [10, 20, 50])


def test_the_total_of_a_callgrind_dump_is_read() -> None:
    assert read_total("events: Ir\n12 3\ntotals: 135\n") == 135
    with pytest.raises(ValueError, match="no totals"):
        read_total("events: Ir\n")
