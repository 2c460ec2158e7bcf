"""An OpenAPI document: its limits, and its references, which never leave it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from strictwire.canon.json import JsonObject, Limits, NotJson, NotStrict, as_json, parse_object
from strictwire.server.declare.refused import Place

MAX_BYTES: Final = 16 * 1024 * 1024
"""The largest public documents, such as that of a cloud provider, have about 10 MB."""

_LIMITS: Final = Limits(size=MAX_BYTES, values=1_000_000)
"""More values than a message may have: the document is the author's, and is read once."""

MAX_OPERATIONS: Final = 1000
"""A model cannot choose from more tools, and a list page holds as many."""

MAX_REFERENCES: Final = 16
"""References to references, before a reference is taken for a cycle."""

METHODS: Final = ("get", "head", "put", "delete", "post", "patch", "options", "trace")

PLACE: Final = Place(function="Server.from_openapi()")


class NotUsable(Exception):
    """An operation cannot be a tool. Carries the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation of a document."""

    method: str
    """In capitals."""
    path: str
    item: JsonObject
    """The path item, whose parameters all its operations share."""
    described: JsonObject

    @property
    def label(self) -> str:
        """How messages name it."""
        return f"{self.method} {self.path}"


class Document:
    """A document that has been checked."""

    def __init__(self, root: JsonObject) -> None:
        self.root = root
        self.is_3_0 = str(root.get("openapi", "")).startswith("3.0")
        """Whether schemas are those of OpenAPI 3.0, which are not yet JSON Schema."""

    def operations(self) -> Iterator[Operation]:
        """Every operation, in the order of the document."""
        for path, item in object_at(self.root, "paths").items():
            whole = self.resolve(item)
            for method in METHODS:
                if isinstance(whole.get(method), dict):
                    yield Operation(method=method.upper(), path=path, item=whole, described=whole[method])

    def resolve(self, value: Any) -> JsonObject:
        """An object, or the one that it refers to. Raises NotUsable: the reference leads nowhere, or out of the document."""
        for _ in range(MAX_REFERENCES):
            if not isinstance(value, dict):
                raise NotUsable("a part of it is not an object")
            if "$ref" not in value:
                return value
            value = self.find(value["$ref"])
        raise NotUsable("its references refer to each other")

    def find(self, reference: object) -> Any:
        """What a reference means. Raises NotUsable."""
        if not isinstance(reference, str) or not reference.startswith("#/"):
            raise NotUsable(f"it refers to {reference!r}, which is outside of the document; copy it into `components`")
        found: Any = self.root
        for step in reference[2:].split("/"):
            name = step.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, dict) or name not in found:
                raise NotUsable(f"it refers to {reference!r}, which does not exist")
            found = found[name]
        return found


def object_at(owner: JsonObject, name: str) -> JsonObject:
    """A member that is an object; an empty one if it is missing. Raises NotUsable."""
    value = owner.get(name, {})
    if not isinstance(value, dict):
        raise NotUsable(f"its {name!r} is not an object")
    return value


def list_at(owner: JsonObject, name: str) -> list[Any]:
    """A member that is an array; an empty one if it is missing. Raises NotUsable."""
    value = owner.get(name, [])
    if not isinstance(value, list):
        raise NotUsable(f"its {name!r} is not an array")
    return value


def read_document(document: Mapping[str, Any] | str | bytes) -> Document:
    """Check a document: JSON text, or what it was parsed to. Raises DeclarationRefused."""
    try:
        if isinstance(document, str | bytes):
            raw = document.encode() if isinstance(document, str) else document
            root = parse_object(raw, _LIMITS)
        else:
            root = parse_object(as_json(dict(document))[1], _LIMITS)
    except (NotStrict, NotJson) as exc:
        raise PLACE.refuse(f"the document is not JSON of at most {MAX_BYTES:,} bytes ({exc}); parse YAML first") from exc
    version = root.get("openapi")
    if not isinstance(version, str) or not version.startswith("3."):
        raise PLACE.refuse(f"the document has openapi={version!r}; convert it to OpenAPI 3.0 or 3.1")
    made = Document(root)
    try:
        count = sum(1 for _ in made.operations())
    except NotUsable as exc:
        raise PLACE.refuse(f"a path cannot be read: {exc}") from exc
    if not 0 < count <= MAX_OPERATIONS:
        raise PLACE.refuse(f"the document has {count} operations; pass one with 1 to {MAX_OPERATIONS}")
    return made
