"""Compares two versions of a scene, prefab or other text asset. Pure.

Objects are matched by their file ids, which Unity keeps when an object is renamed, moved or changed. Lists that repeat
what others say (`m_Children`, `m_Component`) are compared for their order alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from strictwire.packs.unity.diff.instance import compare_instances
from strictwire.packs.unity.diff.model import Action, Change, Part
from strictwire.packs.unity.diff.side import Side, shorten_pair
from strictwire.packs.unity.diff.values import compare
from strictwire.packs.unity.yaml.index import Header
from strictwire.packs.unity.yaml.objects import GAME_OBJECT, PREFAB_INSTANCE, RECT_TRANSFORM, SCENE_ROOTS, TRANSFORM
from strictwire.packs.unity.yaml.values import Node, maybe_reference

_TRANSFORMS: Final = (TRANSFORM, RECT_TRANSFORM)

_PLACE: Final = frozenset({"m_GameObject", "m_Father", "m_Children", "m_RootOrder"})
_STRUCTURE: Final[Mapping[int, frozenset[str]]] = {
    GAME_OBJECT: frozenset({"m_Component"}),
    TRANSFORM: _PLACE,
    RECT_TRANSFORM: _PLACE,
    SCENE_ROOTS: frozenset({"m_Roots"}),
}
"""Fields that place a document in the tree, by class. What they mean is reported as added, removed, moved or reordered."""

_OWNER: Final = frozenset({"m_GameObject"})
"""The same for every other component."""


class SceneDiff:
    """The comparison of two versions."""

    def __init__(self, before: Side, after: Side) -> None:
        self.before = before
        self.after = after
        self.added = _only_in(after, before)
        self.removed = _only_in(before, after)

    def changes(self) -> Iterator[Change]:
        """Every change, in the order of the file: what is gone, what is new, what is different."""
        yield from self._whole(self.removed, self.before, Action.REMOVED)
        yield from self._whole(self.added, self.after, Action.ADDED)
        for file_id in self._common():
            yield from self._compare(file_id)

    def _common(self) -> Iterator[int]:
        """Documents of both versions whose bytes differ. Handles of prefab objects carry no data of their own."""
        before, after = self.before, self.after
        for file_id, header in after.headers.items():
            old = before.headers.get(file_id)
            if old is None or header.stripped or old.stripped or old.class_id != header.class_id:
                continue
            if before.raw[old.start : old.end] != after.raw[header.start : header.end]:
                yield file_id

    def _whole(self, ids: dict[int, Header], side: Side, action: Action) -> Iterator[Change]:
        for file_id, header in ids.items():
            if header.class_id == GAME_OBJECT:
                yield Change(action, Part.OBJECT, side.names.path(file_id), file_id)
            elif header.class_id == PREFAB_INSTANCE:
                source = side.asset_of(side.fields(file_id).get("m_SourcePrefab"))
                yield Change(action, Part.OBJECT, side.names.path(file_id), file_id, source=source)
            elif header.class_id not in (*_TRANSFORMS, SCENE_ROOTS) and not self._belongs_to(file_id, ids, side):
                path, kind = self._owner_path(file_id, side), side.type_of(file_id)
                yield Change(action, Part.COMPONENT, path, side.owner_id(file_id), component=kind)

    def _owner_path(self, file_id: int, side: Side) -> str:
        """The path of the object of a component, as it is after the change: the object is still there."""
        owner = side.names.owner(side.names.decode(file_id))
        is_there = bool(owner) and owner[0] in self.after.headers
        return (self.after if is_there else side).names.path_at(owner) if owner else ""

    def _belongs_to(self, file_id: int, ids: dict[int, Header], side: Side) -> bool:
        """Whether the object or instance that a component is part of is itself added or removed."""
        owner = maybe_reference(side.fields(file_id).get("m_GameObject"))
        if owner is None:
            return False
        header = side.headers.get(owner.file_id)
        if header is not None and header.stripped:
            instance = maybe_reference(side.fields(owner.file_id).get("m_PrefabInstance"))
            return instance is not None and instance.file_id in ids
        return owner.file_id in ids

    def _compare(self, file_id: int) -> Iterator[Change]:
        kind = self.after.headers[file_id].class_id
        if kind == PREFAB_INSTANCE:
            yield from self._compare_instance(file_id)
            return
        before, after = self.before.fields(file_id), self.after.fields(file_id)
        if not before or not after:
            return  # malformed in one version, which the caller reports
        yield from self._compare_place(file_id, kind, before, after)
        path, owner = self.after.names.path(file_id), self.after.owner_id(file_id)
        component = "GameObject" if kind == GAME_OBJECT else self.after.type_of(file_id)
        skipped = _STRUCTURE.get(kind, _OWNER)
        for found in compare(_without(before, skipped), _without(after, skipped)):
            old, new = self._values(found.before, found.after)
            yield Change(Action.CHANGED, Part.FIELD, path, owner, component, found.property, old, new)

    def _values(self, before: Node | None, after: Node | None) -> tuple[str | None, str | None]:
        """Both values in words; with their file ids, if the words alone are the same."""
        old, new = self.before.describe(before), self.after.describe(after)
        if old == new and isinstance(before, dict) and isinstance(after, dict):
            return f"{old} #{before.get('fileID')}", f"{new} #{after.get('fileID')}"
        return shorten_pair(old, new)

    def _compare_place(self, file_id: int, kind: int, before: dict[str, Node], after: dict[str, Node]) -> Iterator[Change]:
        if kind in _TRANSFORMS:
            yield from self._compare_parents(file_id, before.get("m_Father"), after.get("m_Father"))
            yield from self._compare_order(file_id, before.get("m_Children"), after.get("m_Children"), "children")
        elif kind == GAME_OBJECT:
            yield from self._compare_order(file_id, before.get("m_Component"), after.get("m_Component"), "components")
        elif kind == SCENE_ROOTS:
            yield from self._compare_order(file_id, before.get("m_Roots"), after.get("m_Roots"), "roots")
        elif before.get("m_GameObject") != after.get("m_GameObject"):
            old, new = self._paths(before.get("m_GameObject"), after.get("m_GameObject"))
            if old != new:
                owner, type_name = self.after.owner_id(file_id), self.after.type_of(file_id)
                yield Change(Action.MOVED, Part.COMPONENT, new, owner, component=type_name, before=old, after=new)

    def _compare_parents(self, file_id: int, before: Node | None, after: Node | None) -> Iterator[Change]:
        old, new = maybe_reference(before), maybe_reference(after)
        if old is None or new is None or old == new:
            return
        if self._same_handle(old.file_id, new.file_id):
            return
        above, below = self._paths(before, after)
        path, owner = self.after.names.path(file_id), self.after.owner_id(file_id)
        yield Change(Action.MOVED, Part.OBJECT, path, owner, before=above, after=below)

    def _same_handle(self, before: int, after: int) -> bool:
        """Whether two ids stand for the same object of an instance: handles in scenes get new ids now and then."""
        old, new = self.before.names.structure.stripped.get(before), self.after.names.structure.stripped.get(after)
        return old is not None and new is not None and (old.instance, old.source) == (new.instance, new.source)

    def _paths(self, before: Node | None, after: Node | None) -> tuple[str, str]:
        old, new = maybe_reference(before), maybe_reference(after)
        return (
            self.before.names.path(old.file_id) if old and old.file_id else "",
            self.after.names.path(new.file_id) if new and new.file_id else "",
        )

    def _compare_order(self, file_id: int, before: Node | None, after: Node | None, what: str) -> Iterator[Change]:
        """The order of what is in both lists; members that came or went are reported elsewhere."""
        old, new = list(_ids(before)), list(_ids(after))
        common = set(old) & set(new)
        first, second = [each for each in old if each in common], [each for each in new if each in common]
        if first == second:
            return
        path = self.after.names.path(file_id)
        part = Part.COMPONENT if what == "components" else Part.OBJECT
        yield Change(
            Action.REORDERED,
            part,
            path,
            self.after.owner_id(file_id),
            property=what,
            before=_listed(self.before, first, part),
            after=_listed(self.after, second, part),
        )

    def _compare_instance(self, file_id: int) -> Iterator[Change]:
        before, after = self.before.fields(file_id), self.after.fields(file_id)
        if not before or not after:
            return
        old, new = _parent_of(before), _parent_of(after)
        path = self.after.names.path(file_id)
        source = self.after.asset_of(after.get("m_SourcePrefab"))
        is_moved = old is not None and new is not None and old != new
        if is_moved and not self._same_handle(_id(old), _id(new)):
            above, below = self._paths(old, new)
            yield Change(Action.MOVED, Part.OBJECT, path, file_id, before=above, after=below, source=source)
        for found in compare(_without(before, {"m_Modification"}), _without(after, {"m_Modification"})):
            was, now = self._values(found.before, found.after)
            yield Change(Action.CHANGED, Part.FIELD, path, file_id, "PrefabInstance", found.property, was, now, source)
        yield from compare_instances(self.before, self.after, file_id)


def _only_in(side: Side, other: Side) -> dict[int, Header]:
    """Documents of one version that the other has not; a document whose class changed counts as another."""
    found = {}
    for file_id, header in side.headers.items():
        there = other.headers.get(file_id)
        if not header.stripped and (there is None or there.stripped or there.class_id != header.class_id):
            found[file_id] = header
    return found


def _without(fields: dict[str, Node], names: Iterable[str]) -> dict[str, Node]:
    return {name: value for name, value in fields.items() if name not in names}


def _parent_of(fields: dict[str, Node]) -> Node | None:
    changes = fields.get("m_Modification")
    return changes.get("m_TransformParent") if isinstance(changes, dict) else None


def _id(value: Node | None) -> int:
    reference = maybe_reference(value)
    return reference.file_id if reference else 0


def _ids(value: Node | None) -> Iterator[int]:
    """Ids in a list of references, each with or without a key."""
    for item in value if isinstance(value, list) else ():
        inner = next(iter(item.values()), "") if isinstance(item, dict) and "fileID" not in item else item
        yield _id(inner)


_SHOWN: Final = 20
"""Members of an order that are named."""


def _listed(side: Side, ids: list[int], part: Part) -> str:
    named = [
        side.type_of(each) if part is Part.COMPONENT else side.names.path(each).rpartition("/")[2] for each in ids[:_SHOWN]
    ]
    return ", ".join(named) + (f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else "")
