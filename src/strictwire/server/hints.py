"""Derives the contract of a tool from the type hints of its function: closed schemas, and typed arguments without coercion.

Supports dataclasses, TypedDict, msgspec structs, enums, literals, `Annotated[..., msgspec.Meta(...)]` and pydantic models.
"""

from __future__ import annotations

import inspect
import sys
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from strictwire.canon.json import JsonObject, render
from strictwire.contract.schema import DIALECT
from strictwire.contract.subschemas import map_subschemas
from strictwire.fault.catalogue import Stage
from strictwire.fault.failure import Refused, fail
from strictwire.server.content import CONTENT
from strictwire.server.context import Context

RESULT: Final = "result"
"""The member of structured content that holds a result which is not an object."""

_BASE64_SCHEMA: Final = b'"contentEncoding":"base64"'
"""Part of the schema that msgspec generates for `bytes`. Arguments are decoded from base64, but results are not encoded."""

_SUPPORTED: Final = (
    "str, int, float, bool, list, dict, an enum, a dataclass, a TypedDict, a msgspec struct or a pydantic model"
)
"""The advice in error messages. A few more types work, such as dates and UUIDs."""


class HintRefused(TypeError):
    """The function cannot be a tool. The message names the parameter and says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """The contract of a function, derived from its type hints."""

    arguments: type[msgspec.Struct]
    """A struct with one field per parameter, which converts and types the arguments."""
    input_schema: JsonObject
    output_schema: JsonObject | None
    context: str | None
    """The name of the parameter that receives the Context."""
    wraps: bool
    """Whether the result is wrapped in an object, as its member `result`."""

    def read(self, arguments: JsonObject) -> dict[str, Any]:
        """Convert arguments to typed keyword arguments.

        Raises Refused(INVALID_PARAMS): a type has a rule that its JSON Schema cannot express, such as a pydantic validator.
        """
        try:
            found = self._convert(arguments)
        except msgspec.ValidationError:
            # In JSON Schema `1.0` is an integer, but msgspec does not convert it to int.
            found = self._convert_with_integers(arguments)
        return {name: getattr(found, name) for name in self.arguments.__struct_fields__}

    def _convert_with_integers(self, arguments: JsonObject) -> Any:
        try:
            return self._convert(_with_integers(arguments))
        except msgspec.ValidationError as exc:
            raise Refused(fail("INVALID_PARAMS", stage=Stage.ACCEPT)) from exc

    def _convert(self, arguments: JsonObject) -> Any:
        return msgspec.convert(arguments, self.arguments, strict=True, dec_hook=_read_model)


def read_signature(function: Callable[..., Any]) -> Signature:
    """Derive the contract of a function. Raises HintRefused: a type hint is missing or has no JSON Schema."""
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as exc:
        raise HintRefused(
            f"{name_of(function)}: its type hints cannot be resolved ({exc}); use a function, and only types that its "
            "module defines or imports"
        ) from exc
    parameters = inspect.signature(function).parameters
    context = next((name for name in parameters if hints.get(name) is Context), None)
    fields = [_field(each, hints, function) for name, each in parameters.items() if name != context]
    # kw_only, because a positional field of a struct cannot follow one with a default.
    arguments = msgspec.defstruct("arguments", fields, kw_only=True, forbid_unknown_fields=True)
    output, wraps = _read_output(hints.get("return", Any), function)
    return Signature(
        arguments=arguments,
        input_schema=_input_schema(arguments, function),
        output_schema=output,
        context=context,
        wraps=wraps,
    )


def flatten_models(value: object) -> object:
    """Convert pydantic models in a result to plain values. Everything else is unchanged."""
    if "pydantic" not in sys.modules:
        return value  # there are no models, and searching a large result for them takes longer than encoding it
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True)
    if isinstance(value, list | tuple):
        return [flatten_models(each) for each in value]
    if isinstance(value, dict):
        return {name: flatten_models(each) for name, each in value.items()}
    return value


def name_of(function: Callable[..., Any]) -> str:
    """How error messages name a function."""
    name = getattr(function, "__name__", None)
    return f"{name}()" if name else repr(function)


def _field(parameter: inspect.Parameter, hints: dict[str, Any], function: Callable[..., Any]) -> Any:
    where = f"{name_of(function)}: parameter {parameter.name!r}"
    if parameter.kind not in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY):
        raise HintRefused(f"{where} is *args, **kwargs or positional-only; use a parameter that can be passed by name")
    if parameter.name not in hints:
        raise HintRefused(f"{where} has no type hint; add one, because the contract is derived from it")
    hint = hints[parameter.name]
    if parameter.default is inspect.Parameter.empty:
        return (parameter.name, hint)
    return (parameter.name, hint, msgspec.field(default_factory=lambda: parameter.default))


def _read_output(returned: Any, function: Callable[..., Any]) -> tuple[JsonObject | None, bool]:
    if returned in (Any, None, type(None), str, inspect.Parameter.empty) or _is_content(returned):
        return None, False
    schema = _output_schema(returned, function)
    if _BASE64_SCHEMA in render(schema):
        raise HintRefused(
            f"{name_of(function)} returns bytes, which JSON cannot represent; return Image, Audio, Embedded or text instead"
        )
    if schema.get("type") == "object":
        return schema, False
    definitions = schema.pop("$defs", None)
    schema.pop("$schema", None)
    wrapped: JsonObject = {
        "$schema": DIALECT,
        "type": "object",
        "properties": {RESULT: schema},
        "required": [RESULT],
        "additionalProperties": False,
    }
    return wrapped | ({"$defs": definitions} if definitions else {}), True


def _is_content(hint: Any) -> bool:
    """Whether the type is a content class, or a list or union of content classes and `str`. `str` alone is a value."""
    if typing.get_origin(hint) in (list, tuple, typing.Union, types.UnionType):
        parts = typing.get_args(hint)
        return any(map(_is_content, parts)) and all(_is_content(part) or part in (str, Ellipsis) for part in parts)
    return isinstance(hint, type) and issubclass(hint, CONTENT)


def _input_schema(arguments: type[msgspec.Struct], function: Callable[..., Any]) -> JsonObject:
    try:
        return _schema(arguments)
    except TypeError as exc:
        name, hint = _find_unsupported(arguments)
        raise HintRefused(
            f"{name_of(function)}: parameter {name!r} has type {_type_name(hint)}, which has no JSON Schema; "
            f"use {_SUPPORTED}"
        ) from exc


def _find_unsupported(arguments: type[msgspec.Struct]) -> tuple[str, Any]:
    """The first field whose type has no schema."""
    for field in msgspec.structs.fields(arguments):
        try:
            _schema(field.type)
        except TypeError:
            return field.name, field.type
    raise AssertionError("every field has a schema, but the struct has none")


def _output_schema(returned: Any, function: Callable[..., Any]) -> JsonObject:
    try:
        return _schema(returned)
    except TypeError as exc:
        raise HintRefused(
            f"{name_of(function)} returns {_type_name(returned)}, which has no JSON Schema; use {_SUPPORTED}"
        ) from exc


def _type_name(hint: Any) -> str:
    return hint.__qualname__ if isinstance(hint, type) and not typing.get_args(hint) else str(hint)


def _schema(hint: Any) -> JsonObject:
    """The closed JSON Schema of a type, with its definitions in `$defs`. Raises TypeError: the type has no schema."""
    model_definitions: JsonObject = {}
    found = msgspec.json.schema(hint, schema_hook=lambda model: _model_schema(model, model_definitions))
    definitions = {**found.pop("$defs", {}), **model_definitions}
    # MCP requires the object itself at the root, but msgspec puts a named type in `$defs` and a reference to it at the root.
    reference = found.get("$ref", "") if set(found) == {"$ref"} else ""
    name = reference.rpartition("/")[2]
    root = definitions.pop(name) if reference else found
    # A recursive type stays in `$defs` as well, because it refers to itself.
    if reference and render(reference) in render([root, definitions]):
        definitions[name] = root
    schema: JsonObject = {"$schema": DIALECT, **_normalise(root)}
    if schema.get("type") == "object":
        schema.setdefault("required", [])
    if definitions:
        schema["$defs"] = {name: _normalise(part) for name, part in sorted(definitions.items())}
    return schema


def _model_schema(model: Any, model_definitions: JsonObject) -> JsonObject:
    """The schema of a pydantic model. Its definitions go to `model_definitions`, with the name of the model as a prefix."""
    if not hasattr(model, "model_json_schema"):
        raise TypeError(model)
    schema: JsonObject = model.model_json_schema(ref_template=f"#/$defs/{model.__name__}.{{model}}")
    definitions = schema.pop("$defs", {})
    model_definitions.update({f"{model.__name__}.{name}": part for name, part in definitions.items()})
    return schema


def _read_model(model: Any, value: object) -> Any:
    if not hasattr(model, "model_validate"):
        raise TypeError(model)
    # As JSON, because pydantic in strict mode refuses a Python string for a date or an enum, but accepts a JSON string.
    return model.model_validate_json(render(value), strict=True)  # type: ignore[arg-type]


_REMOVED: Final = ("default", "title")
"""Keywords of generated schemas that are removed: a schema fills in no defaults, and the titles are only class names."""


def _normalise(schema: Any) -> Any:
    """Remove generated keywords, and close every object that has properties."""
    if not isinstance(schema, dict):
        return schema
    normalised = {
        keyword: map_subschemas(keyword, value, _normalise) for keyword, value in schema.items() if keyword not in _REMOVED
    }
    if "properties" in normalised:
        normalised.setdefault("additionalProperties", False)
    return normalised


def _with_integers(value: Any) -> Any:
    """The value with every float that has no fraction as an integer."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_with_integers(each) for each in value]
    if isinstance(value, dict):
        return {name: _with_integers(each) for name, each in value.items()}
    return value
