"""Makes schemas self-contained: what a reference to another file names is copied under `$defs` (G15).

Pure: the files come in as documents. A reference that leaves them, to the network or to a file that was not given, is
refused, never fetched.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any, Final

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.contract.fingerprint import SCHEMA_LISTS, SCHEMA_MAPS, SCHEMA_SINGLES

_OWN: Final = ("$id", "$schema")
"""What a definition must not take along: it would change what references inside it mean."""


class BundleRefused(ValueError):
    """A reference that cannot be made local. Carries the reference and the reason."""

    def __init__(self, reference: str, reason: str) -> None:
        super().__init__(reference, reason)
        self.reference = reference
        self.reason = reason

    def __str__(self) -> str:
        return f"cannot bundle {self.reference[:120]!r}: {self.reason}"


def bundle(schema: JsonObject, *, file: str, documents: Mapping[str, JsonValue]) -> JsonObject:
    """The schema with every reference inside it. `documents` are the other files by path; `file` is the schema's own.

    A schema without references to other files is given back unchanged. Raises BundleRefused.
    """
    work = _Bundle(schema, file, documents)
    bundled: JsonObject = work.rewrite(schema, file)
    if work.added:
        bundled["$defs"] = {**bundled.get("$defs", {}), **work.added}
    return bundled


class _Bundle:
    """One run: which foreign places were copied under which names."""

    def __init__(self, root: JsonObject, file: str, documents: Mapping[str, JsonValue]) -> None:
        self.file = file
        self.documents = documents
        self.taken: set[str] = set(root.get("$defs", {}))
        self.names: dict[tuple[str, str], str] = {}
        self.added: JsonObject = {}

    def rewrite(self, value: Any, file: str) -> Any:
        """The schema with its references rewritten; values that are not schemas (enum, const, examples) stay."""
        if not isinstance(value, dict):
            return value
        return {name: self._member(name, member, file) for name, member in value.items()}

    def _member(self, name: str, member: Any, file: str) -> Any:
        if name == "$ref" and isinstance(member, str):
            return self._reference(member, file)
        if name in SCHEMA_MAPS and isinstance(member, dict):
            return {key: self.rewrite(each, file) for key, each in member.items()}
        if name in SCHEMA_LISTS and isinstance(member, list):
            return [self.rewrite(each, file) for each in member]
        return self.rewrite(member, file) if name in SCHEMA_SINGLES else member

    def _reference(self, reference: str, file: str) -> str:
        target, _, pointer = reference.partition("#")
        if ":" in target or target.startswith("/"):
            raise BundleRefused(reference, "it leads outside these files")
        where = posixpath.normpath(posixpath.join(posixpath.dirname(file), target)) if target else file
        if where == self.file:
            return f"#{pointer}"
        if pointer and not pointer.startswith("/"):
            raise BundleRefused(reference, "anchors are not followed; use a pointer such as #/$defs/name")
        return f"#/$defs/{self._copy(where, pointer, reference)}"

    def _copy(self, where: str, pointer: str, reference: str) -> str:
        if (where, pointer) in self.names:
            return self.names[where, pointer]
        if where not in self.documents:
            raise BundleRefused(reference, f"there is no file {where!r}")
        name = self._free_name(pointer.rpartition("/")[2] or posixpath.basename(where).partition(".")[0])
        self.names[where, pointer] = name
        found = _at(self.documents[where], pointer, reference)
        definition = self.rewrite(found, where)
        if isinstance(definition, dict):
            definition = {key: each for key, each in definition.items() if key not in _OWN}
        self.added[name] = definition
        return name

    def _free_name(self, wanted: str) -> str:
        name, number = wanted, 2
        while name in self.taken:
            name, number = f"{wanted}_{number}", number + 1
        self.taken.add(name)
        return name


def _at(document: Any, pointer: str, reference: str) -> Any:
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(document, dict) or name not in document:
            raise BundleRefused(reference, "it leads nowhere")
        document = document[name]
    return document
