"""The schemas of the tools: listed as they stand, with a row in the contract page, and enforced (G16)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.packs.workspace.harness import BUILDER, PLANNER, open_harness, run

from strictwire.canon.json import parse_object
from strictwire.packs.workspace.pack import WorkspacePack
from strictwire.sources.shipped import load_contract

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "CONTRACT.md").read_text(encoding="utf-8")


def read(name: str) -> Any:
    return parse_object((ROOT / "schemas" / "tools" / f"{name}.json").read_bytes())


@pytest.mark.clause("G16")
def test_the_listing_shows_the_exact_schemas(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_harness(tmp_path) as harness:
            listed = (await harness.connections[BUILDER].request("tools/list"))["tools"]
            assert listed == [
                {
                    "name": tool,
                    "description": load_contract(ROOT / "schemas", tool).description,
                    "inputSchema": read(tool),
                    "outputSchema": read(f"{tool}.output"),
                }
                | ({"annotations": dict(annotations)} if annotations else {})
                for tool in WorkspacePack.tools
                for annotations in (load_contract(ROOT / "schemas", tool).annotations,)
            ]

    run(use())


@pytest.mark.clause("G16")
@pytest.mark.parametrize("tool", WorkspacePack.tools)
def test_every_tool_has_its_row_in_the_contract_page(tool: str) -> None:
    schema = read(tool)
    row = re.search(rf"^\| `{tool}` \| [^|]+ \| ([^|]+) \| ([^|]+) \|$", PAGE, re.MULTILINE)
    assert row is not None
    required = [name for name in schema["required"] if name != "session_id"]
    optional = [name for name in schema["properties"] if name not in schema["required"]]

    assert re.findall(r"\*\*`(\w+)`\*\*", row[1]) == required
    assert re.findall(r"(?<!\*)`(\w+)`(?!\*)", row[1]) == optional
    assert re.findall(r"`(\w+)`", row[2]) == list(read(f"{tool}.output")["properties"])


@pytest.mark.clause("G16", "S12")
def test_every_tool_refuses_an_unknown_argument_inside_its_session(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_harness(tmp_path) as harness:
            session = await harness.begin(PLANNER, "ANTIGRAVITY")
            for tool in WorkspacePack.tools:
                given = {} if tool == "begin_session" else {"session_id": session}
                code, reason = await harness.code(PLANNER, tool, **given, no_such_argument=1)
                required = len(read(tool)["required"]) > len(given)
                assert (code, reason) == ("MISSING_REQUIRED_FIELD" if required else "INVALID_INPUT_VALUE", "schema"), tool

    run(use())
