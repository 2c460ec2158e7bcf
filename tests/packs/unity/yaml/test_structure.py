"""Structure-only mode against the full reader, on generated scenes and prefabs and on the forms of older editors."""

from __future__ import annotations

import random

import pytest
from tests.packs.unity.writer_random import random_project

from strictwire.packs.unity.yaml.decoded import structure_of
from strictwire.packs.unity.yaml.document import read_documents
from strictwire.packs.unity.yaml.faults import Fault, Malformed
from strictwire.packs.unity.yaml.objects import Added, Component, GameObject, Instance, Override, Stripped, Transform
from strictwire.packs.unity.yaml.structure import read_structure
from strictwire.packs.unity.yaml.values import Reference

HEAD = b"%YAML 1.1\n%TAG !u! tag:unity3d.com,2011:\n"
GUID = "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize("seed", range(25))
def test_it_finds_what_the_full_reader_finds(seed: int) -> None:
    builder = random_project(seed, odd=0.4)
    for path in (*builder.scenes, *builder.prefabs):
        raw = builder.files[path]
        full = structure_of({each.header.file_id: each for each in read_documents(raw)})

        assert read_structure(raw) == full, path
        assert read_structure(b"\xef\xbb\xbf" + raw.replace(b"\n", b"\r\n")) == full, path


def test_fifty_thousand_roots() -> None:
    ids = range(1, 50_001)
    listed = b"".join(b"  - {fileID: %d}\n" % each for each in ids)
    found = read_structure(HEAD + b"--- !u!1660057539 &9\nSceneRoots:\n  m_Roots:\n" + listed)

    assert found.roots == tuple(ids)


OBJECT = """--- !u!1 &10
GameObject:
  serializedVersion: 6
  m_Component:
  - component: {fileID: 11}
  - component: {fileID: 12}
  m_Layer: 5
  m_Name: "say \\"hi\\"\\n # \u00e9"
  m_TagString: Player
  m_IsActive: 0
--- !u!224 &11
RectTransform:
  m_GameObject: {fileID: 10}
  m_Children:
  - {fileID: 21}
  - {fileID: -22}
  m_Father: {fileID: 0}
  m_RootOrder: 3
--- !u!114 &12
MonoBehaviour:
  m_GameObject: {fileID: 10}
  m_Script: {fileID: 11500000, guid: GUID,
    type: 3}
  m_EditorClassIdentifier: Assembly-CSharp::Game.Hero
--- !u!104 &2
RenderSettings:
  m_Fog: 0
--- !u!1660057539 &9223372036854775807
SceneRoots:
  m_ObjectHideFlags: 0
  m_Roots:
  - {fileID: 11}
"""


def test_one_object_field_by_field() -> None:
    raw = HEAD + OBJECT.replace("GUID", GUID).encode()
    found = read_structure(raw)

    assert found.objects == {10: GameObject('say "hi"\n # é', False, "Player", 5, (11, 12))}
    assert found.transforms == {11: Transform(10, 0, (21, -22), 3)}
    script = Component("MonoBehaviour", 10, Reference(11500000, GUID), "Assembly-CSharp::Game.Hero")
    assert found.components == {11: Component("RectTransform", 10), 12: script}
    assert found.roots == (11,)


INSTANCE = """--- !u!1001 &50
PrefabInstance:
  m_ObjectHideFlags: 0
  m_Modification:
    serializedVersion: 3
    m_TransformParent: {fileID: 7}
    m_Modifications:
    - target: {fileID: 8679921383154817045, guid: GUID,
        type: 3}
      propertyPath: m_LocalPosition.x
      value: 1
      objectReference: {fileID: 0}
    - target: {fileID: -12, guid: GUID, type: 3}
      propertyPath: m_Name
      value: NAME
      objectReference: {fileID: 0}
    m_RemovedComponents:
    - {fileID: 31, guid: GUID, type: 3}
    m_RemovedGameObjects: []
    m_AddedGameObjects:
    - targetCorrespondingSourceObject: {fileID: 32, guid: GUID,
        type: 3}
      insertIndex: 2
      addedObject: {fileID: 33}
    m_AddedComponents: []
  m_SourcePrefab: {fileID: 100100000, guid: GUID, type: 3}
--- !u!4 &51 stripped
Transform:
  m_CorrespondingSourceObject: {fileID: 32, guid: GUID,
    type: 3}
  m_PrefabInstance: {fileID: 50}
  m_PrefabAsset: {fileID: 0}
"""


NAMES = [("Plain # 1", "Plain # 1"), ("'a: b'", "a: b"), ('"\\xE9\\n"', "é\n"), ("", "")]


@pytest.mark.parametrize(("written", "name"), NAMES)
def test_an_instance_field_by_field(written: str, name: str) -> None:
    """A quoted value takes the way through the full reader."""
    found = read_structure(HEAD + INSTANCE.replace("GUID", GUID).replace("NAME", written).encode())

    assert found.instances == {
        50: Instance(
            Reference(100100000, GUID),
            7,
            overrides=(Override(-12, "m_Name", name),),
            removed_components=(31,),
            added_objects=(Added(32, 2, 33),),
        )
    }
    assert found.stripped == {51: Stripped(4, 32, 50)}


def test_forms_of_editors_before_2018_3() -> None:
    raw = (
        HEAD
        + f"""--- !u!1001 &100100000
Prefab:
  m_ObjectHideFlags: 1
  m_Modification:
    m_TransformParent: {{fileID: 0}}
    m_Modifications: []
    m_RemovedComponents: []
  m_ParentPrefab: {{fileID: 0}}
  m_RootGameObject: {{fileID: 1}}
  m_IsPrefabParent: 1
--- !u!1001 &200
Prefab:
  m_Modification:
    m_TransformParent: {{fileID: 0}}
    m_Modifications: []
    m_RemovedComponents: []
  m_ParentPrefab: {{fileID: 100100000, guid: {GUID}, type: 2}}
  m_IsPrefabParent: 0
--- !u!4 &3 stripped
Transform:
  m_PrefabParentObject: {{fileID: 400000, guid: {GUID}, type: 2}}
  m_PrefabInternal: {{fileID: 200}}
--- !u!1 &1
GameObject:
  m_Component:
  - 4: {{fileID: 5}}
  - 23: {{fileID: 6}}
  m_Name: Old
  m_IsActive: 1
""".encode()
    )
    found = read_structure(raw)

    assert found.instances == {200: Instance(Reference(100100000, GUID), 0)}
    assert found.stripped == {3: Stripped(4, 400000, 200)}
    assert found.objects == {1: GameObject("Old", True, "Untagged", 0, (5, 6))}


def test_of_two_documents_with_one_id_the_first_counts_and_the_second_is_reported() -> None:
    raw = HEAD + b"--- !u!1 &1\nGameObject:\n  m_Name: first\n--- !u!1 &1\nGameObject:\n  m_Name: second\n"
    found = read_structure(raw)

    assert found.objects[1].name == "first"
    assert [(each.fault, each.line, each.file_id) for each in found.problems] == [(Fault.DUPLICATE_ID, 6, 1)]


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (b"GameObject:\n  m_Name: 'x\n", Fault.TRUNCATED),
        (b"GameObject:\n  m_Name: {a: 1}\n", Fault.BAD_VALUE),
        (b"GameObject:\n  m_Component: text\n  m_Name: \xff\n", Fault.NOT_UTF8),
    ],
)
def test_a_field_that_cannot_be_read_is_malformed(body: bytes, fault: Fault) -> None:
    with pytest.raises(Malformed) as caught:
        read_structure(HEAD + b"--- !u!1 &1\n" + body)

    assert caught.value.problem.fault is fault


@pytest.mark.parametrize("seed", range(3))
def test_every_cut_is_reported_or_malformed(seed: int) -> None:
    """A file that ends in the middle of a line is never taken for a whole one."""
    raw = random_project(seed).files["Assets/Scenes/S0.unity"]
    rng = random.Random(seed)
    for end in rng.sample(range(60, len(raw) - 1), 300):
        if raw[end - 1 : end] == b"\n":
            continue
        try:
            found = read_structure(raw[:end])
        except Malformed:
            continue

        assert any(each.fault in (Fault.TRUNCATED, Fault.BAD_HEADER) for each in found.problems), end
