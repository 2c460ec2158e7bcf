"""Compares two versions of a prefab instance: its overrides, and what it removed from its prefab. Pure.

Overrides are resolved: the object, component and property they change, and the value of the prefab that they replace.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from strictwire.packs.unity.diff.model import Action, Change, Part
from strictwire.packs.unity.diff.side import Side, shorten_pair
from strictwire.packs.unity.diff.values import get_property
from strictwire.packs.unity.naming import encode
from strictwire.packs.unity.yaml.values import Node, Reference, maybe_reference


class _Target(NamedTuple):
    """A property of an object of the source prefab."""

    target: Reference
    property: str


_Overrides = Mapping[_Target, Node]

_REMOVALS: Final[Mapping[str, Part]] = {"m_RemovedComponents": Part.COMPONENT, "m_RemovedGameObjects": Part.OBJECT}


def compare_instances(before: Side, after: Side, file_id: int) -> Iterator[Change]:
    """The changes of an instance that is in both versions."""
    old, new = _changes_of(before, file_id), _changes_of(after, file_id)
    source = after.asset_of(after.fields(file_id).get("m_SourcePrefab"))
    yield from _compare_overrides(before, after, file_id, _overrides(old), _overrides(new), source)
    for name, part in _REMOVALS.items():
        gone, was_gone = _references(new.get(name)), _references(old.get(name))
        for target in gone:
            if target not in was_gone:
                yield _removal(after, file_id, target, Action.REMOVED, part, source)
        for target in was_gone:
            if target not in gone:
                yield _removal(after, file_id, target, Action.ADDED, part, source)


def _compare_overrides(
    before: Side, after: Side, file_id: int, old: _Overrides, new: _Overrides, source: str
) -> Iterator[Change]:
    for key in (*old, *(key for key in new if key not in old)):
        was, now = old.get(key), new.get(key)
        if was == now:
            continue
        action = Action.ADDED if was is None else Action.REMOVED if now is None else Action.CHANGED
        path, kind = _where(after, file_id, key.target.file_id)
        if not kind:  # the object is no longer in the prefab
            path, kind = _where(before, file_id, key.target.file_id)
        base = _base_value(after, file_id, key) if was is None or now is None else None
        shown = shorten_pair(before.describe(base if was is None else was), after.describe(base if now is None else now))
        yield Change(
            action,
            Part.OVERRIDE,
            path,
            file_id,
            component=kind,
            property=key.property,
            before=shown[0],
            after=shown[1],
            source=source,
        )


def _removal(side: Side, file_id: int, target: Reference, action: Action, part: Part, source: str) -> Change:
    """Something of the prefab that the instance leaves out, or has again."""
    path, kind = _where(side, file_id, target.file_id)
    component = kind if part is Part.COMPONENT else ""
    return Change(action, part, path, file_id, component=component, source=source)


def _where(side: Side, file_id: int, source_id: int) -> tuple[str, str]:
    """The hierarchy path and the type of an object of the source prefab, as it is in the instance."""
    names = side.names
    address = names.decode_in(file_id, source_id)
    owner = names.owner(address)
    return names.path_at(owner) if owner else names.path(file_id), side.type_at(address)


def _base_value(side: Side, file_id: int, key: _Target) -> Node | None:
    """The value that the prefab gives a property without the override of the instance; None if it is not known."""
    names = side.names
    address = names.decode_in(file_id, key.target.file_id)
    for level in range(1, len(address) - 1):
        fields = side.sources.fields(names.guid_at(address[: level + 1]), address[level])
        changes = fields.get("m_Modification")
        target = encode(address[level + 1 :])
        for (inner, name), value in _overrides(changes if isinstance(changes, dict) else {}).items():
            if inner.file_id == target and name == key.property:
                return value
    return get_property(side.sources.fields(names.guid_at(address), address[-1]), key.property)


def _changes_of(side: Side, file_id: int) -> dict[str, Node]:
    changes = side.fields(file_id).get("m_Modification")
    return changes if isinstance(changes, dict) else {}


def _overrides(changes: dict[str, Node]) -> _Overrides:
    """Of two overrides of one property the last counts, as in Unity."""
    found: dict[_Target, Node] = {}
    entries = changes.get("m_Modifications")
    for entry in entries if isinstance(entries, list) else ():
        target = maybe_reference(entry.get("target")) if isinstance(entry, dict) else None
        if target is None or not isinstance(entry, dict):
            continue
        reference = maybe_reference(entry.get("objectReference"))
        value = entry["objectReference"] if reference is not None and reference.file_id else entry.get("value", "")
        found[_Target(target, str(entry.get("propertyPath", "")))] = value
    return found


def _references(value: Node | None) -> list[Reference]:
    found = [maybe_reference(each) for each in (value if isinstance(value, list) else ())]
    return [each for each in found if each is not None]
