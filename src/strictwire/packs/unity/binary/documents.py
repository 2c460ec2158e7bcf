"""Reads a binary asset as the documents that its text form would have. Needs UnityPy.

UnityPy decodes objects by the type trees that the Editor stores in the file. Its native part crashes on some damaged files,
so it runs in a process of its own (`worker`) with limits of memory and time. It is given serialized files alone: bundles
can hold compressed data that grows without a limit.
"""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Final

import msgspec

from strictwire.packs.unity.binary.worker import Decoded
from strictwire.packs.unity.hierarchy.sources import Obstacle
from strictwire.packs.unity.reading import ReadBinary, Unreadable
from strictwire.packs.unity.yaml.document import Document
from strictwire.packs.unity.yaml.index import Header

SECONDS: Final = 60.0
"""Time for one file. The start of the process takes one second, and more on a busy machine."""

_VERSIONS: Final = range(9, 40)
"""Versions of the format: 9 is Unity 3, 22 is 2020. Others are not serialized files at all."""

_LONG_HEADER: Final = 22
"""The version from which on sizes have 64 bits."""

_WORKER: Final = "strictwire.packs.unity.binary.worker"


def maybe_binary_reader() -> ReadBinary | None:
    """The reader, if UnityPy is installed."""
    return read_binary if find_spec("UnityPy") is not None else None


def read_binary(raw: bytes) -> Mapping[int, Document]:
    """The objects of a binary asset by file id. Raises Unreadable."""
    if not is_serialized_file(raw):
        raise Unreadable(Obstacle.BINARY, "is not in a format of Unity")
    try:
        command = [sys.executable, "-I", "-m", _WORKER]
        done = subprocess.run(command, input=raw, capture_output=True, timeout=SECONDS, check=True)
        found = msgspec.msgpack.decode(done.stdout, type=list[Decoded])
    except (subprocess.SubprocessError, OSError, msgspec.MsgspecError) as exc:
        raise Unreadable(Obstacle.BINARY, "is saved in binary form and cannot be decoded") from exc
    return {each.path_id: _document(each) for each in found}


def is_serialized_file(raw: bytes) -> bool:
    """Whether the header is that of a serialized file and tells the true size."""
    if len(raw) < 48:
        return False
    size, version = struct.unpack_from(">4xII", raw)
    if version >= _LONG_HEADER:
        size = struct.unpack_from(">q", raw, 24)[0]
    return version in _VERSIONS and size == len(raw)


def _document(found: Decoded) -> Document:
    header = Header(found.class_id, found.path_id, found.stripped, 0, 0, 0)
    return Document(header, found.type_name, found.fields)
