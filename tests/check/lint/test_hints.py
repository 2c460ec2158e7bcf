"""Names and hints: which verbs mean a change."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from strictwire.cli.main import main


@pytest.mark.parametrize(
    ("name", "code"), [("add", 0), ("math.add", 0), ("merge", 0), ("add_note", 100), ("addNote", 100), ("delete", 100)]
)
def test_a_verb_of_values_means_a_change_only_with_an_object(name: str, code: int, tmp_path: Path) -> None:
    tool = {
        "name": name,
        "description": "Adds two numbers.",
        "inputSchema": {"type": "object", "properties": {}},
        "annotations": {"readOnlyHint": True},
    }
    (tmp_path / "tools.json").write_text(json.dumps({"tools": [tool]}))

    assert main(["lint", str(tmp_path / "tools.json"), "--select", "HINTS_AGREE_WITH_NAME"]) == code
