"""Type hints that only pydantic can validate: models, its own types, and validators in `Annotated[...]`.

pydantic is optional. It is imported only if a type hint refers to it, so an author who uses it has it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from strictwire.canon.json import JsonObject, render
from strictwire.server.declare.definitions import Definitions, Direction, definition_name
from strictwire.server.declare.leaves import write_leaf
from strictwire.server.declare.parts import parts
from strictwire.server.declare.refused import NotSupported
from strictwire.server.declare.schemas import Special, special

_MODES: Final[Mapping[Direction, str]] = MappingProxyType({Direction.INPUT: "validation", Direction.OUTPUT: "serialization"})
"""The names of the directions in pydantic."""


def is_pydantic_type(hint: Any) -> bool:
    """Whether a class is a pydantic model or dataclass, or a type that pydantic defines."""
    return (
        hasattr(hint, "__pydantic_core_schema__")
        or hasattr(hint, "__get_pydantic_core_schema__")
        or getattr(hint, "__module__", "").partition(".")[0] in ("pydantic", "pydantic_core")
    )


def pydantic_special(hint: Any, direction: Direction) -> type[Special]:
    """The placeholder of a hint. Raises NotSupported: pydantic has no schema for it, or is not installed."""
    adapter = _adapter(hint)
    name = _name(hint)
    schema = _json_schema(adapter, direction, name)
    return special(
        name,
        schema=partial(_add_schema, schema, name),
        # As JSON, because pydantic in strict mode refuses a Python string for a date or an enum, but accepts a JSON string.
        # The schema has already refused every wrong JSON type.
        read=lambda value: adapter.validate_json(render(value)),
    )


def _name(hint: Any) -> str:
    """The name of the first model in a hint. It begins the names of the definitions."""
    models = (part for part in parts(hint) if isinstance(part, type) and is_pydantic_type(part))
    return next((definition_name(each.__name__) for each in models), "value")


def pydantic_writer(hint: Any) -> Callable[[Any], Any]:
    """A function that converts results to plain values, with aliases and computed fields. Raises NotSupported."""
    # A result of another type is no warning: the output schema decides.
    return partial(_adapter(hint).dump_python, mode="json", by_alias=True, warnings=False)


def write_models(value: object) -> object:
    """Convert pydantic models in a result of unknown type to plain values. Everything else is unchanged."""
    if "pydantic" not in sys.modules:
        return value  # there are no models, and searching a large result for them takes longer than encoding it
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True)
    if isinstance(value, list | tuple):
        return [write_models(each) for each in value]
    if isinstance(value, dict):
        return {name: write_models(each) for name, each in value.items()}
    return value


def encode_special(value: Any) -> Any:
    """The `enc_hook` of msgspec. Raises TypeError: the value has an unknown type."""
    return value.model_dump(mode="json", by_alias=True) if hasattr(value, "model_dump") else write_leaf(value)


def _adapter(hint: Any) -> Any:
    try:
        from pydantic import TypeAdapter
        from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError
        from pydantic_core import SchemaError
    except ModuleNotFoundError as exc:
        raise NotSupported("needs pydantic, which is not installed; run: pip install pydantic") from exc
    try:
        return TypeAdapter(hint)
    except ImportError as exc:  # EmailStr needs email-validator
        raise NotSupported(f"needs another package: {exc}") from exc
    except SchemaError as exc:  # a bound of another type, such as a number for a date
        raise NotSupported(f"is refused by pydantic: {str(exc).splitlines()[-1].strip()}") from exc
    except (PydanticSchemaGenerationError, PydanticUserError, TypeError) as exc:
        raise NotSupported(f"is refused by pydantic: {str(exc).splitlines()[0]}") from exc


def _json_schema(adapter: Any, direction: Direction, name: str) -> JsonObject:
    from pydantic.errors import PydanticInvalidForJsonSchema

    try:
        # The prefix keeps the definitions apart from those of msgspec, which describes enums and dataclasses differently.
        template = f"#/$defs/{name}.{{model}}"
        schema: JsonObject = adapter.json_schema(by_alias=True, ref_template=template, mode=_MODES[direction])
    except PydanticInvalidForJsonSchema as exc:
        raise NotSupported(f"has no JSON Schema: {str(exc).splitlines()[0]}") from exc
    return schema


def _add_schema(schema: JsonObject, prefix: str, definitions: Definitions) -> JsonObject:
    for name, part in schema.get("$defs", {}).items():
        definitions.add(f"{prefix}.{name}", part)
    return {keyword: value for keyword, value in schema.items() if keyword != "$defs"}
