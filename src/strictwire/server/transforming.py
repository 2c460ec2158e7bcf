"""Transformed tools: another name, other texts, renamed and hidden arguments, in front of a tool that exists.

The contract of the transformed tool is checked like any other, when the transform is declared. A call of it passes the same
stages: its arguments are validated against the transformed schema, recorded as the caller sent them, and only then
mapped to those of the tool. Not here: which tools are transformed (`adapting`).
"""

from __future__ import annotations

import difflib
import logging
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from msgspec import structs

from strictwire.canon.json import JsonObject, JsonValue, NotJson, as_json
from strictwire.contract.conform import compile_schema
from strictwire.contract.fingerprint import fingerprint
from strictwire.contract.handler import ABSENT, CallContext, ExplainsRefusals, Handler
from strictwire.contract.registry import NAME, ContractRefused, check_name
from strictwire.contract.schema import SchemaRefused, check_tool_input, escape_pointer, walk
from strictwire.contract.tool import ToolContract
from strictwire.fault.failure import Failure, Refused, fail
from strictwire.fault.plain import plain
from strictwire.fault.violations import Violation, read_violations, summarise
from strictwire.pipeline.compiled import CompiledTool
from strictwire.profiles.mcp.header_echo import mirrored_arguments
from strictwire.server.concealing import conceal, texts_in
from strictwire.server.middleware import freeze, thaw

log = logging.getLogger("strictwire.transform")

_ROOT: Final = frozenset({"$schema", "$id", "type", "title", "description", "$comment", "$defs", "definitions"})
"""Keywords at the root of a schema that say nothing about single arguments."""

_REPLACED: Final = frozenset({"properties", "required", "additionalProperties", "unevaluatedProperties", "examples"})
"""Keywords at the root that a transformed schema has anew, or does without."""


_DEFINITIONS: Final = ("$defs", "definitions")
"""Keywords at the root whose members others refer to."""


class TransformRefused(ValueError):
    """A tool cannot be transformed so. Carries the reason, with what to write instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """Another name or description for an argument of a transformed tool."""

    name: str | None = None
    """The name that callers use. Default: the same."""
    description: str | None = None
    """The description in the schema. Default: the same."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """An argument that callers of a transformed tool neither see nor pass: `Hidden("EUR")`.

    The tool always gets the value. Without one, it uses its default.
    """

    value: Any = field(default=ABSENT, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transform:
    """What a transformed tool has instead of what the tool has. None: the same."""

    tool: str
    """The name of the tool."""
    name: str | None = None
    title: str | None = None
    description: str | None = None
    tags: frozenset[str] | None = None
    arguments: Mapping[str, Argument | Hidden] = field(default_factory=lambda: MappingProxyType({}))

    def relabel(self, contract: Any) -> ToolContract:
        """The contract of the tool with the name, the texts and the tags of the transform."""
        found: ToolContract = replace(
            contract,
            name=contract.name if self.name is None else self.name,
            title=contract.title if self.title is None else self.title,
            description=contract.description if self.description is None else self.description,
            tags=contract.tags if self.tags is None else self.tags,
        )
        return found


def transform_tool(tool: CompiledTool, transform: Transform) -> CompiledTool:
    """The transformed tool. Raises TransformRefused."""
    contract = transform.relabel(tool.contract)
    if not transform.arguments:
        return _with_contract(tool, contract)
    mapped = _map_arguments(contract.input_schema, transform.arguments)
    shown = replace(contract, input_schema=_shown_schema(contract.input_schema, transform.arguments))
    handler = _wrapped(tool, mapped)
    explainer = None if tool.explainer is None else _Explainer(tool.explainer, mapped)
    return replace(_with_contract(tool, shown), handler=handler, explainer=explainer)


def _with_contract(tool: CompiledTool, contract: ToolContract) -> CompiledTool:
    """The tool under another contract, which passes the checks of a declared one. Raises TransformRefused."""
    try:
        check_name(contract.name)
        check_tool_input(contract.input_schema)
        mirrored_arguments(contract.input_schema)
        conformer = compile_schema(contract.input_schema)
    except (ContractRefused, SchemaRefused) as exc:
        raise TransformRefused(str(exc)) from exc
    return replace(tool, name=contract.name, contract=contract, input=conformer, fingerprint=fingerprint(contract).whole)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mapped:
    """How the arguments of a caller become those of the tool."""

    own: Mapping[str, str]
    """By the name that callers use: that of the tool."""
    constants: Mapping[str, JsonValue]
    """Values of hidden arguments. Frozen: a handler may change the arguments that it gets."""
    hidden: frozenset[str]
    concealed: tuple[str, ...]
    """Texts of hidden values, which no failure may have."""

    def inward(self, arguments: JsonObject) -> JsonObject:
        """The arguments of the tool."""
        mapped = {self.own[name]: value for name, value in arguments.items() if name in self.own}
        return mapped | {name: thaw(value) for name, value in self.constants.items()}

    def as_shown(self, exc: Refused, tool: str) -> Refused:
        """What a handler raised, for its caller: the same exception, unless its failure names arguments."""
        failure = conceal(self.outward(exc.failure, tool), self.concealed)
        return exc if failure is exc.failure else Refused(failure)

    def check_raised(self, exc: Exception, tool: str) -> None:
        """Raise Refused instead of an exception that quotes a hidden value: its text would be the cause in the record."""
        failure = fail("TOOL_FAILED", cause=plain(exc))
        shown = conceal(failure, self.concealed)
        if shown is not failure:
            log.error("tool %s raised %s, which has the value of a hidden argument", tool, type(exc).__name__)
            raise Refused(shown)

    def outward(self, failure: Failure, tool: str) -> Failure:
        """A failure of the tool in the names that its caller knows. It never names a hidden argument."""
        violations = read_violations(failure)
        if not violations:
            return failure
        if any(each.argument in self.hidden for each in violations):
            names = sorted({each.argument for each in violations} & self.hidden)
            log.error("tool %s refuses the value of its hidden arguments: %s", tool, ", ".join(names))
            return fail("TOOL_FAILED")
        shown = {own: name for name, own in self.own.items()}
        renamed = [_renamed(each, shown).as_details() for each in violations]
        return structs.replace(failure, details={**failure.details, "violations": renamed})


def _renamed(violation: Violation, shown: Mapping[str, str]) -> Violation:
    own = violation.argument
    name = shown.get(own, own)
    before, after = escape_pointer(own), escape_pointer(name)
    rest = violation.parameter.removeprefix(before)
    message = violation.message
    if message.startswith((f"{before}:", f"{before}/")):
        message = after + message.removeprefix(before)
    return structs.replace(violation, path=f"/{after}{rest}" if own else violation.path, message=message, schema_path="")


def _wrapped(tool: CompiledTool, mapped: _Mapped) -> Handler:
    """The handler of the transformed tool. It is plain if that of the tool is, so that it runs on a thread too."""
    inner = tool.handler

    def run(arguments: JsonObject, call: CallContext) -> Any:
        try:
            return inner(mapped.inward(arguments), call)
        except Refused as exc:
            raise mapped.as_shown(exc, tool.name) from exc.__cause__
        except Exception as exc:
            mapped.check_raised(exc, tool.name)
            raise

    async def run_async(arguments: JsonObject, call: CallContext) -> Any:
        try:
            returned: Awaitable[Any] = inner(mapped.inward(arguments), call)
            return await returned
        except Refused as exc:
            raise mapped.as_shown(exc, tool.name) from exc.__cause__
        except Exception as exc:
            mapped.check_raised(exc, tool.name)
            raise

    return run_async if tool.is_async else run


@dataclass(frozen=True, slots=True)
class _Explainer:
    """Explains refusals with the arguments of the tool."""

    inner: ExplainsRefusals
    mapped: _Mapped

    def explain(self, failure: Failure, arguments: JsonObject, context: CallContext) -> Failure:
        """See ExplainsRefusals. The violations are those of the transformed schema, so they are named already."""
        return self.inner.explain(failure, self.mapped.inward(arguments), context)


def _map_arguments(schema: JsonObject, changes: Mapping[str, Argument | Hidden]) -> _Mapped:
    """Check what is done to the arguments of a schema. Raises TransformRefused."""
    properties = schema.get("properties", {})
    for name, change in changes.items():
        if name not in properties:
            near = difflib.get_close_matches(str(name), properties, n=1)
            known = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(map(repr, properties)) or 'none'}"
            raise TransformRefused(f"there is no argument {name!r}; {known}")
        if not isinstance(change, Argument | Hidden):
            raise TransformRefused(f"argument {name!r}: {change!r} is neither Argument(name=...) nor Hidden(value)")
    _check_root(schema)
    constants = {name: _constant(schema, name, each) for name, each in _constants(changes)}
    return _Mapped(
        own=_own_names(properties, changes),
        constants=MappingProxyType(constants),
        hidden=_hidden(schema, changes),
        concealed=texts_in(constants.values()),
    )


def _check_root(schema: JsonObject) -> None:
    """Refuse a schema whose parts refer to its arguments by name."""
    unknown = sorted(name for name in schema if name not in _ROOT | _REPLACED and not name.startswith("x-"))
    if unknown:
        raise TransformRefused(f"its schema has {unknown[0]!r} at the root, which may refer to arguments; change only texts")
    references = [each.get("$ref") for _, each in walk(schema)]
    if any(isinstance(each, str) and (each == "#" or each.startswith("#/properties")) for each in references):
        raise TransformRefused("its schema refers to its own arguments; move what they share to $defs")


def _own_names(properties: Mapping[str, Any], changes: Mapping[str, Argument | Hidden]) -> Mapping[str, str]:
    own: dict[str, str] = {}
    for name in properties:
        change = changes.get(name)
        if isinstance(change, Hidden):
            continue
        shown = name if change is None or change.name is None else change.name
        if shown != name and not (isinstance(shown, str) and NAME.fullmatch(shown)):
            raise TransformRefused(f"argument {name!r}: name {shown!r}: use 1 to 64 characters of A-Z a-z 0-9 _ . -")
        if shown in own:
            raise TransformRefused(f"arguments {own[shown]!r} and {name!r} would both be called {shown!r}; rename one")
        own[shown] = name
    return MappingProxyType(own)


def _hidden(schema: JsonObject, changes: Mapping[str, Argument | Hidden]) -> frozenset[str]:
    hidden = {name: each for name, each in changes.items() if isinstance(each, Hidden)}
    for name, each in hidden.items():
        if each.value is ABSENT and name in schema.get("required", ()):
            raise TransformRefused(f"argument {name!r} is required; write Hidden(value)")
    return frozenset(hidden)


def _constants(changes: Mapping[str, Argument | Hidden]) -> list[tuple[str, Any]]:
    return [(name, each.value) for name, each in changes.items() if isinstance(each, Hidden) and each.value is not ABSENT]


def _constant(schema: JsonObject, name: str, value: Any) -> JsonValue:
    """The value of a hidden argument as frozen JSON. Messages never have the value: it may be a secret."""
    try:
        as_sent, _raw = as_json(value)
    except NotJson:
        raise TransformRefused(f"argument {name!r}: the hidden value is not JSON") from None
    conformer = compile_schema({keyword: part for keyword, part in schema.items() if keyword != "required"})
    violations = conformer.find_violations({name: as_sent})
    if violations:
        failure = fail("INVALID_PARAMS", details={"violations": [each.as_details() for each in violations]})
        raise TransformRefused(f"argument {name!r}: correct the hidden value: {summarise(read_violations(failure))}")
    frozen: JsonValue = freeze(as_sent)
    return frozen


def _shown_schema(schema: JsonObject, changes: Mapping[str, Argument | Hidden]) -> JsonObject:
    """The schema that callers see. It is closed: another argument could be one that is hidden or renamed."""
    properties = schema.get("properties", {})
    names = {own: shown for shown, own in _own_names(properties, changes).items()}
    required = schema.get("required", ())
    shown = {
        **{keyword: part for keyword, part in schema.items() if keyword not in _REPLACED},
        "properties": {names[own]: _described(part, changes.get(own)) for own, part in properties.items() if own in names},
        "required": [names[own] for own in properties if own in required and own in names],
        "additionalProperties": False,
    }
    return _without_unused(shown)


def _without_unused(schema: JsonObject) -> JsonObject:
    """The schema without definitions that nothing refers to: those of a hidden argument may have its value."""
    parts = {_pointer(place, name): part for place in _DEFINITIONS for name, part in schema.get(place, {}).items()}
    rest = {keyword: part for keyword, part in schema.items() if keyword not in _DEFINITIONS}
    used, new = set[str](), _referred(rest) & parts.keys()
    while new:
        used |= new
        new = ({found for each in new for found in _referred(parts[each])} & parts.keys()) - used
    for place in _DEFINITIONS:
        kept = {name: part for name, part in schema.get(place, {}).items() if _pointer(place, name) in used}
        rest |= {place: kept} if kept else {}
    return rest


def _pointer(place: str, name: str) -> str:
    return f"#/{place}/{escape_pointer(name)}"


def _referred(schema: Any) -> set[str]:
    """The definitions that a part of a schema refers to."""
    references = (each.get("$ref") for _, each in walk(schema))
    return {"/".join(each.split("/")[:3]) for each in references if isinstance(each, str)}


def _described(schema: Any, change: Argument | Hidden | None) -> Any:
    if not isinstance(change, Argument) or change.description is None:
        return schema
    return {**(schema if isinstance(schema, dict) else {}), "description": change.description}
