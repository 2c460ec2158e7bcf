"""Names of objects agree with the model of the generated project, nested prefabs and overrides included."""

from __future__ import annotations

import pytest
from tests.packs.unity.writer import ProjectBuilder
from tests.packs.unity.writer_model import Node, Placed, Scene, nested_id
from tests.packs.unity.writer_random import random_project

from strictwire.packs.unity.naming import CUT, MAX_DEPTH, Names
from strictwire.packs.unity.sources import Sources
from strictwire.packs.unity.yaml.structure import read_structure


def sources_of(builder: ProjectBuilder) -> Sources:
    by_guid = {guid: path for path, guid in builder.guids.items()}
    return Sources(by_guid.get, lambda path: builder.files[path])


def paths_of(roots: tuple[Placed, ...]) -> dict[int, str]:
    return {
        file_id: path
        for root in roots
        for path, node in root.walk()
        for file_id in (node.file_id, *(component.file_id for component in node.components))
    }


@pytest.mark.parametrize("seed", range(15))
def test_every_document_is_named_by_the_path_of_its_object(seed: int) -> None:
    builder = random_project(seed)
    sources = sources_of(builder)
    for path in (*builder.scenes, *builder.prefabs):
        names = sources.names(read_structure(builder.files[path]))
        expected = paths_of(builder.tree_of(path))
        for document in builder.documents[path]:
            if document.file_id in expected:
                assert names.path(document.file_id) == expected[document.file_id]
            if document.stripped:
                source, instance = (document.body[name] for name in ("m_CorrespondingSourceObject", "m_PrefabInstance"))
                assert names.path(document.file_id) == expected[nested_id(instance.file_id, source.file_id)]


@pytest.mark.parametrize("seed", range(15))
def test_objects_of_nested_prefabs_are_named_by_their_derived_ids(seed: int) -> None:
    builder = random_project(seed)
    sources = sources_of(builder)
    for path in builder.prefabs:
        names = sources.names(read_structure(builder.files[path]))
        expected = paths_of(builder.tree_of(path))

        assert {file_id: names.path(file_id) for file_id in expected} == expected


def test_a_document_without_an_object_has_no_path() -> None:
    builder = random_project(1)
    names = sources_of(builder).names(read_structure(builder.files["Assets/Scenes/S1.unity"]))

    assert names.path(1) == ""
    assert names.path(987654321) == ""


def test_a_path_that_is_too_deep_is_cut_at_its_start() -> None:
    builder = ProjectBuilder()
    node = None
    for number in range(MAX_DEPTH + 50):
        node = Node(
            file_id=builder.ids(), transform_id=builder.ids(), name=str(number), children=(node,) if node is not None else ()
        )
    builder.add_scene(Scene(path="Assets/Deep.unity", roots=(node,)))
    names = Names(read_structure(builder.files["Assets/Deep.unity"]), sources_of(builder))
    deepest = next(each for each in builder.documents["Assets/Deep.unity"] if each.body.get("m_Name") == "0")

    assert names.path(deepest.file_id) == "/".join([CUT, *(str(number) for number in reversed(range(MAX_DEPTH)))])


def test_transforms_that_are_their_own_ancestors_end() -> None:
    raw = (
        b"%YAML 1.1\n%TAG !u! tag:unity3d.com,2011:\n"
        b"--- !u!1 &1\nGameObject:\n  m_Component:\n  - component: {fileID: 2}\n  m_Name: A\n"
        b"--- !u!4 &2\nTransform:\n  m_GameObject: {fileID: 1}\n  m_Children: []\n  m_Father: {fileID: 2}\n"
    )
    names = Names(read_structure(raw), Sources(lambda _guid: None, lambda _path: b""))

    assert names.path(1).startswith(f"{CUT}/A/A")
