"""Rules about major clients: schemas that the protocol allows and a client refuses. Each rule names the clients.

Each rule goes back to public bug reports. One refused tool often disables all tools of a server, because clients send all
tools to the model in one request.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from strictwire.check.rule import Category, Rule, Scope, rule
from strictwire.check.subject import Problem, Side, Subject
from strictwire.check.tree import Node, NodeKind
from strictwire.contract.schema import DIALECT

OPENAI_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
CLAUDE_KEY: Final = re.compile(r"[a-zA-Z0-9_.-]{1,64}")


@rule(
    id="CLIENT_NAME",
    purpose="Checks that a tool's name has only letters, digits, `_` and `-`: OpenAI and Claude refuse dots.",
    advice="Use `_` between the parts of a name.",
    category=Category.STRICT,
    scope=Scope.TOOL,
    bad='{"name": "files.read"}',
    good='{"name": "files_read"}',
)
def client_name(subject: Subject) -> Iterator[Problem]:
    name = subject.contract.name
    if not OPENAI_NAME.fullmatch(name) and len(name) <= 64:
        yield Problem(subject.entry.under("name"), f"OpenAI and Claude clients refuse the name {name!r}", name)


@rule(
    id="CLIENT_ROOT_COMPOSITION",
    purpose="Checks that the root of an input schema has no `anyOf`, `oneOf`, `allOf`, `not` or `enum`: Claude and OpenAI "
    "refuse them.",
    advice="Declare the properties at the root and check the combination in the tool, or split the tool.",
    category=Category.STANDARD,
    scope=Scope.TOOL,
    bad='{"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}',
    good='{"type": "object", "properties": {"a": {}, "b": {}}}',
)
def client_root_composition(subject: Subject) -> Iterator[Problem]:
    for keyword in ("anyOf", "oneOf", "allOf", "not", "enum"):
        if keyword in subject.contract.input_schema:
            message = f"Claude and OpenAI clients refuse {keyword!r} at the root of an input schema"
            yield Problem(subject.input.under(keyword), message, subject.contract.name)


@rule(
    id="CLIENT_ROOT_REF",
    purpose="Checks that the root of an input schema is not a `$ref`: clients read `properties` at the root.",
    advice="Inline the referenced object at the root.",
    category=Category.STANDARD,
    scope=Scope.TOOL,
    bad='{"type": "object", "$ref": "#/$defs/args"}',
    good='{"type": "object", "properties": {}}',
)
def client_root_ref(subject: Subject) -> Iterator[Problem]:
    if "$ref" in subject.contract.input_schema:
        message = "clients show no arguments if the root is a reference"
        yield Problem(subject.input.under("$ref"), message, subject.contract.name)


@rule(
    id="CLIENT_PROPERTIES",
    purpose="Checks that the root of an input schema has `properties`, even if empty: OpenAI refuses a schema without it.",
    advice='Add `"properties": {}` to a tool without arguments.',
    category=Category.STANDARD,
    scope=Scope.TOOL,
    bad='{"type": "object"}',
    good='{"type": "object", "properties": {}}',
)
def client_properties(subject: Subject) -> Iterator[Problem]:
    schema = subject.contract.input_schema
    if schema.get("type") == "object" and "properties" not in schema and "$ref" not in schema:
        message = "OpenAI clients refuse an object schema without properties"
        yield Problem(subject.input.under("properties"), message, subject.contract.name)


@rule(
    id="CLIENT_PROPERTY_KEYS",
    purpose="Checks that argument names have 1 to 64 characters (letters, digits, `_`, `.`, `-`): Claude refuses others.",
    advice="Rename the argument, for example `filter.name` instead of `filter[name]`.",
    category=Category.STANDARD,
    scope=Scope.NODE,
    side=Side.INPUT,
    keywords=("properties",),
    bad='{"properties": {"filter[name]": {"type": "string"}}}',
    good='{"properties": {"filter.name": {"type": "string"}}}',
)
def client_property_keys(node: Node) -> Iterator[Problem]:
    if node.kind is NodeKind.ROOT and isinstance(node.schema["properties"], dict):
        for name in node.schema["properties"]:
            if not CLAUDE_KEY.fullmatch(name):
                yield node.problem(f"Claude clients refuse the argument name {name[:64]!r}", "properties", name)


@rule(
    id="CLIENT_ARRAY_ITEMS",
    purpose="Checks that every array in an input schema has `items`: OpenAI and Gemini refuse arrays without it.",
    advice="Add a schema for the items; `{}` is enough for OpenAI, a type is better.",
    category=Category.STANDARD,
    scope=Scope.NODE,
    side=Side.INPUT,
    keywords=("type",),
    bad='{"type": "array"}',
    good='{"type": "array", "items": {"type": "string"}}',
)
def client_array_items(node: Node) -> Iterator[Problem]:
    if "array" in node.types() and "items" not in node.schema and "prefixItems" not in node.schema:
        yield node.problem("OpenAI and Gemini clients refuse an array schema without items")


@rule(
    id="CLIENT_BOOLEAN_SCHEMA",
    purpose="Checks that no property or item is a bare `true` or `false` schema: several clients drop such tools.",
    advice="Replace `true` by `{}`; remove a property that is `false`.",
    category=Category.STANDARD,
    scope=Scope.NODE,
    keywords=("properties", "items"),
    bad='{"properties": {"data": true}}',
    good='{"properties": {"data": {}}}',
)
def client_boolean_schema(node: Node) -> Iterator[Problem]:
    properties = node.schema.get("properties")
    for name, child in properties.items() if isinstance(properties, dict) else ():
        if isinstance(child, bool):
            yield node.problem("several clients drop tools with a boolean schema", "properties", name)
    if isinstance(node.schema.get("items"), bool) and "prefixItems" not in node.schema:
        yield node.problem("several clients drop tools with a boolean schema", "items")


@rule(
    id="CLIENT_ENUM_STRINGS",
    purpose="Checks that enum values in inputs are non-empty strings: Gemini refuses other enum values.",
    advice="Use strings in `enum`, or `minimum` and `maximum` for numbers.",
    category=Category.STRICT,
    scope=Scope.NODE,
    side=Side.INPUT,
    keywords=("enum",),
    bad='{"enum": [1, 2]}',
    good='{"type": "string", "enum": ["one", "two"]}',
)
def client_enum_strings(node: Node) -> Iterator[Problem]:
    listed = node.schema["enum"]
    if isinstance(listed, list):
        for index, value in enumerate(listed):
            if value == "" or not (isinstance(value, str) or (value is None and "null" in node.types())):
                yield node.problem("Gemini clients refuse enum values that are not non-empty strings", "enum", index)


@rule(
    id="CLIENT_DIALECT",
    purpose="Checks that `$schema`, if present, is 2020-12: Claude clients refuse other dialects in output schemas.",
    advice="Set `$schema` to 2020-12, or remove it: 2020-12 is the protocol's default.",
    category=Category.STRICT,
    scope=Scope.NODE,
    keywords=("$schema",),
    bad='{"$schema": "http://json-schema.org/draft-07/schema#"}',
    good='{"$schema": "https://json-schema.org/draft/2020-12/schema"}',
)
def client_dialect(node: Node) -> Iterator[Problem]:
    named = node.schema["$schema"]
    if node.kind is NodeKind.ROOT and named != DIALECT:
        yield node.problem(f"Claude clients refuse the schema dialect {str(named)[:60]}", "$schema")


@rule(
    id="CLIENT_OUTPUT_DIALECT",
    purpose="Checks that an output schema has no `$schema` other than 2020-12: Claude Code refuses the tool.",
    advice="Remove `$schema`, or set it to 2020-12. Public source: anthropics/claude-code issues 86142 and 88882 (2026).",
    category=Category.CORRECT,
    scope=Scope.NODE,
    keywords=("$schema",),
    side=Side.OUTPUT,
    bad='{"outputSchema": {"$schema": "http://json-schema.org/draft-07/schema#"}}',
    good='{"outputSchema": {"$schema": "https://json-schema.org/draft/2020-12/schema"}}',
)
def client_output_dialect(node: Node) -> Iterator[Problem]:
    named = node.schema["$schema"]
    if node.kind is NodeKind.ROOT and named != DIALECT:
        yield node.problem(f"Claude Code refuses the dialect {str(named)[:60]} in output schemas", "$schema")


RULES: Final[tuple[Rule, ...]] = (
    client_output_dialect,
    client_name,
    client_root_composition,
    client_root_ref,
    client_properties,
    client_property_keys,
    client_array_items,
    client_boolean_schema,
    client_enum_strings,
    client_dialect,
)
