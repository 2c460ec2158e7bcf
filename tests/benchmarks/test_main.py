"""The page of figures is written only from a full set of results, and a peer that cannot be installed fails nothing."""

from __future__ import annotations

from benchmarks.__main__ import find_missing
from benchmarks.results import PartResult
from benchmarks.unity_figures import Figure, render


def test_parts_without_a_result_are_named_in_their_order() -> None:
    assert find_missing([PartResult(part="unity")], ["server", "unity", "lint"]) == ["server", "lint"]
    assert find_missing([PartResult(part="unity"), PartResult(part="server")], ["server", "unity"]) == []


def test_a_figure_that_was_not_measured_is_neither_reached_nor_missed() -> None:
    figures = [Figure(text=name, found="1", wanted="2", reached=name_is) for name, name_is in _EACH]

    assert [line[:8].strip() for line in render(figures).splitlines()] == ["ok", "MISSED", "-"]


_EACH = (("a", True), ("b", False), ("c", None))
