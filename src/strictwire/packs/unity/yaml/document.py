"""Full mode: documents as mappings, one after another, so that only one of them need be in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from strictwire.packs.unity.yaml.block import BlockReader
from strictwire.packs.unity.yaml.faults import Fault, Malformed, Problem
from strictwire.packs.unity.yaml.index import Header, LineNumbers, index_documents, line_of
from strictwire.packs.unity.yaml.values import Node


class Document(NamedTuple):
    """One document, read."""

    header: Header
    type_name: str
    """The name of its class, such as `GameObject`."""
    fields: dict[str, Node]


def read_documents(raw: bytes, headers: Iterable[Header] | None = None) -> Iterator[Document]:
    """The documents of a file, or those of them that are asked for. Raises Malformed."""
    reader = DocumentReader(raw)
    for header in index_documents(raw) if headers is None else headers:
        yield reader.read(header)


class DocumentReader:
    """Reads documents of one file in any order. Keeps the lines that repeat, and where lines begin."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._blocks = BlockReader()
        self._lines = LineNumbers(raw)

    def read(self, header: Header) -> Document:
        """One document. Raises Malformed."""
        text = self._decode(header)
        try:
            root = self._blocks.read(text)
        except Malformed as exc:
            raise self._malformed(header, exc.problem.fault, exc.problem.line) from None
        if len(root) != 1:
            raise self._malformed(header, Fault.BAD_LINE if root else Fault.TRUNCATED, 1)
        type_name, fields = next(iter(root.items()))
        if not isinstance(fields, dict):
            raise self._malformed(header, Fault.TRUNCATED if fields == "" else Fault.BAD_VALUE, 1)
        return Document(header, type_name, fields)

    def _decode(self, header: Header) -> str:
        try:
            text = self._raw[header.body : header.end].decode()
        except UnicodeDecodeError as exc:
            line = self._lines.at(header.body + exc.start)
            raise Malformed(Problem(Fault.NOT_UTF8, line, header.file_id)) from None
        return text.replace("\r\n", "\n") if "\r" in text else text

    def _malformed(self, header: Header, fault: Fault, line: int) -> Malformed:
        """The line counts from the first of the document."""
        return Malformed(Problem(fault, self._lines.at(header.body) + line - 1, header.file_id))


def read_mapping(raw: bytes) -> dict[str, Node]:
    """A file without document headers, such as a .meta file. Raises Malformed."""
    try:
        return BlockReader().read(raw.decode("utf-8-sig").replace("\r\n", "\n"))
    except UnicodeDecodeError as exc:
        raise Malformed(Problem(Fault.NOT_UTF8, line_of(raw, exc.start))) from None
