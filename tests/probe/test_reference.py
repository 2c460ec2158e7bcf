"""docs/PROBE.md lists every probe and every tier, as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from strictwire.probe.check_report import _LEVELS
from strictwire.probe.harm import MEANINGS
from strictwire.probe.reference import render_table, update_page
from strictwire.probe.table import PROBES

PAGE = (Path(__file__).parents[2] / "docs" / "PROBE.md").read_text("utf-8")


def test_the_page_is_up_to_date() -> None:
    assert update_page(PAGE) == PAGE, "docs/PROBE.md is stale; run scripts/probe-page"


def test_the_table_has_a_row_for_every_probe() -> None:
    assert [line.split(" | ")[0] for line in render_table().splitlines()[2:]] == [f"| {probe.id}" for probe in PROBES]


@pytest.mark.parametrize("harm", MEANINGS)
def test_the_page_gives_the_meaning_and_level_of_every_tier(harm: str) -> None:
    assert f"| {harm} | {MEANINGS[harm]} | {_LEVELS[harm].value} |" in PAGE  # type: ignore[index]  # a StrEnum


def test_a_page_without_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="no markers"):
        update_page("# Probe\n")
