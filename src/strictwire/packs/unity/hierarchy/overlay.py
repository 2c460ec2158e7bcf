"""The fields of a component as an instance has them: those of the source prefab, changed by every override on the way.

An override names a field by a property path: `m_LocalPosition.x`, `items.Array.data[2].name`, `items.Array.size`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeAlias

from strictwire.packs.unity.hierarchy.tree import Frame, PlacedComponent
from strictwire.packs.unity.yaml.document import Document
from strictwire.packs.unity.yaml.values import Node, maybe_file_id, maybe_reference

ReadDocument: TypeAlias = Callable[[str, int], Document | None]
"""A document by the path of its file and its id; None if there is none."""

MAX_GROWTH: Final = 10_000
"""Items that one override may add to an array."""

_STEP: Final = re.compile(r"Array\.data\[(\d{1,9})\]|Array\.(size)(?=\.|$)|([^.\[]+)")


class Change(NamedTuple):
    """One override of an instance."""

    path: str
    value: Node


def read_fields(placed: PlacedComponent, read: ReadDocument) -> dict[str, Node]:
    """The fields of a component with all overrides, outermost last.

    Of a component without a document, such as that of a model, only what is overridden is known.
    """
    document = read(placed.path, placed.file_id)
    fields = dict(document.fields) if document else {}
    apply = apply_change if document else record_change
    file_id, frame = placed.file_id, placed.frame
    while frame is not None:
        for change in _changes(frame, file_id, read):
            apply(fields, change)
        file_id, frame = frame.lift(file_id), frame.outer
    return fields


def _changes(frame: Frame, target: int, read: ReadDocument) -> Iterator[Change]:
    """What an instance changes about one object of its source."""
    document = read(frame.path, frame.instance)
    modification = document.fields.get("m_Modification") if document else None
    entries = modification.get("m_Modifications") if isinstance(modification, dict) else None
    for entry in entries if isinstance(entries, list) else ():
        if not isinstance(entry, dict):
            continue
        reference, path = maybe_reference(entry.get("target")), entry.get("propertyPath")
        if reference is not None and reference.file_id == target and isinstance(path, str):
            yield Change(path, _value_of(entry))


def _value_of(entry: dict[str, Node]) -> Node:
    """An override holds either a reference or a text; the other is empty."""
    reference = maybe_reference(entry.get("objectReference"))
    return entry["objectReference"] if reference is not None and reference.file_id else entry.get("value", "")


def apply_change(fields: dict[str, Node], change: Change) -> None:
    """Set the field that a property path names. What the path passes through is copied, because values are shared.

    A path that does not fit the fields is stale and changes nothing, as in Unity.
    """
    steps = list(_steps(change.path))
    owner: _Collection = fields
    for step in steps[:-1]:
        child = _get(owner, step)
        if not isinstance(child, dict | list):
            return
        copied = child.copy()
        _set(owner, step, copied)
        owner = copied
    last = steps[-1] if steps else None
    if last is None:
        _resize(owner, change.value)
    elif isinstance(owner, dict) or _get(owner, last) is not None:
        # A reference that is overridden without another one is none.
        is_reference = change.value == "" and maybe_reference(_get(owner, last)) is not None
        _set(owner, last, {"fileID": "0"} if is_reference else change.value)


def record_change(fields: dict[str, Node], change: Change) -> None:
    """Set a field that nothing else is known of. Items of arrays are left out: their places mean nothing alone."""
    *above, last = change.path.split(".")
    if "Array" in above:
        return
    owner = fields
    for name in above:
        below = owner.setdefault(name, {})
        if not isinstance(below, dict):
            return
        owner = below
    owner[last] = change.value


_Collection: TypeAlias = dict[str, Node] | list[Node]
_Step: TypeAlias = str | int | None
"""A key, an index, or None for the size of an array."""


def _steps(path: str) -> Iterator[_Step]:
    for found in _STEP.finditer(path):
        yield int(found[1]) if found[1] else None if found[2] else found[3]


def _get(owner: _Collection, step: _Step) -> Node | None:
    if isinstance(owner, dict):
        return owner.get(step) if isinstance(step, str) else None
    return owner[step] if isinstance(step, int) and step < len(owner) else None


def _set(owner: _Collection, step: _Step, value: Node) -> None:
    if isinstance(owner, list):
        owner[step if isinstance(step, int) else 0] = value
    elif isinstance(step, str):
        owner[step] = value


def _resize(owner: _Collection, text: Node) -> None:
    size = maybe_file_id(text) if isinstance(text, str) else None
    if not isinstance(owner, list) or size is None or not 0 <= size <= len(owner) + MAX_GROWTH:
        return
    # Unity fills a longer array with copies of its last item.
    last = owner[-1] if owner else ""
    owner[size:] = []
    owner += [last] * (size - len(owner))
