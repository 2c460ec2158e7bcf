"""What one file refers to, from its bytes: every form of reference, and nothing that only looks like one."""

from __future__ import annotations

import pytest
from tests.packs.unity.writer import BUILTIN
from tests.packs.unity.writer_random import random_project
from tests.packs.unity.writer_yaml import Document, Ref, iter_refs, render_file

from strictwire.packs.unity.project.kinds import Form
from strictwire.packs.unity.references.markup import find_markup_paths
from strictwire.packs.unity.references.scan import Remote, scan_file
from strictwire.packs.unity.yaml.faults import Fault

G1, G2 = "22e38f402fa4f90edbacc8f7b80a8700", "7a33c67c013183e3331716d827ef79cb"
HEAD = b"%YAML 1.1\n%TAG !u! tag:unity3d.com,2011:\n"


@pytest.mark.parametrize("seed", range(10))
def test_references_of_generated_assets_are_those_that_were_written(seed: int) -> None:
    builder = random_project(seed)
    for path, documents in builder.documents.items():
        written = {ref for each in documents for ref in iter_refs(each.body) if ref.guid and ref.file_id}
        scan = scan_file(path, builder.files[path])

        assert {(each.guid, each.file_id, each.type) for each in scan.remotes} == {
            (ref.guid, ref.file_id, ref.type) for ref in written
        }, path
        assert (scan.dangling, scan.problems, scan.form) == ((), (), Form.YAML), path


def test_text_that_looks_like_a_reference_is_none() -> None:
    texts = [
        "{fileID: 5}",
        "see {fileID: 77}",
        f"a - {{fileID: 8, guid: {G1}, type: 3}}",
        "x " * 50 + "{fileID: 6} y: {fileID: 7}",
    ]
    body = {"m_Name": "A", "m_Text": texts, "real": Ref(9, G2, 2)}
    scan = scan_file(
        "Assets/a.asset", render_file([Document(class_id=114, file_id=1, type_name="MonoBehaviour", body=body)])
    )

    assert scan.remotes == (Remote(G2, 9, 2),)
    assert scan.dangling == ()


@pytest.mark.parametrize(
    "spelling",
    [
        b"  a: {fileID: 9, guid: %s, type: 2}\n",
        b"  a: {fileID: 9, guid: %s,\n    type: 2}\n",
        b"  a: {fileID: 9,\r\n    guid: %s,\r\n    type: 2}\r\n",
        b"  a: {guid: %s, fileID: 9, type: 2}\n",
        b"  a: { fileID: 9, guid: %s, type: 2 }\n",
        b"  a:\n    fileID: 9\n    guid: %s\n    type: 2\n",
        b"  - - {fileID: 9, guid: %s, type: 2}\n".replace(b"  - -", b"  a:\n  - -"),
    ],
)
def test_a_reference_is_found_in_every_spelling(spelling: bytes) -> None:
    raw = HEAD + b"--- !u!114 &1\nMonoBehaviour:\n" + spelling % G1.upper().encode()

    assert scan_file("Assets/a.asset", raw).remotes == (Remote(G1, 9, 2),)


def test_null_and_local_references_are_no_remotes() -> None:
    body = (
        b"--- !u!114 &-5\nM:\n  a: {fileID: 0}\n  b: {fileID: -5}\n  c: {fileID: 6}\n  d: {fileID: 0, guid: %s, type: 3}\n"
    )
    scan = scan_file("Assets/a.asset", HEAD + body % G1.encode())

    assert (scan.remotes, scan.dangling, list(scan.file_ids())) == ((), (6,), [-5])


def test_instances_and_empty_entries_are_noted() -> None:
    raw = HEAD + (
        b"--- !u!114 &1\nMonoBehaviour:\n  m_Script: {fileID: 11500000, guid: %s, type: 3}\n"
        b"--- !u!114 &2\nMonoBehaviour:\n  m_Script: {fileID: 0}\n"
        b"--- !u!1 &3\nGameObject:\n  m_Component:\n  - component: {fileID: 0}\n"
        b"--- !u!1001 &-4\nPrefabInstance:\n  m_SourcePrefab: {fileID: 100100000, guid: %s,\n    type: 3}\n"
    ) % (G1.encode(), G2.encode())
    scan = scan_file("Assets/a.prefab", raw)

    assert (scan.has_null_script, scan.has_null_component) == (True, True)
    assert scan.instances == ((-4, G2),)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.asmdef", '{{"references": ["GUID:{}", "Other.Name"]}}'),
        ("a.asmref", '{{"reference": "GUID:{}"}}'),
        ("a.uxml", '<Style src="project://database/Assets/x.uss?fileID=1&amp;guid={}&amp;type=3#x" />'),
        ("a.uss", "background-image: url('project://database/Assets/x.png?fileID=1&guid={}&type=3#x');"),
        ("a.shadergraph", '{{"m_Texture": "{{\\"texture\\":{{\\"fileID\\":2800000,\\"guid\\":\\"{}\\",\\"type\\":3}}}}"}}'),
        ("a.shadersubgraph", '{{ "guid" : "{}" }}'),
    ],
)
def test_text_formats_name_whole_assets(path: str, text: str) -> None:
    scan = scan_file(f"Assets/{path}", text.format(G1).encode())

    assert (scan.form, scan.assets) == (Form.TEXT, (G1,))


def test_an_empty_component_is_noted_in_the_form_of_old_editors() -> None:
    body = b"--- !u!1 &3\nGameObject:\n  m_Component:\n  - 4: {fileID: 3}\n  - 114: {fileID: 0}\n  m_Name: A\n"

    assert scan_file("Assets/a.prefab", HEAD + body).has_null_component


def test_addressables_and_build_scenes_name_assets_by_guid() -> None:
    group = b"--- !u!114 &1\nM:\n  m_GUID: %s\n  m_SerializeEntries:\n  - m_GUID: %s\n  - m_GUID: Resources\n"
    reference = b"--- !u!114 &1\nM:\n  asset:\n    m_AssetGUID: %s\n"
    build = b"--- !u!1045 &1\nE:\n  m_Scenes:\n  - enabled: 1\n    path: Assets/A.unity\n    guid: %s\n"

    assert scan_file("Assets/g.asset", HEAD + group % (G2.encode(), G1.encode())).assets == (G1,)
    assert scan_file("Assets/r.asset", HEAD + reference % G1.encode()).assets == (G1,)
    found = scan_file("ProjectSettings/EditorBuildSettings.asset", HEAD + build % G1.encode())
    assert (found.assets, found.paths) == ((G1,), ("Assets/A.unity",))


def test_a_meta_file_refers_through_its_importer() -> None:
    raw = b"guid: %s\nModelImporter:\n  externalObjects:\n  - second: {fileID: 2100000, guid: %s, type: 2}\n"

    assert scan_file("Assets/a.fbx.meta", raw % (G1.encode(), G2.encode())).remotes == (Remote(G2, 2100000, 2),)


@pytest.mark.parametrize(
    ("raw", "faults"),
    [
        (b"", []),
        (HEAD, [Fault.TRUNCATED]),
        (HEAD + b"--- !u!1 &1\nGameObject:\n  m_Name: A", [Fault.TRUNCATED]),
        (HEAD + b"--- !u!1 &1\nG:\n  a: 1\n--- !u!1 &1\nG:\n  a: 2\n", [Fault.DUPLICATE_ID]),
        (HEAD + b"--- !u!1 &99999999999999999999\nG:\n  a: 1\n", [Fault.ID_OUT_OF_RANGE]),
        (HEAD + b"--- nonsense\nG:\n  a: 1\n", [Fault.BAD_HEADER]),
        (HEAD + b"--- !u!1 &1\nG:\n<<<<<<< HEAD\n  a: 1\n=======\n  a: 2\n>>>>>>> b\n", [Fault.CONFLICT_MARKER] * 3),
    ],
)
def test_damage_is_noted(raw: bytes, faults: list[Fault]) -> None:
    assert [each.fault for each in scan_file("Assets/a.prefab", raw).problems] == faults


def test_a_row_of_equals_signs_is_no_conflict_in_text() -> None:
    assert scan_file("Assets/a.md", b"Title\n=======\n\ntext\n").problems == ()
    assert [each.line for each in scan_file("Assets/a.cs", b"a\n<<<<<<< x\nb\n=======\nc\n>>>>>>> y\n").problems] == [
        2,
        4,
        6,
    ]


def test_a_line_of_two_million_characters_is_scanned() -> None:
    raw = (
        HEAD
        + b"--- !u!43 &1\nMesh:\n  _typelessdata: "
        + b"ab" * 1_000_000
        + b"\n  a: {fileID: 9, guid: %s, type: 2}\n" % G1.encode()
    )

    assert scan_file("Assets/a.asset", raw).remotes == (Remote(G1, 9, 2),)


def test_built_in_guids_stay_in_the_scan_and_are_left_to_the_resolver() -> None:
    raw = HEAD + b"--- !u!114 &1\nM:\n  a: {fileID: 10202, guid: %s, type: 0}\n" % BUILTIN[0].encode()

    assert scan_file("Assets/a.asset", raw).remotes == (Remote(BUILTIN[0], 10202, 0),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('<Style src="Main.uss" />', ("Assets/UI/Main.uss",)),
        ('<Style src="../Shared/a%20b.uss" />', ("Assets/Shared/a b.uss",)),
        ('<Template path="Assets/X.uxml" />', ("Assets/X.uxml",)),
        ('<Style src="/Assets/Y.uss" />', ("Assets/Y.uss",)),
        ('<Style src="project://database/Assets/Z.uss?guid=1#Z" />', ("Assets/Z.uss",)),
        ("@import url('B.uss'); a { background-image: url(C.png); }", ("Assets/UI/B.uss", "Assets/UI/C.png")),
        ('<a src="https://example.com/x.uss" />', ()),
        ('<a src="../../../../etc/passwd" />', ()),
    ],
)
def test_markup_names_assets_by_path(text: str, expected: tuple[str, ...]) -> None:
    assert find_markup_paths("Assets/UI/Main.uxml", text.encode()) == expected
