"""Usages are found in every form of reference, and unused assets are those that nothing leads to."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.packs.unity.writer import ProjectBuilder
from tests.packs.unity.writer_assets import add_asmdef, add_shadergraph, add_uss, add_uxml, asset_reference
from tests.packs.unity.writer_model import Component, Instance, Node, Override, Prefab, Scene
from tests.packs.unity.writer_random import random_project
from tests.packs.unity.writer_settings import Package
from tests.packs.unity.writer_yaml import Ref

from strictwire.packs.unity.project.project import open_project
from strictwire.packs.unity.references.graph import Graph, scan_project
from strictwire.packs.unity.references.unused import find_unused
from strictwire.packs.unity.references.usages import Usage, find_usages
from strictwire.packs.unity.sources import project_sources

TEXTURE = "Assets/T.png"


def graph_of(builder: ProjectBuilder, root: Path) -> Graph:
    return scan_project(open_project(builder.save(root)))


def usages_of(graph: Graph, path: str) -> list[Usage]:
    return list(find_usages(graph, project_sources(graph.project), path))


@pytest.mark.parametrize("seed", range(8))
def test_users_are_exactly_the_assets_that_refer(tmp_path: Path, seed: int) -> None:
    builder = random_project(seed)
    graph = graph_of(builder, tmp_path)
    for path, guid in builder.guids.items():
        expected = {user for user, guids in builder.references().items() if guid in guids and user != path}
        found = {each.path for each in usages_of(graph, path) if each.path in builder.documents and each.component}

        assert found == expected, path


def test_every_form_is_found_with_its_place(tmp_path: Path) -> None:
    builder = ProjectBuilder()
    builder.add_texture(TEXTURE)
    guid = builder.guid_of(TEXTURE)
    builder.add_script("Assets/S.cs")
    fields = {"list": [Ref(2800000, guid, 3), Ref(2800000, guid, 3)], "asset": asset_reference(builder, TEXTURE)}
    component = Component(file_id=31, type="MonoBehaviour", script="Assets/S.cs", fields=fields)
    inner = Node(file_id=3, transform_id=4, name="B", components=(component,))
    builder.add_scene(Scene(path="Assets/A.unity", roots=(Node(file_id=1, transform_id=2, name="A", children=(inner,)),)))
    add_uss(builder, "Assets/a.uss", TEXTURE)
    add_uxml(builder, "Assets/b.uxml", style=TEXTURE)
    add_shadergraph(builder, "Assets/c.shadergraph", TEXTURE)
    add_asmdef(builder, "Assets/d.asmdef", (TEXTURE,))
    builder.add_material("Assets/e.mat", TEXTURE)
    builder.add_model("Assets/f.fbx", TEXTURE)
    builder.add_file("Assets/g.uss", "a { background-image: url('T.png'); }\n")
    found = usages_of(graph_of(builder, tmp_path), TEXTURE)

    assert [(each.path, each.object, each.component, each.property) for each in found] == [
        ("Assets/A.unity", "A/B", "S", "list[0]"),
        ("Assets/A.unity", "A/B", "S", "list[1]"),
        ("Assets/A.unity", "", "", "m_AssetGUID"),
        ("Assets/a.uss", "", "", "background-image"),
        ("Assets/b.uxml", "", "", "src"),
        ("Assets/c.shadergraph", "", "", "m_SerializedTexture"),
        ("Assets/d.asmdef", "", "", "GUID"),
        ("Assets/e.mat", "", "Material", "m_SavedProperties.m_TexEnvs[0]._MainTex.m_Texture"),
        ("Assets/f.fbx.meta", "", "", "second"),
        ("Assets/g.uss", "", "", ""),
    ]
    for each in found:
        line = (tmp_path / each.path).read_bytes().split(b"\n")[each.line - 1]
        assert guid.encode() in line or b"T.png" in line, each


def test_an_override_of_an_instance_is_a_usage(tmp_path: Path) -> None:
    builder = ProjectBuilder()
    builder.add_texture(TEXTURE)
    builder.add_prefab(Prefab(path="Assets/P.prefab", root=Node(file_id=1, transform_id=2, name="Root")))
    override = Override(target=1, path="m_Icon", reference=Ref(2800000, builder.guid_of(TEXTURE), 3))
    builder.add_scene(
        Scene(path="Assets/A.unity", roots=(Instance(file_id=9, source="Assets/P.prefab", overrides=(override,)),))
    )

    assert [(each.object, each.property) for each in usages_of(graph_of(builder, tmp_path), TEXTURE)] == [
        ("Root", "m_Modification.m_Modifications[0].objectReference")
    ]


def test_an_instance_is_one_usage_of_its_prefab_whatever_it_overrides(tmp_path: Path) -> None:
    builder = ProjectBuilder()
    builder.add_prefab(Prefab(path="Assets/P.prefab", root=Node(file_id=1, transform_id=2, name="Root")))
    overrides = tuple(Override(target=1, path=f"m_Field{number}", value="1") for number in range(5))
    instance = Instance(file_id=9, source="Assets/P.prefab", overrides=overrides)
    builder.add_scene(Scene(path="Assets/A.unity", roots=(instance,)))

    assert [(each.object, each.property) for each in usages_of(graph_of(builder, tmp_path), "Assets/P.prefab")] == [
        ("Root", "m_SourcePrefab")
    ]


def test_unused_assets_are_those_that_no_root_leads_to(tmp_path: Path) -> None:
    builder = ProjectBuilder()
    builder.packages = [Package(name="com.x", where="embedded", scripts=("A.cs",))]
    for name in ("used", "unused", "Resources/loaded", "StreamingAssets/s", "Editor/e", "of_unused", "addressed", "bundled"):
        builder.add_texture(f"Assets/{name}.png")
    builder.add_material("Assets/used.mat", "Assets/used.png")
    builder.add_material("Assets/unused.mat", "Assets/of_unused.png")
    builder.add_texture("Assets/Folder/inside.png")
    builder.add_script("Assets/Code.cs")
    builder.files["Assets/bundled.png.meta"] = builder.files["Assets/bundled.png.meta"].replace(
        b"assetBundleName: ", b"assetBundleName: ui"
    )
    addressed = [asset_reference(builder, path) for path in ("Assets/addressed.png", "Assets/Folder")]
    builder.add_scriptable("Assets/AddressableAssetsData/Group.asset", "Assets/Code.cs", {"entries": addressed})
    renderer = Component(
        file_id=5, type="MeshRenderer", fields={"m_Materials": [Ref(2100000, builder.guid_of("Assets/used.mat"), 2)]}
    )
    builder.add_scene(
        Scene(path="Assets/In.unity", roots=(Node(file_id=1, transform_id=2, name="A", components=(renderer,)),))
    )
    builder.add_scene(Scene(path="Assets/Out.unity"), in_build=False)
    found = find_unused(graph_of(builder, tmp_path))

    assert [each.path for each in found.assets] == [
        "Assets/Out.unity",
        "Assets/of_unused.png",
        "Assets/unused.mat",
        "Assets/unused.png",
    ]
    assert found.notes == ()


def test_without_scenes_in_the_build_every_scene_is_used(tmp_path: Path) -> None:
    builder = ProjectBuilder()
    builder.add_scene(Scene(path="Assets/A.unity"), in_build=False)
    found = find_unused(graph_of(builder, tmp_path))

    assert (found.assets, found.notes) == ((), ("The build settings list no scene, so every scene counts as used.",))
