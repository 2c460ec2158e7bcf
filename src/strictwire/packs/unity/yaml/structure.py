"""Structure-only mode: finds the few fields that a hierarchy needs and skips the rest of the file unread."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from strictwire.packs.unity.yaml.fields import FieldReader, normalise
from strictwire.packs.unity.yaml.index import Header, find_problems, index_documents
from strictwire.packs.unity.yaml.objects import (
    GAME_OBJECT,
    MONO_BEHAVIOUR,
    PREFAB_INSTANCE,
    RECT_TRANSFORM,
    SCENE_ROOTS,
    TRANSFORM,
    Added,
    Component,
    GameObject,
    Instance,
    Override,
    Stripped,
    Structure,
    Transform,
)
from strictwire.packs.unity.yaml.values import NO_REFERENCE, Node, maybe_file_id, maybe_reference

_IDS: Final = re.compile(rb"(?: \[\]|((?:\n  - (?:\w+: )?\{fileID: -?\d{1,19}\})*+))\n(?!  -|   )")
"""A sequence of references into the same file: children, roots, or components, which have a key each."""

_ID: Final = re.compile(rb"\{fileID: (-?\d+)")

_SHOWN: Final = rb"(m_Name|m_IsActive|m_TagString|m_Layer|m_RootOrder)"
"""Overridden properties that a tree shows."""

_SHOWN_PATH: Final = re.compile(rb"\n      propertyPath: " + _SHOWN + rb"\n")
_MODIFICATION: Final = re.compile(
    rb"\n    - target: \{fileID:\s+(-?\d{1,19})(?:,\s+guid:\s+[0-9a-f]{32},\s+type:\s+\d+)?\}"
    rb"\n      propertyPath: " + _SHOWN + rb"\n      value: ?+([^'\"\n][^\n]*)?\n      objectReference: "
)


def read_structure(raw: bytes) -> Structure:
    """The structure of a scene or prefab. Raises Malformed: not UTF-8, or a field that matters cannot be read."""
    raw = normalise(raw)
    headers = index_documents(raw)
    made = _Builder(FieldReader(raw))
    for header in headers:
        if header.stripped:
            made.add_stripped(header)
        else:
            _READERS.get(header.class_id, _Builder.add_component)(made, header)
    return Structure(
        objects=made.objects,
        transforms=made.transforms,
        components=made.components,
        instances=made.instances,
        stripped=made.stripped,
        roots=made.roots,
        problems=find_problems(raw, headers),
    )


class _Builder:
    """Collects the documents of one file. Of two with the same id the first counts; `problems` names the others."""

    def __init__(self, reader: FieldReader) -> None:
        self._reader = reader
        self._type_names = {TRANSFORM: "Transform", RECT_TRANSFORM: "RectTransform"}
        self.objects: dict[int, GameObject] = {}
        self.transforms: dict[int, Transform] = {}
        self.components: dict[int, Component] = {}
        self.instances: dict[int, Instance] = {}
        self.stripped: dict[int, Stripped] = {}
        self.roots: tuple[int, ...] | None = None

    def add_object(self, header: Header) -> None:
        text = self._reader.text
        made = GameObject(
            text(header, b"m_Name") or "",
            text(header, b"m_IsActive") != "0",
            text(header, b"m_TagString") or "Untagged",
            self._number(header, b"m_Layer"),
            self._ids(header, b"m_Component"),
        )
        self.objects.setdefault(header.file_id, made)

    def add_transform(self, header: Header) -> None:
        owner = self._id(header, b"m_GameObject")
        made = Transform(
            owner, self._id(header, b"m_Father"), self._ids(header, b"m_Children"), self._number(header, b"m_RootOrder")
        )
        self.transforms.setdefault(header.file_id, made)
        self.components.setdefault(header.file_id, Component(self._type_names[header.class_id], owner))

    def add_component(self, header: Header) -> None:
        owner = self._reader.reference(header, b"m_GameObject")
        if owner is not None:  # settings of the scene belong to no object
            self.components.setdefault(header.file_id, Component(self._type_name(header), owner.file_id))

    def add_script(self, header: Header) -> None:
        reader = self._reader
        made = Component(
            self._type_name(header),
            self._id(header, b"m_GameObject"),
            reader.reference(header, b"m_Script") or NO_REFERENCE,
            reader.text(header, b"m_EditorClassIdentifier") or "",
        )
        self.components.setdefault(header.file_id, made)

    def add_stripped(self, header: Header) -> None:
        reference = self._reader.reference
        # The second names are those of editors before 2018.3.
        source = reference(header, b"m_CorrespondingSourceObject") or reference(header, b"m_PrefabParentObject")
        instance = reference(header, b"m_PrefabInstance") or reference(header, b"m_PrefabInternal")
        if source is not None and instance is not None:
            made = Stripped(header.class_id, source.file_id, instance.file_id)
            self.stripped.setdefault(header.file_id, made)

    def add_instance(self, header: Header) -> None:
        raw = self._reader.raw
        start = raw.find(b"\n    m_Modifications:", header.body, header.end)
        end = raw.find(b"\n    m_", start + 1, header.end) if start >= 0 else -1
        overrides = _read_overrides(raw[start:end]) if end >= 0 else None
        rest = raw[header.body : header.end]
        if overrides is not None:
            rest = raw[header.body : start] + raw[end : header.end]
        fields = self._reader.read(header, rest, header.body)
        # Before 2018.3 a prefab file also held a document of this class that described the asset itself.
        if fields.get("m_IsPrefabParent") == "1" or fields.get("m_IsPrefabAsset") == "1":
            return
        changes = fields.get("m_Modification")
        made = _make_instance(fields, changes if isinstance(changes, dict) else {}, overrides)
        self.instances.setdefault(header.file_id, made)

    def add_roots(self, header: Header) -> None:
        self.roots = self._ids(header, b"m_Roots")

    def _type_name(self, header: Header) -> str:
        name = self._type_names.get(header.class_id)
        if name is None:
            name = self._type_names[header.class_id] = self._reader.type_name(header)
        return name

    def _id(self, header: Header, key: bytes) -> int:
        found = self._reader.reference(header, key)
        return found.file_id if found else 0

    def _number(self, header: Header, key: bytes) -> int:
        return maybe_file_id(self._reader.text(header, key) or "0") or 0

    def _ids(self, header: Header, key: bytes) -> tuple[int, ...]:
        at = self._reader.find(header, key)
        if at < 0:
            return ()
        found = _IDS.match(self._reader.raw, at, header.end)
        if found is not None:
            return tuple(map(int, _ID.findall(found[1]))) if found[1] else ()
        return tuple(_ids_of(self._reader.node(header, key)))


_READERS: Final[Mapping[int, Callable[[_Builder, Header], None]]] = {
    GAME_OBJECT: _Builder.add_object,
    TRANSFORM: _Builder.add_transform,
    RECT_TRANSFORM: _Builder.add_transform,
    MONO_BEHAVIOUR: _Builder.add_script,
    PREFAB_INSTANCE: _Builder.add_instance,
    SCENE_ROOTS: _Builder.add_roots,
}
"""Class id to what reads its documents; every other class is a component or none of the tree."""


def _ids_of(value: Node | None) -> list[int]:
    """The ids in a sequence of references, each with or without a key."""
    found: list[int] = []
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict) and "fileID" not in item:
            item = next(iter(item.values()), "")
        reference = maybe_reference(item)
        found.append(reference.file_id if reference else 0)
    return found


def _read_overrides(block: bytes) -> tuple[Override, ...] | None:
    """The overrides that matter, from the text of m_Modifications; None if a value needs the full reader."""
    found = _MODIFICATION.findall(block)
    if len(found) != len(_SHOWN_PATH.findall(block)):
        return None
    return tuple(Override(int(target), path.decode(), value.decode()) for target, path, value in found)


def _make_instance(fields: dict[str, Node], changes: dict[str, Node], overrides: tuple[Override, ...] | None) -> Instance:
    source = maybe_reference(fields.get("m_SourcePrefab", fields.get("m_ParentPrefab")))
    parent = maybe_reference(changes.get("m_TransformParent"))
    return Instance(
        source or NO_REFERENCE,
        parent.file_id if parent else 0,
        _overrides_of(changes.get("m_Modifications")) if overrides is None else overrides,
        tuple(_ids_of(changes.get("m_RemovedComponents"))),
        tuple(_ids_of(changes.get("m_RemovedGameObjects"))),
        tuple(_added_of(changes.get("m_AddedGameObjects"))),
        tuple(_added_of(changes.get("m_AddedComponents"))),
    )


def _overrides_of(value: Node | None) -> tuple[Override, ...]:
    shown = []
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            target, path, text = maybe_reference(item.get("target")), item.get("propertyPath"), item.get("value")
            if target and isinstance(path, str) and isinstance(text, str) and re.fullmatch(_SHOWN, path.encode()):
                shown.append(Override(target.file_id, str(path), str(text)))
    return tuple(shown)


def _added_of(value: Node | None) -> list[Added]:
    found = []
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            target = maybe_reference(item.get("targetCorrespondingSourceObject")) or NO_REFERENCE
            made = maybe_reference(item.get("addedObject")) or NO_REFERENCE
            index = maybe_file_id(str(item.get("insertIndex", "-1")))
            found.append(Added(target.file_id, -1 if index is None else index, made.file_id))
    return found
