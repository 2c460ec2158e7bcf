"""The contract of a tool as JSON documents: two schemas, and `<name>.contract.json` with everything else.

Pure: converts between documents and a ToolContract. `sources` reads and writes the files.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from strictwire.canon.json import JsonObject
from strictwire.contract.registry import ContractRefused
from strictwire.contract.safety import parse_safety
from strictwire.contract.tool import Caps, ToolContract
from strictwire.fault.failure_code import FailureCode

_CAPS: Final[Mapping[str, str]] = {
    "timeoutMs": "timeout_ms",
    "responseBytes": "response_bytes",
    "concurrency": "concurrency",
}
"""The members of `caps` and the fields of Caps."""


_KINDS: Final[Mapping[type, str]] = {
    str: "a string",
    bool: "true or false",
    int: "an integer",
    list: "an array",
    dict: "an object",
}
"""How error messages name the JSON types."""


def _text(value: Any) -> str:
    return str(_of_type(value, str))


def _of_type(value: Any, kind: type) -> Any:
    """Narrow a value. Raises ValueError: it has another type. A boolean is not an integer."""
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ValueError(f"expected {_KINDS[kind]}")
    return value


def _names(value: Any) -> frozenset[str]:
    return frozenset(_text(each) for each in _of_type(value, list))


def _caps(value: Any) -> Caps:
    unknown = _of_type(value, dict).keys() - _CAPS.keys()
    if unknown:
        raise ValueError(f"unknown member {min(unknown)!r}; known: {', '.join(_CAPS)}")
    return Caps(**{_CAPS[name]: _of_type(number, int) for name, number in value.items()})


def _failures(value: Any) -> tuple[FailureCode, ...]:
    try:
        return tuple(msgspec.convert(value, list[FailureCode]))
    except msgspec.ValidationError as exc:
        raise ValueError("expected an array of objects with code, meaning, action and retryable") from exc


_MEMBERS: Final[Mapping[str, tuple[str, Callable[[Any], Any]]]] = {
    "title": ("title", _text),
    "description": ("description", _text),
    "annotations": ("annotations", lambda value: _of_type(value, dict)),
    "category": ("category", _text),
    "tier": ("tier", _text),
    "safety": ("safety", parse_safety),
    "roles": ("roles", _names),
    "capabilities": ("capabilities", _names),
    "caps": ("caps", _caps),
    "dialect": ("dialect", _text),
    "failures": ("failures", _failures),
    "textJson": ("text_json", lambda value: _of_type(value, bool)),
    "notes": ("notes", _text),
    "listsOutput": ("lists_output", lambda value: _of_type(value, bool)),
    "icons": ("icons", lambda value: tuple(_of_type(value, list))),
    "meta": ("meta", lambda value: _of_type(value, dict)),
}
"""The members of the document, each with its field of the contract and the function that reads it."""


def read_contract(
    name: str, *, input_schema: JsonObject, output_schema: JsonObject | None, document: JsonObject
) -> ToolContract:
    """Read a contract from its documents. Raises ContractRefused: a member is unknown or has an invalid value."""
    fields: dict[str, Any] = {"description": ""}
    for member, value in document.items():
        if member not in _MEMBERS:
            near = difflib.get_close_matches(member, _MEMBERS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(_MEMBERS)}"
            raise ContractRefused(f"tool {name!r}: its contract document has an unknown member {member!r}; {hint}")
        field, read = _MEMBERS[member]
        try:
            fields[field] = read(value)
        except ValueError as exc:
            raise ContractRefused(f"tool {name!r}: member {member!r} of its contract document: {exc}") from exc
    return ToolContract(name=name, input_schema=input_schema, output_schema=output_schema, **fields)


def render_contract(contract: ToolContract) -> JsonObject:
    """The contract document of a contract. Members with their default value are left out, except `safety`."""
    defaults = ToolContract(name=contract.name, description="", input_schema={})
    document: JsonObject = {"description": contract.description}
    for member, (field, _) in _MEMBERS.items():
        value = getattr(contract, field)
        if member == "safety" or (member != "description" and value != getattr(defaults, field)):
            document[member] = _as_json(value)
    return document


def _as_json(value: Any) -> Any:
    if isinstance(value, Caps):
        return {member: getattr(value, field) for member, field in _CAPS.items()}
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, tuple):
        return list(msgspec.to_builtins(value))
    return dict(value) if isinstance(value, Mapping) else value
