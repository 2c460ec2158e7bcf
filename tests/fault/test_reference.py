"""The page of failures is what the catalogue says."""

from __future__ import annotations

from pathlib import Path

import pytest

from strictwire.fault.catalogue import CATALOGUE
from strictwire.fault.reference import render_reference

PAGE = Path(__file__).parents[2] / "docs" / "FAILURES.md"


def test_the_page_is_not_stale() -> None:
    """Write it again with ./scripts/failures-page."""
    assert PAGE.read_text() == render_reference()


@pytest.mark.clause("S12")
@pytest.mark.parametrize("code", CATALOGUE)
def test_the_page_says_which_action_each_code_asks_for(code: str) -> None:
    entry = CATALOGUE[code]

    assert f"| `{code}` | {entry.meaning} | {entry.action} |" in render_reference()
