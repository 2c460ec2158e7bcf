"""Full mode: documents as mappings, one after another, so that only one of them need be in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from strictwire.packs.unity.yaml.block import BlockReader
from strictwire.packs.unity.yaml.faults import Fault, Malformed, Problem
from strictwire.packs.unity.yaml.index import Header, index_documents, line_of
from strictwire.packs.unity.yaml.values import Node


class Document(NamedTuple):
    """One document, read."""

    header: Header
    type_name: str
    """The name of its class, such as `GameObject`."""
    fields: dict[str, Node]


def read_documents(raw: bytes, headers: Iterable[Header] | None = None) -> Iterator[Document]:
    """The documents of a file, or those of them that are asked for. Raises Malformed."""
    reader = BlockReader()
    for header in index_documents(raw) if headers is None else headers:
        yield read_document(raw, header, reader)


def read_document(raw: bytes, header: Header, reader: BlockReader | None = None) -> Document:
    """One document. Documents of one file should share a reader, which keeps what repeats. Raises Malformed."""
    text = _decode(raw, header)
    try:
        root = (reader or BlockReader()).read(text)
    except Malformed as exc:
        raise _at(raw, header, exc.problem.fault, exc.problem.line) from None
    if len(root) != 1:
        raise _at(raw, header, Fault.BAD_LINE if root else Fault.TRUNCATED, 1)
    type_name, fields = next(iter(root.items()))
    if not isinstance(fields, dict):
        raise _at(raw, header, Fault.TRUNCATED if fields == "" else Fault.BAD_VALUE, 1)
    return Document(header, type_name, fields)


def read_mapping(raw: bytes) -> dict[str, Node]:
    """A file without document headers, such as a .meta file. Raises Malformed."""
    try:
        return BlockReader().read(raw.decode("utf-8-sig").replace("\r\n", "\n"))
    except UnicodeDecodeError as exc:
        raise Malformed(Problem(Fault.NOT_UTF8, line_of(raw, exc.start))) from None


def _decode(raw: bytes, header: Header) -> str:
    try:
        text = raw[header.body : header.end].decode()
    except UnicodeDecodeError as exc:
        line = line_of(raw, header.body + exc.start)
        raise Malformed(Problem(Fault.NOT_UTF8, line, header.file_id)) from None
    return text.replace("\r\n", "\n") if "\r" in text else text


def _at(raw: bytes, header: Header, fault: Fault, line: int) -> Malformed:
    """The line counts from the first of the document."""
    return Malformed(Problem(fault, line_of(raw, header.body) + line - 1, header.file_id))
