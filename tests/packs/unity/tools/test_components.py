"""scene.components.list: stored values, overrides on the way to an instance, and what cannot be shown whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.packs.unity.binary.test_binary import GUID, binary_scene
from tests.packs.unity.tools.desk import Desk, opened
from tests.packs.unity.writer import ProjectBuilder
from tests.packs.unity.writer_model import (
    MODEL_OBJECT,
    MODEL_TRANSFORM,
    Component,
    Instance,
    Node,
    Override,
    Prefab,
    Scene,
    nested_id,
)
from tests.packs.unity.writer_yaml import Ref, vector

SCENE = "Assets/S.unity"


def fields(desk: Desk, path: str, component: int, **more: Any) -> dict[str, tuple[str, Any]]:
    found = desk.output("scene.components.list", scenePath=SCENE, gameObjectPath=path, **more)
    return {each["name"]: (each["type"], each["value"]) for each in found["components"][component]["serializedFields"]}


def test_values_have_the_types_they_look_like(tmp_path: Path) -> None:
    builder = ProjectBuilder()
    script = builder.add_script("Assets/Hero.cs")
    material = builder.add_material("Assets/M.mat")
    values: dict[str, Any] = {
        "count": 3, "speed": 1.5, "tiny": "1e-05", "big": "9007199254740993", "text": "hello # 1", "digits": "'7'",
        "empty": "",
        "target": Ref(2100000, material, 2), "own": Ref(10), "none": Ref(),
        "place": vector(x=1, y=2.5, z=-3), "spin": vector(x=0, y=0, z=0, w=1), "flat": vector(x=1, y=2),
        "tint": vector(r=1, g=0, b=0, a=1),
        "list": [1, {"key": "a", "value": 2}], "nested": {"inner": {"deep": 1}},
    }  # fmt: skip
    part = Component(file_id=12, type="MonoBehaviour", script="Assets/Hero.cs", fields=values)
    builder.add_scene(Scene(path=SCENE, roots=(Node(file_id=10, transform_id=11, name="A", components=(part,)),)))
    with opened(builder.save(tmp_path)) as desk:
        called = desk.call("scene.components.list", scenePath=SCENE, gameObjectPath="A")
        found = fields(desk, "A", 1)

    assert [(each["type"], each["instanceId"]) for each in called.output["components"]] == [("Transform", 11), ("Hero", 12)]
    assert found == {
        "m_Enabled": ("Integer", 1),
        "m_Script": ("ObjectReference", {"fileID": "11500000", "guid": script, "path": "Assets/Hero.cs"}),
        "m_Name": ("String", ""),
        "count": ("Integer", 3),
        "speed": ("Float", 1.5),
        "tiny": ("Float", 1e-05),
        "big": ("String", "9007199254740993"),
        "text": ("String", "hello # 1"),
        "digits": ("String", "'7'"),
        "empty": ("String", ""),
        "target": ("ObjectReference", {"fileID": "2100000", "guid": material, "path": "Assets/M.mat"}),
        "own": ("ObjectReference", {"fileID": "10"}),
        "none": ("ObjectReference", {"fileID": "0"}),
        "place": ("Vector3", {"x": 1, "y": 2.5, "z": -3}),
        "spin": ("Vector4", {"x": 0, "y": 0, "z": 0, "w": 1}),
        "flat": ("Vector2", {"x": 1, "y": 2}),
        "tint": ("Color", {"r": 1, "g": 0, "b": 0, "a": 1}),
        "list": ("Array", [1, {"key": "a", "value": 2}]),
        "nested": ("Generic", {"inner": {"deep": 1}}),
    }
    assert called.notes == [
        "Field types are inferred from the stored values; a field that equals a newly added default may be absent."
    ]


def overridden(tmp_path: Path) -> Path:
    """A light in a prefab, changed by the prefab around it and changed again by the scene."""
    builder = ProjectBuilder()
    material = builder.add_material("Assets/M.mat")
    values: dict[str, Any] = {
        "m_Intensity": 1,
        "m_Color": vector(r=1, g=1, b=1, a=1),
        "m_Items": [Ref(2100000, material, 2), Ref()],
        "m_Cookie": Ref(2100000, material, 2),
        "m_Rows": [{"a": 1, "b": 2}],
    }
    lamp = Node(file_id=10, transform_id=11, name="Lamp", components=(Component(file_id=12, type="Light", fields=values),))
    builder.add_prefab(Prefab(path="Assets/Lamp.prefab", root=lamp))
    inner = Instance(
        file_id=1000,
        source="Assets/Lamp.prefab",
        overrides=(
            Override(target=12, path="m_Intensity", value="2"),
            Override(target=12, path="m_Color.g", value="0.5"),
            Override(target=12, path="m_Rows.Array.size", value="3"),
            Override(target=12, path="m_Rows.Array.data[2].b", value="9"),
        ),
    )
    builder.add_prefab(
        Prefab(path="Assets/Post.prefab", root=Node(file_id=20, transform_id=21, name="Post", children=(inner,)))
    )
    target = nested_id(1000, 12)
    outer = Instance(
        file_id=500,
        source="Assets/Post.prefab",
        overrides=(
            Override(target=target, path="m_Intensity", value="3"),
            Override(target=target, path="m_Items.Array.data[1]", value="", reference=Ref(77)),
            Override(target=target, path="m_Cookie", value=""),
            Override(target=target, path="m_Stale.deep.path", value="1"),
            Override(target=target, path="m_Items.Array.data[99]", value="1"),
        ),
    )
    builder.add_scene(Scene(path=SCENE, roots=(outer,)))
    return builder.save(tmp_path)


def test_overrides_of_every_level_are_applied_outermost_last(tmp_path: Path) -> None:
    with opened(overridden(tmp_path)) as desk:
        found = fields(desk, "Post/Lamp", 1)

    assert found["m_Intensity"] == ("Integer", 3)
    assert found["m_Color"] == ("Color", {"r": 1, "g": 0.5, "b": 1, "a": 1})
    assert [each.get("fileID") for each in found["m_Items"][1]] == ["2100000", "77"]
    assert found["m_Cookie"] == ("ObjectReference", {"fileID": "0"})
    assert found["m_Rows"] == ("Array", [{"a": 1, "b": 2}, {"a": 1, "b": 2}, {"a": 1, "b": 9}])
    assert "m_Stale" not in found


def test_a_prefab_itself_keeps_its_own_values(tmp_path: Path) -> None:
    with opened(overridden(tmp_path)) as desk:
        output = desk.output("scene.components.list", scenePath="Assets/Lamp.prefab", gameObjectPath="Lamp")

    values = {each["name"]: each["value"] for each in output["components"][1]["serializedFields"]}
    assert (values["m_Intensity"], values["m_Color"]["g"], values["m_Rows"]) == (1, 1, [{"a": 1, "b": 2}])


def test_a_missing_script_has_no_id(tmp_path: Path) -> None:
    builder = ProjectBuilder()
    parts = (Component(file_id=12, type="MonoBehaviour"), Component(file_id=13, type="Light"))
    builder.add_scene(Scene(path=SCENE, roots=(Node(file_id=10, transform_id=11, name="A", components=parts),)))
    root = builder.save(tmp_path)
    raw = (root / SCENE).read_bytes()
    start = raw.index(b"--- !u!108 &13")
    (root / SCENE).write_bytes(raw[:start] + raw[raw.index(b"--- ", start + 4) :])
    with opened(root) as desk:
        output = desk.output("scene.components.list", scenePath=SCENE, gameObjectPath="A")

    shown = [(each["type"], each["instanceId"], bool(each["serializedFields"])) for each in output["components"]]
    assert shown == [("Transform", 11, True), ("Missing Script", 0, True), ("Missing Script", 0, False)]


def test_objects_with_the_same_path_are_told_apart_by_their_id(tmp_path: Path) -> None:
    builder = ProjectBuilder()
    twins = [Node(file_id=10 * number, transform_id=10 * number + 1, name="Twin") for number in (1, 2, 3)]
    builder.add_scene(Scene(path=SCENE, roots=tuple(twins)))
    with opened(builder.save(tmp_path)) as desk:
        first = desk.call("scene.components.list", scenePath=SCENE, gameObjectPath="Twin")
        third = desk.call("scene.components.list", scenePath=SCENE, gameObjectPath="Twin", instanceId=30)
        none = desk.refuse("scene.components.list", scenePath=SCENE, gameObjectPath="Twin", instanceId=99)

    assert [each.output["components"][0]["instanceId"] for each in (first, third)] == [11, 31]
    assert "2 more objects with this path; pass instanceId to choose one." in first.notes
    assert len(third.notes) == 1
    assert none.details["gameObjectPath"] == "Twin"


def test_long_values_are_cut_and_named(tmp_path: Path) -> None:
    builder = ProjectBuilder()
    values: dict[str, Any] = {
        "blob": "f" * 100_000,
        "many": list(range(500)),
        "deep": {"a": {}},
        "wide": [list(range(100)) for _ in range(100)],
    }
    inner = values["deep"]["a"]
    for _ in range(40):
        inner["a"] = {}
        inner = inner["a"]
    inner["a"] = 1
    part = Component(file_id=12, type="Light", fields=values)
    builder.add_scene(Scene(path=SCENE, roots=(Node(file_id=10, transform_id=11, name="A", components=(part,)),)))
    with opened(builder.save(tmp_path)) as desk:
        called = desk.call("scene.components.list", scenePath=SCENE, gameObjectPath="A")
        found = fields(desk, "A", 1)

    assert len(found["blob"][1]) == 2_000
    assert len(found["many"][1]) == 100
    assert "Long values are cut in blob, deep, many, wide." in called.notes


@pytest.mark.slow
def test_a_binary_scene_is_read_like_one_in_text(tmp_path: Path) -> None:
    builder = ProjectBuilder()
    builder.guids["Assets/Sword.prefab"] = GUID
    sword = Node(file_id=70, transform_id=71, name="Blade", components=(Component(file_id=72, type="Light"),))
    builder.add_prefab(Prefab(path="Assets/Sword.prefab", root=sword))
    builder.guids["Assets/Hero.cs"] = "f" * 32
    builder.add_script("Assets/Hero.cs")
    builder.add_file("Assets/B.unity", binary_scene().render())
    with opened(builder.save(tmp_path)) as desk:
        dumped = desk.output("scene.hierarchy.dump", scenePath="Assets/B.unity")
        listed = desk.output("scene.components.list", scenePath="Assets/B.unity", gameObjectPath="Größe #1")

    (player,) = dumped["rootObjects"]
    (blade,) = player["children"]
    assert (player["path"], player["components"]) == ("Größe #1", ["Transform", "Hero"])
    assert (blade["path"], blade["components"]) == ("Größe #1/Sword", ["Transform"])
    values = {each["name"]: each["value"] for each in listed["components"][1]["serializedFields"]}
    assert (values["speed"], values["label"]) == (1.5, "it's")


def test_of_a_model_what_is_overridden_is_known(tmp_path: Path) -> None:
    builder = ProjectBuilder()
    builder.add_model("Assets/Ship.fbx")
    changes = (("m_LocalPosition.x", "1.5"), ("m_LocalPosition.y", "2"), ("m_RootOrder", "3"), ("m_A.Array.data[0]", "9"))
    overrides = tuple(Override(target=MODEL_TRANSFORM, path=path, value=value) for path, value in changes)
    named = Override(target=MODEL_OBJECT, path="m_Name", value="Boat")
    ship = Instance(file_id=500, source="Assets/Ship.fbx", overrides=(*overrides, named))
    builder.add_scene(Scene(path=SCENE, roots=(ship,)))
    with opened(builder.save(tmp_path)) as desk:
        called = desk.call("scene.components.list", scenePath=SCENE, gameObjectPath="Boat")
        found = fields(desk, "Boat", 0)

    assert found == {"m_LocalPosition": ("Vector2", {"x": 1.5, "y": 2}), "m_RootOrder": ("Integer", 3)}
    assert "Only overridden values are known of Assets/Ship.fbx." in called.notes
