"""Rules about correctness: schemas are readable, valid and satisfiable, and their examples conform."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import jsonschema_rs

from strictwire.canon.json import JsonObject
from strictwire.check.ambiguity import is_catastrophic
from strictwire.check.inclusion.admit import admits
from strictwire.check.inclusion.expand import expand
from strictwire.check.inclusion.shape import Root, UnsupportedSchema, open_root
from strictwire.check.rule import Category, Rule, Scope, rule
from strictwire.check.subject import Problem, Subject, ToolSet
from strictwire.check.tree import InvalidSchema, Node, NodeKind
from strictwire.contract.conform import json_type
from strictwire.contract.error_path import steps_of
from strictwire.contract.schema import ANNOTATIONS, SchemaProblem, SchemaRefused


@rule(
    id="FILE_STRICT_JSON",
    purpose="Checks that every file is strict JSON: UTF-8, one object, no duplicate keys, limited size and depth.",
    advice="Fix the file at the given line and column.",
    category=Category.MINIMAL,
    scope=Scope.SOURCE,
    bad='{"type": "object", "type": "array"}',
    good='{"type": "object"}',
)
def file_strict_json(_tools: ToolSet) -> Iterator[Problem]:
    yield from ()


@rule(
    id="ENTRY_WELL_FORMED",
    purpose="Checks that every entry of a tool list, lock file or contract file has the required members and types.",
    advice="Add the member, or correct its type.",
    category=Category.MINIMAL,
    scope=Scope.SOURCE,
    bad='{"name": 7, "inputSchema": []}',
    good='{"name": "read", "inputSchema": {"type": "object"}}',
)
def entry_well_formed(_tools: ToolSet) -> Iterator[Problem]:
    yield from ()


_REASONS: Final = {
    SchemaProblem.UNKNOWN_DIALECT: "has an unknown dialect in `$schema`",
    SchemaProblem.TOO_LARGE: "exceeds the maximum size of a schema",
    SchemaProblem.TOO_COMPLEX: "branches so often that checking one value would take too long",
    SchemaProblem.TOO_DEEP: "exceeds the maximum nesting depth of a schema",
    SchemaProblem.INVALID: "is not valid in its dialect, or has a reference that does not resolve",
}


@rule(
    id="SCHEMA_VALID",
    purpose="Checks that every schema is valid in its dialect, within the size and depth limits, and compiles.",
    advice="Fix the schema: clients that validate schemas drop the tool, and some drop all tools.",
    category=Category.MINIMAL,
    scope=Scope.INVALID_SCHEMA,
    bad='{"type": "objekt"}',
    good='{"type": "object"}',
)
def schema_valid(invalid: InvalidSchema) -> Iterator[Problem]:
    if invalid.reason.problem in _REASONS:
        location = invalid.subject.origin(invalid.side).under(*_steps(invalid.schema, invalid.reason))
        message = f"the {invalid.side.value} schema {_REASONS[invalid.reason.problem]}"
        yield Problem(location, message, invalid.subject.contract.name)


def _steps(schema: JsonObject, refused: SchemaRefused) -> list[str | int]:
    """The path to the error: the innermost location that the meta-schema reports, or the location in the exception."""
    if refused.problem is not SchemaProblem.INVALID:
        return [step for step in refused.pointer.split("/")[1:] if step]
    try:
        jsonschema_rs.meta.validate(schema)
    except jsonschema_rs.ValidationError as exc:
        return list(steps_of(exc, schema))
    except (jsonschema_rs.ReferencingError, ValueError):
        return []
    return []


@rule(
    id="REF_NOT_REMOTE",
    purpose="Checks that no reference is a remote URL: servers and clients must not download schemas.",
    advice="Copy the definition under `$defs`, or run `strictwire bundle`.",
    category=Category.MINIMAL,
    scope=Scope.NODE,
    keywords=("$ref", "$dynamicRef", "$recursiveRef"),
    bad='{"$ref": "https://example.org/position.json"}',
    good='{"$ref": "#/$defs/position"}',
)
def ref_not_remote(node: Node) -> Iterator[Problem]:
    for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
        target = node.schema.get(keyword)
        if isinstance(target, str) and "://" in target.partition("#")[0]:
            yield node.problem(f"the reference is a remote URL: {target[:80]}", keyword)


@rule(
    id="ROOT_TYPE_OBJECT",
    purpose="Checks that the root of an input schema has `type: object`, as the protocol requires.",
    advice='Set `"type": "object"` at the root and put the arguments under `properties`.',
    category=Category.MINIMAL,
    scope=Scope.TOOL,
    runs_on_invalid=True,
    bad='{"properties": {}}',
    good='{"type": "object", "properties": {}}',
)
def root_type_object(subject: Subject) -> Iterator[Problem]:
    named = subject.contract.input_schema.get("type")
    if named != "object":
        shown = "absent" if named is None else repr(named)[:40]
        message = f"the root type is {shown}, not 'object'; some clients then drop all tools of the server"
        yield Problem(subject.input.under("type"), message, subject.contract.name)


@rule(
    id="REQUIRED_DECLARED",
    purpose="Checks that `required` names only declared properties, each once.",
    advice="Declare the property, or remove it from `required`.",
    category=Category.BASIC,
    scope=Scope.NODE,
    keywords=("required",),
    bad='{"type": "object", "properties": {"a": {}}, "required": ["b"]}',
    good='{"type": "object", "properties": {"a": {}}, "required": ["a"]}',
)
def required_declared(node: Node) -> Iterator[Problem]:
    required = node.schema["required"]
    # A branch (`anyOf`, `if` ...) may require a property that the schema around it declares.
    if node.kind is NodeKind.BRANCH or not isinstance(required, list) or "$ref" in node.schema:
        return
    declared = node.schema.get("properties", {})
    for index, name in enumerate(required):
        if isinstance(declared, dict) and name not in declared and "patternProperties" not in node.schema:
            yield node.problem(f"{name!r} is required but not declared", "required", index)
        elif name in required[:index]:
            yield node.problem(f"`required` names {name!r} twice", "required", index)


@rule(
    id="PATTERN_SAFE",
    purpose="Checks that no pattern takes exponential time in a backtracking engine (ReDoS).",
    advice="Rewrite it so that each string matches in one way only: no nested repetition over the same characters.",
    category=Category.BASIC,
    scope=Scope.NODE,
    keywords=("pattern", "patternProperties"),
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
    advice="Look for a minimum above its maximum, enum values of another type, or a required property that is `false`.",
    category=Category.BASIC,
    scope=Scope.NODE,
    keywords=("enum", "const", "allOf", "required", "minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"),
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
    """Prefilter: False only if the schema certainly accepts a value. The exact check is expensive."""
    if not _LOW.isdisjoint(schema) and any(
        low in schema and high in schema and schema[high] - schema[low] <= 1 for low, high in _PAIRS
    ):
        return True
    if "enum" in schema or "const" in schema:
        return not _has_allowed_value(schema)
    if "allOf" in schema:
        return True
    properties = schema.get("properties", {})
    return any(properties.get(name) is False for name in schema.get("required", ()))


_NEUTRAL_BESIDE_ENUM: Final = ANNOTATIONS | {"type", "enum", "const"}
"""Keywords that, beside `enum` or `const`, exclude none of the values except by type."""


def _has_allowed_value(schema: dict[str, Any]) -> bool:
    """Whether at least one value of `enum` or `const` has an allowed type, and no other keyword can exclude it."""
    if not schema.keys() <= _NEUTRAL_BESIDE_ENUM or ("enum" in schema and "const" in schema):
        return False
    named = schema.get("type")
    types = named if isinstance(named, list) else [named]
    kinds = map(json_type, schema["enum"] if "enum" in schema else [schema["const"]])
    return any(named is None or kind in types or (kind == "integer" and "number" in types) for kind in kinds)


def _root_of(node: Node) -> Root | None:
    try:
        return open_root(node.tree.root)
    except UnsupportedSchema:
        return None


def _is_empty(node: Node, root: Root) -> bool:
    try:
        pieces = expand(node.schema, root)
    except UnsupportedSchema:
        return False
    impossible = {name for name, each in node.schema.get("properties", {}).items() if each is False}
    return all(piece.kind == "object" and piece.required & impossible for piece in pieces)


@rule(
    id="EXAMPLES_VALID",
    purpose="Checks that every example and every default conforms to its schema.",
    advice="Correct the example: models copy it.",
    category=Category.BASIC,
    scope=Scope.NODE,
    keywords=("examples", "default"),
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
            yield node.problem("the example does not conform to its schema", "examples", index)
    if "default" in node.schema and admits(node.schema, node.schema["default"], root) is False:
        yield node.problem("the default does not conform to its schema", "default")


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
