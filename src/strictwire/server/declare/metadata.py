"""Reads the metadata of `Annotated[...]`: constraints, descriptions and examples, from every library in common use.

The libraries are recognised by the names of their classes, so that none of them is imported unless the author did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Final

import msgspec

from strictwire.canon.json import JsonObject


class NotTranslated(Exception):
    """The metadata has a meaning that msgspec cannot express. Carries the metadata."""

    def __init__(self, metadata: object) -> None:
        super().__init__(metadata)
        self.metadata = metadata


def translate(metadata: Any) -> Iterator[msgspec.Meta]:
    """The same meaning as msgspec metadata. Raises NotTranslated."""
    if isinstance(metadata, msgspec.Meta):
        yield metadata
    elif isinstance(metadata, str):
        yield msgspec.Meta(description=metadata)
    elif is_field(metadata):
        yield from _translate_field(metadata)
    elif class_name(metadata) in _TRANSLATIONS:
        found = _TRANSLATIONS[class_name(metadata)](metadata)
        constraints = {name: value for name, value in found.items() if value is not None}
        if constraints:
            yield _meta(constraints, metadata)
    else:
        raise NotTranslated(metadata)


def _meta(constraints: dict[str, Any], metadata: object) -> msgspec.Meta:
    try:
        return msgspec.Meta(**constraints)
    except TypeError as exc:  # a bound that is no number, such as a date
        raise NotTranslated(metadata) from exc


def class_name(metadata: object) -> str:
    """The qualified name of the class of a metadata object."""
    kind = type(metadata)
    return f"{kind.__module__}.{kind.__qualname__}"


def is_field(metadata: object) -> bool:
    """Whether it is the value of `pydantic.Field(...)`."""
    return class_name(metadata) == "pydantic.fields.FieldInfo"


def is_pydantic(metadata: object) -> bool:
    """Whether pydantic gives the metadata its meaning. It also reads that of annotated_types."""
    return class_name(metadata).partition(".")[0] in ("pydantic", "pydantic_core", "annotated_types") or hasattr(
        metadata, "__get_pydantic_core_schema__"
    )


def _one(name: str) -> Callable[[Any], dict[str, Any]]:
    return lambda metadata: {name: getattr(metadata, name)}


def _several(*names: str) -> Callable[[Any], dict[str, Any]]:
    return lambda metadata: {name: getattr(metadata, name) for name in names}


_TRANSLATIONS: Final[Mapping[str, Callable[[Any], dict[str, Any]]]] = MappingProxyType(
    {
        "annotated_types.Gt": _one("gt"),
        "annotated_types.Ge": _one("ge"),
        "annotated_types.Lt": _one("lt"),
        "annotated_types.Le": _one("le"),
        "annotated_types.Interval": _several("gt", "ge", "lt", "le"),
        "annotated_types.MultipleOf": _one("multiple_of"),
        "annotated_types.MinLen": _one("min_length"),
        "annotated_types.MaxLen": _one("max_length"),
        "annotated_types.Len": _several("min_length", "max_length"),
        "annotated_types.DocInfo": lambda metadata: {"description": metadata.documentation},
        "typing_extensions.Doc": lambda metadata: {"description": metadata.documentation},
    }
)
"""Metadata classes, and the constraints that each stands for."""

_NOT_IN_SCHEMAS: Final = ("alias", "validation_alias", "serialization_alias", "discriminator", "exclude", "init", "frozen")
"""Arguments of `pydantic.Field` that mean more than a schema keyword. Only pydantic itself can apply them."""


def _translate_field(field: Any) -> Iterator[msgspec.Meta]:
    if any(getattr(field, name, None) for name in _NOT_IN_SCHEMAS) or callable(field.json_schema_extra):
        raise NotTranslated(field)
    extra: JsonObject = dict(field.json_schema_extra or {})
    if field.deprecated:
        extra["deprecated"] = True
    texts = {"title": field.title, "description": field.description, "examples": field.examples}
    given = {name: value for name, value in texts.items() if value} | ({"extra_json_schema": extra} if extra else {})
    if given:
        yield msgspec.Meta(**given)
    for each in field.metadata:
        yield from translate(each)


CONSTRAINTS: Final = ("gt", "ge", "lt", "le", "multiple_of", "pattern", "min_length", "max_length", "tz")
"""The fields of `msgspec.Meta` that restrict values. The others are texts."""


TEXTS: Final = ("title", "description", "examples", "extra_json_schema")
"""The fields of `msgspec.Meta` that are for readers."""


def split(metas: list[msgspec.Meta]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The constraints and the texts of several metadata objects. A later one wins."""
    merged: dict[str, Any] = {}
    for meta in metas:
        given = {name: getattr(meta, name) for name in (*CONSTRAINTS, *TEXTS)}
        merged |= {name: value for name, value in given.items() if value is not None}
    constraints = {name: value for name, value in merged.items() if name in CONSTRAINTS}
    return constraints, {name: value for name, value in merged.items() if name not in CONSTRAINTS}


def texts_of(hint: Any) -> dict[str, Any]:
    """The title, description and examples in the metadata of a hint. The metadata that only pydantic knows has its own."""
    metas: list[msgspec.Meta] = []
    for each in getattr(hint, "__metadata__", ()):
        with suppress(NotTranslated):
            metas += translate(each)
    return {name: value for name, value in split(metas)[1].items() if name != "extra_json_schema"}
