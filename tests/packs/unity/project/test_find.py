"""Projects are found where ProjectVersion.txt is, and several in one repository are kept apart."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.packs.unity.writer import ProjectBuilder
from tests.packs.unity.writer_random import random_project

from strictwire.packs.unity.project.find import (
    NotAProject,
    SearchTooLarge,
    find_boundary,
    find_projects,
    read_editor_version,
)
from strictwire.packs.unity.project.project import open_project


def test_the_project_around_a_path_is_found(tmp_path: Path) -> None:
    root = ProjectBuilder().save(tmp_path / "Game")
    (root / "Assets" / "Deep").mkdir(parents=True)

    assert find_projects(root / "Assets" / "Deep") == (root,)
    assert read_editor_version(root) == "2022.3.10f1"


def test_projects_below_a_folder_are_found_and_library_folders_are_not_searched(tmp_path: Path) -> None:
    first = ProjectBuilder().save(tmp_path / "a" / "Game")
    second = ProjectBuilder().save(tmp_path / "b")
    ProjectBuilder().save(second / "Library" / "Copy")
    ProjectBuilder().save(tmp_path / ".hidden")
    ProjectBuilder().save(second / "Assets" / "Nested")

    assert find_projects(tmp_path) == (first, second)


def test_a_folder_without_a_project_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotAProject, match=r"no Unity project: .* has no ProjectSettings/ProjectVersion.txt"):
        find_projects(tmp_path)
    with pytest.raises(NotAProject):
        open_project(tmp_path)


def test_two_projects_may_share_guids(tmp_path: Path) -> None:
    """Duplicate GUIDs count within a project, not within a repository."""
    for name in ("a", "b"):
        random_project(3).save(tmp_path / name)
    (tmp_path / ".git").mkdir()

    for root in find_projects(tmp_path):
        project = open_project(root, boundary=find_boundary(root))

        assert project.owners == {}
        assert {path.split("/")[0] for path in project.assets} == {"Assets", "Packages", "ProjectSettings"}
        project.close()


def test_the_boundary_is_the_repository(tmp_path: Path) -> None:
    root = ProjectBuilder().save(tmp_path / "Game")

    assert find_boundary(root) == root
    (tmp_path / ".git").mkdir()
    assert find_boundary(root) == tmp_path


def test_a_search_that_would_miss_projects_is_refused(tmp_path: Path) -> None:
    for name in ("a/b", "a/c", "d"):
        ProjectBuilder().save(tmp_path / name)

    assert len(find_projects(tmp_path, max_folders=20)) == 3
    with pytest.raises(SearchTooLarge, match="name the folder of one project"):
        find_projects(tmp_path, max_folders=3)
