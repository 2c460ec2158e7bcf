"""From the type hints of a function to its contract: closed schemas in, typed values out, nothing coerced.

Knows dataclasses, TypedDict, msgspec structs, enums, literals, `Annotated[..., msgspec.Meta(...)]` and pydantic models.
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
from strictwire.fault.catalogue import Stage
from strictwire.fault.failure import Refused, fail
from strictwire.server.content import CONTENT
from strictwire.server.context import Context

RESULT: Final = "result"
"""The member that holds an answer which is not an object by itself."""


_BYTES: Final = b'"contentEncoding":"base64"'
"""What msgspec promises for a hint of `bytes`. Arguments are read from such text; a result is never made into it."""


class HintRefused(TypeError):
    """A function that cannot be a tool, with the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """What the hints of a function say."""

    arguments: type[msgspec.Struct]
    input_schema: JsonObject
    output_schema: JsonObject | None
    context: str | None
    """The name of the parameter that takes the Context."""
    wraps: bool
    """Whether the answer is put into an object under `result`."""

    def read(self, arguments: JsonObject) -> dict[str, Any]:
        """Typed keyword arguments. Raises Refused(INVALID_PARAMS): a rule of a type that no schema can say."""
        try:
            found = self._convert(arguments)
        except msgspec.ValidationError:
            # `1.0` is an integer in JSON Schema; Python types want it written as one.
            found = self._convert_whole(arguments)
        return {name: getattr(found, name) for name in self.arguments.__struct_fields__}

    def _convert_whole(self, arguments: JsonObject) -> Any:
        try:
            return self._convert(_with_whole_numbers(arguments))
        except msgspec.ValidationError as exc:
            raise Refused(fail("INVALID_PARAMS", stage=Stage.ACCEPT)) from exc

    def _convert(self, arguments: JsonObject) -> Any:
        return msgspec.convert(arguments, self.arguments, strict=True, dec_hook=_read_model)


def read_signature(function: Callable[..., Any]) -> Signature:
    """The contract in a function's hints. Raises HintRefused: a parameter without a hint, or a hint JSON cannot say."""
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as exc:
        raise HintRefused(
            f"{function!r}: its hints cannot be read; use a function whose hints are names of its module"
        ) from exc
    parameters = inspect.signature(function).parameters
    context = next((name for name in parameters if hints.get(name) is Context), None)
    fields = [_field(each, hints) for name, each in parameters.items() if name != context]
    # msgspec takes the fields of a struct in any order only as keywords.
    arguments = msgspec.defstruct("arguments", fields, kw_only=True, forbid_unknown_fields=True)
    returned = hints.get("return", Any)
    output, wraps = _read_output(returned, function)
    return Signature(
        arguments=arguments,
        input_schema=_schema(arguments, function),
        output_schema=output,
        context=context,
        wraps=wraps,
    )


def flatten_models(value: object) -> object:
    """Pydantic models inside a result become plain values; everything else is left as it is."""
    if "pydantic" not in sys.modules:
        return value  # nobody has made a model, and looking for one in a large result costs more than sending it
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True)
    if isinstance(value, list | tuple):
        return [flatten_models(each) for each in value]
    if isinstance(value, dict):
        return {name: flatten_models(each) for name, each in value.items()}
    return value


def _field(parameter: inspect.Parameter, hints: dict[str, Any]) -> Any:
    if parameter.kind not in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY):
        raise HintRefused(f"parameter {parameter.name!r}: *args, **kwargs and positional-only have no place in a contract")
    if parameter.name not in hints:
        raise HintRefused(f"parameter {parameter.name!r} needs a type hint: the contract is made from it")
    hint = hints[parameter.name]
    if parameter.default is inspect.Parameter.empty:
        return (parameter.name, hint)
    return (parameter.name, hint, msgspec.field(default_factory=lambda: parameter.default))


def _read_output(returned: Any, function: Callable[..., Any]) -> tuple[JsonObject | None, bool]:
    if returned in (Any, None, type(None), str, inspect.Parameter.empty) or _is_content(returned):
        return None, False
    schema = _schema(returned, function)
    if _BYTES in render(schema):
        raise HintRefused(
            f"{function!r} returns raw bytes, which JSON cannot carry: return Image, Audio or Embedded content, or text"
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
    """A content class, or a list or union of such, text among them; text alone is a value like any other."""
    if typing.get_origin(hint) in (list, tuple, typing.Union, types.UnionType):
        parts = typing.get_args(hint)
        return any(map(_is_content, parts)) and all(_is_content(part) or part in (str, Ellipsis) for part in parts)
    return isinstance(hint, type) and issubclass(hint, CONTENT)


def _schema(hint: Any, function: Callable[..., Any]) -> JsonObject:
    hoisted: JsonObject = {}
    try:
        found = msgspec.json.schema(hint, schema_hook=lambda model: _model_schema(model, hoisted))
    except TypeError as exc:
        raise HintRefused(f"{getattr(function, '__name__', 'function')}: a hint that JSON Schema cannot say") from exc
    definitions = {**found.pop("$defs", {}), **hoisted}
    place = found.get("$ref", "") if set(found) == {"$ref"} else ""
    root = definitions.pop(place.rpartition("/")[2]) if place else found
    # A type that contains itself is also a definition: its own inner references point there.
    if place and render(place) in render([root, definitions]):
        definitions[place.rpartition("/")[2]] = root
    schema: JsonObject = {"$schema": DIALECT, **_tidy(root)}
    if schema.get("type") == "object":
        schema.setdefault("required", [])
    if definitions:
        schema["$defs"] = {name: _tidy(part) for name, part in sorted(definitions.items())}
    return schema


def _model_schema(model: Any, hoisted: JsonObject) -> JsonObject:
    """A pydantic model's schema, its definitions moved to the root under names of their own."""
    if not hasattr(model, "model_json_schema"):
        raise TypeError(model)
    schema: JsonObject = model.model_json_schema(ref_template=f"#/$defs/{model.__name__}.{{model}}")
    definitions = schema.pop("$defs", {})
    hoisted.update({f"{model.__name__}.{name}": part for name, part in definitions.items()})
    return schema


def _read_model(model: Any, value: object) -> Any:
    if not hasattr(model, "model_validate"):
        raise TypeError(model)
    # As JSON: from Python values the strict mode of pydantic takes no text for a date or an enumeration.
    return model.model_validate_json(render(value), strict=True)  # type: ignore[arg-type]


_NAMED: Final = ("properties", "$defs", "patternProperties", "dependentSchemas")
_LISTED: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE: Final = ("items", "additionalProperties", "contains", "not", "if", "then", "else", "propertyNames")


def _tidy(schema: Any) -> Any:
    """Leave out defaults (nothing is filled in for a caller) and made-up titles, and close every object with fields."""
    if not isinstance(schema, dict):
        return schema
    tidy = {name: member for name, member in schema.items() if name not in ("default", "title")}
    for name in tidy.keys() & set(_NAMED):
        tidy[name] = {key: _tidy(member) for key, member in tidy[name].items()}
    for name in tidy.keys() & set(_LISTED):
        tidy[name] = [_tidy(member) for member in tidy[name]]
    for name in tidy.keys() & set(_SINGLE):
        tidy[name] = _tidy(tidy[name])
    if "properties" in tidy:
        tidy.setdefault("additionalProperties", False)
    return tidy


def _with_whole_numbers(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_with_whole_numbers(each) for each in value]
    if isinstance(value, dict):
        return {name: _with_whole_numbers(each) for name, each in value.items()}
    return value
