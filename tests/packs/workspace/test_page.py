"""docs/WORKSPACE.md says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from strictwire.packs.workspace.pack import WorkspacePack
from strictwire.packs.workspace.policy.rules import RULES
from strictwire.packs.workspace.roles import LOCKING, LOCKING_CHANGES

PAGE = (Path(__file__).parents[3] / "docs" / "WORKSPACE.md").read_text(encoding="utf-8")


def test_the_page_names_every_tool_and_every_code_that_locks() -> None:
    assert [name for name in (*WorkspacePack.tools, *LOCKING, *LOCKING_CHANGES) if f"`{name}`" not in PAGE] == []


def test_the_page_lists_the_rules_with_their_purpose_and_severity() -> None:
    rows = re.findall(r"^\| `([A-Z_]+)` \| (.+) \| (error|warning|off) \|$", PAGE, re.MULTILINE)
    expected = [(rule.id, rule.purpose.removeprefix("Checks that ").rstrip("."), rule.severity.value) for rule in RULES]

    assert rows == expected
