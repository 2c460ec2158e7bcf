"""docs/SECURITY-MODEL.md: every test that it names exists, and every rule has a proof."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "SECURITY-MODEL.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[^`]+)`", TEXT)))


def rows(heading: str) -> list[list[str]]:
    """The rows of the tables below a heading, as cells."""
    section = re.split(r"\n## ", TEXT.split(f"\n## {heading}\n", 1)[1])[0]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("| ")]
    return [row for row in cells if row[-1] != "test"]


@cache
def functions_in(path: Path) -> frozenset[str]:
    """The names of the functions of a module."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return frozenset(node.name for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


@pytest.mark.parametrize("named", NAMED)
def test_what_the_page_names_exists(named: str) -> None:
    file, _, test = named.partition("::")

    assert (ROOT / file).exists()
    assert not test or test in functions_in(ROOT / file)


def test_every_rule_has_a_proof() -> None:
    assert len(rows("Rules and their proofs")) >= 35, "24 attacks of the first review, and 11 of less weight"
    assert [row[1] for row in rows("Rules and their proofs") if "::test_" not in row[-1]] == []
