"""Schema files at a commit."""

from __future__ import annotations

from pathlib import Path

import pytest

from strictwire.sources.git import changed_files, read_git
from strictwire.sources.refused import SourceRefused
from tests.sources.project import READ, commit_all, git, write, write_project


def test_a_commit_gives_the_files_as_they_were(tmp_path: Path) -> None:
    schemas = write_project(tmp_path)
    write(tmp_path / ".gitattributes", b"schemas/** export-ignore\n")
    commit_all(tmp_path, "v1")
    write(schemas / "tools" / "read.json", {"type": "object"})
    write(schemas / "tools" / "new.json", {"type": "object"})
    tools = read_git("v1", schemas)

    assert [(each.contract.name, each.contract.input_schema) for each in tools.subjects] == [("read", READ)]


def test_a_folder_that_is_gone_is_read_from_its_commit(tmp_path: Path) -> None:
    schemas = write_project(tmp_path)
    commit_all(tmp_path, "v1")
    git(tmp_path, "rm", "-r", "-q", "schemas")

    assert len(read_git("v1", schemas).subjects) == 1


def test_a_lock_and_a_dump_are_read_from_a_commit(tmp_path: Path) -> None:
    write(tmp_path / "tools.json", {"tools": [{"name": "a", "inputSchema": {"type": "object"}}]})
    commit_all(tmp_path, "v1")

    assert [each.contract.name for each in read_git("v1", tmp_path / "tools.json").subjects] == ["a"]


@pytest.mark.parametrize("ref", ["nope", "--output=/tmp/x", ""])
def test_what_is_no_commit_is_refused(tmp_path: Path, ref: str) -> None:
    schemas = write_project(tmp_path)
    commit_all(tmp_path, "v1")

    with pytest.raises(SourceRefused):
        read_git(ref, schemas)


def test_a_commit_without_schema_files_is_refused_not_empty(tmp_path: Path) -> None:
    write(tmp_path / "README", b"")
    commit_all(tmp_path, "v1")

    with pytest.raises(SourceRefused, match="no schema files"):
        read_git("v1", tmp_path / "schemas")


def test_outside_a_repository_git_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))

    with pytest.raises(SourceRefused, match="not a git repository"):
        read_git("main", tmp_path)


def test_changed_files_are_those_that_differ_and_those_not_yet_added(tmp_path: Path) -> None:
    schemas = write_project(tmp_path)
    commit_all(tmp_path, "v1")
    write(schemas / "tools" / "read.json", {"type": "object"})
    write(tmp_path / "tests" / "test_new.py", b"")

    assert changed_files("v1", schemas) == {"schemas/tools/read.json", "tests/test_new.py"}
