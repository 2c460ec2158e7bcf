"""Fields of Unity YAML as JSON with a type each. Pure.

The file does not store types, so they are inferred from the shape of the value and named like Unity's property types.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.packs.kit.text import cut_characters
from strictwire.packs.unity.yaml.values import Node, Quoted, maybe_reference

MAX_TEXT: Final = 2_000
"""Characters of one text. Embedded data has up to two million."""

MAX_ITEMS: Final = 100
"""Items of one array."""

MAX_NODES: Final = 5_000
"""Values of one component."""

MAX_DEPTH: Final = 20
"""Nesting of one field."""

_SAFE_INTEGER: Final = 2**53 - 1
_INTEGER: Final = re.compile(r"-?(?:0|[1-9]\d{0,17})")
_FLOAT: Final = re.compile(r"-?\d{1,20}(?:\.\d{1,20})?(?:[eE][-+]?\d{1,3})?")

_SHAPES: Final[Mapping[tuple[str, ...], str]] = MappingProxyType(
    {
        ("x", "y"): "Vector2",
        ("x", "y", "z"): "Vector3",
        ("x", "y", "z", "w"): "Vector4",
        ("r", "g", "b", "a"): "Color",
        ("serializedVersion", "x", "y", "width", "height"): "Rect",
    }
)
"""Keys of a mapping to its type."""

HIDDEN: Final = frozenset(
    {
        "m_ObjectHideFlags",
        "m_CorrespondingSourceObject",
        "m_PrefabInstance",
        "m_PrefabAsset",
        "m_PrefabParentObject",
        "m_PrefabInternal",
        "m_GameObject",
        "m_EditorHideFlags",
        "m_EditorClassIdentifier",
        "serializedVersion",
    }
)
"""Bookkeeping of the file that no inspector shows."""


@dataclass(slots=True)
class FieldWriter:
    """Writes the fields of one component within its limits."""

    path_of: Callable[[str], str | None]
    """GUID to the path of its asset."""
    cuts: set[str] = field(default_factory=set)
    """Fields that were cut."""
    _left: int = MAX_NODES

    def write(self, fields: Mapping[str, Node]) -> list[JsonObject]:
        """Name, type and value of every field."""
        shown: list[JsonObject] = []
        for name, value in fields.items():
            if name not in HIDDEN:
                shown.append({"name": name, "type": type_of_value(value), "value": self._show(value, name, 0)})
        return shown

    def _show(self, value: Node, name: str, depth: int) -> JsonValue:
        self._left -= 1
        if self._left < 0 or depth > MAX_DEPTH:
            self.cuts.add(name)
            return None
        if isinstance(value, str):
            return self._show_scalar(value, name)
        if isinstance(value, list):
            if len(value) > MAX_ITEMS:
                self.cuts.add(name)
            return [self._show(item, name, depth + 1) for item in value[:MAX_ITEMS]]
        if maybe_reference(value) is not None:
            return self._show_reference(value)
        return {key: self._show(item, name, depth + 1) for key, item in value.items()}

    def _show_scalar(self, value: str, name: str) -> JsonValue:
        if not isinstance(value, Quoted) and len(value) <= _LONGEST_NUMBER:
            number = _maybe_number(value)
            if number is not None:
                return number
        cut = cut_characters(str(value), MAX_TEXT)
        if cut.is_cut:
            self.cuts.add(name)
        return cut.text

    def _show_reference(self, value: dict[str, Node]) -> JsonValue:
        """Ids are text: they exceed what many readers of JSON keep exact."""
        shown: JsonObject = {"fileID": str(value["fileID"])}
        guid = value.get("guid")
        if isinstance(guid, str) and guid:
            path = self.path_of(guid)
            shown |= {"guid": str(guid)} | ({"path": path} if path else {})
        return shown


_LONGEST_NUMBER: Final = 48


def type_of_value(value: Node) -> str:
    """The property type that a value looks like."""
    if isinstance(value, list):
        return "Array"
    if isinstance(value, dict):
        return "ObjectReference" if maybe_reference(value) else _SHAPES.get(tuple(value), "Generic")
    if isinstance(value, Quoted) or len(value) > _LONGEST_NUMBER:
        return "String"
    number = _maybe_number(value)
    return "String" if number is None else "Integer" if isinstance(number, int) else "Float"


def _maybe_number(text: str) -> int | float | None:
    if _INTEGER.fullmatch(text):
        number = int(text)
        return number if abs(number) <= _SAFE_INTEGER else None
    if not _FLOAT.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None
