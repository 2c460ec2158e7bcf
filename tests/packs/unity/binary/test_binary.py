"""Binary scenes read through UnityPy: the same tree as the text form, and a plain refusal of everything else."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.packs.unity.binary.serialized import BinaryFile, Item

from strictwire.packs.unity.binary.documents import is_serialized_file, read_binary
from strictwire.packs.unity.reading import Unreadable
from strictwire.packs.unity.yaml.decoded import structure_of
from strictwire.packs.unity.yaml.objects import Component, GameObject, Instance, Override, Stripped, Transform
from strictwire.packs.unity.yaml.values import Reference

GUID = "0123456789abcdef0123456789abcdef"
OBJECT = (
    ([(("PPtr", "component"),)], "m_Component"),
    ("UInt32", "m_Layer"),
    ("string", "m_Name"),
    ("string", "m_TagString"),
    ("bool", "m_IsActive"),
)
TRANSFORM = (("PPtr", "m_GameObject"), (["PPtr"], "m_Children"), ("PPtr", "m_Father"), ("int", "m_RootOrder"))
SCRIPT = (("PPtr", "m_GameObject"), ("UInt8", "m_Enabled"), ("PPtr", "m_Script"), ("float", "speed"), ("string", "label"))
CHANGE = (("PPtr", "target"), ("string", "propertyPath"), ("string", "value"), ("PPtr", "objectReference"))
CHANGES = (("PPtr", "m_TransformParent"), ([CHANGE], "m_Modifications"), (["PPtr"], "m_RemovedComponents"))
INSTANCE = ((CHANGES, "m_Modification"), ("PPtr", "m_SourcePrefab"))
HANDLE = (("PPtr", "m_CorrespondingSourceObject"), ("PPtr", "m_PrefabInstance"))
NONE = (0, 0)


def binary_scene() -> BinaryFile:
    """A player with a script, and an instance of the prefab with GUID that is renamed and hangs below the player."""
    player: dict[str, Any] = {
        "m_Component": [{"component": (0, 11)}, {"component": (0, 12)}],
        "m_Layer": 5,
        "m_Name": "Größe #1",
        "m_TagString": "Player",
        "m_IsActive": False,
    }
    rename = {"target": (1, 70), "propertyPath": "m_Name", "value": "Sword", "objectReference": NONE}
    changes = {"m_TransformParent": (0, 11), "m_Modifications": [rename], "m_RemovedComponents": [(1, 72)]}
    place = {"m_GameObject": (0, 10), "m_Children": [(0, 51)], "m_Father": NONE, "m_RootOrder": 0}
    behaviour = {"m_GameObject": (0, 10), "m_Enabled": 1, "m_Script": (2, 11500000), "speed": 1.5, "label": "it's"}
    return BinaryFile(
        items=[
            Item(1, 10, OBJECT, player),
            Item(4, 11, TRANSFORM, place),
            Item(114, 12, SCRIPT, behaviour),
            Item(1001, 50, INSTANCE, {"m_Modification": changes, "m_SourcePrefab": (1, 100100000)}),
            Item(4, 51, HANDLE, {"m_CorrespondingSourceObject": (1, 71), "m_PrefabInstance": (0, 50)}, stripped=True),
        ],
        externals=[GUID, "f" * 32],
    )


@pytest.mark.slow
def test_the_structure_is_that_of_the_text_form() -> None:
    found = structure_of(read_binary(binary_scene().render()))

    assert found.objects == {10: GameObject("Größe #1", False, "Player", 5, (11, 12))}
    assert found.transforms == {11: Transform(10, 0, (51,), 0)}
    script = Component("MonoBehaviour", 10, Reference(11500000, "f" * 32))
    assert found.components == {11: Component("Transform", 10), 12: script}
    assert found.instances == {
        50: Instance(Reference(100100000, GUID), 11, (Override(70, "m_Name", "Sword"),), removed_components=(72,))
    }
    assert found.stripped == {51: Stripped(4, 71, 50)}


@pytest.mark.slow
def test_fields_are_those_of_the_text_form() -> None:
    assert read_binary(binary_scene().render())[12].fields == {
        "m_GameObject": {"fileID": "10"},
        "m_Enabled": "1",
        "m_Script": {"fileID": "11500000", "guid": "f" * 32, "type": "3"},
        "speed": "1.5",
        "label": "it's",
    }


@pytest.mark.parametrize(
    "raw", [b"", bytes(100), b"UnityFS\0" + bytes(100), binary_scene().render()[:-1], binary_scene().render() + b"\0"]
)
def test_only_whole_serialized_files_are_decoded(raw: bytes) -> None:
    """Bundles in particular: they can hold compressed data without end."""
    assert not is_serialized_file(raw)
    with pytest.raises(Unreadable):
        read_binary(raw)


@pytest.mark.slow
def test_damage_is_refused_or_decoded_and_nothing_else() -> None:
    """The first of these seeds crashes the native part of UnityPy, which ends its own process and not this one."""
    raw = binary_scene().render()
    outcomes = set()
    for seed in (0, 1, 3):
        rng, damaged = random.Random(seed), bytearray(raw)
        for _ in range(rng.randrange(1, 5)):
            damaged[rng.randrange(48, len(damaged))] = rng.randrange(256)
        try:
            outcomes.add(type(read_binary(bytes(damaged))))
        except Unreadable as exc:
            outcomes.add(type(exc))

    assert outcomes == {dict, Unreadable}
