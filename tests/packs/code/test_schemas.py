"""The schema files of the code tools: governance, the shapes of A.1, caps equal to the constants, and the listing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.packs.code.desk import Desk, run_desk

from strictwire.canon.json import JsonObject, parse_object, render
from strictwire.check.policy import parse_policy
from strictwire.contract.safety import Safety
from strictwire.packs.code import limits
from strictwire.packs.code.answers.hovers import MAX_FRAGMENTS
from strictwire.packs.code.catalogue import CODE_TOOLS, DROP_IN_TOOLS
from strictwire.packs.code.found import MAX_NOTE
from strictwire.packs.code.limits import DROP_IN
from strictwire.packs.kit.paging import MAX_CURSOR
from strictwire.sources.shipped import load_contract
from strictwire.sources.verbs.lint import LintOptions, run_lint

ROOT = Path(__file__).parents[3]
TOOLS = ROOT / "schemas" / "tools"
ALL = (*CODE_TOOLS, *DROP_IN_TOOLS)
PAGED = [name for name in ALL if name.partition("_")[2].removeprefix("lsp_") in {
    "references", "workspaceSymbols", "diagnostics_workspace", "callers", "implementations", "search"}]  # fmt: skip
FILES = [f"{tool}{side}" for tool in ALL for side in ("", ".output")]


def read(name: str) -> JsonObject:
    return parse_object((TOOLS / f"{name}.json").read_bytes())


def walk(schema: Any) -> Iterator[JsonObject]:
    if isinstance(schema, dict):
        yield schema
    for part in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from walk(part)


def test_the_catalogue_has_the_names_of_the_reference_in_its_order() -> None:
    seven = (
        "definition", "references", "hover", "documentSymbols", "workspaceSymbols", "diagnostics_document",
        "diagnostics_workspace",
    )  # fmt: skip

    assert tuple(f"vscode_lsp_{name}" for name in seven) == DROP_IN_TOOLS
    assert (
        tuple(f"code_{name}" for name in (*seven, "callers", "implementations", "type_definition", "outline", "search"))
        == CODE_TOOLS
    )


@pytest.mark.clause("G1", "G3", "G4", "G5", "G6", "G7", "G8", "G9", "G10", "G13", "G14", "G15")
@pytest.mark.parametrize(("prefix", "also"), [("code_", []), ("vscode_lsp_", ["CODE"])])
def test_the_schemas_pass_the_strictest_lint_with_the_caps_of_the_reference(
    tmp_path: Path, prefix: str, also: list[str]
) -> None:
    folder = tmp_path / "schemas" / "tools"
    folder.mkdir(parents=True)
    for file in TOOLS.glob(f"{prefix}*.json"):
        shutil.copy(file, folder)
    policy = {"category": "STRICT", "also": also, "page_cap": 200, "query_cap": 512, "null_cursor": PAGED}

    outcome = run_lint(LintOptions(source=str(tmp_path / "schemas"), policy=parse_policy(policy)))

    assert outcome.exit_code == 0, outcome.text


@pytest.mark.clause("G2")
@pytest.mark.parametrize("tool", ALL)
def test_a_tool_is_three_files_and_its_contract_is_read_only_in_mcp_v1(tool: str) -> None:
    contract = load_contract(ROOT / "schemas", tool)

    assert (contract.input_schema, contract.output_schema) == (read(tool), read(f"{tool}.output"))
    assert (contract.dialect, contract.safety, dict(contract.annotations)) == (
        "mcp/v1",
        Safety.READ_ONLY,
        {"readOnlyHint": True},
    )
    assert 0 < len(contract.description) <= 120
    assert "\n" not in contract.description


@pytest.mark.clause("G2")
def test_no_other_file_of_the_code_tools_exists() -> None:
    found = {file.name for prefix in ("code_", "vscode_lsp_") for file in TOOLS.glob(f"{prefix}*")}

    assert found == {f"{tool}{end}" for tool in ALL for end in (".json", ".output.json", ".contract.json")}


@pytest.mark.clause("G15")
@pytest.mark.parametrize("name", FILES)
def test_references_stay_in_the_file_and_inputs_have_none(name: str) -> None:
    schema = read(name)
    references = {part["$ref"] for part in walk(schema) if "$ref" in part}

    assert references == {f"#/$defs/{each}" for each in schema.get("$defs", {})}
    assert name.endswith(".output") or references == set()


@pytest.mark.clause("G9", "G10")
@pytest.mark.parametrize("tool", ALL)
def test_numbers_in_the_schemas_are_the_constants_of_the_code(tool: str) -> None:
    properties, output = read(tool)["properties"], read(f"{tool}.output")
    arrays = {name: part["maxItems"] for name, part in output["properties"].items() if part.get("type") == "array"}
    expected = {
        "contents": MAX_FRAGMENTS, "engines": 64, "candidates": limits.MAX_CANDIDATES, "files": limits.OUTLINE_ITEMS,
    }  # fmt: skip

    assert ("cursor" in properties) is ("pageSize" in properties) is (tool in PAGED)
    if tool in PAGED:
        assert (properties["pageSize"]["minimum"], properties["pageSize"]["maximum"]) == (
            1,
            limits.DROP_IN.max_items_per_page,
        )
        assert (properties["cursor"]["type"], properties["cursor"]["maxLength"]) == (["string", "null"], MAX_CURSOR)
    assert arrays == {name: expected.get(name, limits.LIST_ITEMS) for name in arrays}
    assert output["properties"].get("note", {}).get("maxLength", MAX_NOTE) == MAX_NOTE


SHAPES: dict[str, tuple[set[str], set[str], set[str], set[str]]] = {
    "definition": ({"uri", "position"}, set(), {"locations"}, {"summary"}),
    "references": (
        {"uri", "position"}, {"includeDeclaration", "cursor", "pageSize"}, {"items", "nextCursor"}, {"summary"},
    ),
    "hover": ({"uri", "position"}, set(), {"contents"}, {"range", "summary"}),
    "documentSymbols": ({"uri"}, set(), {"symbols"}, {"summary"}),
    "workspaceSymbols": ({"query"}, {"cursor", "pageSize"}, {"items", "nextCursor"}, {"summary"}),
    "diagnostics_document": ({"uri"}, set(), {"uri", "diagnostics"}, {"summary"}),
    "diagnostics_workspace": (set(), {"cursor", "pageSize"}, {"items", "nextCursor"}, {"summary"}),
}  # fmt: skip
"""A.1: required and optional members of the input, then of the output."""


@pytest.mark.parametrize("operation", SHAPES)
def test_the_drop_in_has_exactly_the_members_of_the_reference(operation: str) -> None:
    required, optional, gives, may_give = SHAPES[operation]
    given, output = read(f"vscode_lsp_{operation}"), read(f"vscode_lsp_{operation}.output")

    assert (set(given["required"]), set(given["properties"])) == (required, required | optional)
    assert (set(output["required"]), set(output["properties"])) == (gives, gives | may_give)


@pytest.mark.parametrize("operation", SHAPES)
def test_a_code_tool_gives_what_the_reference_gives_and_its_evidence(operation: str) -> None:
    ours, theirs = read(f"code_{operation}.output"), read(f"vscode_lsp_{operation}.output")

    assert set(ours["required"]) == {*theirs["required"], "engines", "completeness"}
    assert {name: ours["properties"][name] for name in theirs["properties"]} == theirs["properties"]
    assert {name: ours["$defs"][name] for name in theirs.get("$defs", {})} == theirs.get("$defs", {})


async def _list(desk: Desk) -> list[JsonObject]:
    tools: list[JsonObject] = (await desk.client.request("tools/list"))["tools"]
    return tools


@pytest.mark.clause("G16")
def test_the_listing_of_the_drop_in_shows_the_exact_schemas(tmp_path: Path) -> None:
    assert run_desk(tmp_path, {}, _list, settings=DROP_IN) == [
        {
            "name": tool,
            "description": load_contract(ROOT / "schemas", tool).description,
            "inputSchema": read(tool),
            "outputSchema": read(f"{tool}.output"),
            "annotations": {"readOnlyHint": True},
        }
        for tool in DROP_IN_TOOLS
    ]


@pytest.mark.clause("G16")
def test_the_listing_of_the_code_tools_shows_the_exact_input_schemas_in_less_than_ten_kilobytes(tmp_path: Path) -> None:
    listed = run_desk(tmp_path, {}, _list)

    assert listed == [
        {
            "name": tool,
            "description": load_contract(ROOT / "schemas", tool).description,
            "inputSchema": read(tool),
            "annotations": {"readOnlyHint": True},
        }
        for tool in CODE_TOOLS
    ]
    assert len(render({"jsonrpc": "2.0", "id": 1, "result": {"tools": listed}})) < 10_000


@pytest.mark.clause("G16")
@pytest.mark.parametrize("tool", ALL)
def test_every_tool_has_its_row_in_the_contract_page(tool: str) -> None:
    assert f"`{tool}`" in (ROOT / "docs" / "CONTRACT.md").read_text()
