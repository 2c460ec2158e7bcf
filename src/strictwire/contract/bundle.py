"""Makes a schema self-contained: copies definitions that it references in other files to its `$defs` (G15).

Pure: the caller passes the parsed files. A reference to the network, or to a file that was not passed, is refused and never
fetched.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any, Final

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.contract.subschemas import map_subschemas

_NOT_COPIED: Final = ("$id", "$schema")
"""Keywords of a whole file that are removed from its copy: they would change how references inside the copy resolve."""


class BundleRefused(ValueError):
    """A reference cannot be bundled. Carries the reference and the reason."""

    def __init__(self, reference: str, reason: str) -> None:
        super().__init__(reference, reason)
        self.reference = reference
        self.reason = reason

    def __str__(self) -> str:
        return f"cannot bundle {self.reference[:120]!r}: {self.reason}"


def bundle(schema: JsonObject, *, file: str, documents: Mapping[str, JsonValue]) -> JsonObject:
    """Return the schema with all references local. `file` is its own path; `documents` are the other files by path.

    A schema without references to other files is returned unchanged. Raises BundleRefused.
    """
    bundling = _Bundling(schema, file, documents)
    bundled: JsonObject = bundling.rewrite(schema, file)
    if bundling.definitions:
        bundled["$defs"] = {**bundled.get("$defs", {}), **bundling.definitions}
    return bundled


class _Bundling:
    """The state of one run: the definitions copied so far and their names."""

    def __init__(self, root: JsonObject, file: str, documents: Mapping[str, JsonValue]) -> None:
        self.file = file
        self.documents = documents
        self.taken: set[str] = set(root.get("$defs", {}))
        self.names: dict[tuple[str, str], str] = {}
        """Names of copied definitions by file and pointer."""
        self.definitions: JsonObject = {}

    def rewrite(self, value: Any, file: str) -> Any:
        """A schema of `file` with its references rewritten. Data (`enum`, `const`, `examples`) is not changed."""
        if not isinstance(value, dict):
            return value
        return {keyword: self._rewrite_under(keyword, member, file) for keyword, member in value.items()}

    def _rewrite_under(self, keyword: str, member: Any, file: str) -> Any:
        if keyword == "$ref" and isinstance(member, str):
            return self._rewrite_reference(member, file)
        return map_subschemas(keyword, member, lambda child: self.rewrite(child, file))

    def _rewrite_reference(self, reference: str, file: str) -> str:
        target, _, pointer = reference.partition("#")
        if ":" in target or target.startswith("/"):
            raise BundleRefused(reference, "it leads outside these files; use a relative path to one of them")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(file), target)) if target else file
        if path == self.file:
            return f"#{pointer}"
        if pointer and not pointer.startswith("/"):
            raise BundleRefused(reference, "anchors are not supported; use a JSON pointer such as #/$defs/name")
        return f"#/$defs/{self._copy(path, pointer, reference)}"

    def _copy(self, path: str, pointer: str, reference: str) -> str:
        if (path, pointer) in self.names:
            return self.names[path, pointer]
        if path not in self.documents:
            raise BundleRefused(reference, f"there is no file {path!r}")
        name = self._free_name(pointer.rpartition("/")[2] or posixpath.basename(path).partition(".")[0])
        self.names[path, pointer] = name  # before the copy: a definition may refer to itself
        found = _at(self.documents[path], pointer, reference)
        definition = self.rewrite(found, path)
        if isinstance(definition, dict):
            definition = {key: each for key, each in definition.items() if key not in _NOT_COPIED}
        self.definitions[name] = definition
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
            raise BundleRefused(reference, "the file has nothing at that JSON pointer")
        document = document[name]
    return document
