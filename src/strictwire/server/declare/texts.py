"""Parameters whose values arrive as text: the variables of a URI, and the arguments of a prompt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
from msgspec.structs import asdict

from strictwire.canon.json import JsonObject, NotStrict, parse
from strictwire.fault.catalogue import Stage
from strictwire.fault.failure import Refused, fail
from strictwire.fault.violations import Violation
from strictwire.server.declare.definitions import Direction
from strictwire.server.declare.parameters import Parameter, Parameters
from strictwire.server.declare.schemas import read_special, root_schema
from strictwire.server.declare.violations import refused_by_type

_SCALARS: Final = frozenset({"string", "integer", "number", "boolean", "null"})


def is_scalar(parameter: Parameter) -> bool:
    """Whether a value can be written as plain text. Other values are written as JSON."""
    schema = root_schema(parameter.hint, Direction.INPUT)
    return _is_scalar(schema, schema.get("$defs", {}))


def _is_scalar(schema: JsonObject, definitions: JsonObject) -> bool:
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        return all(_is_scalar(each, definitions) for each in schema["anyOf"])
    return schema.get("type") in _SCALARS or "enum" in schema or "const" in schema


def text_reader(parameters: Parameters) -> Callable[[Mapping[str, str]], dict[str, Any]]:
    """A function from texts to typed keyword arguments: `"5"` becomes 5. It raises Refused(INVALID_PARAMS)."""
    struct = parameters.as_struct()
    as_json = frozenset(each.name for each in parameters.listed if not is_scalar(each))

    def read(texts: Mapping[str, str]) -> dict[str, Any]:
        values = {name: _parse(name, text) if name in as_json else text for name, text in texts.items()}
        try:
            return asdict(msgspec.convert(values, struct, strict=False, str_keys=True, dec_hook=read_special))
        except msgspec.ValidationError as exc:
            raise refused_by_type(exc, values) from exc

    return read


def _parse(name: str, text: str) -> Any:
    try:
        return parse(text.encode())
    except NotStrict as exc:
        violation = Violation(path=f"/{name}", keyword="contentMediaType", message=f"{name}: it must be JSON text")
        raise Refused(fail("INVALID_PARAMS", stage=Stage.ACCEPT, details={"violations": [violation.as_details()]})) from exc
