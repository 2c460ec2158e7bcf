"""Trees of generated scenes and prefabs against the model they were written from, and every limit and obstacle."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from tests.packs.unity.hierarchy.memory import MemorySources, outline, placed, shown, tree_of
from tests.packs.unity.writer import ProjectBuilder
from tests.packs.unity.writer_model import Component, Instance, Node, Override, Prefab, Scene
from tests.packs.unity.writer_random import random_project
from tests.packs.unity.writer_yaml import Document, Ref

from strictwire.packs.unity.hierarchy.expand import build_tree
from strictwire.packs.unity.hierarchy.sources import Obstacle
from strictwire.packs.unity.hierarchy.tree import Findings
from strictwire.packs.unity.yaml.faults import Fault
from strictwire.packs.unity.yaml.structure import read_structure

pytestmark = pytest.mark.slow

SCENE = "Assets/S.unity"


@pytest.mark.parametrize("seed", range(40))
def test_generated_trees_are_as_they_were_written(seed: int) -> None:
    """Nested prefabs, variants, overrides, additions and removals. Ids are fixed in prefabs alone."""
    builder = random_project(seed)
    for path in builder.prefabs:
        tree = tree_of(builder, path)

        assert [shown(root) for root in tree.roots] == [placed(root) for root in builder.tree_of(path)]
    for path in builder.scenes:
        tree = tree_of(builder, path)

        assert [shown(root, lambda _: 0) for root in tree.roots] == [
            placed(root, lambda _: 0) for root in builder.tree_of(path)
        ]
        assert replace(tree.findings, obstacles={}) == Findings()


def node(number: int, name: str, *children: Node | Instance, **more: object) -> Node:
    return Node(file_id=number, transform_id=number + 1, name=name, children=children, **more)  # type: ignore[arg-type]


def scene(builder: ProjectBuilder, *roots: Node | Instance) -> ProjectBuilder:
    builder.add_scene(Scene(path=SCENE, roots=roots))
    return builder


def test_children_stand_in_the_order_of_their_parent() -> None:
    builder = scene(ProjectBuilder(), node(100, "Z"), node(200, "A", node(300, "y"), node(400, "b")))

    assert outline(tree_of(builder, SCENE)) == ["Z", "A", "A/y", "A/b"]


def test_older_scenes_order_roots_by_number_also_instances() -> None:
    builder = ProjectBuilder()
    builder.add_prefab(Prefab(path="Assets/P.prefab", root=node(10, "P")))
    first = Instance(file_id=500, source="Assets/P.prefab", overrides=(Override(target=11, path="m_RootOrder", value="0"),))
    builder.add_scene(Scene(path=SCENE, roots=(node(200, "B"), first), has_scene_roots=False))
    raw = builder.files[SCENE].replace(b"m_RootOrder: 0\n", b"m_RootOrder: 1\n", 1)
    builder.files[SCENE] = raw

    assert outline(tree_of(builder, SCENE)) == ["P", "B"]


def test_an_added_object_is_inserted_where_the_instance_says() -> None:
    builder = ProjectBuilder()
    builder.add_prefab(Prefab(path="Assets/P.prefab", root=node(10, "P", node(20, "a"), node(30, "b"))))
    extra = (Component(file_id=700, type="Light"), Component(file_id=701, type="Camera"))
    placed_prefab = Instance(
        file_id=500,
        source="Assets/P.prefab",
        added_objects=((10, node(600, "new")),),
        added_components=tuple((10, each) for each in extra),
    )
    scene(builder, placed_prefab)
    builder.files[SCENE] = builder.files[SCENE].replace(b"insertIndex: -1\n", b"insertIndex: 1\n", 2)
    tree = tree_of(builder, SCENE)

    assert outline(tree) == ["P", "P/a", "P/new", "P/b"]
    assert [each.component.type_name for each in tree.roots[0].components if each.component] == [
        "Transform",
        "Light",
        "Camera",
    ]


def test_models_are_one_node_and_what_hangs_on_their_inside_hangs_on_it() -> None:
    builder = ProjectBuilder()
    builder.add_model("Assets/Hero.fbx")
    builder.add_prefab(Prefab(path="Assets/Hero.prefab", root=Instance(file_id=77, source="Assets/Hero.fbx")))
    scene(builder, Instance(file_id=500, source="Assets/Hero.prefab"))
    hand = f"""--- !u!4 &900 stripped
Transform:
  m_CorrespondingSourceObject: {{fileID: 123456, guid: {builder.guid_of("Assets/Hero.prefab")}, type: 3}}
  m_PrefabInstance: {{fileID: 500}}
--- !u!1 &901
GameObject:
  m_Component:
  - component: {{fileID: 902}}
  m_Name: Sword
--- !u!4 &902
Transform:
  m_GameObject: {{fileID: 901}}
  m_Father: {{fileID: 900}}
""".encode()
    builder.files[SCENE] += hand
    tree = tree_of(builder, SCENE)

    assert outline(tree) == ["Hero", "Hero/Sword"]
    assert tree.roots[0].obstacle is Obstacle.MODEL
    assert tree.findings == Findings(obstacles={Obstacle.MODEL: ("Assets/Hero.fbx",)}, unplaced=1)


def test_a_prefab_that_is_gone_keeps_its_place_and_its_name() -> None:
    builder = ProjectBuilder()
    builder.add_prefab(Prefab(path="Assets/P.prefab", root=node(10, "P", node(20, "inside"))))
    renamed = (Override(target=10, path="m_Name", value="Door"), Override(target=10, path="m_IsActive", value="0"))
    scene(builder, node(100, "House", Instance(file_id=500, source="Assets/P.prefab", overrides=renamed), node(200, "Z")))
    del builder.files["Assets/P.prefab"]
    tree = tree_of(builder, SCENE)

    assert outline(tree) == ["House", "House/Door", "House/Z"]
    assert tree.roots[0].children[0].active is False
    assert tree.findings.obstacles == {Obstacle.ABSENT: (builder.guid_of("Assets/P.prefab"),)}


def test_a_prefab_cycle_ends() -> None:
    builder = ProjectBuilder()
    builder.add_prefab(Prefab(path="Assets/C.prefab", root=node(5, "C")))
    builder.add_prefab(Prefab(path="Assets/A.prefab", root=node(10, "A", Instance(file_id=31, source="Assets/C.prefab"))))
    builder.add_prefab(Prefab(path="Assets/B.prefab", root=node(20, "B", Instance(file_id=30, source="Assets/A.prefab"))))
    guids = (builder.guid_of(f"Assets/{name}.prefab").encode() for name in "CB")
    builder.files["Assets/A.prefab"] = builder.files["Assets/A.prefab"].replace(*guids)
    tree = tree_of(builder, "Assets/A.prefab")

    assert outline(tree) == ["A", "A/B", "A/B/A"]
    assert tree.findings.obstacles == {Obstacle.CYCLE: ("Assets/A.prefab",)}


def test_objects_whose_parents_form_a_cycle_are_left_out_and_counted() -> None:
    builder = scene(ProjectBuilder(), node(100, "A", node(200, "B", node(300, "C"))), node(400, "D"))
    builder.files[SCENE] = builder.files[SCENE].replace(
        b"- {fileID: 201}\n  m_Father: {fileID: 0}", b"- {fileID: 201}\n  m_Father: {fileID: 301}"
    )
    tree = tree_of(builder, SCENE)

    assert outline(tree) == ["D"]
    assert tree.findings.unreachable == 3


def test_lost_parents_components_and_objects_are_counted() -> None:
    builder = scene(ProjectBuilder(), node(100, "A", node(200, "B", components=(Component(file_id=300, type="Light"),))))
    raw = builder.files[SCENE]
    start = raw.index(b"--- !u!108 &300")
    builder.files[SCENE] = raw[:start] + raw[raw.index(b"--- ", start + 4) :]
    tree = tree_of(builder, SCENE)

    assert [each.component is None for each in tree.roots[0].children[0].components] == [False, True]
    builder.files[SCENE] = raw.replace(b"m_Father: {fileID: 101}", b"m_Father: {fileID: 999}")
    tree = tree_of(builder, SCENE)

    assert outline(tree) == ["A", "B"]
    assert tree.findings.dangling == 1


def bomb(depth: int) -> ProjectBuilder:
    """Prefabs that each hold two of the one before: `depth` files expand to 2 ** depth - 1 objects."""
    builder = ProjectBuilder()
    builder.add_prefab(Prefab(path="Assets/P0.prefab", root=node(10, "P")))
    for number in range(1, depth):
        inside = [Instance(file_id=builder.ids(), source=f"Assets/P{number - 1}.prefab") for _ in range(2)]
        root = Node(file_id=builder.ids(), transform_id=builder.ids(), name="P", children=tuple(inside))
        # The writer expands what it writes, so the model is kept small: it is not needed to compare.
        builder.prefabs.clear()
        builder.prefabs[f"Assets/P{number - 1}.prefab"] = Prefab(
            path=f"Assets/P{number - 1}.prefab", root=Node(file_id=10, transform_id=11, name="P")
        )
        builder.add_prefab(Prefab(path=f"Assets/P{number}.prefab", root=root))
    return builder


def test_a_prefab_bomb_stops_at_the_limit_of_objects() -> None:
    tree = tree_of(bomb(18), "Assets/P17.prefab", objects=5_000)

    assert 4_000 < sum(1 for _ in tree.walk()) <= 5_000 * 2
    assert tree.findings.is_cut
    assert not tree.findings.is_late


def test_a_bomb_of_prefabs_without_objects_stops_at_the_limit_of_objects() -> None:
    """Each level has two instances and nothing else; the innermost names a prefab that is not there."""
    builder = ProjectBuilder()
    for number in range(30):
        source = builder.guid_of(f"Assets/P{number - 1}.prefab") if number else "0" * 31 + "1"
        twice = [
            Document(
                class_id=1001,
                file_id=number * 10 + each,
                type_name="PrefabInstance",
                body={
                    "m_Modification": {"m_TransformParent": Ref(0), "m_Modifications": []},
                    "m_SourcePrefab": Ref(100100000, source, 3),
                },
            )
            for each in (1, 2)
        ]
        builder.add_documents(f"Assets/P{number}.prefab", twice)
    tree = tree_of(builder, "Assets/P29.prefab", objects=5_000)

    assert tree.findings.is_cut


def test_an_instance_that_removes_very_many_objects_is_expanded_in_one_pass() -> None:
    many = 20_000
    children = tuple(Node(file_id=10 * each, transform_id=10 * each + 1, name="C") for each in range(10, many + 10))
    builder = ProjectBuilder()
    builder.add_prefab(Prefab(path="Assets/P.prefab", root=Node(file_id=1, transform_id=2, name="P", children=children)))
    removed = tuple(each.file_id for each in reversed(children[1:]))
    scene(builder, Instance(file_id=7, source="Assets/P.prefab", removed_objects=removed))

    assert outline(tree_of(builder, SCENE)) == ["P", "P/C"]


def test_a_bomb_within_the_limit_is_expanded_whole() -> None:
    tree = tree_of(bomb(10), "Assets/P9.prefab")

    assert sum(1 for _ in tree.walk()) == 2**10 - 1
    assert tree.findings == Findings()


def test_time_ends_an_expansion() -> None:
    asked = iter([False] * 20 + [True] * 10_000)
    tree = tree_of(bomb(12), "Assets/P11.prefab", is_late=lambda: next(asked))

    assert tree.findings.is_late
    assert sum(1 for _ in tree.walk()) < 100


def test_a_chain_of_prefabs_stops_at_its_limit() -> None:
    builder = ProjectBuilder()
    builder.add_prefab(Prefab(path="Assets/P0.prefab", root=node(10, "P")))
    for number in range(1, 60):
        inside = Instance(file_id=number * 1000, source=f"Assets/P{number - 1}.prefab")
        root = Node(file_id=number * 1000 + 1, transform_id=number * 1000 + 2, name="P", children=(inside,))
        builder.add_prefab(Prefab(path=f"Assets/P{number}.prefab", root=root))
    tree = tree_of(builder, "Assets/P59.prefab")

    assert list(tree.findings.obstacles) == [Obstacle.TOO_DEEP]


def test_thirty_thousand_nested_objects_do_not_exhaust_the_stack() -> None:
    count = 30_000
    documents = [b"%YAML 1.1\n%TAG !u! tag:unity3d.com,2011:\n"]
    for number in range(1, count + 1):
        father = 0 if number == 1 else (number - 1) * 2 + 1
        documents.append(
            b"--- !u!1 &%d\nGameObject:\n  m_Component:\n  - component: {fileID: %d}\n  m_Name: n\n"
            b"--- !u!4 &%d\nTransform:\n  m_GameObject: {fileID: %d}\n  m_Father: {fileID: %d}\n"
            % (number * 2, number * 2 + 1, number * 2 + 1, number * 2, father)
        )
    began = time.thread_time()
    tree = build_tree(SCENE, read_structure(b"".join(documents)), MemorySources(ProjectBuilder()))

    assert len(tree.roots) == 1
    assert tree.findings == Findings()
    assert time.thread_time() - began < 30


def test_damage_of_the_file_is_part_of_the_findings() -> None:
    builder = scene(ProjectBuilder(), node(100, "A"))
    builder.files[SCENE] += b"--- !u!1 &100\nGameObject:\n  m_Name: again\n"
    tree = tree_of(builder, SCENE)

    assert outline(tree) == ["A"]
    assert [each.fault for each in tree.findings.problems] == [Fault.DUPLICATE_ID]
