"""Reads objects from pack files. Positions are read with `pread`: a file that shrinks is an error, not a SIGBUS."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from typing import Final

from dulwich.object_format import ObjectFormat
from dulwich.pack import OFS_DELTA, REF_DELTA, UnpackedObject, apply_delta, unpack_object

from strictwire.fault.failure import Refused
from strictwire.packs.kit.jail import Jail, Kind
from strictwire.packs.kit.root import Links
from strictwire.packs.workspace.git.damage import damaged, reading

FOLDER: Final = ".git/objects/pack"

_MAX_NAMES: Final = 20_000
"""Most files in the folder of packs. git keeps about 50 packs, each with up to five files."""

_MAX_CHAIN: Final = 4096
"""Longest chain of deltas, as in git."""

_KINDS: Final = {1: b"commit", 2: b"tree", 3: b"blob", 4: b"tag"}
"""Type number of an object in a pack to its type."""

_INDEX_V2: Final = b"\xfftOc\x00\x00\x00\x02"
_FANOUT, _NAMES = 8, 8 + 256 * 4
"""Offsets of the two first tables in an index file of version 2."""

Spend = Callable[[int], None]
"""Takes bytes from the budget for inflated data. Raises Refused if it is used up."""


class Packs:
    """The packs of one repository. `spend` bounds the work."""

    def __init__(self, jail: Jail, form: ObjectFormat, spend: Spend) -> None:
        self._jail = jail
        self._form = form
        self._spend = spend

    def maybe_read(self, name: str) -> tuple[bytes, bytes] | None:
        """Return type and content of an object; None if no pack has it. Raises Refused: FILE_WRITE_FAILED."""
        for stem in self._stems:
            with reading("a pack index"), self._jail.open(f"{FOLDER}/{stem}.idx", Links.NEVER) as (index, _):
                offset = self._maybe_offset(index, bytes.fromhex(name))
                if offset is None:
                    continue
                with reading("a pack"), self._jail.open(f"{FOLDER}/{stem}.pack", Links.NEVER) as (pack, _):
                    return self._object(pack, offset, index)
        return None

    @cached_property
    def _stems(self) -> list[str]:
        try:
            entries = self._jail.list(FOLDER, limit=_MAX_NAMES).entries
        except Refused:
            return []
        return [name.removesuffix(".idx") for name, kind in entries if name.endswith(".idx") and kind is Kind.FILE]

    def _maybe_offset(self, index: int, raw: bytes) -> int | None:
        """Find an object by binary search; None if the pack does not have it."""
        if _read_at(index, 0, 8) != _INDEX_V2:
            raise damaged("a pack index")
        low = _number_at(index, _FANOUT + 4 * (raw[0] - 1)) if raw[0] else 0
        high, count = _number_at(index, _FANOUT + 4 * raw[0]), _number_at(index, _FANOUT + 4 * 255)
        while low < high:
            middle = (low + high) // 2
            found = _read_at(index, _NAMES + len(raw) * middle, len(raw))
            if found == raw:
                return _offset_at(index, middle, count, _NAMES + (len(raw) + 4) * count)
            low, high = (middle + 1, high) if found < raw else (low, middle)
        return None

    def _object(self, pack: int, offset: int, index: int) -> tuple[bytes, bytes]:
        deltas: list[bytes] = []
        while (found := self._entry(pack, offset)).pack_type_num not in _KINDS:
            deltas.append(b"".join(found.decomp_chunks))
            if len(deltas) > _MAX_CHAIN:
                raise damaged("a chain of deltas")
            offset = self._base(found, offset, index)
        data = b"".join(found.decomp_chunks)
        for delta in reversed(deltas):
            self._spend(_result_size(delta))
            data = b"".join(apply_delta(data, delta))
        return _KINDS[found.pack_type_num], data

    def _entry(self, pack: int, offset: int) -> UnpackedObject:
        # dulwich inflates whatever size the entry declares, so the declared size is checked first.
        self._spend(_declared_size(_read_at(pack, offset, 1, most=16)))
        reader = _Reader(pack, offset)
        return unpack_object(reader.read_all, self._form.hash_func, reader.read_some)[0]

    def _base(self, delta: UnpackedObject, offset: int, index: int) -> int:
        base = delta.delta_base
        if delta.pack_type_num == OFS_DELTA and isinstance(base, int) and 0 < base < offset:
            return offset - base
        found = self._maybe_offset(index, base) if delta.pack_type_num == REF_DELTA and isinstance(base, bytes) else None
        if found is None:
            raise damaged("a chain of deltas")
        return found


class _Reader:
    """Reads a file onwards from an offset."""

    def __init__(self, handle: int, offset: int) -> None:
        self._handle = handle
        self._offset = offset

    def read_all(self, count: int) -> bytes:
        found = _read_at(self._handle, self._offset, count)
        self._offset += count
        return found

    def read_some(self, count: int) -> bytes:
        found = os.pread(self._handle, count, self._offset)
        self._offset += len(found)
        return found


def _read_at(handle: int, offset: int, least: int, most: int = 0) -> bytes:
    """Read at least so many bytes. Raises EOFError."""
    found = os.pread(handle, max(least, most), offset)
    if len(found) < least:
        raise EOFError
    return found


def _number_at(handle: int, offset: int) -> int:
    return int.from_bytes(_read_at(handle, offset, 4))


def _offset_at(index: int, position: int, count: int, table: int) -> int:
    """Return the offset of an object in the pack. Offsets above 2 GiB are in a second table."""
    found = _number_at(index, table + 4 * position)
    if found < 1 << 31:
        return found
    return int.from_bytes(_read_at(index, table + 4 * count + 8 * (found - (1 << 31)), 8))


def _declared_size(raw: bytes) -> int:
    """Return the size in the header of an entry: 4 bits in the first byte, then 7 in each, lowest first."""
    size, shift, place = raw[0] & 0x0F, 4, 0
    while raw[place] & 0x80:
        place += 1
        size |= (raw[place] & 0x7F) << shift
        shift += 7
    return size


def _result_size(delta: bytes) -> int:
    """Return the second of the two sizes that a delta begins with."""
    place, size = 0, 0
    for _ in range(2):
        size, shift = delta[place] & 0x7F, 7
        while delta[place] & 0x80:
            place += 1
            size |= (delta[place] & 0x7F) << shift
            shift += 7
        place += 1
    return size
