"""project.info, project.scenes.list, project.assets.summary and project.references.missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest
from tests.packs.unity.tools.desk import opened
from tests.packs.unity.writer import ProjectBuilder
from tests.packs.unity.writer_model import Component, Node, Scene
from tests.packs.unity.writer_random import random_project
from tests.packs.unity.writer_settings import UNITY_VERSION, Package
from tests.packs.unity.writer_yaml import Document, Ref, render_file

from strictwire.packs.unity.project.kinds import type_of

URP = "bf2edee5c58d82540a51f03df9d42094"
HDRP = "0cf1dab834d4ec34195b920ea7bbf9ec"


def settings(name: str, **body: Any) -> bytes:
    return render_file([Document(class_id=30, file_id=1, type_name=name, body=body)])


def pipeline_asset(builder: ProjectBuilder, path: str, script: str) -> Ref:
    body = {"m_Script": Ref(11500000, script, 3), "m_Name": "Pipeline"}
    guid = builder.add_documents(path, [Document(class_id=114, file_id=11400000, type_name="MonoBehaviour", body=body)])
    return Ref(11400000, guid, 2)


def with_pipelines(graphics: str, quality: str = "") -> ProjectBuilder:
    """Pipeline assets with these scripts in the graphics settings and in the current quality level."""
    builder = ProjectBuilder(name="Game")
    first = pipeline_asset(builder, "Assets/G.asset", graphics) if graphics else Ref()
    second = pipeline_asset(builder, "Assets/Q.asset", quality) if quality else Ref()
    builder.files["ProjectSettings/GraphicsSettings.asset"] = settings("GraphicsSettings", m_CustomRenderPipeline=first)
    levels = [{"name": "Low", "customRenderPipeline": Ref()}, {"name": "High", "customRenderPipeline": second}]
    builder.files["ProjectSettings/QualitySettings.asset"] = settings(
        "QualitySettings", m_CurrentQuality=1, m_QualitySettings=levels
    )
    return builder


@pytest.mark.parametrize(
    ("graphics", "quality", "name"),
    [
        ("", "", "Built-in"),
        (URP, "", "URP"),
        (HDRP, "", "HDRP"),
        (URP, HDRP, "HDRP"),
        ("", URP, "URP"),
        ("a" * 32, "", "Unknown"),
    ],
)
def test_the_render_pipeline_is_that_of_the_quality_level_or_else_of_the_graphics(
    graphics: str, quality: str, name: str, tmp_path: Path
) -> None:
    with opened(with_pipelines(graphics, quality).save(tmp_path)) as desk:
        called = desk.call("project.info")

    assert called.output == {
        "projectName": "Game",
        "unityVersion": UNITY_VERSION,
        "renderPipeline": name,
        "buildTargets": [],
        "projectPath": str(tmp_path),
    }
    assert called.notes == ["buildTargets is empty: which targets are installed and active is not stored in the project."]


def test_a_pipeline_whose_asset_is_not_there_is_known_by_its_package(tmp_path: Path) -> None:
    builder = with_pipelines(URP)
    del builder.files["Assets/G.asset"], builder.files["Assets/G.asset.meta"]
    builder.packages = [Package(name="com.unity.render-pipelines.universal")]
    with opened(builder.save(tmp_path)) as desk:
        assert desk.output("project.info")["renderPipeline"] == "URP"


def test_settings_that_cannot_be_read_are_said(tmp_path: Path) -> None:
    builder = ProjectBuilder()
    builder.files["ProjectSettings/ProjectSettings.asset"] = b"\0binary\0"
    builder.files["ProjectSettings/QualitySettings.asset"] = b"%YAML 1.1\n--- !u!47 &1\nQualitySettings:\n  a: 'b\n"
    with opened(builder.save(tmp_path / "Folder")) as desk:
        called = desk.call("project.info")

    assert (called.output["projectName"], called.output["renderPipeline"]) == ("Folder", "Unknown")
    assert len(called.notes) == 3


def scenes(*names: str) -> ProjectBuilder:
    builder = ProjectBuilder()
    for name in names:
        builder.add_scene(Scene(path=f"Assets/{name}.unity", roots=()), in_build=False)
    return builder


def build_settings(builder: ProjectBuilder, *entries: tuple[int, str, str]) -> None:
    rows = [{"enabled": enabled, "path": path, "guid": guid} for enabled, path, guid in entries]
    builder.files["ProjectSettings/EditorBuildSettings.asset"] = settings("EditorBuildSettings", m_Scenes=rows)


def test_scenes_have_their_place_in_the_build(tmp_path: Path) -> None:
    builder = scenes("A", "B", "C", "D")
    guid_of = builder.guid_of
    build_settings(
        builder,
        (1, "Assets/C.unity", guid_of("Assets/C.unity")),
        (0, "Assets/A.unity", guid_of("Assets/A.unity")),
        (1, "Assets/Old/Moved.unity", guid_of("Assets/B.unity")),
        (1, "Assets/Gone.unity", "0" * 31 + "1"),
    )
    with opened(builder.save(tmp_path)) as desk:
        called = desk.call("project.scenes.list")
        built = desk.output("project.scenes.list", includeInBuild=True)["scenes"]
        others = desk.output("project.scenes.list", includeInBuild=False)["scenes"]
        page = desk.output("project.scenes.list", pageSize=3)
        rest = desk.output("project.scenes.list", pageSize=3, cursor=page["nextCursor"])

    assert called.output["scenes"] == [
        {"path": "Assets/A.unity", "name": "A", "enabledInBuild": False, "buildIndex": -1},
        {"path": "Assets/B.unity", "name": "B", "enabledInBuild": True, "buildIndex": 1},
        {"path": "Assets/C.unity", "name": "C", "enabledInBuild": True, "buildIndex": 0},
        {"path": "Assets/D.unity", "name": "D", "enabledInBuild": False, "buildIndex": -1},
    ]
    assert called.notes == ["The build settings name scenes that do not exist: Assets/Gone.unity."]
    assert [each["name"] for each in built] == ["A", "B", "C"]
    assert [each["name"] for each in others] == ["D"]
    assert [each["name"] for each in (*page["scenes"], *rest["scenes"])] == ["A", "B", "C", "D"]


def test_scenes_are_listed_although_the_build_settings_are_gone(tmp_path: Path) -> None:
    builder = scenes("A")
    root = builder.save(tmp_path)
    (root / "ProjectSettings/EditorBuildSettings.asset").unlink()
    with opened(root) as desk:
        called = desk.call("project.scenes.list")

    assert [each["name"] for each in called.output["scenes"]] == ["A"]
    assert called.notes == ["Build settings are not known: EditorBuildSettings.asset does not exist."]


@pytest.mark.parametrize("seed", range(3))
def test_the_summary_counts_what_was_written(seed: int, tmp_path: Path) -> None:
    builder = random_project(seed)
    builder.add_texture("Assets/Big.png", 3_000_000)
    builder.add_texture("Assets/Bigger.png", 3_000_001)
    files = builder.finish()
    written = Counter(
        type_of(path)
        for path in files
        if path.startswith(("Assets/", "Packages/com.example.tools/")) and not path.endswith(".meta")
    )
    with opened(builder.save(tmp_path)) as desk:
        output = desk.output("project.assets.summary")
        textures = desk.output("project.assets.summary", assetType="Texture", minSizeBytes=0, pageSize=1)

    assert {name: count for name, count in output["byType"].items() if count} == dict(written)
    assert {"Animation", "Timeline"} <= set(output["byType"])
    assert output["totalAssets"] == sum(written.values())
    assert output["largeAssets"] == [
        {"path": "Assets/Bigger.png", "type": "Texture", "sizeBytes": 3_000_001},
        {"path": "Assets/Big.png", "type": "Texture", "sizeBytes": 3_000_000},
    ]
    assert output["unreferencedCount"] >= 2
    assert textures["byType"] == {"Texture": written["Texture"]}
    assert [each["path"] for each in textures["largeAssets"]] == ["Assets/Bigger.png"]
    assert "nextCursor" in textures


class Jump:
    """A clock that stands still for some questions and then is past every limit."""

    def __init__(self, calls: int) -> None:
        self._times: Iterator[float] = chain(repeat(0.0, calls), repeat(100.0))

    def __call__(self) -> float:
        return next(self._times)


@pytest.mark.parametrize("tool", ["project.assets.summary", "project.references.missing"])
@pytest.mark.clause("E9")
def test_a_scan_that_is_late_answers_with_what_it_has_and_the_next_call_finishes(tool: str, tmp_path: Path) -> None:
    with opened(random_project(1).save(tmp_path), clock=Jump(10)) as desk:
        late = desk.call(tool)
        done = desk.call(tool)

    assert any(note.startswith("Scan stopped after 100000ms. Processed") for note in late.notes)
    assert not any(note.startswith("Scan stopped") for note in done.notes)


def broken_project() -> ProjectBuilder:
    """A missing script, an empty script, a lost component, a broken material and an object that a prefab does not have."""
    builder = ProjectBuilder()
    materials = [Ref(2100000, "0" * 31 + "1", 2), Ref(5, builder.add_material("Assets/M.mat"), 2)]
    parts = (
        Component(file_id=12, type="MonoBehaviour", script="Assets/Gone.cs"),
        Component(file_id=13, type="MonoBehaviour"),
        Component(file_id=14, type="MeshRenderer", fields={"m_Materials": materials}),
    )
    child = Node(file_id=20, transform_id=21, name="Child", components=parts)
    builder.add_scene(
        Scene(path="Assets/S.unity", roots=(Node(file_id=10, transform_id=11, name="Root", children=(child,)),))
    )
    builder.add_scriptable("Assets/Config.asset", "")
    return builder


def test_what_is_missing_is_found_with_its_place(tmp_path: Path) -> None:
    builder = broken_project()
    with opened(builder.save(tmp_path)) as desk:
        called = desk.call("project.references.missing")
        scoped = {scope: desk.output("project.references.missing", scope=scope) for scope in ("scenes", "prefabs", "assets")}

    def script(index: int) -> dict[str, Any]:
        context = f"Missing script component at index {index} on GameObject 'Child'"
        return {"path": "Assets/S.unity", "gameObjectPath": "Root/Child", "componentIndex": index, "context": context}

    asset = {
        "path": "Assets/Config.asset",
        "gameObjectPath": "",
        "componentIndex": 0,
        "context": "Missing script of the asset",
    }
    references = [
        {
            "path": "Assets/S.unity",
            "referencePath": "Root/Child: MeshRenderer.m_Materials[0]",
            "referenceGuid": "0" * 31 + "1",
        },
        {
            "path": "Assets/S.unity",
            "referencePath": "Root/Child: MeshRenderer.m_Materials[1] (fileID 5)",
            "referenceGuid": builder.guid_of("Assets/M.mat"),
        },
    ]
    assert called.output == {"missingScripts": [asset, script(1), script(2)], "brokenReferences": references}
    assert called.notes == []
    assert scoped["scenes"] == {"missingScripts": [script(1), script(2)], "brokenReferences": references}
    assert scoped["prefabs"] == {"missingScripts": [], "brokenReferences": []}
    assert scoped["assets"] == {"missingScripts": [asset], "brokenReferences": []}


def test_what_may_be_in_an_absent_package_is_counted_and_not_reported(tmp_path: Path) -> None:
    builder = broken_project()
    builder.packages = [Package(name="com.example.absent")]
    with opened(builder.save(tmp_path)) as desk:
        called = desk.call("project.references.missing")

    assert [each["componentIndex"] for each in called.output["missingScripts"]] == [0, 2]
    assert len(called.output["brokenReferences"]) == 1
    assert called.notes == [
        "2 GUIDs in 1 files cannot be verified and are not reported: these packages are not on disk: com.example.absent."
    ]


@pytest.mark.parametrize("seed", range(6))
def test_a_project_without_faults_has_nothing_missing(seed: int, tmp_path: Path) -> None:
    with opened(random_project(seed).save(tmp_path)) as desk:
        assert desk.call("project.references.missing").output == {"missingScripts": [], "brokenReferences": []}


def test_findings_come_in_pages(tmp_path: Path) -> None:
    with opened(broken_project().save(tmp_path)) as desk:
        whole = desk.output("project.references.missing")
        seen: list[Any] = []
        more: dict[str, Any] = {}
        while True:
            page = desk.output("project.references.missing", pageSize=2, **more)
            seen += page["missingScripts"] + page["brokenReferences"]
            if "nextCursor" not in page:
                break
            more = {"cursor": page["nextCursor"]}

    assert sorted(map(str, seen)) == sorted(map(str, whole["missingScripts"] + whole["brokenReferences"]))
