"""Reads the clause marks out of the test files and writes the clause table. Marks are read, not run: the page does not
depend on which tests a run selects."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from tests.requirements.clauses import CLAUSES, GROUPS

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = ROOT / "docs" / "CONTRACT.md"
PROVEN: Final = Path(__file__).with_name("proven.txt")
BEGIN: Final = "<!-- clauses: made by scripts/contract-page -->"
END: Final = "<!-- end of clauses -->"
SHOWN: Final = 4
"""Tests named in a row; the rest are counted."""


@cache
def find_marks(mark: str = "clause") -> dict[str, list[str]]:
    """Clause id to the tests that carry its mark, as `file::test`."""
    found: dict[str, list[str]] = {}
    for path in sorted(_test_files(ROOT / "tests")):
        source = path.read_text(encoding="utf-8")
        for clause, test in _marks_in(ast.parse(source), mark) if f".{mark}(" in source else ():
            found.setdefault(clause, []).append(f"{path.relative_to(ROOT)}::{test}")
    return found


def _test_files(folder: Path) -> Iterator[Path]:
    """Test files of ours: installed packages below the tests have tests of their own."""
    for each in folder.iterdir():
        if each.is_dir() and each.name != "node_modules":
            yield from _test_files(each)
        elif each.name.startswith("test_") and each.suffix == ".py":
            yield each


def _marks_in(tree: ast.Module, mark: str) -> Iterator[tuple[str, str]]:
    whole = [clause for node in tree.body if isinstance(node, ast.Assign) for clause in _clauses(node.value, mark)]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            own = [clause for decorator in node.decorator_list for clause in _clauses(decorator, mark)]
            yield from ((clause, node.name) for clause in dict.fromkeys([*whole, *own]))
        elif isinstance(node, ast.ClassDef):
            shared = [clause for decorator in node.decorator_list for clause in _clauses(decorator, mark)]
            tests = [each.name for each in node.body if isinstance(each, ast.FunctionDef) and each.name.startswith("test_")]
            yield from ((clause, test) for test in tests for clause in shared)


def _clauses(node: ast.AST, mark: str) -> Iterator[str]:
    """The ids in `pytest.mark.clause("A1", "B2")`, wherever in the expression it stands."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == mark:
            yield from (arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str))


def render_table(marks: dict[str, list[str]]) -> str:
    """The clause tables, one a group."""
    parts = []
    for letter, title in GROUPS.items():
        rows = [_row(clause, marks.get(clause, [])) for clause in CLAUSES if clause[0] == letter]
        parts.append("\n".join([f"### {letter}: {title}", "", "| id | promise | proved by |", "|---|---|---|", *rows]))
    return "\n\n".join(parts)


def _row(clause: str, tests: list[str]) -> str:
    shown = "<br>".join(f"`{test.removeprefix('tests/')}`" for test in tests[:SHOWN])
    more = f"<br>and {len(tests) - SHOWN} more" if len(tests) > SHOWN else ""
    return f"| {clause} | {CLAUSES[clause].replace('|', chr(92) + '|')} | {shown + more or '**open**'} |"


def with_table(page: str, table: str) -> str:
    """The page with its table replaced."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{table}\n\n{END}{rest.partition(END)[2]}"


def read_proven() -> list[str]:
    """Clauses that had a test once, and may never be without again."""
    return PROVEN.read_text(encoding="utf-8").split()


def write() -> None:
    """Bring the page and the list of proven clauses up to date; nothing is ever taken off the list."""
    marks = find_marks()
    proven = set(marks) | (set(read_proven()) if PROVEN.exists() else set())
    PROVEN.write_text("\n".join(clause for clause in CLAUSES if clause in proven) + "\n", encoding="utf-8")
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), render_table(marks)), encoding="utf-8")
