"""Schemas of OpenAPI as JSON Schema 2020-12. References become references into `$defs`."""

from __future__ import annotations

import re
from typing import Any, Final

from strictwire.canon.json import JsonObject, render
from strictwire.contract.schema import DIALECT
from strictwire.server.openapi.document import Document, NotUsable

MAX_SCHEMA_BYTES: Final = 256 * 1024
"""Schemas of one tool. Definitions are repeated in every tool that uses them, so the document's limit is not enough."""

MAX_DEFINITIONS: Final = 500
"""Schemas that those of one tool refer to."""

_DROPPED: Final = frozenset({"discriminator", "xml", "externalDocs", "example", "examples", "default", "deprecated"})
"""Keywords that validate nothing. A `default` is what the API fills in, so the description names it."""

MAX_DEFAULT: Final = 200
"""Characters of a default in a description. A longer one helps no reader."""

_MAPS: Final = frozenset({"properties", "patternProperties", "$defs", "dependentSchemas"})
"""Keywords whose members are named by the author, and are schemas."""

_VALUES: Final = frozenset({"enum", "const", "required", "type"})
"""Keywords whose values are no schemas."""


class SchemaReader:
    """Reads the schemas of one tool and collects the definitions that they refer to."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._definitions: dict[str, Any] = {}
        self._names: dict[str, str] = {}
        self._pending: list[tuple[str, Any]] = []
        """Definitions that are named and not read yet. A queue: definitions may refer to each other without end."""

    def read(self, schema: Any) -> Any:
        """A schema as JSON Schema. Raises NotUsable."""
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, dict):
            raise NotUsable("a schema in it is not an object")
        if "$ref" in schema:
            return {"$ref": f"#/$defs/{self._define(schema['$ref'])}"}
        read = {name: self._member(name, value) for name, value in schema.items() if name not in _DROPPED} | _default_text(
            schema
        )
        return _from_3_0(read) if self._document.is_3_0 else read

    def root(self, schema: JsonObject) -> JsonObject:
        """A schema of its own, with the definitions. Raises NotUsable: it is too large."""
        self._read_pending()
        whole = {"$schema": DIALECT, **schema, **({"$defs": dict(self._definitions)} if self._definitions else {})}
        size = len(render(whole))
        if size > MAX_SCHEMA_BYTES:
            raise NotUsable(f"its schema has {size:,} bytes, more than {MAX_SCHEMA_BYTES:,}; simplify it in the document")
        return whole

    def is_object(self, schema: Any) -> bool:
        """Whether a schema that was read allows objects only."""
        self._read_pending()
        seen = 0
        while isinstance(schema, dict) and "$ref" in schema and seen < len(self._definitions) + 1:
            schema, seen = self._definitions[schema["$ref"].removeprefix("#/$defs/")], seen + 1
        return isinstance(schema, dict) and schema.get("type") == "object"

    def _member(self, name: str, value: Any) -> Any:
        if name in _MAPS and isinstance(value, dict):
            return {each: self.read(schema) for each, schema in value.items()}
        if name in _VALUES or name.startswith("x-"):
            return value
        if isinstance(value, dict):
            return self.read(value)
        if isinstance(value, list):
            return [self.read(each) if isinstance(each, dict) else each for each in value]
        return value

    def _define(self, reference: Any) -> str:
        found = self._document.find(reference)
        if reference in self._names:
            return self._names[reference]
        name = re.sub(r"[^A-Za-z0-9_.-]", "_", reference.rpartition("/")[2]) or "schema"
        while name in self._definitions:
            name += "_"
        if len(self._definitions) >= MAX_DEFINITIONS:
            raise NotUsable(f"its schemas refer to more than {MAX_DEFINITIONS} others; simplify it in the document")
        self._names[reference], self._definitions[name] = name, {}
        self._pending.append((name, found))
        return name

    def _read_pending(self) -> None:
        while self._pending:
            name, found = self._pending.pop()
            self._definitions[name] = self.read(found)


def _default_text(schema: JsonObject) -> JsonObject:
    """The description with the default at its end; empty without a default."""
    if "default" not in schema:
        return {}
    default = render(schema["default"]).decode()
    given = schema.get("description", "")
    if len(default) > MAX_DEFAULT or not isinstance(given, str):
        return {}
    return {"description": f"{given.rstrip()} Default: {default}".lstrip()}


def _from_3_0(schema: JsonObject) -> JsonObject:
    """The keywords that OpenAPI 3.0 defines otherwise: `nullable`, and bounds that are exclusive by a flag."""
    changed = dict(schema)
    for exclusive, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(changed.get(exclusive), bool) and changed.pop(exclusive) and bound in changed:
            changed[exclusive] = changed.pop(bound)
    if changed.pop("nullable", False) is True:
        if isinstance(changed.get("enum"), list) and None not in changed["enum"]:
            changed["enum"] = [*changed["enum"], None]
        if isinstance(changed.get("type"), str):
            changed["type"] = [changed["type"], "null"]
    return changed
