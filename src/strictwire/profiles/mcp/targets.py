"""What a request calls: the methods that run a handler, their parameters, and the capability behind each method."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from strictwire.canon.json import JsonObject
from strictwire.fault.failure import Failure, fail
from strictwire.pipeline.call import COMPLETION, Kind
from strictwire.wire.envelope import is_request_id

MAX_COMPLETIONS: Final = 100
"""Values in one completion, by the specification."""


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """What a request wants to call, taken from its parameters."""

    kind: Kind
    name: str
    arguments: JsonObject


def read_target(method: str, params: JsonObject) -> Target | Failure:
    """The target of tools/call, prompts/get, resources/read or completion/complete; MALFORMED_PARAMS if it has none."""
    kind = _NAMED.get(method)
    if kind is None:
        return _OTHERS[method](params)
    name, arguments = params.get("name"), params.get("arguments", {})
    if not isinstance(name, str) or not name:
        return malformed("name")
    if not isinstance(arguments, dict):
        return malformed("arguments")
    return Target(kind=kind, name=name, arguments=arguments)


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

_NAMED: Final[Mapping[str, Kind]] = {"tools/call": Kind.TOOL, "prompts/get": Kind.PROMPT}
"""Methods whose target is named by `name`, with its arguments beside it."""

_OTHERS: Final[Mapping[str, Callable[[JsonObject], Target | Failure]]] = {
    "resources/read": _resource,
    "completion/complete": _completion,
}

CALLS: Final = frozenset({*_NAMED, *_OTHERS})
"""Methods that run a handler."""

ASKING: Final = CALLS - {"completion/complete"}
"""Methods that may be answered with questions to the client."""

ABOUT: Final[Mapping[str, Kind]] = {
    "tools/list": Kind.TOOL,
    "tools/call": Kind.TOOL,
    "resources/list": Kind.RESOURCE,
    "resources/templates/list": Kind.RESOURCE,
    "resources/read": Kind.RESOURCE,
    "resources/subscribe": Kind.RESOURCE,
    "resources/unsubscribe": Kind.RESOURCE,
    "prompts/list": Kind.PROMPT,
    "prompts/get": Kind.PROMPT,
    "completion/complete": Kind.COMPLETION,
}
"""What each method is about; if nothing of that kind is offered, the method does not exist."""

CAPABILITIES: Final[Mapping[Kind, str]] = {
    Kind.TOOL: "tools",
    Kind.RESOURCE: "resources",
    Kind.PROMPT: "prompts",
    Kind.COMPLETION: "completions",
}
"""The capability that a server advertises for each kind."""

BEHIND: Final[Mapping[str, str]] = {method: CAPABILITIES[kind] for method, kind in ABOUT.items()} | {
    "logging/setLevel": "logging"
}
"""The capability behind each method."""


def read_progress_token(params: JsonObject) -> str | int | Failure | None:
    """The progress token of a call in a legacy session; MALFORMED_PARAMS if `_meta` or the token is of the wrong type."""
    meta = params.get("_meta", {})
    if not isinstance(meta, dict):
        return malformed("_meta")
    token = meta.get("progressToken")
    return token if token is None or is_request_id(token) else malformed("progressToken")


def malformed(parameter: str) -> Failure:
    """A parameter that is missing or of the wrong type, by name."""
    return fail("MALFORMED_PARAMS", details={"parameter": parameter})
