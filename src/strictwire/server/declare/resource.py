"""Resources: the parameters of the function are the variables of the URI template."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any, Final, get_origin

from strictwire.canon.json import JsonObject
from strictwire.contract.handler import Handler
from strictwire.contract.tool import ResourceContract
from strictwire.contract.uri_template import TemplateRefused, UriTemplate, compile_template
from strictwire.fault.failure import Refused, fail
from strictwire.server.content import Embedded, resource_contents
from strictwire.server.declare.context import NO_LIFESPAN
from strictwire.server.declare.hints import read_hints
from strictwire.server.declare.invoke import check_function, make_handler
from strictwire.server.declare.parameters import Parameters, read_parameters
from strictwire.server.declare.refused import place_of, type_name
from strictwire.server.declare.texts import is_scalar, text_reader

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
"""The start of an absolute URI (RFC 3986, section 3.1)."""

_OBJECTS: Final = frozenset({dict, list, tuple, set, int, float, bool, type(None)})
"""Types of results that are neither text nor bytes."""


def resource_handler(function: Callable[..., Any], contract: ResourceContract, lifespan: Any = NO_LIFESPAN) -> Handler:
    """The handler of a resource. Raises DeclarationRefused."""
    check_function(function)
    try:
        template = compile_template(contract.uri)
    except TemplateRefused as exc:
        raise place_of(function).refuse(f"the URI template {exc}") from exc
    _check_uri(contract.uri, function)
    parameters = read_parameters(function, lifespan)
    _check_result(function)
    _check_variables(template, parameters)
    read_texts = text_reader(parameters)

    def read(arguments: JsonObject) -> dict[str, Any]:
        return read_texts(template.match(arguments["uri"]) or {})

    def finish(body: Any, arguments: JsonObject) -> JsonObject:
        if isinstance(body, Embedded):
            return {"contents": [resource_contents(body.uri, body.body, body.mime_type)]}
        if not isinstance(body, str | bytes):
            raise Refused(fail("OUTPUT_INVALID", details={"reason": "not_text_or_bytes"}))
        return {"contents": [resource_contents(arguments["uri"], body, contract.mime_type)]}

    return make_handler(function, read, parameters, finish)


def _check_uri(uri: str, function: Callable[..., Any]) -> None:
    """A resource has an absolute URI: clients cannot resolve a relative one. Raises DeclarationRefused."""
    if not _SCHEME.match(uri):
        raise place_of(function).refuse(f"the URI {uri!r} has no scheme; write a URI such as 'notes://{uri.lstrip('/')}'")


def _check_result(function: Callable[..., Any]) -> None:
    """Refuse a result type that is neither text nor bytes. Raises DeclarationRefused."""
    returned = read_hints(function).get("return", Any)
    kind = get_origin(returned) or returned
    if kind in _OBJECTS or (is_dataclass(kind) and kind is not Embedded):
        raise place_of(function).refuse(
            f"the result has type {type_name(returned)}, but a resource is text or bytes; return str, for example "
            "json.dumps(...), bytes or Embedded"
        )


def _check_variables(template: UriTemplate, parameters: Parameters) -> None:
    """Each variable is a parameter, and each parameter a variable. Raises DeclarationRefused."""
    listed = {each.name: each for each in parameters.listed}
    for name in (*template.names, *template.query_names):
        if name not in listed:
            raise parameters.place.refuse(f"it has no parameter for {{{name}}} of {template.text!r}; add {name}: str")
    for name, each in listed.items():
        place = parameters.place.parameter(name)
        if name not in (*template.names, *template.query_names):
            raise place.refuse(f"is not in {template.text!r}; add {{{name}}} to the URI, or remove the parameter")
        if not is_scalar(each):
            raise place.refuse("is not a simple value, but a URI holds text; use str, int, float, bool, a date or an enum")
        if name in template.query_names and each.is_required:
            raise place.refuse(f"comes from the query, which a URI may leave out; give it a default, such as {name}=None")
