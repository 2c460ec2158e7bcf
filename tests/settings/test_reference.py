"""The settings page is what the settings say."""

from __future__ import annotations

from pathlib import Path

from strictwire.settings.reference import render_reference


def test_the_page_is_fresh() -> None:
    page = Path(__file__).parents[2] / "docs" / "SETTINGS.md"

    assert page.read_text(encoding="utf-8") == render_reference(), "run ./scripts/settings-page"
