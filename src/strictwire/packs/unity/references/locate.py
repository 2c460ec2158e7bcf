"""Where in a file a reference stands: the line, the document and the property. Reads only the documents concerned. Pure.

This is the exact reader behind every finding: a text that merely looks like a reference is not one here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from msgspec import Struct

from strictwire.packs.unity.yaml.block import BlockReader
from strictwire.packs.unity.yaml.document import read_document
from strictwire.packs.unity.yaml.faults import Malformed
from strictwire.packs.unity.yaml.index import Header, index_documents, line_of
from strictwire.packs.unity.yaml.values import Node, Reference, maybe_reference

_ANY: Final = re.compile(rb"\{fileID: (-?\d{1,20})(?:,\s+guid: ([0-9a-fA-F]{32}))?")


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
    headers = index_documents(raw)
    reader = BlockReader()
    for header in _documents_with(raw, headers, hints):
        try:
            document = read_document(raw, header, reader)
        except Malformed:
            continue
        found = [(ref, path) for ref, path in iter_properties(document.fields) if wanted(ref, path)]
        lines = _lines(raw, header, [ref for ref, _ in found])
        for (reference, path), line in zip(found, lines, strict=True):
            script = maybe_reference(document.fields.get("m_Script"))
            yield Located(line, header.file_id, header.class_id, document.type_name, script, path, reference)


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


def _documents_with(raw: bytes, headers: tuple[Header, ...], hints: Iterable[bytes]) -> list[Header]:
    """The documents in which a hint stands."""
    starts = [header.start for header in headers]
    found: set[int] = set()
    for hint in hints:
        if hint not in raw:
            raw = raw.lower()  # GUIDs in capitals, which other tools write
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


def _lines(raw: bytes, header: Header, references: list[Reference]) -> list[int]:
    """The line of each reference. Equal references are matched in order; one in another spelling gets the first line."""
    places: dict[tuple[int, str], list[int]] = {}
    for found in _ANY.finditer(raw, header.body, header.end):
        places.setdefault((int(found[1]), (found[2] or b"").decode().lower()), []).append(found.start())
    lines = []
    for reference in references:
        offsets = places.get((reference.file_id, reference.guid)) or [header.start]
        lines.append(line_of(raw, offsets.pop(0) if len(offsets) > 1 else offsets[0]))
    return lines
