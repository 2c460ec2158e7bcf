"""docs/SETTINGS.md is generated from the settings."""

from __future__ import annotations

from pathlib import Path

from strictwire.settings.reference import render_reference


def test_docs_settings_md_is_up_to_date() -> None:
    page = Path(__file__).parents[2] / "docs" / "SETTINGS.md"

    assert page.read_text(encoding="utf-8") == render_reference(), "run ./scripts/settings-page"
