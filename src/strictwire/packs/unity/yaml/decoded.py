"""Single fields of documents that are decoded whole, for building a structure from them. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from strictwire.packs.unity.yaml.document import Document
from strictwire.packs.unity.yaml.index import Header
from strictwire.packs.unity.yaml.instances import ids_of, maybe_instance
from strictwire.packs.unity.yaml.objects import Instance, Structure
from strictwire.packs.unity.yaml.structure import build_structure
from strictwire.packs.unity.yaml.values import Node, Reference, maybe_reference


def structure_of(documents: Mapping[int, Document]) -> Structure:
    """The structure of one file."""
    return build_structure((each.header for each in documents.values()), DocumentFields(documents))


class DocumentFields:
    """See yaml.structure.Fields."""

    def __init__(self, documents: Mapping[int, Document]) -> None:
        self._documents = documents

    def type_name(self, header: Header) -> str:
        """See Fields."""
        return self._documents[header.file_id].type_name

    def reference(self, header: Header, key: bytes) -> Reference | None:
        """See Fields."""
        return maybe_reference(self._get(header, key))

    def text(self, header: Header, key: bytes) -> str | None:
        """See Fields."""
        value = self._get(header, key)
        return str(value) if isinstance(value, str) else None

    def ids(self, header: Header, key: bytes) -> tuple[int, ...]:
        """See Fields."""
        return ids_of(self._get(header, key))

    def instance(self, header: Header) -> Instance | None:
        """See Fields."""
        return maybe_instance(self._documents[header.file_id].fields)

    def _get(self, header: Header, key: bytes) -> Node | None:
        return self._documents[header.file_id].fields.get(key.decode())
