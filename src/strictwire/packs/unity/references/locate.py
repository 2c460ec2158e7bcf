"""Where in a file a reference stands: the line, the document and the property. Reads only the documents concerned. Pure.

This is the exact reader behind every finding: a text that merely looks like a reference is not one here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from strictwire.packs.unity.yaml.document import DocumentReader
from strictwire.packs.unity.yaml.faults import Malformed
from strictwire.packs.unity.yaml.index import Header, LineNumbers, index_documents
from strictwire.packs.unity.yaml.values import Node, Reference, maybe_reference

_ANY: Final = re.compile(rb"\{fileID: (-?\d{1,20})(?:,\s+guid: ([0-9a-fA-F]{32}))?")

MAX_HINTS: Final = 200
"""Texts that are searched for one by one. Searching is some 200 times as fast as reading the documents."""


class Located(Struct, frozen=True):
    """One reference in a file."""

    line: int
    """Counted from 1."""
    owner: int
    """File id of the document that holds it."""
    class_id: int
    type_name: str
    """Class of the document, such as `MeshRenderer`."""
    script: Reference | None
    """Script of a MonoBehaviour."""
    property: str
    """Such as `m_Materials[0]`."""
    reference: Reference


Wanted = Callable[[Reference, str], bool]
"""From a reference and its property to whether it is looked for."""


def locate(raw: bytes, wanted: Wanted, *, hints: Iterable[bytes]) -> Iterator[Located]:
    """References of a file that are wanted, in the order of the file.

    `hints` are texts of which one stands in every document that can hold such a reference: a GUID, `{fileID: 5}`.
    """
    reader, numbers = DocumentReader(raw), LineNumbers(raw)
    for header in _documents_with(raw, index_documents(raw), list(hints)):
        try:
            document = reader.read(header)
        except Malformed:
            continue
        found = [(ref, path) for ref, path in iter_properties(document.fields) if wanted(ref, path)]
        offsets = _offsets(raw, header, [ref for ref, _ in found])
        script = maybe_reference(document.fields.get("m_Script"))
        for (reference, path), offset in zip(found, offsets, strict=True):
            yield Located(numbers.at(offset), header.file_id, header.class_id, document.type_name, script, path, reference)


def iter_properties(value: Node, path: str = "") -> Iterator[tuple[Reference, str]]:
    """Every reference of a value with its property path, in order."""
    if isinstance(value, dict):
        reference = maybe_reference(value) if "fileID" in value else None
        if reference is not None:
            yield Reference(reference.file_id, reference.guid.lower()), path
            return
        for key, part in value.items():
            if not isinstance(part, str):
                yield from iter_properties(part, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for number, part in enumerate(value):
            if not isinstance(part, str):
                yield from iter_properties(part, f"{path}[{number}]")


def _documents_with(raw: bytes, headers: tuple[Header, ...], hints: list[bytes]) -> Sequence[Header]:
    """The documents in which a hint stands; all of them, if there are too many hints to look for each."""
    if len(hints) > MAX_HINTS:
        return headers
    starts = [header.start for header in headers]
    found: set[int] = set()
    if not all(hint in raw for hint in hints):
        raw = raw.lower()  # GUIDs in capitals, which other tools write
        hints = [hint.lower() for hint in hints]
    for hint in hints:
        at = raw.find(hint)
        while at >= 0:
            number = bisect_right(starts, at) - 1
            if number < 0:
                at = raw.find(hint, at + 1)
                continue
            found.add(number)
            # One mention is enough to read the document, so the search goes on behind it.
            at = raw.find(hint, headers[number].end)
    return [headers[number] for number in sorted(found)]


def _offsets(raw: bytes, header: Header, references: list[Reference]) -> Iterator[int]:
    """Where each reference stands. Equal ones are matched in order; one in another spelling is put at the header."""
    places: dict[Reference, deque[int]] = {}
    for found in _ANY.finditer(raw, header.body, header.end):
        reference = Reference(int(found[1]), (found[2] or b"").decode().lower())
        places.setdefault(reference, deque()).append(found.start())
    for reference in references:
        offsets = places.get(reference)
        yield header.start if not offsets else offsets.popleft() if len(offsets) > 1 else offsets[0]
