"""Audio mixers: groups, snapshots and the parameters that a snapshot stores. Pure.

A parameter belongs to the group whose volume, pitch or send, or one of whose effects, has its GUID.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from strictwire.packs.unity.yaml.document import Document, read_documents
from strictwire.packs.unity.yaml.values import Node, maybe_reference

CONTROLLER: Final = 241
GROUP: Final = 243
EFFECT: Final = 244
SNAPSHOT: Final = 245

MAX_GROUPS: Final = 10_000
"""Groups of one mixer, counted along the tree, so that a cycle ends."""

_OWN: Final = (("m_Volume", "Volume"), ("m_Pitch", "Pitch"), ("m_Send", "Send"))
"""Fields of a group that hold the GUID of a parameter, and the name of the parameter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A group and its place in the mixer, such as `Master/Music`."""

    name: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter of a group or effect."""

    name: str
    """The name it is exposed under, or else the one in the mixer window."""
    group: str
    is_exposed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A snapshot."""

    name: str
    values: Mapping[str, str]
    """What it stores, by GUID of the parameter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixer:
    """A .mixer file."""

    groups: tuple[Group, ...]
    snapshots: tuple[Snapshot, ...]
    parameters: Mapping[str, Parameter]
    """By GUID."""


def read_mixer(raw: bytes) -> Mixer:
    """The mixer of a file. Raises Malformed."""
    documents = {document.header.file_id: document for document in read_documents(raw)}
    controller = next((each for each in documents.values() if each.header.class_id == CONTROLLER), None)
    fields = controller.fields if controller else {}
    walked = list(_walk(documents, fields))
    exposed = {str(each.get("guid")): str(each.get("name")) for each in _mappings(fields.get("m_ExposedParameters"))}
    parameters = {
        guid: found for group, document in walked for guid, found in _parameters(documents, group, document, exposed)
    }
    for guid, name in exposed.items():
        parameters.setdefault(guid, Parameter(name=name, group="", is_exposed=True))
    return Mixer(
        groups=tuple(group for group, _ in walked),
        snapshots=tuple(
            Snapshot(name=str(each.fields.get("m_Name", "")), values=_floats(each)) for each in _snapshots(documents, fields)
        ),
        parameters=parameters,
    )


def _walk(documents: Mapping[int, Document], controller: Mapping[str, Node]) -> Iterator[tuple[Group, Document]]:
    """Every group, depth first from the master group."""
    waiting = [("", controller.get("m_MasterGroup"))]
    for _ in range(MAX_GROUPS):
        if not waiting:
            return
        above, reference = waiting.pop()
        group = _follow(documents, reference)
        if group is None or group.header.class_id != GROUP:
            continue
        name = str(group.fields.get("m_Name", ""))
        path = f"{above}/{name}" if above else name
        yield Group(name=name, path=path), group
        children = group.fields.get("m_Children")
        waiting += [(path, child) for child in reversed(children)] if isinstance(children, list) else []


def _snapshots(documents: Mapping[int, Document], controller: Mapping[str, Node]) -> Iterator[Document]:
    listed = controller.get("m_Snapshots")
    for reference in listed if isinstance(listed, list) else ():
        found = _follow(documents, reference)
        if found is not None and found.header.class_id == SNAPSHOT:
            yield found


def _parameters(
    documents: Mapping[int, Document], group: Group, document: Document, exposed: Mapping[str, str]
) -> Iterator[tuple[str, Parameter]]:
    for guid, name in _group_guids(documents, document):
        yield guid, Parameter(name=exposed.get(guid, name), group=group.path, is_exposed=guid in exposed)


def _group_guids(documents: Mapping[int, Document], group: Document) -> Iterator[tuple[str, str]]:
    for key, name in _OWN:
        guid = group.fields.get(key)
        if isinstance(guid, str) and guid.strip("0"):
            yield guid, name
    effects = group.fields.get("m_Effects")
    for reference in effects if isinstance(effects, list) else ():
        effect = _follow(documents, reference)
        if effect is None or effect.header.class_id != EFFECT:
            continue
        title = str(effect.fields.get("m_EffectName", ""))
        for each in _mappings(effect.fields.get("m_Parameters")):
            yield str(each.get("m_GUID", "")), f"{title} {each.get('m_ParameterName', '')}".strip()


def _floats(snapshot: Document) -> dict[str, str]:
    stored = snapshot.fields.get("m_FloatValues")
    return {guid: str(value) for guid, value in stored.items()} if isinstance(stored, dict) else {}


def _follow(documents: Mapping[int, Document], value: Node | None) -> Document | None:
    reference = maybe_reference(value)
    return documents.get(reference.file_id) if reference is not None and not reference.guid else None


def _mappings(value: Node | None) -> Iterator[dict[str, Node]]:
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            yield item
