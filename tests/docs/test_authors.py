"""docs/AUTHORS.md names every option and every public name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import strictwire
from strictwire.server.declare.options import ToolOptions

PAGE = (Path(__file__).parents[2] / "docs" / "AUTHORS.md").read_text(encoding="utf-8")
ELSEWHERE = {"DeclarationRefused", "Elicited", "Failure", "elicitation", "roots", "sampling"}
"""Names that an author meets as the value of another one."""


@pytest.mark.parametrize("option", ToolOptions.__annotations__)
def test_every_option_of_a_tool_has_a_row(option: str) -> None:
    assert f"| `{option}` |" in PAGE


@pytest.mark.parametrize("name", sorted(set(strictwire.__all__) - ELSEWHERE))
def test_every_public_name_is_used_in_an_example(name: str) -> None:
    assert re.search(rf"\b{name}\b", PAGE)
