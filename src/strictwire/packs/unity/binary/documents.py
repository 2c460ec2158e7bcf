"""Reads a binary asset as the documents that its text form would have. Needs UnityPy.

UnityPy decodes objects by the type trees that the Editor stores in the file. It is given serialized files alone: bundles
can hold compressed data that grows without a limit.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from itertools import islice
from typing import Any, Final

from strictwire.packs.unity.hierarchy.sources import Obstacle
from strictwire.packs.unity.reading import ReadBinary, Unreadable
from strictwire.packs.unity.yaml.document import Document
from strictwire.packs.unity.yaml.index import Header
from strictwire.packs.unity.yaml.values import Node, Quoted

MAX_OBJECTS: Final = 500_000
"""Objects of one file; the rest is left out, and shows as references that lead nowhere."""

_VERSIONS: Final = range(9, 40)
"""Versions of the format: 9 is Unity 3, 22 is 2020. Others are not serialized files at all."""

_LONG_HEADER: Final = 22
"""The version from which on sizes have 64 bits."""


def maybe_binary_reader() -> ReadBinary | None:
    """The reader, if UnityPy is installed."""
    return read_binary if find_spec("UnityPy") is not None else None


def read_binary(raw: bytes) -> Mapping[int, Document]:
    """The objects of a binary asset by file id. Raises Unreadable."""
    if not is_serialized_file(raw):
        raise Unreadable(Obstacle.BINARY, "is not in a format of Unity")
    try:
        return dict(_decode(raw))
    except Exception as exc:
        # A decoder of binary data raises whatever a damaged file provokes.
        raise Unreadable(Obstacle.BINARY, "is saved in binary form and cannot be decoded") from exc


def _decode(raw: bytes) -> Iterator[tuple[int, Document]]:
    import UnityPy

    file: Any = UnityPy.load(raw).file
    guids = [_guid_text(each.guid or b"") for each in file.externals]
    for found in islice(file.objects.values(), MAX_OBJECTS):
        yield found.path_id, _document(found, guids)


def is_serialized_file(raw: bytes) -> bool:
    """Whether the header is that of a serialized file and tells the true size."""
    if len(raw) < 48:
        return False
    size, version = struct.unpack_from(">4xII", raw)
    if version >= _LONG_HEADER:
        size = struct.unpack_from(">q", raw, 24)[0]
    return version in _VERSIONS and size == len(raw)


def _document(found: Any, guids: list[str]) -> Document:
    stripped = bool(found.is_stripped or (found.serialized_type and found.serialized_type.is_stripped_type))
    fields = _node(found.parse_as_dict(check_read=False), guids)
    header = Header(int(found.class_id), int(found.path_id), stripped, 0, 0, 0)
    return Document(header, str(found.type.name), fields if isinstance(fields, dict) else {})


def _node(value: Any, guids: list[str]) -> Node:
    """A decoded value as the text form has it."""
    if isinstance(value, dict):
        if value.keys() == {"m_FileID", "m_PathID"}:
            return _reference(value["m_FileID"], value["m_PathID"], guids)
        return {str(key): _node(part, guids) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_node(part, guids) for part in value]
    if isinstance(value, str):
        return Quoted(value)
    if isinstance(value, bytes | bytearray):
        return value.hex()
    return str(int(value)) if isinstance(value, bool) else str(value)


def _reference(file: int, path_id: int, guids: list[str]) -> Node:
    """References name a file by its place in the list of external files, where 0 is the file itself."""
    if not 0 < file <= len(guids):
        return {"fileID": str(path_id)}
    return {"fileID": str(path_id), "guid": guids[file - 1], "type": "3"}


def _guid_text(raw: bytes) -> str:
    """A GUID as .meta files write it: the low half of each byte first."""
    return "".join(f"{each & 15:x}{each >> 4:x}" for each in raw)
