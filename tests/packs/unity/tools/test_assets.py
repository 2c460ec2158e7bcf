"""asset.info, asset.dependencies.graph and the audio mixers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.packs.unity.tools.desk import opened
from tests.packs.unity.writer import ProjectBuilder
from tests.packs.unity.writer_assets import Group, add_mixer
from tests.packs.unity.writer_random import random_project
from tests.packs.unity.writer_yaml import Document

from strictwire.packs.unity.project.kinds import type_of


def test_an_asset_has_its_guid_type_size_and_import_settings(tmp_path: Path) -> None:
    builder = ProjectBuilder()
    guid = builder.add_file("Assets/T.png", b"\x89PNG" * 10, {"textureType": 8, "mipmaps": {"enable": 0}, "name": "'7'"})
    builder.add_documents(
        "Assets/L.asset", [Document(class_id=1120, file_id=5, type_name="LightingDataAsset", body={"a": 1})]
    )
    builder.add_scriptable("Assets/C.asset", "Assets/S.cs")
    builder.add_texture("Assets/Sub/U.png")
    with opened(builder.save(tmp_path)) as desk:
        called = desk.call("asset.info", assetPath="Assets/T.png")
        types = [desk.output("asset.info", assetPath=f"Assets/{name}.asset")["type"] for name in "LC"]
        folder = desk.output("asset.info", assetPath="Assets/Sub/")

    settings = called.output["importSettings"]
    assert {name: value for name, value in called.output.items() if name != "importSettings"} == {
        "path": "Assets/T.png",
        "guid": guid,
        "type": "Texture",
        "sizeBytes": 40,
        "dependencies": [],
    }
    assert settings["importer"] == "TextureImporter"
    assert settings["settings"]["textureType"] == 8
    assert settings["settings"]["mipmaps"] == {"enable": 0}
    assert called.notes == []
    assert types == ["LightingDataAsset", "ScriptableObject"]
    assert folder["type"] == "Folder"


def test_an_asset_without_a_meta_file_is_said(tmp_path: Path) -> None:
    root = random_project(1).save(tmp_path)
    (root / "Assets/Scripts/Script0.cs.meta").unlink()
    (root / "Assets/Scripts/Script1.cs.meta").write_bytes(b"guid: 'x\n")
    with opened(root) as desk:
        gone = desk.call("asset.info", assetPath="Assets/Scripts/Script0.cs")
        damaged = desk.call("asset.info", assetPath="Assets/Scripts/Script1.cs")

    assert (gone.output["guid"], gone.output["importSettings"]) == ("", {})
    assert gone.notes == ["The asset has no .meta file with a valid GUID; the Editor would create one."]
    assert damaged.notes[0] == "The .meta file cannot be read, so importSettings is empty."


@pytest.mark.parametrize("path", ["Assets/None.png", "../x", "/etc/passwd", "Assets/../../x", "Library/x", "a\0b"])
@pytest.mark.parametrize("tool", ["asset.info", "asset.dependencies.graph"])
def test_what_is_no_asset_is_an_error(tool: str, path: str, tmp_path: Path) -> None:
    with opened(ProjectBuilder().save(tmp_path)) as desk:
        failure = desk.refuse(tool, assetPath=path)

    assert failure.code == "UNITY_ERROR"
    assert set(failure.details) == {"unityError", "assetPath"}


@pytest.mark.parametrize("seed", range(4))
def test_dependencies_are_what_was_written(seed: int, tmp_path: Path) -> None:
    builder = random_project(seed)
    paths = {guid: path for path, guid in builder.guids.items()}
    wanted = {
        path: sorted(paths[guid] for guid in guids)
        for path, guids in builder.references().items()
        if path.startswith("Assets/")
    }
    with opened(builder.save(tmp_path)) as desk:
        for path in (*builder.scenes, *builder.prefabs):
            info = desk.output("asset.info", assetPath=path, includeDependencies=True)
            direct = desk.output("asset.dependencies.graph", assetPath=path, depth=1, direction="dependencies")
            users = desk.output("asset.dependencies.graph", assetPath=path, depth=1, direction="dependents")

            assert info["dependencies"] == wanted[path]
            assert direct == {
                "assetPath": path,
                "dependencies": [{"path": each, "type": type_of(each), "depth": 1} for each in wanted[path]],
                "dependents": [],
            }
            assert {path} & {each["path"] for each in users["dependents"]} == set()
            assert {each for each in builder.scenes if path in wanted[each]} <= {
                each["path"] for each in users["dependents"]
            }


def test_the_graph_goes_step_by_step_each_asset_at_its_smallest_depth(tmp_path: Path) -> None:
    builder = ProjectBuilder()
    builder.add_texture("Assets/T.png")
    builder.add_material("Assets/M.mat", "Assets/T.png")
    builder.add_model("Assets/Ship.fbx", "Assets/M.mat")
    with opened(builder.save(tmp_path)) as desk:

        def walk(**more: Any) -> list[tuple[str, int]]:
            output = desk.output("asset.dependencies.graph", **more)
            return [(each["path"], each["depth"]) for each in (*output["dependencies"], *output["dependents"])]

        assert walk(assetPath="Assets/Ship.fbx") == [("Assets/M.mat", 1), ("Assets/T.png", 2)]
        assert walk(assetPath="Assets/T.png") == [("Assets/M.mat", 1), ("Assets/Ship.fbx", 2)]
        assert walk(assetPath="Assets/M.mat") == [("Assets/T.png", 1), ("Assets/Ship.fbx", 1)]
        assert walk(assetPath="Assets/M.mat", pageSize=1) == [("Assets/T.png", 1)]
        assert walk(assetPath="Assets/Ship.fbx", depth=1) == [("Assets/M.mat", 1)]
        notes = desk.call("asset.dependencies.graph", assetPath="Assets/Ship.fbx").notes

    assert notes == ["Dependencies stored inside the file are not known: it is not text."]


MASTER = Group(
    name="Master",
    volume=-3.5,
    is_exposed=True,
    children=(
        Group(name="Music", is_exposed=True, children=(Group(name="Battle/Boss", volume=-80),)),
        Group(name="SFX", volume=0),
    ),
)


def mixers(tmp_path: Path) -> Path:
    builder = ProjectBuilder()
    add_mixer(builder, "Assets/Main.mixer", MASTER, ("Normal", "Quiet"))
    add_mixer(builder, "Assets/Empty.mixer", Group(name="Master"))
    builder.add_file("Assets/Cut.mixer", b"%YAML 1.1\n--- !u!241 &1\nAudioMixerController:\n  m_Name: 'x\n")
    return builder.save(tmp_path)


def test_mixers_have_groups_with_paths_and_snapshots(tmp_path: Path) -> None:
    with opened(mixers(tmp_path)) as desk:
        called = desk.call("audio.mixer.list")

    empty, main = called.output["mixers"]
    assert (empty["path"], empty["groups"]) == ("Assets/Empty.mixer", [{"name": "Master", "path": "Master"}])
    assert main == {
        "path": "Assets/Main.mixer",
        "name": "Main",
        "groups": [
            {"name": "Master", "path": "Master"},
            {"name": "Music", "path": "Master/Music"},
            {"name": "Battle/Boss", "path": "Master/Music/Battle/Boss"},
            {"name": "SFX", "path": "Master/SFX"},
        ],
        "snapshots": [{"name": "Normal"}, {"name": "Quiet"}],
    }
    assert called.notes == ["Audio mixer 'Assets/Cut.mixer' is left out: it is damaged: truncated at line 4 (fileID 1)."]


def test_a_snapshot_has_the_values_it_stores_with_their_groups(tmp_path: Path) -> None:
    with opened(mixers(tmp_path)) as desk:
        called = desk.call("audio.mixer.snapshot.read", mixerPath="Assets/Main.mixer", snapshotName="Normal")
        quiet = desk.output("audio.mixer.snapshot.read", mixerPath="Assets/Main.mixer", snapshotName="Quiet")

    assert called.output["parameters"] == [
        {"name": "MasterVolume", "value": -3.5, "group": "Master"},
        {"name": "Volume", "value": -80, "group": "Master/Music/Battle/Boss"},
        {"name": "Volume", "value": 0, "group": "Master/SFX"},
    ]
    assert called.notes == ["Exposed parameters at their default are not stored: MusicVolume."]
    assert quiet["parameters"] == []


def test_mixers_and_snapshots_that_are_not_there_are_errors(tmp_path: Path) -> None:
    with opened(mixers(tmp_path)) as desk:
        failures = [
            desk.refuse("audio.mixer.snapshot.read", mixerPath=path, snapshotName="Loud")
            for path in ("Assets/Main.mixer", "Assets/None.mixer", "Assets/Cut.mixer", "Assets/M.mat", "../x.mixer")
        ]

    assert [each.text for each in failures] == [
        "Snapshot not found",
        "Audio mixer not found",
        "Audio mixer cannot be read",
        "Not an audio mixer",
        "Invalid audio mixer path",
    ]
    assert failures[0].details["unityError"] == "Snapshot 'Loud' does not exist in 'Assets/Main.mixer'; it has Normal, Quiet"
