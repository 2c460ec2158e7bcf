"""Whatever a project contains, a check ends in findings, a note or an error: no traceback, no empty success."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.packs.unity.writer import ProjectBuilder, save_files
from tests.packs.unity.writer_model import Component, Instance, Node, Override, Prefab, Scene
from tests.packs.unity.writer_random import ODD_NAMES, random_project
from tests.packs.unity.writer_scene import FileWriter
from tests.packs.unity.writer_settings import Package
from tests.packs.unity.writer_yaml import Document, Ref

from strictwire.check.finding import Finding, Level
from strictwire.packs.unity.check.policy import CheckPolicy
from strictwire.packs.unity.check.run import Checked, check_project
from strictwire.packs.unity.diff.scene import SceneDiff
from strictwire.packs.unity.diff.side import Side
from strictwire.packs.unity.project.project import open_project
from strictwire.packs.unity.references.graph import scan_project
from strictwire.packs.unity.references.scan import scan_file
from strictwire.packs.unity.sources import Sources

pytestmark = pytest.mark.slow

SCENE = "Assets/Scenes/S1.unity"


def check(root: Path, policy: CheckPolicy | None = None) -> Checked:
    project = open_project(root)
    try:
        return check_project(scan_project(project), policy or CheckPolicy())
    finally:
        project.close()


def rules(findings: list[Finding]) -> set[str]:
    return {each.rule for each in findings}


@given(seed=st.integers(0, 200), cut=st.floats(0.01, 0.999))
@settings(max_examples=25)
def test_a_truncated_scene_is_never_silent(tmp_path_factory: pytest.TempPathFactory, seed: int, cut: float) -> None:
    """Cut inside a line, the file is damaged. Cut at the end of a line, it may pass for a whole one that says less."""
    files = random_project(seed % 7).finish()
    raw = files[SCENE]
    files[SCENE] = raw[: int(len(raw) * cut)]
    root = save_files(tmp_path_factory.mktemp("cut"), files)

    found = [each for each in check(root).findings if each.file == SCENE]
    assert found or files[SCENE].endswith(b"\n")


MUTATIONS: dict[str, Callable[[bytes, Random], bytes]] = {
    "flip": lambda raw, rng: raw[: (at := rng.randrange(len(raw)))] + bytes([rng.randrange(256)]) + raw[at + 1 :],
    "drop": lambda raw, rng: raw[: (at := rng.randrange(len(raw)))] + raw[at + rng.randrange(1, 40) :],
    "insert": lambda raw, rng: raw[: (at := rng.randrange(len(raw)))] + rng.randbytes(rng.randrange(1, 20)) + raw[at:],
    "repeat": lambda raw, rng: raw[: (at := rng.randrange(len(raw)))] + raw[at : at + 200] + raw[at:],
    "lines": lambda raw, rng: b"\n".join(rng.sample(raw.split(b"\n"), raw.count(b"\n"))),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_mutated_files_are_scanned_and_compared_without_a_crash(name: str) -> None:
    builder = random_project(2)
    nothing = Sources(lambda _guid: None, lambda _path: b"")
    whole = Side(builder.files[SCENE], nothing, lambda _guid: None)
    for seed in range(60):
        raw = MUTATIONS[name](builder.files[SCENE], Random(seed))
        scan_file(SCENE, raw)
        list(SceneDiff(whole, Side(raw, nothing, lambda _guid: None)).changes())
        list(SceneDiff(Side(raw, nothing, lambda _guid: None), whole).changes())


@pytest.mark.parametrize("seed", range(6))
def test_a_project_of_mutated_files_is_checked_without_a_crash(tmp_path: Path, seed: int) -> None:
    rng = Random(seed)
    files = random_project(seed).finish()
    for path in list(files):
        if rng.random() < 0.5:
            files[path] = MUTATIONS[rng.choice(list(MUTATIONS))](files[path] or b"x", rng)
    files["ProjectSettings/ProjectVersion.txt"] = b"\xff\xfe"
    save_files(tmp_path, files)

    assert check(tmp_path).findings != []


def test_line_ends_and_byte_order_marks_change_nothing(tmp_path: Path) -> None:
    files = random_project(3, odd=0.4).finish()
    for path, raw in files.items():
        if raw.startswith(b"%YAML") or path.endswith((".meta", ".json", ".asmdef", ".uxml", ".uss")):
            files[path] = b"\xef\xbb\xbf" + raw.replace(b"\n", b"\r\n")
    save_files(tmp_path, files)

    assert check(tmp_path)[:2] == ([], [])


def test_names_of_files_and_objects_may_be_anything(tmp_path: Path) -> None:
    builder = ProjectBuilder(seed=3)
    names = [name.replace("/", "|") for name in ODD_NAMES if len(name) < 100 and not name.startswith(".")]
    nodes = []
    for number, name in enumerate(names):
        builder.add_texture(f"Assets/{name}#:{number}.png")
        component = Component(
            file_id=builder.ids(31),
            type="MeshRenderer",
            fields={"t": Ref(2800000, builder.guid_of(f"Assets/{name}#:{number}.png"), 3), "gone": Ref(4242)},
        )
        nodes.append(Node(file_id=builder.ids(31), transform_id=builder.ids(31), name=name, components=(component,)))
    builder.add_scene(Scene(path="Assets/A#: \x07\u202e.unity", roots=tuple(nodes)))
    found = check(builder.save(tmp_path)).findings

    assert [(each.rule, each.file, each.message.split(": gone ")[0]) for each in found] == [
        ("LOCAL_REFERENCE_RESOLVES", "Assets/A#: \x07\u202e.unity", name) for name in names
    ]


@pytest.mark.parametrize(("levels", "found"), [(13, {"SCRIPT_EXISTS", "REFERENCE_RESOLVES"}), (24, {"SCRIPT_EXISTS"})])
def test_a_chain_of_prefabs_that_doubles_is_checked_within_limits(tmp_path: Path, levels: int, found: set[str]) -> None:
    """Levels of two instances each double the objects; ids of more than half a million are not checked."""
    builder = ProjectBuilder(seed=4)
    source = "Assets/P0.prefab"
    builder.add_prefab(Prefab(path=source, root=Node(file_id=11, transform_id=12, name="Leaf")))
    for level in range(1, levels + 1):
        path = f"Assets/P{level}.prefab"
        made = ProjectBuilder(seed=level)
        twice = tuple(Instance(file_id=made.ids(), source=source) for _ in range(2))
        root = Node(file_id=made.ids(), transform_id=made.ids(), name=f"L{level}", children=())
        builder.prefabs[path] = Prefab(path=path, root=root)
        builder.add_documents(path, _with_instances(builder, root, twice))
        source = path
    builder.add_scriptable("Assets/D.asset", "", {"target": Ref(4242, builder.guid_of(source), 3)})

    assert rules(check(builder.save(tmp_path)).findings) == found


def _with_instances(builder: ProjectBuilder, root: Node, instances: tuple[Instance, ...]) -> list[Document]:
    writer = FileWriter(guid_of=builder.guid_of, prefabs={}, in_prefab=True)
    writer.add_child(root, 0)
    made = list(writer.finish())
    for each in instances:
        body = {
            "m_Modification": {
                "m_TransformParent": Ref(root.transform_id),
                "m_Modifications": [],
                "m_RemovedComponents": [],
            },
            "m_SourcePrefab": Ref(100100000, builder.guid_of(each.source), 3),
        }
        made.append(Document(class_id=1001, file_id=each.file_id, type_name="PrefabInstance", body=body))
    return made


def test_a_very_long_chain_of_prefabs_ends(tmp_path: Path) -> None:
    builder = ProjectBuilder(seed=4)
    for level in range(300):
        root = Node(file_id=2 * level + 1, transform_id=2 * level + 2, name="N")
        inner = (Instance(file_id=10_000 + level, source=f"Assets/P{level - 1}.prefab"),) if level else ()
        builder.add_documents(f"Assets/P{level}.prefab", _with_instances(builder, root, inner))
    builder.add_scriptable("Assets/D.asset", "", {"target": Ref(4242, builder.guid_of("Assets/P299.prefab"), 3)})

    assert rules(check(builder.save(tmp_path)).findings) == {"SCRIPT_EXISTS"}


def test_unverifiable_references_are_counted_and_not_reported(tmp_path: Path) -> None:
    builder = random_project(3)
    builder.packages.append(Package(name="com.absent", scripts=("A.cs",)))
    gone = [builder.guid_of("Packages/com.absent/A.cs"), builder.fresh_guid()]
    builder.add_scriptable("Assets/A.asset", "Packages/com.absent/A.cs", {"x": Ref(5, gone[1], 3)})
    root = builder.save(tmp_path)
    plain = check(root)
    shown = check(root, CheckPolicy(severity={"REFERENCE_VERIFIABLE": Level.NOTE}))

    assert plain.findings == []
    assert plain.notes == ["2 GUIDs in 1 files cannot be verified: these packages are not on disk: com.absent"]
    assert [(each.rule, each.file) for each in shown.findings] == [("REFERENCE_VERIFIABLE", "Assets/A.asset")] * 2


@pytest.mark.parametrize("guid", ["fe87c0e1cc204ed48ad3b37840f39efc", "f4688fdb7df04437aeb418b961361dc5"])
def test_scripts_of_well_known_packages_are_resolved_if_the_package_is_listed(tmp_path: Path, guid: str) -> None:
    builder = random_project(3)
    builder.packages.append(Package(name="com.unity.ugui", where="builtin"))
    builder.guids["known.cs"] = guid
    builder.add_scriptable("Assets/A.asset", "known.cs")

    assert check(builder.save(tmp_path))[:2] == ([], [])


def test_a_link_outside_makes_missing_assets_uncertain(tmp_path: Path) -> None:
    builder = random_project(3)
    builder.add_scriptable("Assets/A.asset", "", {"x": Ref(5, builder.fresh_guid(), 3)})
    root = builder.save(tmp_path / "Game")
    (tmp_path / "shared").mkdir()
    (root / "Assets" / "Shared").symlink_to(tmp_path / "shared")
    checked = check(root)

    assert [(each.rule, each.file) for each in checked.findings] == [
        ("SCRIPT_EXISTS", "Assets/A.asset"),
        ("FOLDER_READABLE", "Assets/Shared"),
    ]
    assert checked.notes == ["1 GUIDs in 1 files cannot be verified: some files or folders of the project could not be read"]


def test_a_broken_package_list_is_a_finding(tmp_path: Path) -> None:
    files = random_project(3).finish()
    files["Packages/manifest.json"] = b"{"
    save_files(tmp_path, files)

    assert [(each.rule, each.file) for each in check(tmp_path).findings] == [("PACKAGES_READABLE", "Packages/manifest.json")]


def test_what_cannot_be_read_is_a_finding(tmp_path: Path) -> None:
    files = random_project(3).finish()
    root = save_files(tmp_path, files)
    project = open_project(root)
    (root / SCENE).unlink()
    (root / "Assets/Materials/M0.mat").unlink()
    os.mkfifo(root / "Assets/Materials/M0.mat")
    found = check_project(scan_project(project), CheckPolicy()).findings

    assert [(each.rule, each.file, each.message) for each in found if each.rule == "FILE_READABLE"] == [
        ("FILE_READABLE", "Assets/Materials/M0.mat", "The file was not checked: it cannot be read"),
        ("FILE_READABLE", SCENE, "The file was not checked: it disappeared during the scan"),
    ]


def test_a_file_that_goes_away_during_the_check_is_a_finding(tmp_path: Path) -> None:
    project = open_project(random_project(3).save(tmp_path))
    graph = scan_project(project)
    (tmp_path / SCENE).unlink()
    found = check_project(graph, CheckPolicy()).findings

    assert [(each.rule, each.file, each.message) for each in found] == [
        ("FILE_READABLE", SCENE, "The file was not checked: it disappeared during the check")
    ]


def test_a_check_that_runs_out_of_time_says_so(tmp_path: Path) -> None:
    project = open_project(random_project(3).save(tmp_path))
    left = iter(range(30))
    checked = check_project(scan_project(project), CheckPolicy(), stop=lambda: next(left, None) is None)

    assert checked.is_partial
    assert checked.notes == ["some rules ended at the time limit and may have found only a part"]


def test_many_references_to_one_missing_asset_are_bounded(tmp_path: Path) -> None:
    builder = ProjectBuilder(seed=1)
    builder.add_scriptable("Assets/A.asset", "", {"all": [Ref(5, "0a1b2c3d4e5f60718293a4b5c6d7e8f9", 3)] * 500})
    found = [each for each in check(builder.save(tmp_path)).findings if each.rule == "REFERENCE_RESOLVES"]

    assert len(found) == 51
    assert found[-1].message.startswith("450 more places refer to GUID 0a1b2c3d")


MANY = 30_000
"""Faults in one file. With one pass over the file for each of them the tests below would take hours."""


@pytest.mark.parametrize(
    ("path", "start", "row", "rule"),
    [
        ("Assets/A.asset", b"  all:\n", b"  - {fileID: %d}\n", "LOCAL_REFERENCE_RESOLVES"),
        ("Assets/A.asset", b"  all:\n", b"  - {fileID: 11400000, guid: %032x, type: 2}\n", "REFERENCE_RESOLVES"),
        ("Assets/A.asmdef", b'{"references": [\n', b'"GUID:%032x",\n', "REFERENCE_RESOLVES"),
        ("Assets/A.png.meta", b"", b"  icon: {fileID: 2800000, guid: %032x, type: 3}\n", "REFERENCE_RESOLVES"),
    ],
)
def test_a_file_with_very_many_faults_is_checked_in_one_pass(
    tmp_path: Path, path: str, start: bytes, row: bytes, rule: str
) -> None:
    builder = ProjectBuilder(seed=1)
    builder.add_scriptable("Assets/A.asset", "Assets/S.cs", {})
    builder.add_script("Assets/S.cs")
    builder.add_texture("Assets/A.png")
    builder.add_file("Assets/A.asmdef", "")
    first = (builder.files[path] + start).count(b"\n") + 1
    base = 2**90 if b"032x" in row else 5000
    builder.files[path] += start + b"".join(row % (base + number) for number in range(MANY))
    found = [each for each in check(builder.save(tmp_path)).findings if each.rule == rule]

    assert sorted(each.line for each in found) == list(range(first, first + MANY))


def test_very_many_malformed_documents_are_passed_over_in_one_pass() -> None:
    raw = random_project(2).files[SCENE]
    raw += b"".join(b"--- !u!114 &%d\nMonoBehaviour:\n  x\n" % (10**12 + number) for number in range(MANY))
    raw += b"--- !u!114 &5\nMonoBehaviour:\n  x: {fileID: 4242}\n"

    assert scan_file(SCENE, raw).dangling == (4242,)


def test_many_overrides_of_one_deleted_object_are_one_finding(tmp_path: Path) -> None:
    builder = ProjectBuilder(seed=1)
    root = Node(file_id=11, transform_id=12, name="P")
    builder.add_prefab(Prefab(path="Assets/P.prefab", root=root))
    stale = tuple(Override(target=99, path=f"m_Field{number}", value="3") for number in range(13))
    builder.add_scene(Scene(path=SCENE, roots=(Instance(file_id=7, source="Assets/P.prefab", overrides=stale),)))
    found = check(builder.save(tmp_path)).findings

    assert [(each.rule, each.message) for each in found] == [
        (
            "OVERRIDE_TARGET_EXISTS",
            (
                "P: m_Modification.m_Modifications[0].target refers to fileID 99 of Assets/P.prefab, which has no such "
                "object (12 more overrides of the same object)"
            ),
        )
    ]


def test_time_ends_a_check_inside_of_a_file(tmp_path: Path) -> None:
    builder = ProjectBuilder(seed=1)
    builder.add_scriptable("Assets/A.asset", "", {"all": [Ref(4242 + each) for each in range(500)]})
    project = open_project(builder.save(tmp_path))
    left = iter(range(100))
    checked = check_project(scan_project(project), CheckPolicy(), stop=lambda: next(left, None) is None)

    assert checked.is_partial
    assert 50 < len(checked.findings) < 100
