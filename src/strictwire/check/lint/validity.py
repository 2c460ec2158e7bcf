"""Rules that every schema must keep to mean anything: readable, valid, satisfiable, true to its own examples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import jsonschema_rs

from strictwire.canon.json import JsonObject
from strictwire.check.ambiguity import is_catastrophic
from strictwire.check.inclusion.admit import admits
from strictwire.check.inclusion.expand import expand
from strictwire.check.inclusion.shape import Root, Unsupported, open_root
from strictwire.check.rule import Category, Rule, Scope, rule
from strictwire.check.subject import Problem, Subject, ToolSet
from strictwire.check.tree import Node, Refusal, Role
from strictwire.contract.conform import json_type
from strictwire.contract.schema import ANNOTATIONS, SchemaRefused
from strictwire.contract.schema import Problem as Reason


@rule(
    id="FILE_STRICT_JSON",
    purpose="Checks that every file is strict JSON: UTF-8, one object, no key twice, bounded size and depth.",
    advice="Mend the text at the place named.",
    category=Category.MINIMAL,
    scope=Scope.SOURCE,
    bad='{"type": "object", "type": "array"}',
    good='{"type": "object"}',
)
def file_strict_json(_tools: ToolSet) -> Iterator[Problem]:
    yield from ()


@rule(
    id="ENTRY_WELL_FORMED",
    purpose="Checks that every entry of a tool list, lock or contract file has the members it must have.",
    advice="Give the member the type named.",
    category=Category.MINIMAL,
    scope=Scope.SOURCE,
    bad='{"name": 7, "inputSchema": []}',
    good='{"name": "read", "inputSchema": {"type": "object"}}',
)
def entry_well_formed(_tools: ToolSet) -> Iterator[Problem]:
    yield from ()


_REASONS: Final = {
    Reason.UNKNOWN_DIALECT: "names a dialect that no validator knows",
    Reason.TOO_LARGE: "is larger than a schema may be",
    Reason.TOO_DEEP: "is nested deeper than a schema may be",
    Reason.INVALID: "is not valid in its dialect, or has a reference that leads nowhere",
}


@rule(
    id="SCHEMA_VALID",
    purpose="Checks that every schema is valid in its dialect, of bounded size and depth, and can be compiled.",
    advice="Mend the schema; a client that checks schemas drops the tool, some drop all tools.",
    category=Category.MINIMAL,
    scope=Scope.REFUSED,
    bad='{"type": "objekt"}',
    good='{"type": "object"}',
)
def schema_valid(refusal: Refusal) -> Iterator[Problem]:
    if refusal.reason.problem in _REASONS:
        place = refusal.subject.origin(refusal.side).under(*_steps(refusal.schema, refusal.reason))
        message = f"the {refusal.side.value} schema {_REASONS[refusal.reason.problem]}"
        yield Problem(place, message, refusal.subject.contract.name)


def _steps(schema: JsonObject, refused: SchemaRefused) -> list[str | int]:
    """Where the schema is wrong: the innermost place that the meta-schema names, or the place of the refusal."""
    if refused.problem is not Reason.INVALID:
        return [step for step in refused.pointer.split("/")[1:] if step]
    try:
        jsonschema_rs.meta.validate(schema)
    except jsonschema_rs.ValidationError as exc:
        return list(exc.instance_path)
    except (jsonschema_rs.ReferencingError, ValueError):
        return []
    return []


@rule(
    id="REF_NOT_REMOTE",
    purpose="Checks that no reference leads to another document: servers and clients must not fetch schemas.",
    advice="Copy the definition under `$defs`, or let `strictwire bundle` do it.",
    category=Category.MINIMAL,
    scope=Scope.NODE,
    on=("$ref", "$dynamicRef", "$recursiveRef"),
    bad='{"$ref": "https://example.org/position.json"}',
    good='{"$ref": "#/$defs/position"}',
)
def ref_not_remote(node: Node) -> Iterator[Problem]:
    for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
        target = node.schema.get(keyword)
        if isinstance(target, str) and "://" in target.partition("#")[0]:
            yield node.problem(f"the reference leads to another document: {target[:80]}", keyword)


@rule(
    id="ROOT_TYPE_OBJECT",
    purpose="Checks that the root of an input schema has `type: object`, as the protocol demands.",
    advice='Set `"type": "object"` at the root and put the arguments under `properties`.',
    category=Category.MINIMAL,
    scope=Scope.TOOL,
    robust=True,
    bad='{"properties": {}}',
    good='{"type": "object", "properties": {}}',
)
def root_type_object(subject: Subject) -> Iterator[Problem]:
    named = subject.contract.input_schema.get("type")
    if named != "object":
        shown = "absent" if named is None else repr(named)[:40]
        message = f"the root type is {shown}, not 'object'; some clients then drop every tool of the server"
        yield Problem(subject.input.under("type"), message, subject.contract.name)


@rule(
    id="REQUIRED_DECLARED",
    purpose="Checks that `required` names each property once, and only properties that the schema declares.",
    advice="Declare the property, or take it out of `required`.",
    category=Category.BASIC,
    scope=Scope.NODE,
    on=("required",),
    bad='{"type": "object", "properties": {"a": {}}, "required": ["b"]}',
    good='{"type": "object", "properties": {"a": {}}, "required": ["a"]}',
)
def required_declared(node: Node) -> Iterator[Problem]:
    required = node.schema["required"]
    # A branch adds a demand to the properties of the schema around it.
    if node.role is Role.BRANCH or not isinstance(required, list) or "$ref" in node.schema:
        return
    declared = node.schema.get("properties", {})
    for index, name in enumerate(required):
        if isinstance(declared, dict) and name not in declared and "patternProperties" not in node.schema:
            yield node.problem(f"{name!r} is required and not declared", "required", index)
        elif name in required[:index]:
            yield node.problem(f"{name!r} is required twice", "required", index)


@rule(
    id="PATTERN_SAFE",
    purpose="Checks that no pattern takes exponential time in a backtracking engine.",
    advice="Rewrite it so that each text can be read in one way only: no loop inside a loop over the same letters.",
    category=Category.BASIC,
    scope=Scope.NODE,
    on=("pattern", "patternProperties"),
    bad='{"type": "string", "pattern": "^(a+)+$"}',
    good='{"type": "string", "pattern": "^a+$"}',
)
def pattern_safe(node: Node) -> Iterator[Problem]:
    pattern = node.schema.get("pattern")
    if isinstance(pattern, str) and is_catastrophic(pattern):
        yield node.problem(f"the pattern {pattern[:60]!r} can take exponential time", "pattern")
    names = node.schema.get("patternProperties")
    for name in names if isinstance(names, dict) else ():
        if is_catastrophic(name):
            yield node.problem(f"the pattern {name[:60]!r} can take exponential time", "patternProperties", name)


@rule(
    id="SCHEMA_SATISFIABLE",
    purpose="Checks that every schema accepts at least one value.",
    advice="Look for bounds that cross, listed values of another type, or a required property that is `false`.",
    category=Category.BASIC,
    scope=Scope.NODE,
    on=("enum", "const", "allOf", "required", "minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"),
    bad='{"type": "integer", "minimum": 5, "maximum": 1}',
    good='{"type": "integer", "minimum": 1, "maximum": 5}',
)
def schema_satisfiable(node: Node) -> Iterator[Problem]:
    if not _may_be_empty(node.schema):
        return
    root = _root_of(node)
    if root is not None and _is_empty(node, root):
        yield node.problem("no value satisfies this schema")


_PAIRS: Final = (
    ("minimum", "maximum"),
    ("minimum", "exclusiveMaximum"),
    ("exclusiveMinimum", "maximum"),
    ("exclusiveMinimum", "exclusiveMaximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
)
_LOW: Final = frozenset(low for low, _ in _PAIRS)


def _may_be_empty(schema: dict[str, Any]) -> bool:
    """A quick look, because the exact answer is dear: most schemas cannot be empty for plain reasons."""
    if not _LOW.isdisjoint(schema) and any(
        low in schema and high in schema and schema[high] - schema[low] <= 1 for low, high in _PAIRS
    ):
        return True
    if "enum" in schema or "const" in schema:
        return not _lists_what_fits(schema)
    if "allOf" in schema:
        return True
    properties = schema.get("properties", {})
    return any(properties.get(name) is False for name in schema.get("required", ()))


_SAID_OF_LISTED: Final = ANNOTATIONS | {"type", "enum", "const"}
"""Keywords beside a list of values that leave it as it is, but for the type."""


def _lists_what_fits(schema: dict[str, Any]) -> bool:
    """Whether one of the values is of a type that is named, where nothing else is said of them."""
    if not schema.keys() <= _SAID_OF_LISTED or ("enum" in schema and "const" in schema):
        return False
    named = schema.get("type")
    types = named if isinstance(named, list) else [named]
    kinds = map(json_type, schema["enum"] if "enum" in schema else [schema["const"]])
    return any(named is None or kind in types or (kind == "integer" and "number" in types) for kind in kinds)


def _root_of(node: Node) -> Root | None:
    try:
        return open_root(node.tree.root)
    except Unsupported:
        return None


def _is_empty(node: Node, root: Root) -> bool:
    try:
        pieces = expand(node.schema, root)
    except Unsupported:
        return False
    impossible = {name for name, each in node.schema.get("properties", {}).items() if each is False}
    return all(piece.kind == "object" and piece.required & impossible for piece in pieces)


@rule(
    id="EXAMPLES_VALID",
    purpose="Checks that every example and every default fits the schema it stands in.",
    advice="Mend the example; models copy it.",
    category=Category.BASIC,
    scope=Scope.NODE,
    on=("examples", "default"),
    bad='{"type": "integer", "examples": ["1"]}',
    good='{"type": "integer", "examples": [1]}',
)
def examples_valid(node: Node) -> Iterator[Problem]:
    root = _root_of(node)
    if root is None:
        return
    examples = node.schema.get("examples")
    for index, example in enumerate(examples if isinstance(examples, list) else ()):
        if admits(node.schema, example, root) is False:
            yield node.problem("the example does not fit its schema", "examples", index)
    if "default" in node.schema and admits(node.schema, node.schema["default"], root) is False:
        yield node.problem("the default does not fit its schema", "default")


RULES: Final[tuple[Rule, ...]] = (
    file_strict_json,
    entry_well_formed,
    schema_valid,
    ref_not_remote,
    root_type_object,
    required_declared,
    pattern_safe,
    schema_satisfiable,
    examples_valid,
)
