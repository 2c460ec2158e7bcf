"""docs/WORKSPACE.md agrees with the code."""

from __future__ import annotations

import re
from pathlib import Path

from strictwire.packs.workspace import grants
from strictwire.packs.workspace.attest import check
from strictwire.packs.workspace.pack import WorkspacePack
from strictwire.packs.workspace.policy.rules import RULES
from strictwire.packs.workspace.reconcile import FINDINGS
from strictwire.packs.workspace.roles import LOCKING, LOCKING_CHANGES, Role

PAGE = (Path(__file__).parents[3] / "docs" / "WORKSPACE.md").read_text(encoding="utf-8")


def test_the_page_names_every_tool_and_every_code_that_locks() -> None:
    assert [name for name in (*WorkspacePack.tools, *LOCKING, *LOCKING_CHANGES) if f"`{name}`" not in PAGE] == []


def test_the_page_names_every_replay_finding_bundle_check_and_setting() -> None:
    checks = set(re.findall(r"[A-Z_]+$", str(check.__doc__), re.MULTILINE))
    settings = set(re.findall(r"^(\w+) = ", str(grants.__doc__), re.MULTILINE)) - set(Role)

    assert len(checks) == 10
    assert [name for name in (*FINDINGS, *sorted(checks)) if f"`{name}`" not in PAGE] == []
    assert [name for name in sorted(settings) if name not in PAGE] == []


def test_the_page_lists_the_rules_with_their_purpose_and_severity() -> None:
    rows = re.findall(r"^\| `([A-Z_]+)` \| (.+) \| (error|warning|off) \|$", PAGE, re.MULTILINE)
    expected = [(rule.id, rule.purpose.removeprefix("Checks that ").rstrip("."), rule.severity.value) for rule in RULES]

    assert rows == expected
