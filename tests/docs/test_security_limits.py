"""The table of limits in docs/SECURITY.md: every row names a constant and a test, and both exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def rows() -> list[list[str]]:
    """The rows of the table, as cells."""
    text = (ROOT / "docs" / "SECURITY.md").read_text(encoding="utf-8")
    section = text[text.index("## Limits") : text.index("## The governed workspace")]
    lines = [line for line in section.splitlines() if line.startswith("| ")][1:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def names_in(path: Path) -> set[str]:
    """What a module defines at its top level."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


def test_the_table_has_the_inputs() -> None:
    assert len(rows()) > 25
    assert {len(row) for row in rows()} == {5}


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_the_constant_and_the_test_of_a_limit_exist(row: list[str]) -> None:
    place, constant = re.findall(r"`([^`]+)`", row[2])
    file, _, test = row[4].strip("`").partition("::")

    assert constant in names_in(ROOT / "src" / "strictwire" / place)
    assert test in names_in(ROOT / file)
