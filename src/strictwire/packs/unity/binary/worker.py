"""`python -m strictwire.packs.unity.binary.worker`: decodes the file on standard input, writes its objects as msgpack."""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

import msgspec
from msgspec import Struct

from strictwire.packs.unity.yaml.values import Node

MAX_OBJECTS: Final = 500_000
"""Objects of one file; the rest is left out, and shows as references that lead nowhere."""

MEMORY: Final = 3 * 1024**3
"""Bytes of address space. UnityPy and what it imports take half a gigabyte of it."""


class Decoded(Struct, frozen=True, array_like=True):
    """One object of a binary file."""

    path_id: int
    class_id: int
    stripped: bool
    type_name: str
    fields: dict[str, Any]


def main() -> int:
    """Exit code 1 and no output: the file cannot be decoded."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answer, sys.stdout = sys.stdout.buffer, sys.stderr  # UnityPy prints what it does not understand
    try:
        found = list(decode(sys.stdin.buffer.read()))
    except Exception:  # noqa: BLE001 - a decoder of binary data raises whatever a damaged file provokes
        return 1
    answer.write(msgspec.msgpack.encode(found))
    return 0


def decode(raw: bytes) -> Iterator[Decoded]:
    """The objects of a serialized file."""
    import UnityPy

    file: Any = UnityPy.load(raw).file
    guids = [_guid_text(each.guid or b"") for each in file.externals]
    for found in islice(file.objects.values(), MAX_OBJECTS):
        stripped = bool(found.is_stripped or (found.serialized_type and found.serialized_type.is_stripped_type))
        fields = _node(found.parse_as_dict(check_read=False), guids)
        if isinstance(fields, dict):
            yield Decoded(int(found.path_id), int(found.class_id), stripped, str(found.type.name), fields)


def _node(value: Any, guids: list[str]) -> Node:
    """A decoded value as the text form has it."""
    if isinstance(value, dict):
        if value.keys() == {"m_FileID", "m_PathID"}:
            return _reference(value["m_FileID"], value["m_PathID"], guids)
        return {str(key): _node(part, guids) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_node(part, guids) for part in value]
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


if __name__ == "__main__":
    sys.exit(main())
