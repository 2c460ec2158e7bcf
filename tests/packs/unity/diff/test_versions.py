"""Versions from git: commits, the files on disk, renames, several projects, and what cannot be compared."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.packs.unity.diff.test_scene import SCENE, apply, make_edit, without_ids
from tests.packs.unity.repository import commit, git
from tests.packs.unity.writer import ProjectBuilder, save_files
from tests.packs.unity.writer_changes import EDITS, Edit
from tests.packs.unity.writer_faults import LFS
from tests.packs.unity.writer_random import random_project

from strictwire.packs.unity.diff.git import GitRefused, Repository, blob_id
from strictwire.packs.unity.diff.model import FileDiff, ProjectDiff, Status
from strictwire.packs.unity.diff.run import ALL_ASSETS, DiffOptions, compare_versions
from strictwire.packs.unity.diff.versions import open_versions


def compare(root: Path, before: str, after: str, **options: object) -> ProjectDiff:
    with open_versions(before, after, root) as opened:
        wanted = DiffOptions(**{"scope": opened.scope, **options})
        return compare_versions(opened.before, opened.after, names=(before, after), options=wanted)


def edited(seed: int, *names: str) -> tuple[Edit, ProjectBuilder]:
    edit = make_edit(seed)
    for name in names:
        EDITS[name](edit)
    return edit, apply(edit)


def in_folder(folder: str, files: dict[str, bytes]) -> dict[str, bytes]:
    return {f"{folder}/{path}": content for path, content in files.items()}


@pytest.mark.parametrize("seed", range(4))
def test_a_commit_is_compared_with_a_commit_and_with_the_disk(tmp_path: Path, seed: int) -> None:
    edit, after = edited(seed, "rename", "override_tag", "add_instance", "remove_objects")
    commit(tmp_path, in_folder("Game", edit.builder.finish()), "before")
    commit(tmp_path, in_folder("Game", after.finish()), "after")
    found = compare(tmp_path, "before", "after")
    (file,) = found.files

    assert (file.path, file.status, file.problem) == (f"Game/{SCENE}", Status.MODIFIED, "")
    assert without_ids(list(file.changes)) == edit.expected(after)
    assert compare(tmp_path, "before", ".").files == found.files
    assert compare(tmp_path, "after", ".").files == ()
    assert compare(tmp_path / "Game", "before", "after").files == found.files
    assert compare(tmp_path / "Game" / "Assets" / "Prefabs", "before", "after").files == ()


def test_added_removed_and_renamed_files_are_told_apart(tmp_path: Path) -> None:
    builder = random_project(2)
    before = builder.finish()
    after = dict(before)
    for end in ("", ".meta"):
        after[f"Assets/Moved/New.unity{end}"] = after.pop(f"Assets/Scenes/S0.unity{end}")
        after.pop(f"Assets/Scenes/S1.unity{end}")
    after["Assets/Scenes/Added.unity"] = before["Assets/Scenes/S2.unity"]
    after["Assets/Scenes/Added.unity.meta"] = b"fileFormatVersion: 2\nguid: 0a1b2c3d4e5f60718293a4b5c6d7e8f9\n"
    commit(tmp_path, before, "before")
    commit(tmp_path, after, "after")
    files = compare(tmp_path, "before", "after").files

    assert [(each.path, each.old_path, each.status) for each in files] == [
        ("Assets/Moved/New.unity", "Assets/Scenes/S0.unity", Status.RENAMED),
        ("Assets/Scenes/Added.unity", None, Status.ADDED),
        ("Assets/Scenes/S1.unity", None, Status.REMOVED),
    ]
    assert files[0].changes == ()
    assert {each.action.value for each in files[1].changes} == {"added"}
    assert {each.action.value for each in files[2].changes} == {"removed"}


def test_other_assets_are_compared_on_request(tmp_path: Path) -> None:
    builder = random_project(2)
    before = builder.finish()
    material = "Assets/Materials/M0.mat"
    after = {**before, material: before[material].replace(b"_Glossiness: 0.5", b"_Glossiness: 0.7")}
    commit(tmp_path, before, "before")
    commit(tmp_path, after, "after")

    assert compare(tmp_path, "before", "after").files == ()
    (file,) = compare(tmp_path, "before", "after", extensions=ALL_ASSETS).files
    (change,) = file.changes
    assert (change.component, change.property, change.before, change.after) == (
        "Material",
        "m_SavedProperties.m_Floats[0]._Glossiness",
        "0.5",
        "0.7",
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (LFS, "is a Git LFS pointer"),
        (b"\x00\x01binary", "is saved in binary form"),
        (b"", "is empty"),
        (b"no yaml", "is not in a format of Unity"),
        (
            b"%YAML 1.1\n--- !u!1 &1\nGameObject:\n<<<<<<< HEAD\n  m_Name: A\n=======\n  m_Name: B\n>>>>>>> x\n",
            "is damaged: merge conflict marker at line 4",
        ),
        (b"%YAML 1.1\n--- !u!x &1\nGameObject:\n  m_Name: A\n", "is damaged: malformed document header"),
    ],
)
def test_a_file_that_cannot_be_compared_is_told_with_its_version(tmp_path: Path, content: bytes, reason: str) -> None:
    before = random_project(2).finish()
    commit(tmp_path, before, "before")
    commit(tmp_path, {**before, SCENE: content}, "after")
    found = compare(tmp_path, "before", "after")

    assert not found.is_complete
    assert [(each.path, each.changes) for each in found.files] == [(SCENE, ())]
    assert f"at after the file {reason}" in found.files[0].problem


def test_a_malformed_object_is_told_and_the_rest_is_compared(tmp_path: Path) -> None:
    edit, after = edited(1, "rename")
    commit(tmp_path, edit.builder.finish(), "before")
    broken = after.files[SCENE].replace(b"  m_FogColor: {r: 0.5,", b"  m_FogColor: {r: 0.5,\n {", 1)
    commit(tmp_path, {**after.finish(), SCENE: broken}, "after")
    (file,) = compare(tmp_path, "before", "after").files

    assert "1 objects are malformed and were not compared, the first with fileID 2" in file.problem
    assert without_ids(list(file.changes)) == edit.expected(after)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda raw: raw[:-9], "truncated at line"),
        (lambda raw: raw + b"--- !u!104 &2\nRenderSettings:\n  m_Fog: 1\n", "duplicate file id at line"),
    ],
)
def test_a_damaged_file_is_compared_as_far_as_it_goes(tmp_path: Path, change: Callable[[bytes], bytes], reason: str) -> None:
    before = random_project(2).finish()
    commit(tmp_path, before, "before")
    commit(tmp_path, {**before, SCENE: change(before[SCENE])}, "after")
    (file,) = compare(tmp_path, "before", "after").files

    assert f"at after the file is damaged: {reason}" in file.problem


def test_changes_beyond_the_limit_are_counted(tmp_path: Path) -> None:
    files = random_project(2).finish()
    commit(tmp_path, {path: each for path, each in files.items() if path != SCENE}, "before")
    commit(tmp_path, files, "after")
    (whole,) = compare(tmp_path, "before", "after").files
    (cut,) = compare(tmp_path, "before", "after", max_changes=3).files

    assert (len(cut.changes), cut.omitted) == (3, len(whole.changes) - 3)


def test_projects_of_one_repository_resolve_their_own_guids(tmp_path: Path) -> None:
    """Both projects have the same GUIDs; each prefab is named by its own project."""
    edit, after = edited(3, "add_instance")
    other = random_project(8).finish()
    commit(tmp_path, {**in_folder("a", edit.builder.finish()), **in_folder("b", other)}, "before")
    commit(tmp_path, {**in_folder("a", after.finish()), **in_folder("b", other)}, "after")
    (file,) = compare(tmp_path, "before", "after").files

    assert [each.source.split("/")[0] for each in file.changes] == ["a"]


@pytest.mark.parametrize("ref", ["nosuch", "-x", "--help", "", "HEAD~99", "before:Assets", "a b", "@{u}", "x\0y"])
def test_a_ref_that_is_no_commit_is_refused(tmp_path: Path, ref: str) -> None:
    commit(tmp_path, ProjectBuilder().finish(), "before")

    with pytest.raises(GitRefused):
        compare(tmp_path, "before", ref)


def test_a_folder_without_a_repository_is_refused(tmp_path: Path) -> None:
    ProjectBuilder().save(tmp_path)

    with pytest.raises(GitRefused, match="not a git repository"):
        compare(tmp_path, "a", "b")


def test_a_path_outside_the_repository_is_refused(tmp_path: Path) -> None:
    commit(tmp_path / "repo", ProjectBuilder().finish(), "before")
    (tmp_path / "repo" / "out").symlink_to(tmp_path)

    with pytest.raises(GitRefused, match="not a git repository"):
        compare(tmp_path / "repo" / "out", "before", ".")
    with pytest.raises(GitRefused, match="outside the repository"):
        compare(tmp_path / "repo" / "nothing" / ".." / ".." / "out", "before", ".")


def test_nothing_that_a_repository_configures_is_run(tmp_path: Path) -> None:
    """Filters, text converters, external diffs, hooks and monitors are programs that a repository may name."""
    mark = tmp_path / "was-run"
    root = tmp_path / "repo"
    commit(root, random_project(2).finish(), "before")
    save_files(root, {".gitattributes": b"*.unity filter=evil diff=evil\n"})
    program = f"sh -c 'touch {mark}'"
    for name in (
        "filter.evil.smudge",
        "filter.evil.clean",
        "filter.evil.process",
        "diff.evil.textconv",
        "diff.external",
        "core.fsmonitor",
    ):
        git(root, "config", name, program)
    hook = root / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {mark}\n")
    hook.chmod(0o755)
    mark.unlink(missing_ok=True)
    compare(root, "before", ".")

    assert not mark.exists()


def test_links_and_submodules_of_a_commit_are_passed_over(tmp_path: Path) -> None:
    builder = random_project(2)
    commit(tmp_path, builder.finish(), "before")
    (tmp_path / "Assets" / "Link.unity").symlink_to("/etc/passwd")
    git(tmp_path, "add", "--all")
    git(tmp_path, "update-index", "--add", "--cacheinfo", f"160000,{git(tmp_path, 'rev-parse', 'HEAD')},Assets/Sub.unity")
    git(tmp_path, "commit", "--quiet", "--message", "after")
    git(tmp_path, "tag", "after")

    assert compare(tmp_path, "before", "after").files == ()


def test_the_id_of_a_file_is_that_of_git(tmp_path: Path) -> None:
    commit(tmp_path, {"a.txt": b"hello\n"}, "before")

    assert blob_id(b"hello\n", 40) == git(tmp_path, "rev-parse", "before:a.txt")


def test_a_missing_object_is_told(tmp_path: Path) -> None:
    before = random_project(2).finish()
    commit(tmp_path, before, "before")
    commit(tmp_path, {**before, SCENE: before[SCENE] + b"--- !u!1 &77\nGameObject:\n  m_Name: X\n"}, "after")
    oid = git(tmp_path, "rev-parse", f"after:{SCENE}")
    place = tmp_path / ".git" / "objects" / oid[:2] / oid[2:]
    place.chmod(0o644)
    place.unlink()
    (file,) = compare(tmp_path, "before", "after").files

    assert file == FileDiff(path=SCENE, status=Status.MODIFIED, problem="at after the file cannot be read")


def test_the_reading_process_ends_with_the_comparison(tmp_path: Path) -> None:
    commit(tmp_path, random_project(2).finish(), "before")
    with Repository(tmp_path) as repository:
        files = repository.files(repository.resolve("before"))
        repository.read(files[SCENE])
        process = repository._reader
        assert isinstance(process, subprocess.Popen)

    assert process.poll() == 0
