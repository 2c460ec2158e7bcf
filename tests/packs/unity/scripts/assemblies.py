"""Writes minimal .NET assemblies: a PE file whose metadata has classes and nothing else."""

from __future__ import annotations

import struct
from collections.abc import Sequence

_SECTION = 0x200
_ADDRESS = 0x2000


def assembly(classes: Sequence[tuple[str, str]], *, wide: bool = False, references: int = 2) -> bytes:
    """An assembly with classes of (namespace, name). `wide` makes the indexes into the string heap four bytes long."""
    metadata = _metadata(classes, wide=wide, references=references)
    cli = struct.pack("<IHHII", 72, 2, 5, _ADDRESS + 72, len(metadata)) + bytes(56)
    body = cli + metadata
    body += bytes(-len(body) % 0x200)
    dos = b"MZ" + bytes(58) + struct.pack("<I", 0x80) + bytes(64)
    optional = struct.pack("<H", 0x10B) + bytes(94)
    directories = bytes(8 * 14) + struct.pack("<II", _ADDRESS, 72) + bytes(8)
    coff = b"PE\0\0" + struct.pack("<HHIIIHH", 0x14C, 1, 0, 0, 0, len(optional) + len(directories), 0x2102)
    section = b".text\0\0\0" + struct.pack("<IIII", len(body), _ADDRESS, len(body), _SECTION) + bytes(16)
    head = dos + coff + optional + directories + section
    return head + bytes(_SECTION - len(head)) + body


def _metadata(classes: Sequence[tuple[str, str]], *, wide: bool, references: int) -> bytes:
    heap = bytearray(b"\0")
    if wide:
        heap += b"x" * 0x10000 + b"\0"

    def text(value: str) -> int:
        if not value:
            return 0
        heap.extend(value.encode() + b"\0")
        return len(heap) - len(value.encode()) - 1

    index = "I" if wide else "H"
    rows = struct.pack(f"<H{index}HHH", 0, text("Test.dll"), 1, 0, 0)
    for number in range(references):
        rows += struct.pack(f"<H{index}{index}", 6, text(f"Referenced{number}"), text("System"))
    for namespace, name in classes:
        rows += struct.pack(f"<I{index}{index}HHH", 0x100001, text(name), text(namespace), 5, 1, 1)
    present = 1 << 0 | 1 << 1 | 1 << 2
    tables = struct.pack("<IBBBBQQ", 0, 2, 0, 1 if wide else 0, 1, present, 0)
    tables += struct.pack("<III", 1, references, len(classes)) + rows
    return _streams({b"#~": tables + bytes(-len(tables) % 4), b"#Strings": bytes(heap) + bytes(-len(heap) % 4)})


def _streams(streams: dict[bytes, bytes]) -> bytes:
    version = b"v4.0.30319\0\0"
    root = b"BSJB" + struct.pack("<HHII", 1, 1, 0, len(version)) + version + struct.pack("<HH", 0, len(streams))
    names = {name: name + b"\0" + bytes(-(len(name) + 1) % 4) for name in streams}
    at = len(root) + sum(8 + len(padded) for padded in names.values())
    heads, bodies = b"", b""
    for name, content in streams.items():
        heads += struct.pack("<II", at, len(content)) + names[name]
        bodies += content
        at += len(content)
    return root + heads + bodies
