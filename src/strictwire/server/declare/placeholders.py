"""Placeholders that are made of other types: unions that msgspec does not accept, and records with special fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_origin

import msgspec

from strictwire.canon.json import JsonObject
from strictwire.contract.conform import Conformer, compile_schema
from strictwire.server.declare.definitions import Definitions, Direction, definition_name
from strictwire.server.declare.refused import type_name
from strictwire.server.declare.schemas import Special, inner_schema, read_special, root_schema, special


def convert(value: Any, hint: Any) -> Any:
    """Convert a JSON value to a lowered hint. Raises msgspec.ValidationError."""
    return msgspec.convert(value, hint, strict=True, str_keys=True, dec_hook=read_special)


def with_integers(value: Any) -> Any:
    """The value with every float that has no fraction as an integer."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [with_integers(each) for each in value]
    if isinstance(value, dict):
        return {name: with_integers(each) for name, each in value.items()}
    return value


def convert_inside(value: Any, hint: Any) -> Any:
    """The same inside a hook. Raises ValueError, to which msgspec adds the place of the value."""
    try:
        return convert(value, hint)
    except msgspec.ValidationError as exc:
        raise ValueError(str(exc)) from exc


def union_special(members: Sequence[Any], direction: Direction) -> type[Special]:
    """A union: the first member whose schema accepts a value, and that converts it, wins. Raises TypeError."""
    judges: list[tuple[Any, Conformer]] = [(each, compile_schema(root_schema(each, direction))) for each in members]

    def schema(definitions: Definitions) -> JsonObject:
        return {"anyOf": [inner_schema(each, definitions) for each in members]}

    def read(value: Any) -> Any:
        refused: ValueError | None = None
        for member, conformer in judges:
            if conformer.accepts(value):
                try:
                    return convert_inside(value, member)
                except ValueError as exc:
                    refused = refused or exc
        raise refused or ValueError("it matches no member of the union")

    return special("union", schema=schema, read=read)


class RecordPlaceholder:
    """A class whose fields are converted one by one. Made in two steps, because its fields may refer to it."""

    def __init__(self, hint: Any) -> None:
        self._make = get_origin(hint) or hint
        self.name = definition_name(type_name(hint))
        self._typed: Any = None
        self._is_open = False
        self.kind = special(self.name, schema=self._schema, read=self._read)

    def finish(self, typed: Any) -> None:
        """Set the TypedDict that has the lowered fields."""
        self._typed = typed

    def _schema(self, definitions: Definitions) -> JsonObject:
        if self._is_open:
            return {"$ref": f"#/$defs/{self.name}"}
        self._is_open = True
        try:
            return inner_schema(self._typed, definitions)
        finally:
            self._is_open = False

    def _read(self, value: Any) -> Any:
        return self._make(**convert_inside(value, self._typed))
