"""Prefab instances: what they change about their source. Pure.

Most of a PrefabInstance is its list of overrides, and few of them matter to a tree, so the text form is searched for those.
"""

from __future__ import annotations

import re
from typing import Final

from strictwire.packs.unity.yaml.objects import Added, Instance, Override
from strictwire.packs.unity.yaml.values import NO_REFERENCE, Node, maybe_file_id, maybe_reference

_SHOWN: Final = rb"(m_Name|m_IsActive|m_TagString|m_Layer|m_RootOrder)"
"""Overridden properties that a tree shows."""

_SHOWN_PATH: Final = re.compile(rb"\n      propertyPath: " + _SHOWN + rb"\n")
_MODIFICATION: Final = re.compile(
    rb"\n    - target: \{fileID:\s+(-?\d{1,19})(?:,\s+guid:\s+[0-9a-f]{32},\s+type:\s+\d+)?\}"
    rb"\n      propertyPath: " + _SHOWN + rb"\n      value: ?+([^'\"\n][^\n]*)?\n      objectReference: "
)


def read_overrides(block: bytes) -> tuple[Override, ...] | None:
    """The overrides that matter, from the text of m_Modifications; None if a value needs the full reader."""
    found = _MODIFICATION.findall(block)
    if len(found) != len(_SHOWN_PATH.findall(block)):
        return None
    return tuple(Override(int(target), path.decode(), value.decode()) for target, path, value in found)


def maybe_instance(fields: dict[str, Node], overrides: tuple[Override, ...] | None = None) -> Instance | None:
    """The instance of a PrefabInstance document; overrides that are read already are not looked for in the fields.

    None: before 2018.3 a prefab file also held a document of this class that described the asset itself.
    """
    if fields.get("m_IsPrefabParent") == "1" or fields.get("m_IsPrefabAsset") == "1":
        return None
    found = fields.get("m_Modification")
    changes = found if isinstance(found, dict) else {}
    source = maybe_reference(fields.get("m_SourcePrefab", fields.get("m_ParentPrefab")))
    parent = maybe_reference(changes.get("m_TransformParent"))
    return Instance(
        source or NO_REFERENCE,
        parent.file_id if parent else 0,
        _overrides_of(changes.get("m_Modifications")) if overrides is None else overrides,
        ids_of(changes.get("m_RemovedComponents")),
        ids_of(changes.get("m_RemovedGameObjects")),
        _added_of(changes.get("m_AddedGameObjects")),
        _added_of(changes.get("m_AddedComponents")),
    )


def ids_of(value: Node | None) -> tuple[int, ...]:
    """The ids in a sequence of references, each with or without a key; 0 for what is no reference."""
    found: list[int] = []
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict) and "fileID" not in item:
            item = next(iter(item.values()), "")
        reference = maybe_reference(item)
        found.append(reference.file_id if reference else 0)
    return tuple(found)


def _overrides_of(value: Node | None) -> tuple[Override, ...]:
    shown = []
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            target, path, text = maybe_reference(item.get("target")), item.get("propertyPath"), item.get("value")
            if target and isinstance(path, str) and isinstance(text, str) and re.fullmatch(_SHOWN, path.encode()):
                shown.append(Override(target.file_id, str(path), str(text)))
    return tuple(shown)


def _added_of(value: Node | None) -> tuple[Added, ...]:
    found = []
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            target = maybe_reference(item.get("targetCorrespondingSourceObject")) or NO_REFERENCE
            made = maybe_reference(item.get("addedObject")) or NO_REFERENCE
            index = maybe_file_id(str(item.get("insertIndex", "-1")))
            found.append(Added(target.file_id, -1 if index is None else index, made.file_id))
    return tuple(found)
