"""docs/FAILURES.md is generated from the catalogue."""

from __future__ import annotations

from pathlib import Path

import pytest

from strictwire.fault.catalogue import CATALOGUE
from strictwire.fault.reference import render_reference

PAGE = Path(__file__).parents[2] / "docs" / "FAILURES.md"


def test_docs_failures_md_is_up_to_date() -> None:
    """Run ./scripts/failures-page to update the page."""
    assert PAGE.read_text() == render_reference()


@pytest.mark.clause("S12")
@pytest.mark.parametrize("code", CATALOGUE)
def test_the_page_has_the_action_of_each_code(code: str) -> None:
    entry = CATALOGUE[code]

    assert f"| `{code}` | {entry.meaning} | {entry.action} |" in render_reference()
