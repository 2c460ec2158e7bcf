"""The hot path does not become slower unnoticed: instructions per call are independent of other work on the machine."""

from __future__ import annotations

import shutil

import pytest
from benchmarks.instructions import SCENARIOS, TOLERANCE, counts, find_growth, interpreter, read_baseline


@pytest.mark.slow
def test_no_call_takes_more_instructions_than_the_baseline_allows() -> None:
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed (Debian: valgrind)")
    baseline = read_baseline()
    if not baseline:
        pytest.skip(f"no baseline for {interpreter()}: python -m benchmarks.instructions --record")

    assert find_growth(counts(SCENARIOS), baseline) == {}, f"more than {TOLERANCE:.0%} above benchmarks/instructions.json"


def test_growth_beyond_the_tolerance_is_reported() -> None:
    assert find_growth({"add": 1_060, "echo": 1_040, "new": 9}, {"add": 1_000, "echo": 1_000}) == pytest.approx(
        {"add": 0.06}
    )
