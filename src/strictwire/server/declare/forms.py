"""Forms for `Context.elicit`: a class with typed fields becomes the schema of an MCP form and a function that reads answers.

A form is flat. MCP gives it strings, numbers, integers, booleans, and choices of strings; a field that needs more is
refused, because no client could show it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, Generic, NotRequired, Required, TypeVar, get_args, get_origin

import msgspec

from strictwire.canon.json import JsonObject
from strictwire.contract.conform import compile_schema
from strictwire.contract.handler import Ask
from strictwire.server.declare.definitions import Definitions, Direction
from strictwire.server.declare.metadata import texts_of
from strictwire.server.declare.parts import fields, is_record, is_typed_dict
from strictwire.server.declare.placeholders import convert, with_integers
from strictwire.server.declare.pydantic import encode_special
from strictwire.server.declare.refused import NotSupported, Place, type_name
from strictwire.server.declare.schemas import Special, root_schema
from strictwire.server.declare.types import lower_at, mentions_pydantic
from strictwire.server.declare.violations import refused_by_type

Value = TypeVar("Value")

MAX_FORMS: Final = 1024
"""Forms that are kept, by class: more than one server has."""

_TEXTS: Final = frozenset({"type", "title", "description", "default"})
KEYWORDS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "string": _TEXTS | {"minLength", "maxLength", "format", "enum", "enumNames", "oneOf"},
        "integer": _TEXTS | {"minimum", "maximum"},
        "number": _TEXTS | {"minimum", "maximum"},
        "boolean": _TEXTS,
        "array": _TEXTS | {"items", "minItems", "maxItems"},
    }
)
"""The types of form fields, and the keywords that each may have (MCP 2025-11-25 and 2026-07-28)."""

FORMATS: Final = frozenset({"email", "uri", "date", "date-time"})
_FOR_READERS: Final = frozenset({"examples", "deprecated"})
"""Keywords that restrict nothing and that forms do not have. They are left out."""

VALUE: Final = "value"
"""The name of the only field of a form that asks for a single value."""

_ADVICE: Final = "use str, int, float, bool, date, datetime, a Literal or Enum of strings, or a list of one"
_NO_FORM: Final = "is no form; use a dataclass, a TypedDict, a msgspec struct or a pydantic model"
_MISSING: Final = object()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Form(Generic[Value]):
    """The form of a class."""

    schema: JsonObject
    """The `requestedSchema` for the client."""
    read: Callable[[JsonObject], Value]
    """Makes the value from the content of an answer. It raises Refused(INVALID_PARAMS), which names the violations."""


def form_of(kind: type[Value]) -> Form[Value]:
    """The form of a class. Raises DeclarationRefused: a form cannot show it."""
    made: Form[Value] = _make_form(kind)  # type: ignore[arg-type]  # mypy takes `type[Value]` for unhashable
    return made


@lru_cache(maxsize=MAX_FORMS)
def _make_form(kind: Any) -> Form[Any]:
    return _form_of_class(kind) if is_record(kind) or hasattr(kind, "model_fields") else _form_of_value(kind)


def _form_of_value(kind: Any) -> Form[Any]:
    """A form with a single field, for a type that is no class with fields."""
    form = _form_of_class(dataclasses.make_dataclass(type_name(kind), [(VALUE, kind)]))
    return Form(schema=form.schema, read=lambda content: getattr(form.read(content), VALUE))


def _form_of_class(kind: Any) -> Form[Any]:
    place = Place(function="elicit()", part=type_name(kind))
    try:
        listed = _read_model(kind, place) if mentions_pydantic(kind) else _read_record(kind, place)
    except NotSupported as exc:
        raise place.refuse(exc.reason) from exc
    properties, required = {}, []
    for name, schema, is_required in listed:
        field = Place(function=place.function, part=f"field {name!r} of {place.part}")
        properties[name] = _flat(schema, field, is_required=is_required)
        if is_required:
            required.append(name)
    lowered = lower_at(kind, Direction.INPUT, place)

    def read(content: JsonObject) -> Any:
        known = {name: value for name, value in content.items() if name in properties}
        try:
            return convert(with_integers(known), lowered)
        except msgspec.ValidationError as exc:
            raise refused_by_type(exc, known) from exc

    return Form(schema={"type": "object", "properties": properties, "required": required}, read=read)


def _read_model(kind: type, place: Place) -> Iterator[tuple[str, JsonObject, bool]]:
    """The fields of a pydantic model: name, schema, and whether every answer has it."""
    definitions = Definitions(Direction.INPUT)
    lowered = lower_at(kind, Direction.INPUT, place)
    schema = lowered.make_schema(definitions) if issubclass(lowered, Special) else {}
    if "properties" not in schema:
        raise place.refuse(_NO_FORM)
    for name, member in schema["properties"].items():
        yield name, _resolved(member, definitions.schemas), name in schema.get("required", ())


def _read_record(kind: type, place: Place) -> Iterator[tuple[str, JsonObject, bool]]:
    """The same for a dataclass, TypedDict or msgspec struct."""
    for name, hint, default, is_required in _members(kind, place):
        field = Place(function=place.function, part=f"field {name!r} of {place.part}")
        schema = root_schema(lower_at(hint, Direction.INPUT, field), Direction.INPUT)
        texts = {keyword: text for keyword, text in texts_of(hint).items() if text}
        shown = {} if default is _MISSING else {"default": msgspec.to_builtins(default, enc_hook=encode_special)}
        yield name, _resolved(schema, schema.get("$defs", {})) | texts | shown, is_required


def _members(kind: type, place: Place) -> Iterator[tuple[str, Any, object, bool]]:
    """Name, type hint, default and whether it is required."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        for each in msgspec.structs.fields(kind):
            default = _MISSING if each.default is msgspec.NODEFAULT else each.default
            yield each.encode_name, each.type, default, each.required
    elif dataclasses.is_dataclass(kind):
        hints = fields(kind)
        for member in dataclasses.fields(kind):
            if member.init:
                default = _MISSING if member.default is dataclasses.MISSING else member.default
                has_default = default is not _MISSING or member.default_factory is not dataclasses.MISSING
                yield member.name, hints[member.name], default, not has_default
    elif is_typed_dict(kind):
        for name, hint in fields(kind).items():
            marked = get_origin(hint) in (Required, NotRequired)
            # `__required_keys__` does not see the marks of annotations that are strings.
            is_required = get_origin(hint) is Required if marked else name in kind.__required_keys__  # type: ignore[attr-defined]
            yield name, get_args(hint)[0] if marked else hint, _MISSING, is_required
    else:
        raise place.refuse(_NO_FORM)


def _resolved(schema: JsonObject, definitions: JsonObject) -> JsonObject:
    """The schema of a field with the definition that it refers to in its place, such as that of an enum."""
    own = {keyword: value for keyword, value in schema.items() if keyword not in ("$schema", "$defs", "$ref")}
    reference = schema.get("$ref")
    if isinstance(reference, str):
        own = {**definitions.get(reference.rpartition("/")[2], {}), **own}
    for keyword in ("anyOf", "items"):
        inner = own.get(keyword)
        if isinstance(inner, list):
            own[keyword] = [_resolved(each, definitions) for each in inner]
        elif isinstance(inner, dict):
            own[keyword] = _resolved(inner, definitions)
    return own


def _flat(schema: JsonObject, place: Place, *, is_required: bool) -> JsonObject:
    """The schema of one field as forms write it. Raises DeclarationRefused."""
    schema = _without_null(schema, place, is_required=is_required)
    schema = _as_choice({name: value for name, value in schema.items() if name not in _FOR_READERS})
    if isinstance(schema.get("items"), dict):
        items = _as_choice({name: value for name, value in schema["items"].items() if name not in _TEXTS - {"type"}})
        schema = {**schema, "items": items}
        if not ({"enum", "anyOf"} & items.keys() and items.get("type", "string") == "string"):
            raise place.refuse(f"is a list of values that are no choice, which a form cannot show; {_ADVICE}")
    if schema.get("type") == "integer":
        schema = _with_closed_bounds(schema)
    allowed = KEYWORDS.get(str(schema.get("type")))
    if allowed is None:
        raise place.refuse(f"has a type that a form cannot show; {_ADVICE}")
    for keyword in schema:
        if keyword not in allowed:
            raise place.refuse(
                f"has the constraint `{keyword}`, which a form cannot express; describe it in the description, and check it "
                "in the class or in the handler"
            )
    if schema.get("format", "date") not in FORMATS:
        raise place.refuse(f"has the format {schema['format']!r}, which a form does not have; use str")
    return schema


def _without_null(schema: JsonObject, place: Place, *, is_required: bool) -> JsonObject:
    """`X | None = None` is a field that may be left empty."""
    options = schema.get("anyOf")
    if isinstance(options, list) and {"type": "null"} in options and len(options) == 2:
        inner = next(each for each in options if each != {"type": "null"})
        schema = {**inner, **{name: value for name, value in schema.items() if name != "anyOf"}}
    elif isinstance(schema.get("enum"), list) and None in schema["enum"]:
        schema = {**schema, "enum": [each for each in schema["enum"] if each is not None]}
    else:
        return schema
    if is_required:
        raise place.refuse("may be None, which a form cannot send; write `= None` after it, so that it can be left empty")
    return {name: value for name, value in schema.items() if (name, value) != ("default", None)}


def _as_choice(schema: JsonObject) -> JsonObject:
    """A choice of strings with its type, which generated schemas leave out."""
    if "const" in schema:
        schema = {"enum": [schema["const"]], **{name: value for name, value in schema.items() if name != "const"}}
    options = schema.get("enum")
    if isinstance(options, list) and all(isinstance(each, str) for each in options):
        return {"type": "string", **schema}
    return schema


def _with_closed_bounds(schema: JsonObject) -> JsonObject:
    """Open bounds of an integer as closed ones, the only ones that forms have."""
    closed = dict(schema)
    for opened, bound, step in (("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)):
        limit = closed.pop(opened, None)
        if limit is not None:
            closed[bound] = limit + step
    return closed


def elicitation(message: str, form: JsonObject | type[Any]) -> Ask:
    """A form for the user of the client, as a schema or as a class with typed fields.

    Raises DeclarationRefused or SchemaRefused: a form cannot show the class, or the schema is invalid.
    """
    if isinstance(form, dict):
        compile_schema(form)
        return Ask(method="elicitation/create", params=_form_params(message, form))
    made = form_of(form)
    return Ask(method="elicitation/create", params=_form_params(message, made.schema), read=made.read)


def _form_params(message: str, schema: JsonObject) -> JsonObject:
    return {"mode": "form", "message": message, "requestedSchema": schema}
