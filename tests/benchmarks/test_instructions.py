"""The one test of speed: instructions a call may not grow. Other work on the machine does not change them."""

from __future__ import annotations

import shutil

import pytest
from benchmarks.instructions import SCENARIOS, counts, find_growth, read_baseline

needs_valgrind = pytest.mark.skipif(shutil.which("vgdb") is None, reason="valgrind is not installed")
needs_baseline = pytest.mark.skipif(not read_baseline(), reason="no counts were recorded with this interpreter")


@pytest.mark.slow
@needs_valgrind
@needs_baseline
def test_a_call_costs_no_more_instructions_than_were_recorded() -> None:
    """`python -m benchmarks.instructions --record` sets the baseline anew after a change that is worth its cost."""
    assert find_growth(counts(SCENARIOS), read_baseline()) == {}


def test_growth_is_told_only_beyond_the_tolerance() -> None:
    baseline = {"a": 1000, "b": 1000, "c": 1000}

    assert find_growth({"a": 1050, "b": 1100, "c": 500, "new": 7}, baseline) == {"b": pytest.approx(0.1)}
