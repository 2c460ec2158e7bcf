"""Reads single fields of a document without reading the rest of it. Below: `block`; above: `structure`.

A field of a document stands at column 2. A line that begins with exactly two spaces, the key and a colon can be nothing
else: items of sequences have a dash there, and everything nested or wrapped stands further right.
"""

from __future__ import annotations

import re
from typing import Final

from strictwire.packs.unity.yaml.block import BlockReader
from strictwire.packs.unity.yaml.faults import Fault, Malformed, Problem
from strictwire.packs.unity.yaml.index import Header, line_of
from strictwire.packs.unity.yaml.instances import ids_of, maybe_instance, read_overrides
from strictwire.packs.unity.yaml.objects import Instance
from strictwire.packs.unity.yaml.values import NO_REFERENCE, Node, Reference, maybe_file_id, maybe_reference

_REFERENCE: Final = re.compile(rb" \{fileID:\s+(-?\d{1,20})(?:,\s+guid:\s+([0-9a-f]{32}),\s+type:\s+\d+)?\}\n")
"""A reference and the end of its line; a long one is wrapped."""

_IDS: Final = re.compile(rb"(?: \[\]|((?:\n  - (?:\w+: )?\{fileID: -?\d{1,19}\})*+))\n(?!  -|   )")
"""A sequence of references into the same file: children, roots, or components, which have a key each."""

_ID: Final = re.compile(rb"\{fileID: (-?\d+)")

_NEXT_FIELD: Final = re.compile(rb"\n  (?![ -])|\n(?!  )")
"""Where a field ends: the next one, or the end of the document."""

_INLINE: Final = re.compile(rb" ?+([^'\"{\[\n][^\n]*)?\n(?!   )")
"""A plain scalar that ends on its line."""


class FieldReader:
    """Fields of the documents of one file. The text is what `normalise` gives."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self._blocks = BlockReader()

    def type_name(self, header: Header) -> str:
        """The name of the document's class. Raises Malformed."""
        end = self.raw.find(b":\n", header.body, header.end)
        if end < 0 or b"\n" in self.raw[header.body : end]:
            raise self.malformed(header, header.body)
        return self.raw[header.body : end].decode("ascii", "replace")

    def reference(self, header: Header, key: bytes) -> Reference | None:
        """The reference in a field; None if there is no such field. Raises Malformed."""
        at = self.find(header, key)
        if at < 0:
            return None
        found = _REFERENCE.match(self.raw, at)
        if found is None:
            return self._slow_reference(header, key)
        guid = found[2]
        if guid is None and found[1] == b"0":
            return NO_REFERENCE
        file_id = maybe_file_id(found[1])
        if file_id is None:
            raise self.malformed(header, at)
        return Reference(file_id, guid.decode() if guid else "")

    def text(self, header: Header, key: bytes) -> str | None:
        """The scalar in a field; None if there is no such field. Raises Malformed."""
        at = self.find(header, key)
        if at < 0:
            return None
        found = _INLINE.match(self.raw, at, header.end)
        if found is None:
            value = self.node(header, key)
            if not isinstance(value, str):
                raise self.malformed(header, at)
            return str(value)  # plain text, whether it was quoted or not
        return (found[1] or b"").decode().rstrip(" ")

    def node(self, header: Header, key: bytes) -> Node | None:
        """Any field; None if there is no such field. Raises Malformed."""
        at = self.find(header, key)
        if at < 0:
            return None
        start = at - len(key) - 3
        return next(iter(self.read(header, b"_:\n" + self.raw[start : self.end_of(header, at)], start).values()), "")

    def ids(self, header: Header, key: bytes) -> tuple[int, ...]:
        """The ids in a sequence of references; none if there is no such field. Raises Malformed."""
        at = self.find(header, key)
        if at < 0:
            return ()
        found = _IDS.match(self.raw, at, header.end)
        if found is None:
            return ids_of(self.node(header, key))
        return tuple(map(int, _ID.findall(found[1]))) if found[1] else ()

    def instance(self, header: Header) -> Instance | None:
        """What a PrefabInstance says; None for one that describes a prefab asset. Raises Malformed."""
        raw = self.raw
        start = raw.find(b"\n    m_Modifications:", header.body, header.end)
        end = raw.find(b"\n    m_", start + 1, header.end) if start >= 0 else -1
        overrides = read_overrides(raw[start:end]) if end >= 0 else None
        if overrides is None:
            return maybe_instance(self.read(header, raw[header.body : header.end], header.body))
        rest = raw[header.body : start] + raw[end : header.end]
        return maybe_instance(self.read(header, rest, header.body), overrides)

    def read(self, header: Header, block: bytes, at: int) -> dict[str, Node]:
        """The fields in the text of a document or a part of it. `at` is where it begins, for problems."""
        try:
            fields = self._blocks.read(block.decode())
        except Malformed as exc:
            # The first line is the class name or stands for it.
            line = line_of(self.raw, at) + exc.problem.line - 2
            raise Malformed(Problem(exc.problem.fault, line, header.file_id)) from None
        inner = next(iter(fields.values()), None)
        if len(fields) != 1 or not isinstance(inner, dict):
            raise self.malformed(header, at)
        return inner

    def find(self, header: Header, key: bytes) -> int:
        """Offset after the colon of a field, -1 if there is none."""
        at = self.raw.find(b"\n  " + key + b":", header.body - 1, header.end)
        return at + len(key) + 4 if at >= 0 else -1

    def end_of(self, header: Header, at: int) -> int:
        """Offset after the field that has its value at an offset."""
        found = _NEXT_FIELD.search(self.raw, at, header.end)
        return found.start() + 1 if found else header.end

    def malformed(self, header: Header, at: int) -> Malformed:
        """The problem at an offset: the file may simply end there."""
        is_last = header.end == len(self.raw) and self.raw.find(b"\n", at) < 0
        return Malformed(Problem(Fault.TRUNCATED if is_last else Fault.BAD_VALUE, line_of(self.raw, at), header.file_id))

    def _slow_reference(self, header: Header, key: bytes) -> Reference:
        found = maybe_reference(self.node(header, key))
        if found is None:
            raise self.malformed(header, self.find(header, key))
        return found


def normalise(raw: bytes) -> bytes:
    """The text with LF line ends and without a byte order mark. Raises Malformed: it is not UTF-8."""
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    try:
        raw.decode()
    except UnicodeDecodeError as exc:
        raise Malformed(Problem(Fault.NOT_UTF8, line_of(raw, exc.start))) from None
    return raw.replace(b"\r\n", b"\n") if b"\r" in raw else raw
