"""Schema files at a git commit."""

from __future__ import annotations

from pathlib import Path

import pytest

from strictwire.sources.git import changed_files, read_git
from strictwire.sources.refused import NoSchemaFiles, SourceRefused
from tests.sources.project import READ, commit_all, git, write, write_project


def test_a_commit_gives_the_files_as_they_were(tmp_path: Path) -> None:
    schemas = write_project(tmp_path)
    write(tmp_path / ".gitattributes", b"schemas/** export-ignore\n")
    commit_all(tmp_path, "v1")
    write(schemas / "tools" / "read.json", {"type": "object"})
    write(schemas / "tools" / "new.json", {"type": "object"})
    tools = read_git("v1", schemas)

    assert [(each.contract.name, each.contract.input_schema) for each in tools.subjects] == [("read", READ)]


def test_a_folder_that_was_deleted_is_read_from_its_commit(tmp_path: Path) -> None:
    schemas = write_project(tmp_path)
    commit_all(tmp_path, "v1")
    git(tmp_path, "rm", "-r", "-q", "schemas")

    assert len(read_git("v1", schemas).subjects) == 1


def test_a_dump_is_read_from_a_commit(tmp_path: Path) -> None:
    write(tmp_path / "tools.json", {"tools": [{"name": "a", "inputSchema": {"type": "object"}}]})
    commit_all(tmp_path, "v1")

    assert [each.contract.name for each in read_git("v1", tmp_path / "tools.json").subjects] == ["a"]


@pytest.mark.parametrize("ref", ["nope", "--output=/tmp/x", ""])
def test_an_invalid_ref_is_refused(tmp_path: Path, ref: str) -> None:
    schemas = write_project(tmp_path)
    commit_all(tmp_path, "v1")

    with pytest.raises(SourceRefused):
        read_git(ref, schemas)


def test_a_commit_without_schema_files_is_an_error_and_not_an_empty_set(tmp_path: Path) -> None:
    write(tmp_path / "README", b"")
    commit_all(tmp_path, "v1")

    with pytest.raises(NoSchemaFiles):
        read_git("v1", tmp_path / "schemas")


def test_a_folder_outside_a_repository_is_refused_with_the_message_of_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))

    with pytest.raises(SourceRefused, match="not a git repository"):
        read_git("main", tmp_path)


def test_changed_files_include_modified_and_untracked_files(tmp_path: Path) -> None:
    schemas = write_project(tmp_path)
    commit_all(tmp_path, "v1")
    write(schemas / "tools" / "read.json", {"type": "object"})
    write(tmp_path / "tests" / "test_new.py", b"")

    assert changed_files("v1", schemas) == {"schemas/tools/read.json", "tests/test_new.py"}


def test_a_base_that_a_shallow_clone_lacks_must_be_fetched(tmp_path: Path) -> None:
    write_project(tmp_path / "full")
    commit_all(tmp_path / "full", "v1")
    write(tmp_path / "full" / "more", b"")
    git(tmp_path / "full", "add", "-A")
    git(tmp_path / "full", "commit", "-q", "--no-gpg-sign", "-m", "v2")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{tmp_path / 'full'}", "shallow")

    for ref in ("HEAD~1", "v1", "origin/none"):
        with pytest.raises(SourceRefused, match=r"fetch the base .*fetch-depth: 0"):
            read_git(ref, tmp_path / "shallow" / "schemas")
        with pytest.raises(SourceRefused, match=r"fetch the base .*fetch-depth: 0"):
            changed_files(ref, tmp_path / "shallow")
