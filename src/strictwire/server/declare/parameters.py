"""The parameters of a function as a contract: the schema of its arguments, and the function that converts them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, Final, TypedDict, get_args, get_origin

import msgspec
from msgspec.structs import asdict

from strictwire.canon.json import JsonObject, render
from strictwire.contract.conform import compile_schema
from strictwire.contract.schema import DIALECT
from strictwire.server.declare.context import NO_LIFESPAN
from strictwire.server.declare.definitions import Direction
from strictwire.server.declare.depends import Dependency, DependencyReader, check_context, find_depends, is_context
from strictwire.server.declare.docstrings import read_docstring
from strictwire.server.declare.hints import read_hints
from strictwire.server.declare.metadata import is_field, texts_of
from strictwire.server.declare.placeholders import convert, with_integers
from strictwire.server.declare.pydantic import encode_special
from strictwire.server.declare.refused import NotSupported, Place, place_of
from strictwire.server.declare.schemas import read_special, root_schema
from strictwire.server.declare.types import lower_at
from strictwire.server.declare.violations import refused_by_type

MAX_SHOWN_DEFAULT: Final = 80
"""Characters of JSON. A longer default is not shown to models."""

_UNTYPED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "ctx": "write `ctx: Context`",
        "context": "write `context: Context`",
        "self": "declare the method of an object, as in `server.tool(shop.find)`",
        "cls": "declare the method of the class, as in `server.tool(Shop.find)`",
    }
)
"""What to write for a parameter without a hint, by the names that such parameters usually have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter that a caller passes."""

    name: str
    hint: Any
    """The hint, lowered."""
    texts: JsonObject
    """What a model reads about it: title, description, examples, and the default as JSON text."""
    make_default: Callable[[], Any] | None
    """Makes the value for a call that leaves it out. None: it is required."""

    @property
    def is_required(self) -> bool:
        """Whether every call has it."""
        return self.make_default is None

    def show(self, schema: JsonObject) -> JsonObject:
        """The schema of its type with the texts. A default is part of the description: a schema fills in no values."""
        texts = {name: text for name, text in self.texts.items() if name != "default" and text}
        description = str(schema.get("description") or texts.get("description", ""))
        if "default" in self.texts:
            description = " ".join(filter(None, (_sentence(description), f"Default: {self.texts['default']}.")))
        return schema | texts | ({"description": description} if description else {})


def _sentence(text: str) -> str:
    return text if not text or text.endswith((".", "!", "?")) else f"{text}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """The parameters of a function."""

    listed: tuple[Parameter, ...]
    context: str | None
    """The name of the parameter that receives the Context."""
    place: Place
    injected: Mapping[str, Dependency] = field(default_factory=dict)
    """What fills in the parameters that callers do not pass."""
    has_lifespan: bool = False
    """Whether the Context has the value of a lifespan."""

    @property
    def needs_running(self) -> bool:
        """Whether the function needs values of the running server."""
        return bool(self.injected) or (self.context is not None and self.has_lifespan)

    def input_schema(self) -> JsonObject:
        """The closed schema of the arguments. Raises DeclarationRefused: two of its classes have the same name."""
        typed = TypedDict("arguments", {each.name: each.hint for each in self.listed})  # type: ignore[misc]  # made at run time
        try:
            schema = root_schema(typed, Direction.INPUT)
        except NotSupported as exc:
            raise self.place.refuse(f"it {exc.reason}") from exc
        properties = {each.name: each.show(schema["properties"][each.name]) for each in self.listed}
        required = [each.name for each in self.listed if each.is_required]
        closed = {"properties": properties, "required": required, "additionalProperties": False}
        definitions = {"$defs": schema["$defs"]} if "$defs" in schema else {}
        return {"$schema": DIALECT, "type": "object", **closed, **definitions}

    def as_struct(self) -> type[msgspec.Struct]:
        """A struct with a field for each parameter. msgspec converts to a struct faster than to a TypedDict."""
        fields: list[Any] = [
            (each.name, each.hint)
            if each.make_default is None
            else (each.name, each.hint, msgspec.field(default_factory=each.make_default))
            for each in self.listed
        ]
        # kw_only, because a positional field of a struct cannot follow one with a default.
        return msgspec.defstruct("arguments", fields, kw_only=True)

    def reader(self) -> Callable[[JsonObject], dict[str, Any]]:
        """A function from arguments to typed keyword arguments. It raises Refused(INVALID_PARAMS)."""
        struct = self.as_struct()

        def read(arguments: JsonObject) -> dict[str, Any]:
            try:
                return asdict(msgspec.convert(arguments, struct, strict=True, str_keys=True, dec_hook=read_special))
            except msgspec.ValidationError:
                # In JSON Schema `1.0` is an integer, but msgspec does not convert it to int.
                return _convert_with_integers(arguments, struct)

        return read


def _convert_with_integers(arguments: JsonObject, struct: type[msgspec.Struct]) -> dict[str, Any]:
    try:
        return asdict(convert(with_integers(arguments), struct))
    except msgspec.ValidationError as exc:
        raise refused_by_type(exc, arguments) from exc


def read_parameters(function: Callable[..., Any], lifespan: Any = NO_LIFESPAN) -> Parameters:
    """The parameters of a function. `lifespan` is the type that the lifespan of the server yields.

    Raises DeclarationRefused.
    """
    hints, place = read_hints(function), place_of(function)
    texts = read_docstring(function).parameters
    given = inspect.signature(function).parameters
    context = next((name for name in given if is_context(hints.get(name))), None)
    if context is not None:
        check_context(hints[context], lifespan, place.parameter(context))
    injected = _read_injected(function, hints, lifespan)
    listed = tuple(
        _read_parameter(each, hints, texts, place.parameter(name))
        for name, each in given.items()
        if name != context and name not in injected
    )
    return Parameters(
        listed=listed, context=context, place=place, injected=injected, has_lifespan=lifespan is not NO_LIFESPAN
    )


def _read_injected(function: Callable[..., Any], hints: Mapping[str, Any], lifespan: Any) -> dict[str, Dependency]:
    reader, found = DependencyReader(lifespan), {}
    for name, parameter in inspect.signature(function).parameters.items():
        place = place_of(function).parameter(name)
        depends = find_depends(parameter, hints.get(name), place)
        if depends is not None:
            found[name] = reader.read(depends, hints[name], place)
    return found


def _read_parameter(
    parameter: inspect.Parameter, hints: Mapping[str, Any], texts: Mapping[str, str], place: Place
) -> Parameter:
    if parameter.kind not in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY):
        raise place.refuse("is *args, **kwargs or positional-only; use a parameter that can be passed by name")
    if parameter.name not in hints:
        advice = _UNTYPED.get(parameter.name, "add one, because the contract is derived from it")
        raise place.refuse(f"has no type hint; {advice}")
    _check_context_class(hints[parameter.name], parameter.name, place)
    hint, default, make_default = _merge_field(hints[parameter.name], parameter.default)
    lowered = lower_at(hint, Direction.INPUT, place)
    shown = texts_of(hint) | _shown_default(lowered, default, place)
    shown.setdefault("description", texts.get(parameter.name, ""))
    return Parameter(name=parameter.name, hint=lowered, texts=shown, make_default=make_default)


def _check_context_class(hint: Any, name: str, place: Place) -> None:
    """Refuse a Context of another framework, and `Context | None`: each would be an argument that callers pass."""
    for each in (hint, *get_args(hint)):
        if is_context(each):
            raise place.refuse(f"is optional, but every call has a Context; write `{name}: Context`")
        for kind in getattr(get_origin(each) or each, "__mro__", ()):
            module = kind.__module__.partition(".")[0]
            if kind.__name__ == "Context" and module in ("mcp", "fastmcp"):
                raise place.refuse(f"is a Context of {module}; write `from strictwire import Context`")


def _shown_default(lowered: Any, default: Any, place: Place) -> dict[str, str]:
    """The default as JSON text, if a model should see it. Raises DeclarationRefused: it does not fit the type."""
    if default is inspect.Parameter.empty:
        return {}
    try:
        value = msgspec.to_builtins(default, enc_hook=encode_special, str_keys=True)
        text = render(value).decode()
    except (TypeError, ValueError) as exc:
        raise place.refuse(f"has the default {default!r}, which is not JSON; use None and make the value inside") from exc
    if not compile_schema(root_schema(lowered, Direction.INPUT)).accepts(value):
        advice = "write `| None` in the type" if default is None else "correct the default or the type"
        raise place.refuse(f"has the default {default!r}, which does not fit its type; {advice}")
    return {} if default is None or len(text) > MAX_SHOWN_DEFAULT else {"default": text}


def _merge_field(hint: Any, default: Any) -> tuple[Any, Any, Callable[[], Any] | None]:
    """The hint, the default and its factory, of a parameter that may have `pydantic.Field(...)` as default or metadata."""
    fields = [each for each in (*getattr(hint, "__metadata__", ()), default) if is_field(each)]
    if is_field(default):
        hint, default = Annotated[hint, default], inspect.Parameter.empty
    for each in fields:
        if default is inspect.Parameter.empty and not each.is_required():
            if each.default_factory is not None:
                return hint, default, each.default_factory
            default = each.default
    return hint, default, None if default is inspect.Parameter.empty else lambda: default
