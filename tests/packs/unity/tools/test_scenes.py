"""scene.hierarchy.dump and scene.objects.find: trees as they were written, every filter, pages, limits and bad files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.packs.unity.hierarchy.memory import MemorySources
from tests.packs.unity.tools.desk import Desk, opened
from tests.packs.unity.writer import ProjectBuilder
from tests.packs.unity.writer_model import Component, Instance, Node, Placed, Prefab, Scene
from tests.packs.unity.writer_random import random_project
from tests.packs.unity.writer_settings import Package
from tests.packs.unity.writer_yaml import Document, Ref

from strictwire.fault.failure import Failure
from strictwire.packs.unity.hierarchy.expand import build_tree
from strictwire.packs.unity.tools.rows import list_rows
from strictwire.packs.unity.yaml.structure import read_structure

pytestmark = pytest.mark.slow

SCENE = "Assets/S.unity"
YAML = b"%YAML 1.1\n%TAG !u! tag:unity3d.com,2011:\n"


def as_dumped(node: Placed, above: str = "") -> dict[str, Any]:
    """What the tool should say of a node of the model, without ids."""
    path = f"{above}/{node.name}" if above else node.name
    types = [_type(each.type, each.script) for each in node.components]
    children = [as_dumped(child, path) for child in node.children]
    return {"name": node.name, "path": path, "components": types, "children": children}


def _type(kind: str, script: str) -> str:
    return script.rpartition("/")[2].removesuffix(".cs") if script else kind


def without_ids(entry: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in entry.items() if name not in ("instanceId", "children")}
    return {**kept, "children": [without_ids(child) for child in entry["children"]]}


def flatten(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [found for entry in entries for found in (entry, *flatten(entry["children"]))]


@pytest.mark.parametrize("seed", range(12))
def test_trees_are_as_they_were_written(seed: int, tmp_path: Path) -> None:
    builder = random_project(seed)
    with opened(builder.save(tmp_path)) as desk:
        for path in (*builder.scenes, *builder.prefabs):
            called = desk.call("scene.hierarchy.dump", scenePath=path)
            found = flatten(called.output["rootObjects"])

            assert [without_ids(root) for root in called.output["rootObjects"]] == [
                as_dumped(root) for root in builder.tree_of(path)
            ]
            assert len({each["instanceId"] for each in found}) == len(found)
            assert all(0 < each["instanceId"] < 2**31 for each in found)
            assert desk.call("scene.hierarchy.dump", scenePath=path) == called


@pytest.mark.parametrize("seed", range(4))
def test_find_gives_what_the_model_has(seed: int, tmp_path: Path) -> None:
    builder = random_project(seed, odd=0)
    path = next(iter(builder.scenes))
    nodes = [found for root in builder.tree_of(path) for found in root.walk()]
    with opened(builder.save(tmp_path)) as desk:

        def find(**filters: Any) -> list[tuple[str, str, int]]:
            matches = desk.output("scene.objects.find", scenePath=path, **filters)["matches"]
            return [(each["path"], each["tag"], each["layer"]) for each in matches]

        def expected(keep: Any) -> list[tuple[str, str, int]]:
            return [(where, each.tag, each.layer) for where, each in sorted(nodes, key=lambda each: each[0]) if keep(each)]

        assert find() == expected(lambda each: True)
        assert find(tag="Enemy") == expected(lambda each: each.tag == "Enemy")
        assert find(layer=5) == expected(lambda each: each.layer == 5)
        assert find(namePattern="*er") == expected(lambda each: each.name.endswith("er"))
        assert find(componentType="Light") == expected(
            lambda each: any(_type(part.type, part.script) == "Light" for part in each.components)
        )
        assert find(tag="Enemy", layer=5, namePattern="?*") == expected(lambda each: each.tag == "Enemy" and each.layer == 5)
        assert find(componentType="Nothing") == []


def node(number: int, name: str, *children: Any, **more: Any) -> Node:
    return Node(file_id=number, transform_id=number + 1, name=name, children=children, **more)


def save(tmp_path: Path, *roots: Any, builder: ProjectBuilder | None = None) -> Path:
    builder = builder or ProjectBuilder()
    builder.add_scene(Scene(path=SCENE, roots=roots))
    return builder.save(tmp_path)


FAMILY = node(10, "A", node(20, "B", node(30, "C", node(40, "D")), active=False), node(50, "E")), node(60, "F")


def paths(output: Any) -> list[str]:
    return [each["path"] for each in flatten(output["rootObjects"])]


def test_depth_root_and_inactive_narrow_the_answer(tmp_path: Path) -> None:
    with opened(save(tmp_path, *FAMILY)) as desk:
        shallow = desk.call("scene.hierarchy.dump", scenePath=SCENE, depth=1)

        assert paths(shallow.output) == ["A", "A/B", "A/E", "F"]
        assert shallow.notes == ["2 objects below the depth limit left out; pass rootPath to read further."]
        assert paths(desk.output("scene.hierarchy.dump", scenePath=SCENE, includeInactive=False)) == ["A", "A/E", "F"]
        assert paths(desk.output("scene.hierarchy.dump", scenePath=SCENE, rootPath="A/B")) == ["A/B", "A/B/C", "A/B/C/D"]
        assert paths(desk.output("scene.hierarchy.dump", scenePath=SCENE, rootPath="A/B", depth=0)) == ["A/B"]


def test_file_ids_are_text_and_only_there_on_request(tmp_path: Path) -> None:
    large = Node(file_id=2**62 + 1, transform_id=7, name="Large")
    with opened(save(tmp_path, node(10, "Small"), large)) as desk:
        plain = desk.call("scene.hierarchy.dump", scenePath=SCENE)
        full = desk.call("scene.hierarchy.dump", scenePath=SCENE, includeFileIds=True)
        found = desk.output("scene.objects.find", scenePath=SCENE, includeFileIds=True)["matches"]

    assert list(plain.output["rootObjects"][0]) == ["name", "path", "instanceId", "components", "children"]
    assert plain.output["rootObjects"][0]["instanceId"] == 10
    assert [note for note in plain.notes if "derived" in note]
    assert [each["fileId"] for each in full.output["rootObjects"]] == ["10", str(2**62 + 1)]
    assert full.notes == []
    assert {each["name"]: each["fileId"] for each in found} == {"Small": "10", "Large": str(2**62 + 1)}


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
def test_pages_hold_every_object_once_and_nest_what_they_can(size: int, tmp_path: Path) -> None:
    with opened(save(tmp_path, *FAMILY)) as desk:
        whole = desk.output("scene.hierarchy.dump", scenePath=SCENE)
        seen: list[str] = []
        more: dict[str, Any] = {}
        while True:
            page = desk.output("scene.hierarchy.dump", scenePath=SCENE, pageSize=size, **more)
            assert len(paths(page)) <= size
            seen += paths(page)
            if "nextCursor" not in page:
                break
            more = {"cursor": page["nextCursor"]}
        found = desk.output("scene.objects.find", scenePath=SCENE, pageSize=4)
        rest = desk.output("scene.objects.find", scenePath=SCENE, pageSize=4, cursor=found["nextCursor"])

    assert seen == paths(whole)
    assert [each["path"] for each in (*found["matches"], *rest["matches"])] == sorted(paths(whole))


def test_a_cursor_belongs_to_its_request_and_to_the_scene_as_it_was(tmp_path: Path) -> None:
    root = save(tmp_path, *FAMILY)
    with opened(root) as desk:
        cursor = desk.output("scene.hierarchy.dump", scenePath=SCENE, pageSize=2)["nextCursor"]
        others = [
            desk.refuse("scene.hierarchy.dump", scenePath=SCENE, pageSize=2, depth=1, cursor=cursor),
            desk.refuse("scene.objects.find", scenePath=SCENE, pageSize=2, cursor=cursor),
            desk.refuse("scene.hierarchy.dump", scenePath=SCENE, cursor="nonsense"),
        ]
        (root / SCENE).write_bytes((root / SCENE).read_bytes().replace(b"m_Name: F", b"m_Name: G"))
        stale = desk.refuse("scene.hierarchy.dump", scenePath=SCENE, pageSize=2, cursor=cursor)

    assert [each.code for each in others] == ["CURSOR_INVALID"] * 3
    assert stale.code == "CURSOR_STALE"


def test_a_scene_that_does_not_fit_is_cut_and_can_be_continued(tmp_path: Path) -> None:
    builder = ProjectBuilder()
    builder.add_file(SCENE, b"".join([YAML, *(object_text(number, b"Object %d" % number) for number in range(1, 12_001))]))
    with opened(builder.save(tmp_path)) as desk:
        called = desk.call("scene.hierarchy.dump", scenePath=SCENE)
        rest = desk.output("scene.hierarchy.dump", scenePath=SCENE, pageSize=1000, cursor=called.output["nextCursor"])

    assert len(called.output["rootObjects"]) == 10_000
    assert called.notes == ["Only 10000 of 12000 results fit; continue with nextCursor and pageSize."]
    assert rest["rootObjects"][0]["name"] == "Object 10001"
    assert len(called.text) < 20_000


def object_text(number: int, name: bytes, father: int = 0) -> bytes:
    """An object and its transform as text; the writer takes seconds for thousands of them."""
    return (
        b"--- !u!1 &%d\nGameObject:\n  m_Component:\n  - component: {fileID: %d}\n  m_Name: %b\n"
        b"--- !u!4 &%d\nTransform:\n  m_GameObject: {fileID: %d}\n  m_Father: {fileID: %d}\n"
        % (number * 2, number * 2 + 1, name, number * 2 + 1, number * 2, father)
    )


def chain(levels: int, name: bytes) -> bytes:
    """A scene in which every object is the child of the one before."""
    fathers = [0, *(number * 2 + 1 for number in range(1, levels))]
    return b"".join([YAML, *(object_text(number, name, father) for number, father in enumerate(fathers, 1))])


@pytest.mark.parametrize(("levels", "length"), [(20_000, 1), (300, 100_000)])
def test_deep_and_long_named_trees_stay_within_bounds(levels: int, length: int, tmp_path: Path) -> None:
    builder = ProjectBuilder()
    builder.add_file(SCENE, chain(levels, b"n" * length))
    with opened(builder.save(tmp_path)) as desk:
        called = desk.call("scene.hierarchy.dump", scenePath=SCENE)
        found = desk.call("scene.objects.find", scenePath=SCENE, namePattern="x*")

    assert 1 <= len(paths(called.output)) <= 49
    assert "Objects that are nested too deeply are left out." in called.notes
    assert found.output == {"matches": []}


def test_missing_and_unknown_scripts_are_told_apart(tmp_path: Path) -> None:
    builder = ProjectBuilder()
    builder.packages = [Package(name="com.example.absent", scripts=("Runtime/Far.cs",))]
    parts = (
        Component(file_id=12, type="MonoBehaviour", script="Packages/com.example.absent/Runtime/Far.cs"),
        Component(file_id=13, type="MonoBehaviour"),
    )
    with opened(save(tmp_path, node(10, "A", components=parts), builder=builder)) as desk:
        called = desk.call("scene.hierarchy.dump", scenePath=SCENE)

    assert called.output["rootObjects"][0]["components"] == ["Transform", "MonoBehaviour", "Missing Script"]
    assert called.notes == ["1 script shown as MonoBehaviour: the package is not on disk, so the class is not known."]


def test_what_is_not_known_of_an_instance_is_said(tmp_path: Path) -> None:
    builder = ProjectBuilder()
    builder.add_model("Assets/Ship.fbx")
    builder.add_prefab(Prefab(path="Assets/Lfs.prefab", root=node(1, "P")))
    builder.add_prefab(Prefab(path="Assets/Bad.prefab", root=node(1, "P")))
    instances = [
        Instance(file_id=700 + number, source=f"Assets/{name}")
        for number, name in enumerate(("Ship.fbx", "Lfs.prefab", "Bad.prefab"))
    ]
    root = save(tmp_path, *instances, builder=builder)
    (root / "Assets/Lfs.prefab").write_bytes(LFS)
    (root / "Assets/Bad.prefab").write_bytes((root / "Assets/Bad.prefab").read_bytes() + b"<<<<<<< HEAD\n")
    with opened(root) as desk:
        called = desk.call("scene.hierarchy.dump", scenePath=SCENE)

    assert [each["name"] for each in called.output["rootObjects"]] == ["Ship", "Lfs", "Bad"]
    assert called.notes == [
        "Prefab content is not shown for Assets/Bad.prefab: it cannot be read.",
        "Prefab content is not shown for Assets/Lfs.prefab: it is a Git LFS pointer.",
        "Model content is not shown for Assets/Ship.fbx: it is an imported model, whose objects are not stored as text.",
        "Some instanceId values are derived from file ids; the Editor assigns its own. Set includeFileIds for the real ids.",
    ]


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
BAD: dict[str, tuple[bytes, str]] = {
    "Lfs": (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
        "is a Git LFS pointer; fetch the content",
    ),
    "Binary": (b"\0\0\0\x01" + bytes(200), "is not in a format of Unity"),
    "Empty": (b"", "is empty"),
    "Text": (b"hello\n", "is not in a format of Unity"),
    "Conflict": (YAML + b"<<<<<<< HEAD\n--- !u!1 &1\nGameObject:\n  m_Name: a\n", "has a merge conflict marker at line 3"),
    "Cut": (YAML + b"--- !u!1 &1\nGameObject:\n  m_Name: 'a", "is damaged: truncated at line 5"),
    "Utf8": (YAML + b"--- !u!1 &1\nGameObject:\n  m_Name: \xff\n", "is damaged: not UTF-8 at line 5"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_is_no_readable_scene_is_an_error(name: str, tmp_path: Path) -> None:
    content, reason = BAD[name]
    builder = ProjectBuilder()
    builder.add_file(f"Assets/{name}.unity", content)
    with opened(builder.save(tmp_path)) as desk:
        failures = [desk.refuse(tool, scenePath=f"Assets/{name}.unity") for tool in SCENE_TOOLS]

    for failure in failures:
        assert (failure.code, failure.text) == ("UNITY_ERROR", "Scene file cannot be read")
        assert str(failure.details["unityError"]).startswith(f"Scene file 'Assets/{name}.unity' {reason}")
        assert failure.details["scenePath"] == f"Assets/{name}.unity"


SCENE_TOOLS = ("scene.hierarchy.dump", "scene.objects.find")


def test_damage_that_leaves_a_tree_is_said(tmp_path: Path) -> None:
    root = save(tmp_path, node(10, "A"), node(20, "B"))
    raw = (root / SCENE).read_bytes()
    again = b"--- !u!1 &10\nGameObject:\n  m_Name: again\n"
    (root / SCENE).write_bytes(raw + again + b"--- !u!1 &99999999999999999999\nX:\n  a: 1")
    with opened(root) as desk:
        called = desk.call("scene.hierarchy.dump", scenePath=SCENE)

    assert paths(called.output) == ["A", "B"]
    assert [note.partition(" at line")[0] for note in called.notes] == [
        "The file is damaged: duplicate file id",
        "The file is damaged: file id outside the signed 64-bit range",
        "The file is damaged: truncated",
    ]


def reasons(desk: Desk, *paths: str) -> list[Failure]:
    return [desk.refuse("scene.hierarchy.dump", scenePath=path) for path in paths]


def test_paths_that_are_no_scene_of_the_project_are_errors(tmp_path: Path) -> None:
    root = save(tmp_path / "project", node(10, "A"))
    (tmp_path / "outside.unity").write_bytes((root / SCENE).read_bytes())
    (root / "Assets/Link.unity").symlink_to(tmp_path / "outside.unity")
    (root / "Assets/Folder.unity").mkdir()
    with opened(root) as desk:
        outside = reasons(desk, "../outside.unity", "Assets/../../outside.unity", "/etc/passwd.unity", "C:\\x.unity")
        malformed = reasons(desk, "a\0.unity", "x" * 300 + ".unity")
        absent = reasons(desk, "Assets/Missing.unity", "Assets/Link.unity", "Assets/Folder.unity", "Assets/s.unity")
        other = reasons(desk, "Assets/S.png", "ProjectSettings/ProjectVersion.txt", "Assets")

    assert {each.code for each in (*outside, *malformed, *absent, *other)} == {"UNITY_ERROR"}
    assert {each.text for each in (*outside, *malformed)} == {"Invalid scene path"}
    assert all(str(each.details["unityError"]).endswith("is outside the project") for each in outside)
    assert {each.text for each in absent} == {"Scene file not found"}
    assert {each.text for each in other} == {"Not a scene"}


def test_an_object_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with opened(save(tmp_path, *FAMILY)) as desk:
        failure = desk.refuse("scene.hierarchy.dump", scenePath=SCENE, rootPath="A/X")

    assert (failure.code, failure.details) == (
        "UNITY_ERROR",
        {"unityError": f"GameObject 'A/X' does not exist in '{SCENE}'", "scenePath": SCENE, "gameObjectPath": "A/X"},
    )


def test_very_many_instances_of_absent_prefabs_have_different_ids(tmp_path: Path) -> None:
    """None of them has a file id, so all ask for the same number: looking for the next free one must not start anew."""
    many = 30_000
    builder = ProjectBuilder()
    documents = [
        Document(
            class_id=1001,
            file_id=10 + number,
            type_name="PrefabInstance",
            body={
                "m_Modification": {"m_TransformParent": Ref(0), "m_Modifications": []},
                "m_SourcePrefab": Ref(100100000, f"{2**90 + number:032x}", 3),
            },
        )
        for number in range(many)
    ]
    builder.add_documents("Assets/S.unity", documents)
    structure = read_structure(builder.files["Assets/S.unity"])
    rows = list_rows(build_tree("Assets/S.unity", structure, MemorySources(builder))).rows

    assert len({row.instance_id for row in rows}) == many
