"""What a request calls: the methods that run a handler, their parameters, and the capability behind each method."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from strictwire.canon.json import JsonObject
from strictwire.fault.failure import Failure, fail
from strictwire.pipeline.call import Kind
from strictwire.pipeline.catalog import COMPLETION

MAX_COMPLETIONS: Final = 100
"""Values in one completion, by the specification."""


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """What a request wants to call, taken from its parameters."""

    kind: Kind
    name: str
    arguments: JsonObject


def read_target(method: str, params: JsonObject) -> Target | Failure:
    """The target of tools/call, prompts/get, resources/read or completion/complete; MALFORMED_PARAMS if it has none."""
    return _TARGETS[method](params)


def _named(kind: Kind) -> Callable[[JsonObject], Target | Failure]:
    def read(params: JsonObject) -> Target | Failure:
        name, arguments = params.get("name"), params.get("arguments", {})
        if not isinstance(name, str) or not name:
            return malformed("name")
        if not isinstance(arguments, dict):
            return malformed("arguments")
        return Target(kind=kind, name=name, arguments=arguments)

    return read


def _resource(params: JsonObject) -> Target | Failure:
    uri = params.get("uri")
    if not isinstance(uri, str) or not uri:
        return malformed("uri")
    return Target(kind=Kind.RESOURCE, name=uri, arguments={"uri": uri})


def _completion(params: JsonObject) -> Target | Failure:
    ref, argument = params.get("ref"), params.get("argument")
    named_by = _REFERENCES.get(str(ref.get("type"))) if isinstance(ref, dict) else None
    if not isinstance(ref, dict) or named_by is None or not isinstance(ref.get(named_by), str):
        return malformed("ref")
    if not isinstance(argument, dict) or not all(isinstance(argument.get(each), str) for each in ("name", "value")):
        return malformed("argument")
    context = params.get("context", {})
    if not isinstance(context, dict):
        return malformed("context")
    return Target(kind=Kind.COMPLETION, name=COMPLETION, arguments={"ref": ref, "argument": argument, "context": context})


_REFERENCES: Final[Mapping[str, str]] = {"ref/prompt": "name", "ref/resource": "uri"}
"""The kinds of completion references, and the member that names what is completed."""

_TARGETS: Final[Mapping[str, Callable[[JsonObject], Target | Failure]]] = {
    "tools/call": _named(Kind.TOOL),
    "prompts/get": _named(Kind.PROMPT),
    "resources/read": _resource,
    "completion/complete": _completion,
}

CALLS: Final = frozenset(_TARGETS)
"""Methods that run a handler."""

BEHIND: Final[Mapping[str, str]] = {
    "tools/list": "tools",
    "tools/call": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resources",
    "resources/read": "resources",
    "resources/subscribe": "resources",
    "resources/unsubscribe": "resources",
    "prompts/list": "prompts",
    "prompts/get": "prompts",
    "completion/complete": "completions",
    "logging/setLevel": "logging",
}
"""The capability behind each method; without it the method does not exist."""


def malformed(parameter: str) -> Failure:
    """A parameter that is missing or of the wrong type, by name."""
    return fail("MALFORMED_PARAMS", details={"parameter": parameter})
