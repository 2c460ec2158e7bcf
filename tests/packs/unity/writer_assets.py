"""Assets that refer to others without Unity YAML, and audio mixers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import PurePosixPath

from tests.packs.unity.writer import ProjectBuilder
from tests.packs.unity.writer_yaml import NULL, Document, Ref, Value


def add_asmdef(builder: ProjectBuilder, path: str, references: tuple[str, ...] = ()) -> str:
    """An assembly definition; references are paths of other ones, written as `GUID:`."""
    named = [f"GUID:{builder.guid_of(each)}" for each in references]
    return builder.add_file(path, json.dumps({"name": PurePosixPath(path).stem, "references": named}, indent=4) + "\n")


def add_uxml(builder: ProjectBuilder, path: str, *, style: str = "", template: str = "") -> str:
    """A UI document with a style sheet and a template."""
    lines = ['<ui:UXML xmlns:ui="UnityEngine.UIElements">']
    if style:
        lines.append(f'    <Style src="{_url(builder, style, 7433441132597879392, "&amp;")}" />')
    if template:
        lines.append(f'    <ui:Template name="T" src="{_url(builder, template, 9197481963319205126, "&amp;")}" />')
    return builder.add_file(path, "\n".join([*lines, '    <ui:Label text="Hello" />', "</ui:UXML>", ""]))


def add_uss(builder: ProjectBuilder, path: str, image: str = "") -> str:
    """A style sheet with a background image."""
    rule = f"    background-image: url('{_url(builder, image, 2800000, '&')}');\n" if image else ""
    return builder.add_file(path, f".panel {{\n{rule}    color: rgb(1, 2, 3);\n}}\n")


def _url(builder: ProjectBuilder, path: str, file_id: int, ampersand: str) -> str:
    query = ampersand.join((f"fileID={file_id}", f"guid={builder.guid_of(path)}", "type=3"))
    return f"project://database/{path}?{query}#{PurePosixPath(path).stem}"


def add_shadergraph(builder: ProjectBuilder, path: str, texture: str = "") -> str:
    """Several JSON objects one after another; the texture sits in JSON inside a JSON string."""
    graph = {"m_SGVersion": 3, "m_Type": "UnityEditor.ShaderGraph.GraphData", "m_ObjectId": "g"}
    inner = json.dumps({"texture": {"fileID": 2800000, "guid": builder.guid_of(texture), "type": 3}}) if texture else ""
    slot = {
        "m_SGVersion": 0,
        "m_Type": "UnityEditor.ShaderGraph.Texture2DShaderProperty",
        "m_Value": {"m_SerializedTexture": inner},
    }
    return builder.add_file(path, "\n\n".join(json.dumps(each, indent=4) for each in (graph, slot)) + "\n")


def add_address_group(builder: ProjectBuilder, path: str, script: str, entries: tuple[str, ...]) -> str:
    """An Addressables group: its entries name assets by `m_GUID`."""
    rows: list[Value] = [
        {"m_GUID": builder.guid_of(each), "m_Address": each, "m_ReadOnly": 0, "m_SerializedLabels": []} for each in entries
    ]
    return builder.add_scriptable(path, script, {"m_GroupName": "Default Local Group", "m_SerializeEntries": rows})


def asset_reference(builder: ProjectBuilder, path: str) -> dict[str, Value]:
    """The fields of an AssetReference, as a component holds it."""
    return {"m_AssetGUID": builder.guid_of(path), "m_SubObjectName": "", "m_SubObjectType": ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A mixer group; `volume` is stored in the first snapshot unless it is None."""

    name: str
    volume: float | None = None
    is_exposed: bool = False
    children: tuple[Group, ...] = ()

    def walk(self) -> list[Group]:
        """The group and everything below it."""
        return [self, *(found for child in self.children for found in child.walk())]


def add_mixer(builder: ProjectBuilder, path: str, master: Group, snapshots: tuple[str, ...] = ("Snapshot",)) -> str:
    """An audio mixer. An exposed volume is named `<group>Volume`."""
    groups = master.walk()
    ids = {id(each): builder.ids() for each in groups}
    volumes = {id(each): builder.fresh_guid() for each in groups}
    snapshot_ids = [builder.ids() for _ in snapshots]
    controller: dict[str, Value] = {
        "m_ObjectHideFlags": 0,
        "m_Name": PurePosixPath(path).stem,
        "m_OutputGroup": NULL,
        "m_MasterGroup": Ref(ids[id(master)]),
        "m_Snapshots": [Ref(each) for each in snapshot_ids],
        "m_StartSnapshot": Ref(snapshot_ids[0]),
        "m_ExposedParameters": [
            {"guid": volumes[id(each)], "name": f"{each.name}Volume"} for each in groups if each.is_exposed
        ],
    }
    documents = [Document(class_id=241, file_id=24100000, type_name="AudioMixerController", body=controller)]
    for group in groups:
        body: dict[str, Value] = {
            "m_ObjectHideFlags": 0,
            "m_Name": group.name,
            "m_AudioMixer": Ref(24100000),
            "m_GroupID": builder.fresh_guid(),
            "m_Children": [Ref(ids[id(child)]) for child in group.children],
            "m_Volume": volumes[id(group)],
            "m_Pitch": builder.fresh_guid(),
            "m_Send": "0" * 32,
            "m_Effects": [],
        }
        documents.append(Document(class_id=243, file_id=ids[id(group)], type_name="AudioMixerGroupController", body=body))
    for number, (name, file_id) in enumerate(zip(snapshots, snapshot_ids, strict=True)):
        stored = {volumes[id(each)]: each.volume for each in groups if each.volume is not None and not number}
        body = {
            "m_ObjectHideFlags": 0,
            "m_Name": name,
            "m_AudioMixer": Ref(24100000),
            "m_SnapshotID": builder.fresh_guid(),
            "m_FloatValues": stored,
            "m_TransitionOverrides": {},
        }
        documents.append(Document(class_id=245, file_id=file_id, type_name="AudioMixerSnapshotController", body=body))
    return builder.add_documents(path, documents)
