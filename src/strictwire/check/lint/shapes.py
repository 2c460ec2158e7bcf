"""Rules about the shape of reviewed schemas: dialect, closed objects, explicit `required`, bounds (G1, G3 to G6, G10)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from strictwire.check.pattern import longest_match
from strictwire.check.rule import Category, Rule, Scope, rule
from strictwire.check.subject import Problem, Side, SourceKind, SourceLocation, Subject, ToolSet
from strictwire.check.tree import Node, NodeKind
from strictwire.contract.schema import DIALECT


@rule(
    id="SCHEMA_DIALECT",
    purpose="Checks that every schema sets `$schema` to 2020-12.",
    advice=f'Add `"$schema": "{DIALECT}"` at the root.',
    category=Category.STRICT,
    scope=Scope.TOOL,
    bad='{"type": "object"}',
    good='{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}',
)
def schema_dialect(subject: Subject) -> Iterator[Problem]:
    for side in Side:
        schema = subject.schema(side)
        if schema is not None and schema.get("$schema") != DIALECT:
            named = "is absent" if "$schema" not in schema else "names another dialect"
            yield Problem(subject.origin(side).under("$schema"), f"`$schema` {named}", subject.contract.name)


@rule(
    id="FILE_LAYOUT",
    purpose="Checks that a schema folder contains `<tool>.json` and `<tool>.output.json` for each tool, and no other files.",
    advice="Add the missing file, or move the extra file out of the folder.",
    category=Category.STRICT,
    scope=Scope.SET,
    bad="schemas/tools/: read.json, notes.txt",
    good="schemas/tools/: read.json, read.output.json, read.contract.json",
)
def file_layout(tools: ToolSet) -> Iterator[Problem]:
    if tools.source_kind is not SourceKind.FOLDER:
        return
    for subject in tools.subjects:
        if subject.contract.output_schema is None and subject.output.file not in tools.files:
            yield Problem(subject.output, "the tool has no output schema file", subject.contract.name)
    known = {origin.file for each in tools.subjects for origin in (each.entry, each.input, each.output)}
    known.update(problem.origin.file for problem in tools.read_problems)
    for file in tools.files:
        if file not in known and not file.endswith(".schema.json"):
            yield Problem(SourceLocation(file), "the file belongs to no tool")


@rule(
    id="OUTPUT_TYPE_OBJECT",
    purpose="Checks that the root of an output schema has `type: object`: older clients refuse anything else.",
    advice="Wrap the value in an object.",
    category=Category.STANDARD,
    scope=Scope.TOOL,
    bad='{"type": "array", "items": {}}',
    good='{"type": "object", "properties": {"items": {"type": "array", "items": {}}}}',
)
def output_type_object(subject: Subject) -> Iterator[Problem]:
    schema = subject.contract.output_schema
    if schema is not None and schema.get("type") != "object":
        message = "the root type of the output schema is not 'object'"
        yield Problem(subject.output.under("type"), message, subject.contract.name)


@rule(
    id="ROOT_CLOSED",
    purpose="Checks that the root of every schema has `additionalProperties: false`.",
    advice='Add `"additionalProperties": false`: validators then reject a misspelled argument instead of ignoring it.',
    category=Category.STRICT,
    scope=Scope.TOOL,
    bad='{"type": "object", "properties": {}}',
    good='{"type": "object", "properties": {}, "additionalProperties": false}',
)
def root_closed(subject: Subject) -> Iterator[Problem]:
    for side in Side:
        schema = subject.schema(side)
        if schema is not None and schema.get("additionalProperties") is not False:
            location = subject.origin(side).under("additionalProperties")
            yield Problem(
                location, f"the root of the {side.value} schema allows undeclared properties", subject.contract.name
            )


def _is_object(node: Node) -> bool:
    return "object" in node.types() or "properties" in node.schema


@rule(
    id="OBJECTS_CLOSED",
    purpose="Checks that every nested object schema has `additionalProperties: false`.",
    advice='Add `"additionalProperties": false`, or waive the finding with the reason why the object is a free map.',
    category=Category.STRICT,
    scope=Scope.NODE,
    keywords=("type", "properties"),
    bad='{"properties": {"at": {"type": "object", "properties": {}}}}',
    good='{"properties": {"at": {"type": "object", "properties": {}, "additionalProperties": false}}}',
)
def objects_closed(node: Node) -> Iterator[Problem]:
    if node.kind in (NodeKind.ROOT, NodeKind.BRANCH) or not _is_object(node):
        return
    if node.schema.get("additionalProperties") is not False:
        yield node.problem("the object allows undeclared properties", "additionalProperties")


@rule(
    id="REQUIRED_EXPLICIT",
    purpose="Checks that every object schema with properties has a `required` list, even if empty.",
    advice="List the properties that must be present, or `[]`.",
    category=Category.STRICT,
    scope=Scope.NODE,
    keywords=("properties",),
    bad='{"type": "object", "properties": {"a": {}}}',
    good='{"type": "object", "properties": {"a": {}}, "required": []}',
)
def required_explicit(node: Node) -> Iterator[Problem]:
    if node.kind is not NodeKind.BRANCH and "required" not in node.schema:
        yield node.problem("the object has no `required` list", "required")


@rule(
    id="NO_DEFAULT",
    purpose="Checks that no schema has `default`: validators do not apply it, but readers assume that they do.",
    advice="Say in the description what happens if the argument is absent.",
    category=Category.STRICT,
    scope=Scope.NODE,
    keywords=("default",),
    bad='{"type": "integer", "default": 10}',
    good='{"type": "integer", "description": "Number of rows; 10 if absent."}',
)
def no_default(node: Node) -> Iterator[Problem]:
    yield node.problem("the schema has a `default`", "default")


@rule(
    id="NO_COERCION",
    purpose="Checks that `type` is one type, or one type and `null`.",
    advice="Choose one type: a caller should not have to guess whether to send 5 or '5'.",
    category=Category.STRICT,
    scope=Scope.NODE,
    keywords=("type",),
    bad='{"type": ["integer", "string"]}',
    good='{"type": ["integer", "null"]}',
)
def no_coercion(node: Node) -> Iterator[Problem]:
    named = node.schema["type"]
    if isinstance(named, list) and len([each for each in named if each != "null"]) > 1:
        yield node.problem(f"the schema accepts {' or '.join(map(str, named))}", "type")


@rule(
    id="STRINGS_BOUNDED",
    purpose="Checks that every string in an input is bounded: by `maxLength`, `enum`, `const` or a bounded pattern.",
    advice="Add `maxLength`: 512 for a query, 1,024 for a cursor, 4,096 for a URI or a path.",
    category=Category.STRICT,
    scope=Scope.NODE,
    side=Side.INPUT,
    keywords=("type",),
    bad='{"type": "string"}',
    good='{"type": "string", "maxLength": 512}',
)
def strings_bounded(node: Node) -> Iterator[Problem]:
    if "string" not in node.types():
        return
    pattern = node.schema.get("pattern")
    is_bounded_by_pattern = isinstance(pattern, str) and longest_match(pattern) is not None
    if not {"maxLength", "enum", "const"} & node.schema.keys() and not is_bounded_by_pattern:
        yield node.problem("the string has no maximum length", "maxLength")


@rule(
    id="ARRAYS_BOUNDED",
    purpose="Checks that every array has `maxItems`.",
    advice="Add `maxItems`: the page cap for lists, or a smaller number.",
    category=Category.STRICT,
    scope=Scope.NODE,
    keywords=("type",),
    bad='{"type": "array", "items": {}}',
    good='{"type": "array", "items": {}, "maxItems": 200}',
)
def arrays_bounded(node: Node) -> Iterator[Problem]:
    if "array" in node.types() and "maxItems" not in node.schema:
        yield node.problem("the array has no maximum size", "maxItems")


@rule(
    id="CAPS_COHERENT",
    purpose="Checks that the limits in schemas equal the project's `[lint.caps]` table.",
    advice="Change the schema, or the `[lint.caps]` table and every schema that uses it.",
    category=Category.STRICT,
    scope=Scope.NODE,
    keywords=("type",),
    bad='caps: {"limit.maximum": 100}; schema: {"limit": {"type": "integer", "maximum": 50}}',
    good='caps: {"limit.maximum": 100}; schema: {"limit": {"type": "integer", "maximum": 100}}',
)
def caps_coherent(node: Node) -> Iterator[Problem]:
    if not node.tree.parameters.caps or node.kind is not NodeKind.PROPERTY:
        return
    for key, value in node.tree.parameters.caps.items():
        name, _, keyword = key.rpartition(".")
        if name == node.name and node.schema.get(keyword) != value:
            yield node.problem(f"`[lint.caps]` requires {keyword} {value} for {name!r}", keyword)


RULES: Final[tuple[Rule, ...]] = (
    schema_dialect,
    file_layout,
    output_type_object,
    root_closed,
    objects_closed,
    required_explicit,
    no_default,
    no_coercion,
    strings_bounded,
    arrays_bounded,
    caps_coherent,
)
