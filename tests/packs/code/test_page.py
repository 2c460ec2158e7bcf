"""docs/CODE.md: every setting with its defaults, every tool, every code."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from strictwire.packs.code.catalogue import CODE_TOOLS, DROP_IN_TOOLS
from strictwire.packs.code.engines.table import BUILT_IN, DEFAULTS
from strictwire.packs.code.limits import DROP_IN, ToolSettings
from strictwire.packs.code.options import _KNOWN

PAGE = (Path(__file__).parents[3] / "docs" / "CODE.md").read_text(encoding="utf-8")


def shown(value: object) -> str:
    return f"`{str(value).lower()}`"


@pytest.mark.parametrize("name", [field.name for field in fields(ToolSettings)])
def test_every_setting_is_documented_with_both_defaults(name: str) -> None:
    row = f"| `{name}` | {shown(getattr(ToolSettings(), name))} | {shown(getattr(DROP_IN, name))} | "

    assert row in PAGE


@pytest.mark.parametrize("name", _KNOWN)
def test_every_setting_of_the_engines_is_documented(name: str) -> None:
    assert f"| `{name}` | " in PAGE


@pytest.mark.parametrize("name", sorted({*DEFAULTS.values()}))
def test_every_engine_by_default_has_its_installation(name: str) -> None:
    assert f"`{BUILT_IN[name].install}`" in PAGE


@pytest.mark.parametrize("tool", CODE_TOOLS)
def test_every_tool_is_on_the_page(tool: str) -> None:
    assert f"| `{tool}` | " in PAGE


@pytest.mark.parametrize("tool", DROP_IN_TOOLS)
def test_every_drop_in_tool_is_on_the_page(tool: str) -> None:
    assert f"`{tool}`" in PAGE or f"`{tool.removeprefix('vscode_lsp')}`" in PAGE
