"""docs/AUTHORS.md and docs/CLIENT.md name every option and every public name."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import strictwire
from strictwire.server.declare.options import ToolOptions

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "AUTHORS.md").read_text(encoding="utf-8")
CLIENT_PAGE = (DOCS / "CLIENT.md").read_text(encoding="utf-8")
ELSEWHERE = {"Elicited", "Failure", "elicitation", "roots", "sampling"}
"""Names that an author meets as the value of another one."""


@pytest.mark.parametrize("option", ToolOptions.__annotations__)
def test_every_option_of_a_tool_has_a_row(option: str) -> None:
    assert f"| `{option}` |" in PAGE


@pytest.mark.parametrize("name", sorted(set(strictwire.__all__) - ELSEWHERE))
def test_every_public_name_is_used_in_an_example(name: str) -> None:
    assert re.search(rf"\b{name}\b", PAGE + CLIENT_PAGE)


@pytest.mark.parametrize("option", [each for each in inspect.signature(strictwire.Client).parameters if each != "target"])
def test_every_option_of_the_client_has_a_row(option: str) -> None:
    assert re.search(rf"^\| [^|]*`{option}`[^|]* \|", CLIENT_PAGE, re.MULTILINE)


@pytest.mark.parametrize(
    "method", [name for name, _ in inspect.getmembers(strictwire.Client, callable) if not name.startswith("_")]
)
def test_every_method_of_the_client_has_a_row(method: str) -> None:
    assert re.search(rf"^\| [^|]*`{method}\(", CLIENT_PAGE, re.MULTILINE)
