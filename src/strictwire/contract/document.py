"""The contract of a tool as JSON documents: two schemas, and beside them `<name>.contract.json` with the rest.

Pure: documents in, a ToolContract out, and back. Reading files is for `sources`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any, Final

from strictwire.canon.json import JsonObject
from strictwire.contract.registry import ContractRefused
from strictwire.contract.tool import Caps, Safety, ToolContract

_CAPS: Final[Mapping[str, str]] = {
    "timeoutMs": "timeout_ms",
    "responseBytes": "response_bytes",
    "concurrency": "concurrency",
}
"""Member of `caps` to field."""


def _text(value: Any) -> str:
    return str(_of_type(value, str))


def _of_type(value: Any, kind: type) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TypeError(kind.__name__)
    return value


def _names(value: Any) -> frozenset[str]:
    return frozenset(_text(each) for each in _of_type(value, list))


def _caps(value: Any) -> Caps:
    unknown = _of_type(value, dict).keys() - _CAPS.keys()
    if unknown:
        raise KeyError(min(unknown))
    return Caps(**{_CAPS[name]: _of_type(number, int) for name, number in value.items()})


_MEMBERS: Final[Mapping[str, tuple[str, Callable[[Any], Any]]]] = {
    "title": ("title", _text),
    "description": ("description", _text),
    "annotations": ("annotations", lambda value: _of_type(value, dict)),
    "category": ("category", _text),
    "tier": ("tier", _text),
    "safety": ("safety", Safety),
    "roles": ("roles", _names),
    "capabilities": ("capabilities", _names),
    "caps": ("caps", _caps),
    "dialect": ("dialect", _text),
    "textJson": ("text_json", lambda value: _of_type(value, bool)),
    "notes": ("notes", _text),
    "listsOutput": ("lists_output", lambda value: _of_type(value, bool)),
    "icons": ("icons", lambda value: tuple(_of_type(value, list))),
    "meta": ("meta", lambda value: _of_type(value, dict)),
}
"""Member of the document to the field of the contract and how it is read."""


def read_contract(
    name: str, *, input_schema: JsonObject, output_schema: JsonObject | None, document: JsonObject
) -> ToolContract:
    """A contract from its documents. Raises ContractRefused: an unknown member, or one of the wrong type."""
    fields: dict[str, Any] = {"description": ""}
    for member, value in document.items():
        if member not in _MEMBERS:
            near = difflib.get_close_matches(member, _MEMBERS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(_MEMBERS)}"
            raise ContractRefused(f"tool {name!r}: unknown member {member!r} in its contract document; {hint}")
        field, read = _MEMBERS[member]
        try:
            fields[field] = read(value)
        except (TypeError, ValueError, KeyError) as exc:
            raise ContractRefused(f"tool {name!r}: member {member!r} of its contract document is not usable") from exc
    return ToolContract(name=name, input_schema=input_schema, output_schema=output_schema, **fields)


def render_contract(contract: ToolContract) -> JsonObject:
    """The document of a contract; members at their default are left out."""
    plain = ToolContract(name=contract.name, description="", input_schema={})
    shown: JsonObject = {"description": contract.description}
    for member, (field, _) in _MEMBERS.items():
        value = getattr(contract, field)
        if member != "description" and value != getattr(plain, field):
            shown[member] = _shown(value)
    return shown


def _shown(value: Any) -> Any:
    if isinstance(value, Caps):
        return {member: getattr(value, field) for member, field in _CAPS.items()}
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value
