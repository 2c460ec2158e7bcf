"""Lists the classes of a .NET assembly from its metadata (ECMA-335), without loading it.

Only the tables before and including TypeDef are walked: a file id of a DLL names a class, and nothing else is needed.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

_MAX_TYPES: Final = 100_000
"""Classes of one assembly. The largest that ship with Unity have about 10,000."""

_MODULE, _TYPE_REF, _TYPE_DEF = 0x00, 0x01, 0x02
_FIELD, _METHOD, _MODULE_REF, _TYPE_SPEC, _ASSEMBLY_REF = 0x04, 0x06, 0x1A, 0x1B, 0x23
_CLI_DIRECTORY: Final = 14
"""Entry of the PE header that leads to the metadata."""


class NotAnAssembly(ValueError):
    """The bytes are not a .NET assembly, or are damaged."""


class ClassName(NamedTuple):
    """A class."""

    namespace: str
    name: str


def list_classes(raw: bytes) -> tuple[ClassName, ...]:
    """The classes of an assembly. Raises NotAnAssembly."""
    try:
        return tuple(_read_classes(raw, _find_metadata(raw)))
    except (struct.error, IndexError, ValueError) as exc:
        raise NotAnAssembly from exc


def _find_metadata(raw: bytes) -> int:
    """Offset of the metadata root."""
    pe = struct.unpack_from("<I", raw, 0x3C)[0]
    if raw[:2] != b"MZ" or raw[pe : pe + 4] != b"PE\0\0":
        raise NotAnAssembly
    sections, optional_size = struct.unpack_from("<H", raw, pe + 6)[0], struct.unpack_from("<H", raw, pe + 20)[0]
    optional = pe + 24
    directories = optional + (112 if struct.unpack_from("<H", raw, optional)[0] == 0x20B else 96)
    table = [struct.unpack_from("<8xIIII", raw, optional + optional_size + 40 * each) for each in range(sections)]
    cli = _offset(table, struct.unpack_from("<I", raw, directories + 8 * _CLI_DIRECTORY)[0])
    root = _offset(table, struct.unpack_from("<I", raw, cli + 8)[0])
    if raw[root : root + 4] != b"BSJB":
        raise NotAnAssembly
    return root


def _offset(sections: list[tuple[int, ...]], address: int) -> int:
    """Where in the file a virtual address is."""
    for virtual_size, virtual, raw_size, start in sections:
        if virtual <= address < virtual + max(virtual_size, raw_size):
            return address - virtual + start
    raise NotAnAssembly


def _find_streams(raw: bytes, root: int) -> dict[bytes, int]:
    """Offsets of the streams by name."""
    at = root + 16 + struct.unpack_from("<I", raw, root + 12)[0]
    count, at, found = struct.unpack_from("<H", raw, at + 2)[0], at + 4, {}
    for _ in range(count):
        offset = struct.unpack_from("<I", raw, at)[0]
        end = raw.index(b"\0", at + 8)
        found[raw[at + 8 : end]] = root + offset
        at += 8 + (end - at - 8) // 4 * 4 + 4
    return found


def _read_classes(raw: bytes, root: int) -> Iterator[ClassName]:
    streams = _find_streams(raw, root)
    tables, strings = streams.get(b"#~", -1), streams.get(b"#Strings", -1)
    if tables < 0 or strings < 0:
        raise NotAnAssembly
    heaps, present = struct.unpack_from("<6xBxQ", raw, tables)
    rows = _row_counts(raw, tables, present)
    text = 4 if heaps & 1 else 2
    guid = 4 if heaps & 2 else 2
    scope = _index_size(rows, 2, _MODULE, _MODULE_REF, _ASSEMBLY_REF, _TYPE_REF)
    start = tables + 24 + 4 * present.bit_count()
    start += rows.get(_MODULE, 0) * (2 + text + 3 * guid) + rows.get(_TYPE_REF, 0) * (scope + 2 * text)
    width = 4 + 2 * text + _index_size(rows, 2, _TYPE_DEF, _TYPE_REF, _TYPE_SPEC)
    width += _index_size(rows, 0, _FIELD) + _index_size(rows, 0, _METHOD)
    for row in range(min(rows.get(_TYPE_DEF, 0), _MAX_TYPES)):
        name, namespace = struct.unpack_from("<II" if text == 4 else "<HH", raw, start + row * width + 4)
        yield ClassName(_string(raw, strings + namespace), _string(raw, strings + name))


def _row_counts(raw: bytes, tables: int, present: int) -> dict[int, int]:
    numbers = [table for table in range(64) if present >> table & 1]
    return dict(zip(numbers, struct.unpack_from(f"<{len(numbers)}I", raw, tables + 24), strict=True))


def _index_size(rows: dict[int, int], tag_bits: int, *tables: int) -> int:
    """Bytes of an index into one of these tables."""
    return 2 if max(rows.get(table, 0) for table in tables) < 1 << (16 - tag_bits) else 4


def _string(raw: bytes, at: int) -> str:
    return raw[at : raw.index(b"\0", at)].decode("utf-8", "replace")
