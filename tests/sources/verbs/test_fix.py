"""`lint --fix` and `lint --diff` on files."""

from __future__ import annotations

from pathlib import Path

import pytest

from strictwire.check.policy import LintPolicy
from strictwire.sources.verbs.fix import run_diff, run_fix
from strictwire.sources.verbs.lint import LintOptions
from tests.sources.project import write

POLICY = LintPolicy(select=("SCHEMA_DIALECT", "REQUIRED_EXPLICIT", "DEFS_USED"))
SCHEMA = b'{\n  "type": "object",\n  "properties": {"a": {}}\n}\n'
DIALECT = b'"$schema": "https://json-schema.org/draft/2020-12/schema"'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path / "schemas" / "tools" / "t.json", SCHEMA)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "schemas" / "tools"


def test_diff_shows_the_change_and_writes_nothing(folder: Path) -> None:
    result = run_diff(LintOptions(policy=POLICY))

    assert (result.exit_code, folder.joinpath("t.json").read_bytes()) == (100, SCHEMA)
    assert [line for line in result.text.splitlines() if line[0] in "+-"] == [
        "--- schemas/tools/t.json",
        "+++ schemas/tools/t.json",
        "+  " + DIALECT.decode() + ",",
        '+  "required": [],',
    ]


def test_fix_writes_the_change_and_checks_again(folder: Path) -> None:
    result = run_fix(LintOptions(policy=POLICY))

    assert (result.exit_code, result.text) == (
        0,
        "fixed 2 findings in 1 file (REQUIRED_EXPLICIT 1, SCHEMA_DIALECT 1)\nlint: 0 findings in 1 tool of schemas\n",
    )
    assert folder.joinpath("t.json").read_bytes() == SCHEMA.replace(b"{\n", b"{\n  " + DIALECT + b",\n", 1).replace(
        b'"properties"', b'"required": [],\n  "properties"'
    )
    assert run_fix(LintOptions(policy=POLICY)).text.startswith("nothing to fix\n")
    assert run_diff(LintOptions(policy=POLICY)).exit_code == 0


def test_a_dump_is_fixed_at_the_place_of_each_tool(folder: Path) -> None:
    write(Path("tools.json"), b'{"tools": [{"name": "a", "inputSchema": ' + SCHEMA + b"}]}")
    run_fix(LintOptions(policy=POLICY, source="tools.json"))

    assert Path("tools.json").read_bytes().count(DIALECT) == 1


def test_a_definition_that_another_file_may_use_and_a_link_are_left_alone(folder: Path) -> None:
    shared = b'{"type": "object", "$defs": {"x": {}}}'
    write(folder / "s.json", shared)
    write(folder / "u.json", b'{"type": "object", "items": {"$ref": "s.json#/$defs/x"}}')
    (folder / "link.json").symlink_to(folder / "t.json")
    run_fix(LintOptions(policy=POLICY))

    assert b'"x"' in (folder / "s.json").read_bytes()
    assert (folder / "link.json").is_symlink()


@pytest.mark.parametrize("source", ["strictwire.lock", "git:HEAD", "stdio:x", "https://h/mcp", "-"])
def test_only_schema_files_and_dumps_can_be_fixed(folder: Path, source: str) -> None:
    result = run_fix(LintOptions(policy=POLICY, source=source))

    assert (result.exit_code, "can be fixed" in result.error) == (1, True)
