"""The examples of the pages run."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", ROOT / "docs" / "AUTHORS.md", ROOT / "docs" / "CLIENT.md")


def examples() -> list[tuple[str, str]]:
    return [
        (f"{page.name}-{number}", code)
        for page in PAGES
        for number, code in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL), 1)
    ]


@pytest.mark.parametrize(("name", "code"), examples(), ids=[name for name, _ in examples()])
def test_an_example_runs_and_what_it_offers_is_a_contract(name: str, code: str, tmp_path: Path) -> None:
    file = tmp_path / "example.py"
    file.write_text(code, encoding="utf-8")

    names = runpy.run_path(str(file), run_name="example")

    server = names.get("server")
    assert server is None or server.catalog.offers.compiled


def test_every_page_that_is_linked_exists() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
    broken = [
        (page.name, link)
        for page in pages
        for link in re.findall(r"\]\((?!http|#)([^)#]+)", page.read_text(encoding="utf-8"))
        if not (page.parent / link).exists()
    ]

    assert broken == []
