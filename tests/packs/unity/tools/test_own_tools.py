"""asset.find_usages, project.health and scene.diff: what the command line finds, as tools with pages and limits."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.packs.unity.diff.test_scene import SCENE, apply, make_edit
from tests.packs.unity.repository import commit, git
from tests.packs.unity.tools.desk import Desk, opened
from tests.packs.unity.writer import ProjectBuilder, save_files
from tests.packs.unity.writer_changes import EDITS, Expected
from tests.packs.unity.writer_faults import FAULTS, Plant
from tests.packs.unity.writer_random import random_project

from strictwire.packs.unity.pack import GUARD

MATERIAL = "Assets/Materials/M0.mat"


def pages(desk: Desk, tool: str, member: str, **arguments: object) -> list[object]:
    """Everything, page by page."""
    found: list[object] = []
    cursor: dict[str, str] = {}
    while True:
        output = desk.output(tool, pageSize=2, **arguments, **cursor)
        found += output[member]
        if "nextCursor" not in output:
            return found
        cursor = {"cursor": output["nextCursor"]}


@pytest.mark.parametrize("seed", range(4))
def test_usages_are_the_assets_that_refer(tmp_path: Path, seed: int) -> None:
    builder = random_project(seed)
    with opened(builder.save(tmp_path)) as desk:
        called = desk.call("asset.find_usages", assetPath=MATERIAL)
        paged = pages(desk, "asset.find_usages", "usages", assetPath=MATERIAL)
    expected = {path for path, guids in builder.references().items() if builder.guids[MATERIAL] in guids}

    assert {each["path"] for each in called.output["usages"] if each["component"]} == expected
    assert paged == called.output["usages"]
    assert called.notes == []


@pytest.mark.parametrize("path", ["Assets/None.mat", "../../etc/passwd", "/etc/passwd", "", "Assets/\0"])
def test_usages_of_what_is_no_asset_are_refused(tmp_path: Path, path: str) -> None:
    with opened(random_project(1).save(tmp_path)) as desk:
        assert desk.refuse("asset.find_usages", assetPath=path).code == "UNITY_ERROR"


def test_an_asset_that_nothing_uses_says_so(tmp_path: Path) -> None:
    builder = ProjectBuilder()
    builder.add_texture("Assets/T.png")
    with opened(builder.save(tmp_path)) as desk:
        called = desk.call("asset.find_usages", assetPath="Assets/T.png")

    assert (called.output, called.text) == ({"assetPath": "Assets/T.png", "usages": []}, "Nothing uses it.")


@pytest.mark.parametrize("seed", range(3))
def test_health_finds_the_planted_faults(tmp_path: Path, seed: int) -> None:
    plant = Plant(random_project(seed, size=2))
    for name in ("deleted_script", "missing_asset", "duplicate_guid", "lfs_pointer", "conflict_in_scene"):
        FAULTS[name](plant)
    with opened(save_files(tmp_path, plant.finish())) as desk:
        output = desk.output("project.health")
        paged = pages(desk, "project.health", "findings")
        scripts = desk.output("project.health", rule="SCRIPT_EXISTS")
        warnings = desk.output("project.health", severity="warning")

    assert Counter((each["rule"], each["path"]) for each in output["findings"]) == plant.expected
    assert (output["errors"], output["warnings"]) == (5, 2)
    assert paged == output["findings"]
    assert {each["rule"] for each in scripts["findings"]} == {"SCRIPT_EXISTS"}
    assert {each["rule"] for each in warnings["findings"]} == {"LFS_FETCHED"}


def test_health_that_runs_out_of_time_is_partial_and_says_so(tmp_path: Path) -> None:
    seconds = iter(range(10**6))
    with opened(random_project(1).save(tmp_path), clock=lambda: float(next(seconds))) as desk:
        called = desk.call("project.health")

    assert any("before the time limit" in note for note in called.notes)
    assert GUARD < 30


@pytest.mark.parametrize("folder", ["", "games/Game"])
def test_a_diff_reports_what_was_changed(tmp_path: Path, folder: str) -> None:
    edit = make_edit(2)
    for name in ("rename", "move", "add_component", "override_tag", "add_instance"):
        EDITS[name](edit)
    after = apply(edit)
    place = f"{folder}/" if folder else ""
    commit(tmp_path, {place + path: each for path, each in edit.builder.finish().items()}, "before")
    commit(tmp_path, {place + path: each for path, each in after.finish().items()}, "after")
    with opened(tmp_path / folder) as desk:
        output = desk.output("scene.diff", before="before", after="after")
        on_disk = desk.output("scene.diff", before="before")
        paged = pages(desk, "scene.diff", "changes", before="before", after="after")
        elsewhere = desk.output("scene.diff", before="before", after="after", scenePath="Assets/Scenes/S0.unity")
    found = Counter(
        Expected(
            each["action"],
            each["part"],
            each["object"],
            each.get("component", ""),
            each.get("property", ""),
            each.get("before"),
            each.get("after"),
        )
        for each in output["changes"]
    )

    assert found == edit.expected(after)
    assert output["files"] == [{"path": SCENE, "status": "modified", "changes": len(output["changes"])}]
    assert {each["path"] for each in output["changes"]} == {SCENE}
    assert on_disk == output
    assert paged == output["changes"]
    assert elsewhere == {"files": [], "changes": []}


def test_a_diff_follows_the_refs(tmp_path: Path) -> None:
    """A branch that moves gives another answer: nothing is kept from the call before."""
    files = random_project(2).finish()
    commit(tmp_path, files, "before")
    with opened(tmp_path) as desk:
        first = desk.output("scene.diff", before="before", after="HEAD")
        commit(tmp_path, {**files, SCENE: files[SCENE].replace(b"m_Fog: 0", b"m_Fog: 1")}, "after")
        second = desk.output("scene.diff", before="before", after="HEAD")

    assert (first["changes"], len(second["changes"])) == ([], 1)


def test_a_diff_that_runs_out_of_time_says_how_far_it_came(tmp_path: Path) -> None:
    files = random_project(2).finish()
    commit(tmp_path, {path: each for path, each in files.items() if not path.endswith(".unity")}, "before")
    save_files(tmp_path, files)
    seconds = iter([0.0, 0.0, 0.0, 99.0])
    with opened(tmp_path, clock=lambda: next(seconds, 99.0)) as desk:
        called = desk.call("scene.diff", before="before")

    assert len(called.output["files"]) < 3
    assert called.notes == [
        f"Scan stopped after 99000ms. Processed {len(called.output['files'])} of 3 items. Results may be partial."
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        {"before": "nosuch"},
        {"before": "--upload-pack=x"},
        {"before": "before", "scenePath": "../../etc"},
        {"before": "before", "after": "-"},
    ],
)
def test_a_diff_that_cannot_be_made_is_refused(tmp_path: Path, arguments: dict[str, str]) -> None:
    commit(tmp_path, random_project(2).finish(), "before")
    with opened(tmp_path) as desk:
        assert desk.refuse("scene.diff", **arguments).code == "UNITY_ERROR"


def test_a_project_outside_a_repository_cannot_be_compared(tmp_path: Path) -> None:
    with opened(random_project(2).save(tmp_path)) as desk:
        failure = desk.refuse("scene.diff", before="HEAD")

    assert "not a git repository" in str(failure.details["unityError"])


def test_a_file_that_cannot_be_compared_is_told(tmp_path: Path) -> None:
    files = random_project(2).finish()
    commit(tmp_path, files, "before")
    save_files(tmp_path, {SCENE: b"\x00"})
    with opened(tmp_path) as desk:
        called = desk.call("scene.diff", before="before")

    assert called.output["files"] == [
        {"path": SCENE, "status": "modified", "changes": 0, "problem": "at . the file is saved in binary form"}
    ]
    assert called.notes == [f"{SCENE} was not fully compared: at . the file is saved in binary form."]
    assert git(tmp_path, "status", "--porcelain") == f"M {SCENE}"
