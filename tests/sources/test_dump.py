"""Saved tools/list responses."""

from __future__ import annotations

from pathlib import Path

import pytest

from strictwire.canon.json import render
from strictwire.check.subject import SourceLocation
from strictwire.sources.dump import parse_dump, read_dump
from strictwire.sources.refused import SourceRefused

TOOL = {"name": "a", "inputSchema": {"type": "object"}, "outputSchema": None, "annotations": None}


@pytest.mark.parametrize(
    ("value", "pointer"),
    [([TOOL], "/0"), ({"tools": [TOOL]}, "/tools/0"), ({"id": 1, "result": {"tools": [TOOL]}}, "/result/tools/0")],
)
def test_the_list_is_found_in_each_form(value: object, pointer: str) -> None:
    tools = parse_dump(render(value), "d.json")  # type: ignore[arg-type]

    assert [(each.contract.name, each.entry) for each in tools.subjects] == [("a", SourceLocation("d.json", pointer))]


@pytest.mark.parametrize("raw", [b"{}", b"7", b'{"tools": {}}', b'{"error": {}}'])
def test_a_file_without_a_list_of_tools_is_a_read_problem(raw: bytes) -> None:
    tools = parse_dump(raw, "d.json")

    assert (tools.subjects, [problem.rule for problem in tools.read_problems]) == ((), ["ENTRY_WELL_FORMED"])


def test_a_python_file_is_refused_with_what_to_write(tmp_path: Path) -> None:
    with pytest.raises(SourceRefused) as refused:
        read_dump(tmp_path / "shop.py")

    assert refused.value.reason == "expected JSON, not a Python file; write MODULE:NAME, such as shop:server"


def test_invalid_json_is_a_read_problem_with_line_and_column() -> None:
    problem = parse_dump(b'{"tools":\n [}', "d.json").read_problems[0]

    assert (problem.rule, problem.line, problem.column) == ("FILE_STRICT_JSON", 2, 3)


def test_well_formed_entries_are_read_beside_malformed_ones() -> None:
    tools = parse_dump(render([TOOL, {"name": "b"}, None, {**TOOL, "description": 1}]), "d.json")

    assert [each.contract.name for each in tools.subjects] == ["a"]
    assert [(problem.origin.pointer, problem.message) for problem in tools.read_problems] == [
        ("/1/inputSchema", "the member 'inputSchema' of the entry is missing"),
        ("/2", "the entry is not an object"),
        ("/3/description", "the member 'description' of the entry is not a string"),
    ]


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceRefused, match="No such file"):
        read_dump(tmp_path / "none.json")


@pytest.mark.slow
def test_ten_thousand_tools_are_read() -> None:
    raw = render({"tools": [{**TOOL, "name": f"t{index}"} for index in range(10_000)]})

    assert len(parse_dump(raw, "d.json").subjects) == 10_000
