"""Folders of schema files: which files are read; unreadable files are always reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from strictwire.check.subject import SourceKind, SourceLocation
from strictwire.contract.tool import ToolContract
from strictwire.sources.folder import read_folder
from strictwire.sources.refused import SourceRefused
from tests.sources.project import READ, READ_CONTRACT, READ_OUTPUT, write, write_project


@pytest.mark.clause("G2")
def test_the_tools_of_a_folder_are_read_from_its_files(tmp_path: Path) -> None:
    schemas = write_project(tmp_path)
    tools = read_folder(schemas)

    assert [each.contract for each in tools.subjects] == [
        ToolContract(
            name="read",
            description=READ_CONTRACT["description"],
            input_schema=READ,
            output_schema=READ_OUTPUT,
            annotations={"readOnlyHint": True},
        )
    ]
    assert (tools.source_kind, tools.read_problems) == (SourceKind.FOLDER, ())
    assert tools.subjects[0].input == SourceLocation(f"{schemas}/tools/read.json")


def test_the_folder_itself_may_contain_the_files(tmp_path: Path) -> None:
    schemas = write_project(tmp_path)

    assert len(read_folder(schemas / "tools").subjects) == 1


def test_without_a_contract_file_the_input_schema_describes_the_tool(tmp_path: Path) -> None:
    write(tmp_path / "a.json", {"type": "object", "description": "Says a."})
    subject = read_folder(tmp_path).subjects[0]

    assert (subject.contract.description, subject.entry, subject.has_terms) == (
        "Says a.",
        SourceLocation(f"{tmp_path}/a.json"),
        False,
    )


@pytest.mark.parametrize(
    ("name", "raw", "message", "location"),
    [
        ("a.json", b'{"type": }', "the file is not strict JSON: syntax", (1, 10)),
        ("a.json", b'{\n "a": 1, "a": 2}', "the file is not strict JSON: duplicate key", (1, 1)),
        ("a.json", b"\xff", "the file is not strict JSON: syntax", (1, 1)),
        ("a.json", b'{"a": "\xff"}', "the file is not strict JSON: encoding", (1, 8)),
        ("a.json", b"[]", "the file is not strict JSON: not an object", (1, 1)),
        ("a.json", b" " * (4 * 1024 * 1024 + 1), "the file is larger than 4,194,304 bytes", (1, 1)),
        ("a.json", b'{"a":' * 200 + b"1" + b"}" * 200, "the file is not strict JSON: too deep", (1, 1)),
        ("b.output.json", b"{", "the file is not strict JSON: syntax", (1, 2)),
    ],
)
def test_an_unreadable_file_is_a_read_problem_with_line_and_column(
    tmp_path: Path, name: str, raw: bytes, message: str, location: tuple[int, int]
) -> None:
    write(tmp_path / "b.json", {"type": "object"})
    write(tmp_path / name, raw)
    problem = read_folder(tmp_path).read_problems[0]

    assert (problem.rule, problem.origin.file, problem.message, (problem.line, problem.column)) == (
        "FILE_STRICT_JSON",
        f"{tmp_path}/{name}",
        message,
        location,
    )


def test_a_contract_file_with_an_unknown_member_is_a_read_problem(tmp_path: Path) -> None:
    write(tmp_path / "a.json", {"type": "object"})
    write(tmp_path / "a.contract.json", {"descripton": "x"})
    tools = read_folder(tmp_path)

    assert (tools.subjects, [problem.rule for problem in tools.read_problems]) == ((), ["ENTRY_WELL_FORMED"])


def test_a_folder_without_schema_files_is_refused(tmp_path: Path) -> None:
    for location in (tmp_path, tmp_path / "absent"):
        with pytest.raises(SourceRefused):
            read_folder(location)
