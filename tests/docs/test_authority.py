"""The four governing pages stand in order, and the places they name exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ORDER = ("PROTOCOL", "SECURITY", "CONTRACT", "SCHEMA")


@pytest.mark.clause("G17")
def test_the_pages_of_authority_exist_and_say_their_order() -> None:
    first = (ROOT / "docs" / "PROTOCOL.md").read_text(encoding="utf-8")
    above = first[: first.index("##")]
    places = [above.index(f"[{name}]") for name in ORDER[1:]]

    assert all((ROOT / "docs" / f"{name}.md").is_file() for name in ORDER)
    assert places == sorted(places)


@pytest.mark.clause("G17")
@pytest.mark.parametrize("page", ["SECURITY", "SECURITY-MODEL", "ARCHITECTURE"])
def test_every_file_that_a_page_names_as_the_place_of_a_control_exists(page: str) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+/[a-z_/]+\.py)`", text))
    missing = [name for name in sorted(named) if not any((ROOT / top / name).is_file() for top in ("src/strictwire", "."))]

    assert named
    assert missing == []


def test_every_threat_names_a_control_and_a_test() -> None:
    text = (ROOT / "docs" / "SECURITY-MODEL.md").read_text(encoding="utf-8")
    section = text[text.index("## Threats") : text.index("## Limits under attack")]
    rows = [line.strip("|").split(" | ") for line in section.splitlines() if line.startswith("| ")]
    threats = [row for row in rows if row[0].strip() != "threat"]

    assert len(threats) > 30
    assert [row for row in threats if len(row) != 3 or not row[1].strip() or "`tests/" not in row[2]] == []
