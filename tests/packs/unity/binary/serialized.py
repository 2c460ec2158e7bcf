"""Writes Unity's binary serialized files (format 22) with type trees, as the Editor saves scenes without Force Text.

A type is a tuple of fields `(type, name)`; a field type is a scalar name, `PPtr`, `string`, `[item]` or a nested tuple.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

FieldType: TypeAlias = "str | list[Any] | tuple[Any, ...]"
Fields: TypeAlias = Sequence[tuple[FieldType, str]]

_SCALARS = {"int": "<i", "SInt64": "<q", "UInt32": "<I", "UInt8": "<B", "bool": "<?", "float": "<f"}
_PPTR: Fields = (("int", "m_FileID"), ("SInt64", "m_PathID"))
_ALIGN = 0x4000


@dataclass(slots=True)
class Item:
    """One object of the file."""

    class_id: int
    path_id: int
    fields: Fields
    values: Mapping[str, Any]
    stripped: bool = False


@dataclass(slots=True)
class BinaryFile:
    """A file with its objects and the GUIDs of the assets that it refers to; references name those from 1 on."""

    items: list[Item] = field(default_factory=list)
    externals: list[str] = field(default_factory=list)
    version: str = "2021.3.5f1"

    def render(self) -> bytes:
        """The bytes."""
        types = b"".join(_type(item) for item in self.items)
        data, table = b"", b""
        head = self.version.encode() + b"\0" + struct.pack("<i?", 19, True) + struct.pack("<i", len(self.items)) + types
        head += struct.pack("<i", len(self.items))
        for number, item in enumerate(self.items):
            raw = b"".join(_value(kind, item.values[name]) for kind, name in item.fields)
            table += bytes(-(len(head) + len(table)) % 4)
            table += struct.pack("<qqIi", item.path_id, len(data), len(raw), number)
            data += raw + bytes(-len(raw) % 8)
        tail = struct.pack("<i", 0) + struct.pack("<i", len(self.externals))
        for guid in self.externals:
            swapped = bytes(int(guid[at + 1] + guid[at], 16) for at in range(0, 32, 2))
            tail += b"\0" + swapped + struct.pack("<i", 3) + b"\0"
        metadata = head + table + tail + struct.pack("<i", 0) + b"\0"
        start = 48 + len(metadata)
        start += -start % 16
        size = start + len(data)
        header = struct.pack(">IIII", 0, 0, 22, 0) + b"\0\0\0\0" + struct.pack(">Iqqq", len(metadata), size, start, 0)
        return header + metadata + bytes(start - 48 - len(metadata)) + data


def _type(item: Item) -> bytes:
    nodes: list[tuple[int, str, str, int, int]] = []
    _walk("Base", "Base", item.fields, 0, nodes)
    strings, packed = bytearray(), b""
    for number, (level, kind, name, size, flags) in enumerate(nodes):
        places = []
        for text in (kind, name):
            places.append(len(strings))
            strings += text.encode() + b"\0"
        is_array = int(kind == "Array")
        packed += struct.pack("<HBBIIiiiQ", 1, level, is_array, *places, size, number, flags, 0)
    script = bytes(16) if item.class_id == 114 else b""
    head = struct.pack("<i?h", item.class_id, item.stripped, -1) + script + bytes(16)
    return head + struct.pack("<ii", len(nodes), len(strings)) + packed + bytes(strings) + struct.pack("<i", 0)


def _walk(kind: str, name: str, fields: FieldType | Fields, level: int, nodes: list[tuple[int, str, str, int, int]]) -> None:
    if isinstance(fields, str) and fields in _SCALARS:
        nodes.append((level, fields, name, struct.calcsize(_SCALARS[fields]), _ALIGN if fields in ("UInt8", "bool") else 0))
    elif fields == "string":
        nodes.append((level, "string", name, -1, 0))
        nodes.append((level + 1, "Array", "Array", -1, _ALIGN))
        nodes.append((level + 2, "int", "size", 4, 0))
        nodes.append((level + 2, "char", "data", 1, 0))
    elif isinstance(fields, list):
        nodes.append((level, "vector", name, -1, 0))
        nodes.append((level + 1, "Array", "Array", -1, 0))
        nodes.append((level + 2, "int", "size", 4, 0))
        _walk("data", "data", fields[0], level + 2, nodes)
    else:
        inner = _PPTR if fields == "PPtr" else fields
        nodes.append((level, "PPtr<Object>" if fields == "PPtr" else kind, name, -1, 0))
        for inner_kind, inner_name in inner:  # type: ignore[misc]
            _walk(inner_name, inner_name, inner_kind, level + 1, nodes)


def _value(kind: FieldType, value: Any) -> bytes:
    if isinstance(kind, str) and kind in _SCALARS:
        raw = struct.pack(_SCALARS[kind], value)
        return raw + bytes(-len(raw) % 4)
    if kind == "string":
        raw = value.encode()
        return struct.pack("<i", len(raw)) + raw + bytes(-len(raw) % 4)
    if kind == "PPtr":
        return struct.pack("<iq", *value)
    if isinstance(kind, list):
        return struct.pack("<i", len(value)) + b"".join(_value(kind[0], each) for each in value)
    return b"".join(_value(inner, value[name]) for inner, name in kind)
