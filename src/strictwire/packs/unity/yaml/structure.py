"""Structure-only mode: finds the few fields that a hierarchy needs and skips the rest of the file unread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, Protocol

from strictwire.packs.unity.yaml.faults import Problem
from strictwire.packs.unity.yaml.fields import FieldReader, normalise
from strictwire.packs.unity.yaml.index import Header, find_problems, index_documents
from strictwire.packs.unity.yaml.objects import (
    GAME_OBJECT,
    MONO_BEHAVIOUR,
    PREFAB_INSTANCE,
    RECT_TRANSFORM,
    SCENE_ROOTS,
    TRANSFORM,
    Component,
    GameObject,
    Instance,
    Stripped,
    Structure,
    Transform,
)
from strictwire.packs.unity.yaml.values import NO_REFERENCE, Reference, maybe_file_id


class Fields(Protocol):
    """Single fields of documents; None or nothing where a document has no such field."""

    def type_name(self, header: Header) -> str:
        """The name of the document's class."""

    def reference(self, header: Header, key: bytes) -> Reference | None:
        """A reference."""

    def text(self, header: Header, key: bytes) -> str | None:
        """A scalar."""

    def ids(self, header: Header, key: bytes) -> tuple[int, ...]:
        """The ids in a sequence of references."""

    def instance(self, header: Header) -> Instance | None:
        """What a PrefabInstance says; None for one that describes a prefab asset."""


def read_structure(raw: bytes) -> Structure:
    """The structure of a scene or prefab. Raises Malformed: not UTF-8, or a field that matters cannot be read."""
    raw = normalise(raw)
    headers = index_documents(raw)
    return build_structure(headers, FieldReader(raw), find_problems(raw, headers))


def build_structure(headers: Iterable[Header], fields: Fields, problems: tuple[Problem, ...] = ()) -> Structure:
    """The structure of the documents of one file."""
    made = _Builder(fields)
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
        problems=problems,
    )


class _Builder:
    """Collects the documents of one file. Of two with the same id the first counts; `problems` names the others."""

    def __init__(self, fields: Fields) -> None:
        self._fields = fields
        self._type_names = {TRANSFORM: "Transform", RECT_TRANSFORM: "RectTransform"}
        self.objects: dict[int, GameObject] = {}
        self.transforms: dict[int, Transform] = {}
        self.components: dict[int, Component] = {}
        self.instances: dict[int, Instance] = {}
        self.stripped: dict[int, Stripped] = {}
        self.roots: tuple[int, ...] | None = None

    def add_object(self, header: Header) -> None:
        text = self._fields.text
        made = GameObject(
            text(header, b"m_Name") or "",
            text(header, b"m_IsActive") != "0",
            text(header, b"m_TagString") or "Untagged",
            self._number(header, b"m_Layer"),
            self._fields.ids(header, b"m_Component"),
        )
        self.objects.setdefault(header.file_id, made)

    def add_transform(self, header: Header) -> None:
        owner = self._id(header, b"m_GameObject")
        children = self._fields.ids(header, b"m_Children")
        made = Transform(owner, self._id(header, b"m_Father"), children, self._number(header, b"m_RootOrder"))
        self.transforms.setdefault(header.file_id, made)
        self.components.setdefault(header.file_id, Component(self._type_names[header.class_id], owner))

    def add_component(self, header: Header) -> None:
        owner = self._fields.reference(header, b"m_GameObject")
        if owner is not None:  # settings of the scene belong to no object
            self.components.setdefault(header.file_id, Component(self._type_name(header), owner.file_id))

    def add_script(self, header: Header) -> None:
        made = Component(
            self._type_name(header),
            self._id(header, b"m_GameObject"),
            self._fields.reference(header, b"m_Script") or NO_REFERENCE,
            self._fields.text(header, b"m_EditorClassIdentifier") or "",
        )
        self.components.setdefault(header.file_id, made)

    def add_stripped(self, header: Header) -> None:
        reference = self._fields.reference
        # The second names are those of editors before 2018.3.
        source = reference(header, b"m_CorrespondingSourceObject") or reference(header, b"m_PrefabParentObject")
        instance = reference(header, b"m_PrefabInstance") or reference(header, b"m_PrefabInternal")
        if source is not None and instance is not None:
            made = Stripped(header.class_id, source.file_id, instance.file_id)
            self.stripped.setdefault(header.file_id, made)

    def add_instance(self, header: Header) -> None:
        made = self._fields.instance(header)
        if made is not None:
            self.instances.setdefault(header.file_id, made)

    def add_roots(self, header: Header) -> None:
        self.roots = self._fields.ids(header, b"m_Roots")

    def _type_name(self, header: Header) -> str:
        name = self._type_names.get(header.class_id)
        if name is None:
            name = self._type_names[header.class_id] = self._fields.type_name(header)
        return name

    def _id(self, header: Header, key: bytes) -> int:
        found = self._fields.reference(header, key)
        return found.file_id if found else 0

    def _number(self, header: Header, key: bytes) -> int:
        return maybe_file_id(self._fields.text(header, key) or "0") or 0


_READERS: Final[Mapping[int, Callable[[_Builder, Header], None]]] = {
    GAME_OBJECT: _Builder.add_object,
    TRANSFORM: _Builder.add_transform,
    RECT_TRANSFORM: _Builder.add_transform,
    MONO_BEHAVIOUR: _Builder.add_script,
    PREFAB_INSTANCE: _Builder.add_instance,
    SCENE_ROOTS: _Builder.add_roots,
}
"""Class id to what reads its documents; every other class is a component or none of the tree."""
