"""A project is listed without leaving it, and its GUID map is that of its .meta files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.packs.unity.writer import ProjectBuilder, save_files
from tests.packs.unity.writer_random import random_project

from strictwire.fault.failure import Refused
from strictwire.packs.unity.project.kinds import Form, form_of, type_of
from strictwire.packs.unity.project.project import open_project
from strictwire.packs.unity.project.walk import MAX_DEPTH, Obstacle


@pytest.mark.parametrize("seed", range(5))
def test_the_guid_map_is_what_was_written(tmp_path: Path, seed: int) -> None:
    builder = random_project(seed)
    project = open_project(builder.save(tmp_path))
    in_cache = {path for path in builder.guids if path.startswith("Packages/com.example.cached/")}

    assert {project.path_of(guid): guid for guid in builder.guids.values()} == builder.guids
    assert {path: project.guid_of(path) for path in builder.guids} == builder.guids
    assert set(project.foreign) == in_cache
    assert project.sees_everything
    assert all(project.read(path) == content for path, content in builder.files.items())


def test_what_unity_ignores_is_not_listed(tmp_path: Path) -> None:
    names = (
        "Assets/.hidden/a.mat",
        "Assets/Doc~/a.mat",
        "Assets/.a.mat",
        "Assets/a.mat~",
        "Assets/a.tmp",
        "Assets/cvs/a.mat",
    )
    root = save_files(ProjectBuilder().save(tmp_path), dict.fromkeys(names, b""))

    assert [path for path in open_project(root).assets if path.startswith("Assets/")] == []


def test_a_link_never_hides_the_folder_that_it_leads_to(tmp_path: Path) -> None:
    root = random_project(3).save(tmp_path)
    before = open_project(root)
    (root / "Assets" / "A").symlink_to("..")
    after = open_project(root)

    assert {path for path in after.assets if not path.startswith("Assets/A/")} == set(before.assets)
    assert {path for path in after.obstacles if not path.startswith("Assets/A/")} == set()


def test_links_are_followed_inside_and_reported_outside(tmp_path: Path) -> None:
    root = ProjectBuilder().save(tmp_path / "Game")
    save_files(tmp_path, {"outside/secret.mat": b"x", "Game/Shared/in.mat": b"y"})
    save_files(root, {"Assets/a.txt": b"z"})
    (root / "Assets" / "out").symlink_to(tmp_path / "outside")
    (root / "Assets" / "file.mat").symlink_to("../../outside/secret.mat")
    (root / "Assets" / "shared").symlink_to("../Shared")
    (root / "Assets" / "loop").symlink_to(".")
    (root / "Assets" / "gone").symlink_to("nowhere")
    (root / "Assets" / "same.txt").symlink_to("a.txt")
    project = open_project(root)

    assert [path for path in project.assets if path.startswith("Assets/")] == [
        "Assets/a.txt",
        "Assets/same.txt",
        "Assets/shared/in.mat",
    ]
    assert dict(project.obstacles) == {
        "Assets/out": Obstacle.LINK_OUTSIDE,
        "Assets/file.mat": Obstacle.LINK_OUTSIDE,
        "Assets/loop": Obstacle.LINK_LOOP,
        "Assets/gone": Obstacle.LINK_BROKEN,
    }
    assert not project.sees_everything
    assert project.read("Assets/shared/in.mat") == b"y"


def test_special_files_odd_names_and_deep_folders_are_obstacles(tmp_path: Path) -> None:
    root = ProjectBuilder().save(tmp_path)
    save_files(root, {"Assets/" + "d/" * (MAX_DEPTH + 2) + "a.mat": b""})
    os.mkfifo(root / "Assets" / "pipe.mat")
    Path(os.fsdecode(os.fsencode(root) + b"/Assets/bad\xff.mat")).touch()
    project = open_project(root)

    assert sorted(project.obstacles.values()) == [Obstacle.SPECIAL, Obstacle.NOT_UTF8, Obstacle.TOO_DEEP]


@pytest.mark.parametrize("path", ["../outside", "/etc/passwd", "Assets/../../x", "", "Assets/\0"])
def test_a_path_outside_cannot_be_read(tmp_path: Path, path: str) -> None:
    project = open_project(ProjectBuilder().save(tmp_path))

    with pytest.raises(Refused):
        project.read(path)


@pytest.mark.parametrize(
    ("raw", "form"),
    [
        (b"", Form.EMPTY),
        (b"%YAML 1.1\n", Form.YAML),
        (b"\xef\xbb\xbf%YAML 1.1\r\n", Form.YAML),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", Form.LFS_POINTER),
        (b"version https://git-lfs.github.com/spec/v1\n" + b"x" * 2000, Form.TEXT),
        (b"\x00\x00\x0a", Form.BINARY),
        (b"using System;", Form.TEXT),
    ],
)
def test_the_form_of_a_file_is_told_by_its_first_bytes(raw: bytes, form: Form) -> None:
    assert form_of(raw) is form


def test_asset_types_are_told_by_extension() -> None:
    assert [type_of(path) for path in ("a/B.UNITY", "x.prefab", "y.PNG", "z", ".gitignore", "q.zzz")] == [
        "Scene",
        "Prefab",
        "Texture",
        "Other",
        "Other",
        "Other",
    ]
